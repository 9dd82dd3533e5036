package schema

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// value is one JSON value of a schema's text. The text is read into a tree first because a $ref may point anywhere in
// it, forwards too.
type value struct {
	kind     jsontext.Kind
	text     string            // of a string what it says, of a number its digits as written
	members  map[string]*value // of an object; of a repeated name the last
	elements []*value          // of an array
	parent   *value            // nil for the whole text
	step     string            // the name or position of the value in its parent
}

// readTree reads a JSON text. The nesting is bounded by what jsontext accepts, 10,000 levels.
func readTree(text []byte) (*value, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := readValue(decoder, nil, "")
	if err == nil {
		if _, err = decoder.ReadToken(); err == io.EOF {
			return root, nil
		}
		if err == nil {
			err = fmt.Errorf("expected the end after the JSON value, found more at byte %d", decoder.InputOffset())
		}
	}
	return nil, fmt.Errorf("tool schema: %w", err)
}

func readValue(decoder *jsontext.Decoder, parent *value, step string) (*value, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: token.Kind(), parent: parent, step: step}
	switch v.kind {
	case '"', '0':
		v.text = token.String()
	case '{':
		v.members = make(map[string]*value)
		for decoder.PeekKind() != '}' {
			token, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			name := token.String()
			if v.members[name], err = readValue(decoder, v, name); err != nil {
				return nil, err
			}
		}
		_, err = decoder.ReadToken()
	case '[':
		for decoder.PeekKind() != ']' {
			element, err := readValue(decoder, v, strconv.Itoa(len(v.elements)))
			if err != nil {
				return nil, err
			}
			v.elements = append(v.elements, element)
		}
		_, err = decoder.ReadToken()
	}
	return v, err
}

// keyword returns the member of that name. One that is null counts as missing: generators of schemas write it so.
func (v *value) keyword(name string) *value {
	if member := v.members[name]; member != nil && member.kind != 'n' {
		return member
	}
	return nil
}

// find returns the value that a local reference points to ("#", "#/$defs/x"), nil if there is none or if the reference
// is not a local pointer.
func (v *value) find(reference string) *value {
	pointer, local := strings.CutPrefix(reference, "#")
	if !local {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil
	}
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for step := range jsontext.Pointer(pointer).Tokens() {
		switch v.kind {
		case '{':
			v = v.members[step]
		case '[':
			position, err := strconv.Atoi(step)
			if err != nil || position < 0 || position >= len(v.elements) {
				return nil
			}
			v = v.elements[position]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// pointer returns the JSON pointer of the value.
func (v *value) pointer() string {
	var steps []string
	for ; v.parent != nil; v = v.parent {
		steps = append(steps, v.step)
	}
	var pointer jsontext.Pointer
	for i := len(steps) - 1; i >= 0; i-- {
		pointer = pointer.AppendToken(steps[i])
	}
	return string(pointer)
}

// expected makes the error that something else stands where the value is.
func (v *value) expected(what string) error {
	return fmt.Errorf("tool schema at %q: expected %s, found %s", v.pointer(), what, v.described())
}

func (v *value) described() string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '0':
		return "the number " + v.text
	case '"':
		return "the string " + strconv.Quote(v.text)
	case '[':
		return "an array"
	}
	return "an object"
}

// valueKind returns the kind of a value listed in enum or const.
func (v *value) valueKind() Kinds {
	switch v.kind {
	case 'n':
		return Null
	case 't', 'f':
		return Boolean
	case '0':
		if strings.ContainsAny(v.text, ".eE") {
			return Number
		}
		return Integer
	case '"':
		return String
	case '[':
		return Array
	}
	return Object
}
