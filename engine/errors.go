package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind says what kind of thing went wrong.
type Kind uint8

const (
	// Refused: the engine does not take the request as it is (its status is 4xx). Asking again is no use.
	Refused Kind = iota
	// Unsupported: the engine cannot do what was asked. It has not been asked, or has no such route.
	Unsupported
	// Overloaded: the engine takes no more requests now (429 or 503).
	Overloaded
	// Unreachable: no connection came about, or it broke before anything of the answer arrived.
	Unreachable
	// TimedOut: the engine took too long, to begin or to go on.
	TimedOut
	// Broken: the answer broke off, or is not what the engine's API promises.
	Broken
	// Failed: the engine says that it failed (5xx, or an error in the stream).
	Failed
	// Canceled: the context of the request has ended.
	Canceled
)

func (k Kind) String() string {
	return [...]string{"refused", "unsupported", "overloaded", "unreachable", "timed out", "broken", "failed", "canceled"}[k]
}

// Error is what went wrong with an engine.
type Error struct {
	Kind   Kind
	Engine string
	// Op is what was asked: generate, apply template, tokenize …
	Op string
	// Status is the HTTP status that the engine answered, or that it wrote into an error of a stream; 0 if there was none.
	Status int
	// Message is what went wrong, in the engine's words where it had any.
	Message string
	// Type, Param and Code are those of the engine's error object; "" where it had none. For Unsupported, Param is the field
	// of the request that asks for too much.
	Type, Param, Code string
	// Started: something of the answer had arrived.
	Started bool
	// RetryAfter is how long the engine asks to wait; 0 if it does not.
	RetryAfter time.Duration
	// Err is the cause, if there is one.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Engine)
	if e.Op != "" {
		b.WriteString(": " + e.Op)
	}
	b.WriteString(": " + e.Kind.String())
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// StatusCanceled is the status of an error that nobody reads, since the client has left: for logs and counters. (nginx has
// it too.)
const StatusCanceled = 499

// HTTPStatus is the status that a server in front of the engine answers with, if it still can: the engine's own where the
// client can do something about it, else one that says that the fault lies behind the server.
func (e *Error) HTTPStatus() int {
	switch e.Kind {
	case Refused:
		switch e.Status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return e.Status
		case 0:
			return http.StatusBadRequest
		}
		// The server's key is at fault (401, 403), or how it speaks to the engine: not the client.
		return http.StatusBadGateway
	case Unsupported:
		if e.Param != "" {
			return http.StatusBadRequest
		}
		return http.StatusNotImplemented
	case Overloaded:
		if e.Status == http.StatusTooManyRequests {
			return e.Status
		}
		return http.StatusServiceUnavailable
	case TimedOut:
		return http.StatusGatewayTimeout
	case Unreachable, Broken:
		return http.StatusBadGateway
	case Canceled:
		if errors.Is(e.Err, context.DeadlineExceeded) {
			return http.StatusGatewayTimeout
		}
		return StatusCanceled
	}
	return http.StatusInternalServerError
}

// unsupported refuses a request for something that an engine cannot do. param is the field that asks for it, "" for a whole
// route.
func unsupported(engine, op, param, message string) *Error {
	return &Error{Kind: Unsupported, Engine: engine, Op: op, Param: param, Message: message}
}

// kindOf says what an HTTP status means.
func kindOf(status int) Kind {
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return Overloaded
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return Unreachable
	case status >= 400 && status < 500:
		return Refused
	}
	return Failed
}
