package toolschema

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// value is one JSON value of a schema's text, with the order of its members kept.
type value struct {
	kind     jsontext.Kind
	text     string // of a string what it says, of a number its digits
	names    []string
	members  map[string]*value
	elements []*value
	parent   *value
	step     string
}

func readTree(text []byte) (*value, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := readValue(decoder, nil, "")
	if err == nil {
		if _, err = decoder.ReadToken(); err == io.EOF {
			return root, nil
		}
		err = fmt.Errorf("something follows the schema")
	}
	return nil, &Error{"", err.Error()}
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
		v.members = map[string]*value{}
		for decoder.PeekKind() != '}' {
			token, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			name := token.String()
			member, err := readValue(decoder, v, name)
			if err != nil {
				return nil, err
			}
			if _, twice := v.members[name]; !twice {
				v.names = append(v.names, name)
			}
			v.members[name] = member
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

// keyword is a member that is there and is not null.
func (v *value) keyword(name string) *value {
	if member := v.members[name]; member != nil && member.kind != 'n' {
		return member
	}
	return nil
}

// annotations say nothing about what is right.
var annotations = map[string]bool{
	"$ref": true, "allOf": true, "$defs": true, "definitions": true, "$id": true, "$schema": true, "$comment": true, "$anchor": true, "id": true,
	"title": true, "description": true, "default": true, "examples": true, "example": true, "deprecated": true, "readOnly": true,
	"writeOnly": true, "optional": true, "strict": true, "nullable": true,
}

// says tells whether an object says anything by itself.
func (v *value) says() bool {
	for _, name := range v.names {
		if !annotations[name] && v.members[name].kind != 'n' || name == "nullable" && v.members[name].kind == 't' {
			return true
		}
	}
	return false
}

// find is what a local reference points to, nil if there is nothing.
func (v *value) find(reference string) *value {
	pointer, local := strings.CutPrefix(reference, "#")
	if !local {
		return v.anchored(reference)
	}
	pointer, err := url.PathUnescape(pointer)
	switch {
	case err != nil:
		return nil
	case pointer == "":
		return v
	case pointer[0] != '/':
		return v.anchored(reference)
	}
	for step := range jsontext.Pointer(pointer).Tokens() {
		switch v.kind {
		case '{':
			v = v.members[step]
		case '[':
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.elements) {
				return nil
			}
			v = v.elements[i]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// anchored finds a schema by its $anchor or its $id.
func (v *value) anchored(reference string) *value {
	if id := v.keyword("$id"); id != nil && id.kind == '"' && id.text == reference {
		return v
	}
	if anchor := v.keyword("$anchor"); anchor != nil && anchor.kind == '"' && "#"+anchor.text == reference {
		return v
	}
	for _, name := range v.names {
		if found := v.members[name].anchored(reference); found != nil {
			return found
		}
	}
	for _, element := range v.elements {
		if found := element.anchored(reference); found != nil {
			return found
		}
	}
	return nil
}

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

func (v *value) expected(what string) error {
	found := map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false", '0': "the number " + v.text, '"': "the string " + strconv.Quote(v.text), '[': "an array", '{': "an object"}[v.kind]
	return &Error{v.pointer(), fmt.Sprintf("expected %s, found %s", what, found)}
}

// json writes the value, members in their order, with a blank behind commas and colons.
func (v *value) json() string {
	var out strings.Builder
	v.write(&out)
	return out.String()
}

func (v *value) write(out *strings.Builder) {
	switch v.kind {
	case 'n':
		out.WriteString("null")
	case 't':
		out.WriteString("true")
	case 'f':
		out.WriteString("false")
	case '0':
		out.WriteString(v.text)
	case '"':
		out.WriteString(Quote(v.text))
	case '[':
		out.WriteByte('[')
		for i, element := range v.elements {
			if i > 0 {
				out.WriteString(", ")
			}
			element.write(out)
		}
		out.WriteByte(']')
	case '{':
		out.WriteByte('{')
		for i, name := range v.names {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(Quote(name) + ": ")
			v.members[name].write(out)
		}
		out.WriteByte('}')
	}
}

// Quote writes a JSON string, escaping only what must be.
func Quote(text string) string {
	out, _ := jsontext.AppendQuote(nil, text)
	return string(out)
}
