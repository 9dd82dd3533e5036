package apierror

import (
	"encoding/json/v2"
	"math"
	"net/http"
	"strconv"
)

// OpenAI is the error as the OpenAI interfaces write it: {"error": {"message", "type", "param", "code"}}, the code
// being the HTTP status.
func (e *Error) OpenAI() []byte {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	body := struct {
		Error inner `json:"error"`
	}{inner{Message: e.Message, Type: e.Type(), Code: e.Status()}}
	if e.Param != "" {
		body.Error.Param = &e.Param
	}
	return marshal(body)
}

// Anthropic is the error as the Messages interface writes it: {"type": "error", "error": {"type", "message"}}. The type
// goes by the status.
func (e *Error) Anthropic() []byte {
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return marshal(struct {
		Type  string `json:"type"`
		Error inner  `json:"error"`
	}{"error", inner{e.anthropicType(), e.Message}})
}

func (e *Error) anthropicType() string {
	switch e.Status() {
	case http.StatusNotImplemented:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	}
	if e.Status() < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

func marshal(v any) []byte {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic("apierror: " + err.Error()) // strings and numbers only, and invalid UTF-8 is replaced before
	}
	return data
}

// Shape is how an interface writes an error.
type Shape func(*Error) []byte

// The shapes.
var (
	ShapeOpenAI    Shape = (*Error).OpenAI
	ShapeAnthropic Shape = (*Error).Anthropic
)

// Noter is a response that hears of the error that is written to it.
type Noter interface{ Note(*Error) }

// Write answers a request with an error. If w is a Noter, it is told.
func (shape Shape) Write(w http.ResponseWriter, err error) {
	e := From(err)
	if noter, ok := w.(Noter); ok {
		noter.Note(e)
	}
	e = &Error{Kind: e.Kind, Param: e.Param, Message: valid(e.Message), Cause: e.Cause}
	w.Header().Set("Content-Type", "application/json")
	if wait := From(err).RetryAfter; wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	w.WriteHeader(e.Status())
	_, _ = w.Write(shape(e)) // the client is gone if this fails
}
