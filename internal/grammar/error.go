package grammar

import "fmt"

// Error is a fault in a definition: what was expected, what was found, and where.
type Error struct {
	File     string
	Position Position
	Message  string
}

func (e *Error) Error() string {
	if e.Position.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Position.Line, e.Position.Column, e.Message)
}
