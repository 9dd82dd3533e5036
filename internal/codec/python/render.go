package python

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"

	"github.com/parlance-llm/parlance/internal/codec"
)

// Append appends a JSON object as the arguments of a Python call, without the parentheses: k=v, k2=v2. Strings are
// written in double quotes with escapes that mean the same in JSON and in Python, numbers as they are written in the
// object. What a Codec reads from the result is the same object. Blank text is the empty object (ruling 25).
//
// It returns dst as it was and an error if arguments is no JSON object or if one of its keys is no identifier, which
// Python has no way to write. It may be called by several goroutines at once.
func Append(dst, arguments []byte) ([]byte, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return dst, nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := decoder.ReadToken(); err != nil {
		return dst, broken(err)
	} else if token.Kind() != '{' {
		return dst, fmt.Errorf("python arguments: expected a JSON object, found %s", token.Kind())
	}
	out := dst
	for {
		separator := separatorBefore(decoder)
		token, err := decoder.ReadToken()
		if err != nil {
			return dst, broken(err)
		}
		if decoder.StackDepth() == 0 {
			break
		}
		switch token.Kind() {
		case '{', '[':
			out = append(append(out, separator...), byte(token.Kind()))
		case '}', ']':
			out = append(out, byte(token.Kind()))
		case '"':
			text := []byte(token.String())
			out = append(out, separator...)
			if _, length := decoder.StackIndex(1); decoder.StackDepth() == 1 && length%2 == 1 {
				if !isName(text) {
					return dst, fmt.Errorf("python arguments: the key %q is no identifier", text)
				}
				out = append(out, text...)
				continue
			}
			out = codec.AppendQuoted(out, text)
		case 't':
			out = append(append(out, separator...), "True"...)
		case 'f':
			out = append(append(out, separator...), "False"...)
		case 'n':
			out = append(append(out, separator...), "None"...)
		default:
			out = append(append(out, separator...), token.String()...)
		}
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return dst, errors.New("python arguments: something follows the JSON object")
	}
	return out, nil
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
	case depth == 1:
		return "="
	}
	return ": "
}
