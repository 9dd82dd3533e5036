package delimited

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
)

// Append appends the members of a JSON object as fields: in the order given, numbers as written, keys bare where they
// can be, without brackets around the outermost object. A Codec reads the same object back where the schema is silent
// or wants strings to be strings.
//
// The error says that the arguments are not a JSON object, or at which key (a JSON pointer) stands what the syntax
// cannot write: text that holds the delimiter. On an error dst is returned as it was.
func Append(dst, arguments []byte, delimiter string) ([]byte, error) {
	w := writer{
		decoder:   jsontext.NewDecoder(bytes.NewReader(arguments), jsontext.AllowDuplicateNames(true)),
		delimiter: delimiter,
		dst:       dst,
	}
	if err := w.arguments(); err != nil {
		return dst, fmt.Errorf("arguments in delimiters: %w", err)
	}
	return w.dst, nil
}

type writer struct {
	decoder   *jsontext.Decoder
	delimiter string
	dst       []byte
}

func (w *writer) arguments() error {
	token, err := w.decoder.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != '{' {
		return fmt.Errorf("expected an object, found a value of kind %v", token.Kind())
	}
	if err := w.fields(); err != nil {
		return err
	}
	if _, err := w.decoder.ReadToken(); err != io.EOF {
		return fmt.Errorf("expected nothing behind the object, found more at byte %d", w.decoder.InputOffset())
	}
	return nil
}

// fields writes the members of an object whose opening bracket has been read, and reads the closing one.
func (w *writer) fields() error {
	for first := true; w.decoder.PeekKind() != '}'; first = false {
		token, err := w.decoder.ReadToken()
		if err != nil {
			return err
		}
		if !first {
			w.dst = append(w.dst, ',')
		}
		if err := w.key(token.String()); err != nil {
			return err
		}
		w.dst = append(w.dst, ':')
		if err := w.value(); err != nil {
			return err
		}
	}
	_, err := w.decoder.ReadToken()
	return err
}

func (w *writer) elements() error {
	for first := true; w.decoder.PeekKind() != ']'; first = false {
		if !first {
			w.dst = append(w.dst, ',')
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	_, err := w.decoder.ReadToken()
	return err
}

func (w *writer) value() error {
	token, err := w.decoder.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '{':
		w.dst = append(w.dst, '{')
		err = w.fields()
		w.dst = append(w.dst, '}')
	case '[':
		w.dst = append(w.dst, '[')
		err = w.elements()
		w.dst = append(w.dst, ']')
	case '"':
		err = w.text(token.String())
	default:
		w.dst = append(w.dst, token.String()...)
	}
	return err
}

func (w *writer) key(key string) error {
	if len(key) > mostKey {
		return fmt.Errorf("at %q: a key of %d bytes would not be read back, %d are the most", w.decoder.StackPointer(), len(key), mostKey)
	}
	if w.canBeBare(key) {
		w.dst = append(w.dst, key...)
		return nil
	}
	return w.text(key)
}

// canBeBare reports whether a key is read back as the same key if it stands without delimiters.
func (w *writer) canBeBare(key string) bool {
	return key != "" && !strings.ContainsAny(key, ":,})") && !strings.ContainsAny(key[:1], "{[]") && !strings.Contains(key, w.delimiter) &&
		!codec.IsBlank(key[0]) && !codec.IsBlank(key[len(key)-1])
}

// text writes text between delimiters. The delimiter must not come sooner than meant, not even half from the text and
// half from the delimiter behind it.
func (w *writer) text(text string) error {
	w.dst = append(w.dst, w.delimiter...)
	from := len(w.dst)
	w.dst = append(w.dst, text...)
	w.dst = append(w.dst, w.delimiter...)
	if bytes.Index(w.dst[from:], []byte(w.delimiter)) != len(text) {
		return fmt.Errorf("at %q: the text holds the delimiter %s", w.decoder.StackPointer(), w.delimiter)
	}
	return nil
}
