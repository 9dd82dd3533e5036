package body

import (
	"bytes"
	"encoding/json/jsontext"
)

// Member is a member of an object as it was written.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Members are the members of an object in their order. It answers false if value is no object.
func Members(value jsontext.Value) (members []Member, ok bool) {
	decoder := jsontext.NewDecoder(bytes.NewReader(value), lenient)
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, false
		}
		member := Member{Name: name.String()}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, false
		}
		member.Value = value.Clone()
		members = append(members, member)
	}
	return members, true
}

// Join writes an object of members.
func Join(members []Member) jsontext.Value {
	out := jsontext.Value{'{'}
	for i, member := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = Quote(out, member.Name)
		out = append(out, ':')
		out = append(out, member.Value...)
	}
	return append(out, '}')
}

// Quote appends a text as a JSON string. What is no UTF-8 in it becomes U+FFFD.
func Quote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its only error is that text is no UTF-8, which it has mended
	return dst
}

// Lookup is the value of the last member of a name, nil if there is none.
func Lookup(members []Member, name string) jsontext.Value {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name == name {
			return members[i].Value
		}
	}
	return nil
}
