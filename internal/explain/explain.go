// Package explain says what is wrong with JSON data in the words of JSON, not of Go: what was expected, what was found, and
// where.
package explain

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Error says what is wrong with JSON data; an error that is of something else stays as it is.
func Error(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		where := keys(semantic.JSONPointer)
		if semantic.Err != nil && semantic.GoType == nil {
			return fmt.Errorf("%s%w", where, semantic.Err)
		}
		if own := (*expectation)(nil); errors.As(semantic.Err, &own) {
			return fmt.Errorf("%s%w", where, own)
		}
		return fmt.Errorf("%sexpected %s, found %s", where, expected(semantic.GoType), Kind(semantic.JSONKind))
	case errors.As(err, &syntactic):
		what := strings.TrimPrefix(syntactic.Err.Error(), "jsontext: ")
		if errors.Is(err, io.ErrUnexpectedEOF) {
			what = "it ends too early"
		}
		return fmt.Errorf("expected JSON: %s, at byte %d", what, syntactic.ByteOffset)
	}
	return err
}

// expectation is an error of our own decoding that says already what was expected and found.
type expectation struct{ text string }

func (e *expectation) Error() string { return e.text }

// Expected is an error of a type that decodes itself, which says already what was expected and found. Error adds the place.
func Expected(format string, arguments ...any) error {
	return &expectation{fmt.Sprintf(format, arguments...)}
}

// keys writes a JSON pointer as people write it: `want.tool_calls[0].name: `.
func keys(pointer jsontext.Pointer) string {
	var out strings.Builder
	for token := range pointer.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			fmt.Fprintf(&out, "[%s]", token)
		case out.Len() > 0:
			out.WriteString("." + token)
		default:
			out.WriteString(token)
		}
	}
	if out.Len() > 0 {
		out.WriteString(": ")
	}
	return out.String()
}

func expected(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

// Kind says what a JSON value is.
func Kind(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[', ']':
		return "an array"
	case '{', '}':
		return "an object"
	}
	return "nothing"
}
