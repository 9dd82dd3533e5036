package chattemplate

import "fmt"

// SyntaxError says that the source of a template cannot be read.
type SyntaxError struct {
	// Template is the name of the template, Line the line at fault, from 1.
	Template string
	Line     int
	Message  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("chat template %s, line %d: %s", e.Template, e.Line, e.Message)
}

// Reason says why a template rendered nothing.
type Reason string

const (
	// Raised: the template itself refused the request, with raise_exception.
	Raised Reason = "raised"
	// Refused: the template did something with the request that Python refuses, such as adding text to null.
	Refused Reason = "refused"
	// Exceeded: a limit was reached.
	Exceeded Reason = "exceeded"
	// Failed: the engine could not go on.
	Failed Reason = "failed"
)

// RenderError says why a template rendered nothing for a request. The request is at fault as far as a server can tell.
type RenderError struct {
	Template string
	// Line is the line of the template, from 1; 0 if it is not known.
	Line   int
	Reason Reason
	// Message is the template's own if Reason is Raised.
	Message string
}

func (e *RenderError) Error() string {
	if e.Reason == Raised {
		return e.Message
	}
	if e.Line == 0 {
		return fmt.Sprintf("chat template %s: %s", e.Template, e.Message)
	}
	return fmt.Sprintf("chat template %s, line %d: %s", e.Template, e.Line, e.Message)
}

// RequestError says what is wrong with a request before any template has seen it.
type RequestError struct {
	// Field is the field at fault, dotted: messages.2.tool_calls.0.
	Field   string
	Message string
}

func (e *RequestError) Error() string { return e.Field + ": " + e.Message }

// refuse makes the error of an operation that Python refuses. The template's name is filled in by Render.
func refuse(format string, arguments ...any) error {
	return &RenderError{Reason: Refused, Message: fmt.Sprintf(format, arguments...)}
}

func exceeded(format string, arguments ...any) error {
	return &RenderError{Reason: Exceeded, Message: fmt.Sprintf(format, arguments...)}
}
