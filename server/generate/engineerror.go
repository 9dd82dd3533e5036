package generate

import (
	"errors"
	"net/http"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
)

// FromEngine gives an engine's error as the server answers it. What the client can do something about is told in the
// engine's words; the rest is for the log.
func FromEngine(err error) error {
	var e *engine.Error
	if !errors.As(err, &e) {
		return err
	}
	if kind, ok := clientsKinds[e.HTTPStatus()]; ok {
		out := &apierror.Error{Kind: kind, Message: e.Message, Param: e.Param, Cause: err, RetryAfter: e.RetryAfter}
		if out.Message == "" {
			out.Message = "The engine refused the request"
		}
		return out
	}
	out := &apierror.Error{Kind: apierror.Internal, Message: "Internal server error", Cause: err, RetryAfter: e.RetryAfter}
	switch e.HTTPStatus() {
	case http.StatusServiceUnavailable:
		out.Kind, out.Message = apierror.Overloaded, "The engine takes no more requests now"
	case http.StatusGatewayTimeout:
		out.Kind, out.Message = apierror.GatewayTimeout, "The engine did not answer in time"
	case http.StatusBadGateway:
		out.Kind, out.Message = apierror.BadGateway, "The engine cannot be reached, or its answer cannot be read"
	case engine.StatusCanceled:
		out.Kind, out.Message = apierror.Gone, "The client has left"
	}
	return out
}

// clientsKinds are the kinds of the errors that a client can do something about, by their status.
var clientsKinds = map[int]apierror.Kind{
	http.StatusBadRequest:            apierror.Invalid,
	http.StatusUnprocessableEntity:   apierror.Invalid,
	http.StatusRequestEntityTooLarge: apierror.TooLarge,
	http.StatusNotFound:              apierror.NotFound,
	http.StatusTooManyRequests:       apierror.RateLimited,
	http.StatusNotImplemented:        apierror.NotImplemented,
}
