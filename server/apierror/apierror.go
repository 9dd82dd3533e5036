// Package apierror holds the one error that the server answers with, and how each interface writes it.
//
// Everything below the interfaces, from the reading of a body to the engine, makes an *Error: what kind of thing went
// wrong, which field of the request is at fault, and a message for the person who reads it. Each interface has one
// function that turns it into that interface's JSON; the status is the same in all.
//
// The kinds and their words follow vLLM 0.33.0: a check of the server's own has the type "BadRequestError", a body that
// does not fit the schema "Bad Request"; both are status 400, never 422.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parlance-llm/parlance/engine"
)

// Kind is what kind of thing went wrong. It decides the status and the type.
type Kind uint8

// The kinds.
const (
	// Internal: something of the server's own, or of the engine's. Its message is for the log; clients read a general one.
	Internal Kind = iota
	// Invalid: the request is well formed and asks for something that cannot be.
	Invalid
	// Schema: the body is no JSON, or does not fit the schema.
	Schema
	// Unauthorized: no key, or a wrong one.
	Unauthorized
	// NotFound: a model, or a stored thing, that is not there.
	NotFound
	// MethodNotAllowed: the route is there for other methods.
	MethodNotAllowed
	// RequestTimeout: the client did not send its request to the end in time.
	RequestTimeout
	// TooLarge: the body is larger than the server takes.
	TooLarge
	// RateLimited: too many requests of one client.
	RateLimited
	// Overloaded: the server or the engine takes no more for now.
	Overloaded
	// NotImplemented: the engine, or the server, has no such thing.
	NotImplemented
	// BadGateway: the engine answered what no engine should.
	BadGateway
	// GatewayTimeout: the engine did not answer in time.
	GatewayTimeout
	// Gone: the client has left, and nobody reads the answer. Its status is for logs and counters.
	Gone
)

var kinds = map[Kind]struct {
	status int
	name   string
}{
	Internal:         {http.StatusInternalServerError, "InternalServerError"},
	Invalid:          {http.StatusBadRequest, "BadRequestError"},
	Schema:           {http.StatusBadRequest, "Bad Request"},
	Unauthorized:     {http.StatusUnauthorized, "AuthenticationError"},
	NotFound:         {http.StatusNotFound, "NotFoundError"},
	MethodNotAllowed: {http.StatusMethodNotAllowed, "MethodNotAllowedError"},
	RequestTimeout:   {http.StatusRequestTimeout, "RequestTimeoutError"},
	TooLarge:         {http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError"},
	RateLimited:      {http.StatusTooManyRequests, "RateLimitError"},
	Overloaded:       {http.StatusServiceUnavailable, "ServiceUnavailableError"},
	NotImplemented:   {http.StatusNotImplemented, "NotImplementedError"},
	BadGateway:       {http.StatusBadGateway, "BadGatewayError"},
	GatewayTimeout:   {http.StatusGatewayTimeout, "GatewayTimeoutError"},
	Gone:             {engine.StatusCanceled, "ClientClosedRequestError"},
}

// Error is what went wrong with a request.
type Error struct {
	Kind Kind
	// Message is for the client.
	Message string
	// Param is the field at fault, dotted, or "".
	Param string
	// Cause is for the log, and is never shown. The error does not unwrap to it: an engine's broken connection is no end
	// of ours.
	Cause error
	// RetryAfter is how long the client is asked to wait; 0 asks nothing.
	RetryAfter time.Duration
}

// New makes an error.
func New(kind Kind, param, format string, arguments ...any) *Error {
	return &Error{Kind: kind, Param: param, Message: fmt.Sprintf(format, arguments...)}
}

// Invalidf says what is wrong with a field. The message names the field at its end, as vLLM's does.
func Invalidf(param, format string, arguments ...any) *Error {
	e := New(Invalid, param, format, arguments...)
	if param != "" {
		e.Message += suffix(param)
	}
	return e
}

// Renamed is an error about a field under the name that another interface has for it: the checks that all interfaces share
// speak of the fields of Chat Completions. names has a "*" where a path has a number: "tools.*.function.parameters".
func Renamed(err error, names map[string]string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Param == "" {
		return err
	}
	var numbers []string
	steps := strings.Split(e.Param, ".")
	for i, step := range steps {
		if _, err := strconv.Atoi(step); err == nil {
			numbers, steps[i] = append(numbers, step), "*"
		}
	}
	name, ok := names[strings.Join(steps, ".")]
	if !ok {
		return err
	}
	for _, number := range numbers {
		name = strings.Replace(name, "*", number, 1)
	}
	renamed := *e
	renamed.Param = name
	if message, ok := strings.CutSuffix(e.Message, suffix(e.Param)); ok {
		renamed.Message = message + suffix(name)
	}
	return &renamed
}

// suffix names the field at the end of a message.
func suffix(param string) string { return fmt.Sprintf(" (parameter=%s)", param) }

// Wrap makes an error of a kind from any error; its text becomes the message.
func Wrap(kind Kind, err error) *Error { return &Error{Kind: kind, Message: err.Error(), Cause: err} }

func (e *Error) Error() string { return e.Message }

// Status is the HTTP status.
func (e *Error) Status() int { return kinds[e.Kind].status }

// Type is the type as the OpenAI interface of vLLM names it.
func (e *Error) Type() string { return kinds[e.Kind].name }

// From gives the *Error in err, or an Internal one that tells the client nothing of it.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: GatewayTimeout, Message: "The engine did not answer in time", Cause: err}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Kind: Gone, Message: "The client has left", Cause: err}
	}
	return &Error{Kind: Internal, Message: "Internal server error", Cause: err}
}

// Log is what the log is told of the error: its cause, where it has one. Messages to clients may hold what they sent.
func (e *Error) Log() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return e.Type()
}

// Join makes one Schema error of several complaints, each with its place, as a schema check finds them: at most ten are
// told, and none twice.
func Join(complaints []Complaint) *Error {
	complaints = unique(complaints)
	if len(complaints) == 0 {
		return nil
	}
	plural := "s"
	if len(complaints) == 1 {
		plural = ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d validation error%s:", len(complaints), plural)
	for i, c := range complaints {
		if i == 10 {
			fmt.Fprintf(&text, "\n  … and %d more", len(complaints)-i)
			break
		}
		fmt.Fprintf(&text, "\n  %s: %s", c.Param, c.Message)
		if c.Found != "" {
			fmt.Fprintf(&text, ", found %s", c.Found)
		}
	}
	return &Error{Kind: Schema, Param: complaints[0].Param, Message: text.String()}
}

// unique are complaints without those that repeat an earlier one, as happens where a member is read twice.
func unique(complaints []Complaint) (out []Complaint) {
	seen := map[Complaint]bool{}
	for _, c := range complaints {
		if !seen[c] {
			out = append(out, c)
		}
		seen[c] = true
	}
	return out
}

// Complaint is one thing that a schema check has found.
type Complaint struct {
	// Param is the place, dotted, such as body.tools.0.function.
	Param   string
	Message string
	// Found is what stood there, in short, or "".
	Found string
}
