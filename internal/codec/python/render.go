package python

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
)

// Style is how a family spells Python where it has a way of its own. The zero value is Append's.
type Style struct {
	// SingleQuotes: strings stand in single quotes, as Python prints them, unless they are a key or value of JSON.
	SingleQuotes bool
	// JSONWords: true, false and null instead of True, False and None.
	JSONWords bool
	// JSONLists and JSONObjects: lists, or dicts, among the arguments are JSON, as they are given.
	JSONLists, JSONObjects bool
}

// Append appends a JSON object as the arguments of a Python call, without the parentheses: k=v, k2=v2. Strings are
// written in double quotes with escapes that mean the same in JSON and in Python, numbers as they are written in the
// object. What a Codec reads from the result is the same object. Blank text is the empty object (ruling 25).
//
// It returns dst as it was and an error if arguments is no JSON object or if one of its keys is no identifier, which
// Python has no way to write. It may be called by several goroutines at once.
func Append(dst, arguments []byte) ([]byte, error) { return AppendStyled(dst, arguments, Style{}) }

// AppendStyled is Append in the style of a family.
func AppendStyled(dst, arguments []byte, style Style) ([]byte, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return dst, nil
	}
	w := writer{decoder: jsontext.NewDecoder(bytes.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), style: style, out: dst}
	if token, err := w.decoder.ReadToken(); err != nil {
		return dst, broken(err)
	} else if token.Kind() != '{' {
		return dst, fmt.Errorf("python arguments: expected a JSON object, found %s", token.Kind())
	}
	for {
		separator := separatorBefore(w.decoder)
		if w.decoder.PeekKind() == '}' {
			if _, err := w.decoder.ReadToken(); err != nil {
				return dst, broken(err)
			}
			break
		}
		key, err := w.decoder.ReadToken()
		if err != nil {
			return dst, broken(err)
		}
		if name := key.String(); !isName([]byte(name)) {
			return dst, fmt.Errorf("python arguments: the key %q is no identifier", name)
		}
		w.out = append(append(append(w.out, separator...), key.String()...), '=')
		if err := w.argument(); err != nil {
			return dst, broken(err)
		}
	}
	if _, err := w.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return dst, errors.New("python arguments: something follows the JSON object")
	}
	return w.out, nil
}

// AppendPrinted appends a JSON value as Python's str prints it: strings inside of it in single quotes, or in double
// quotes if they hold a single one and no double one; numbers as they are written. It returns dst as it was and an error
// if the value is no JSON.
func AppendPrinted(dst, value []byte) ([]byte, error) {
	w := writer{decoder: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), style: Style{SingleQuotes: true}, printed: true, out: dst}
	if err := w.value(); err != nil {
		return dst, broken(err)
	}
	return w.out, nil
}

// writer writes Python from JSON.
type writer struct {
	decoder *jsontext.Decoder
	style   Style
	printed bool
	out     []byte
}

// argument writes the value of a keyword argument.
func (w *writer) argument() error {
	if kind := w.decoder.PeekKind(); kind == '{' && w.style.JSONObjects || kind == '[' && w.style.JSONLists {
		value, err := w.decoder.ReadValue()
		w.out = append(w.out, value...)
		return err
	}
	return w.value()
}

// value writes one value, with all that it holds.
func (w *writer) value() error {
	outer := w.decoder.StackDepth()
	for {
		separator := ""
		if w.decoder.StackDepth() > outer {
			separator = separatorBefore(w.decoder)
		}
		token, err := w.decoder.ReadToken()
		if err != nil {
			return err
		}
		switch token.Kind() {
		case '}', ']':
			w.out = append(w.out, byte(token.Kind()))
		case '{', '[':
			w.out = append(append(w.out, separator...), byte(token.Kind()))
		default:
			w.out = append(w.out, separator...)
			w.scalar(token)
		}
		if w.decoder.StackDepth() == outer {
			return nil
		}
	}
}

func (w *writer) scalar(token jsontext.Token) {
	word := func(python string) {
		if w.style.JSONWords {
			python = token.String()
		}
		w.out = append(w.out, python...)
	}
	switch token.Kind() {
	case '"':
		w.text(token.String())
	case 't':
		word("True")
	case 'f':
		word("False")
	case 'n':
		word("None")
	default:
		w.out = append(w.out, token.String()...)
	}
}

func (w *writer) text(text string) {
	if !w.style.SingleQuotes {
		w.out = codec.AppendQuoted(w.out, []byte(text))
		return
	}
	quote := byte('\'')
	if w.printed && strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	const hex = "0123456789abcdef"
	w.out = append(w.out, quote)
	for _, c := range []byte(text) {
		switch {
		case c == quote || c == '\\':
			w.out = append(w.out, '\\', c)
		case c == '\n':
			w.out = append(w.out, '\\', 'n')
		case c == '\r':
			w.out = append(w.out, '\\', 'r')
		case c == '\t':
			w.out = append(w.out, '\\', 't')
		case c < ' ' || c == 0x7f:
			w.out = append(w.out, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			w.out = append(w.out, c)
		}
	}
	w.out = append(w.out, quote)
}

// broken is the error for a JSON text that cannot be read on.
func broken(err error) error {
	return fmt.Errorf("python arguments: the JSON object ends or breaks: %w", err)
}

// separatorBefore is what stands between what has been read and the next key, value or element.
func separatorBefore(decoder *jsontext.Decoder) string {
	depth := decoder.StackDepth()
	kind, length := decoder.StackIndex(depth)
	switch {
	case depth == 0 || length == 0:
		return ""
	case kind == '[' || length%2 == 0:
		return ", "
	}
	return ": "
}
