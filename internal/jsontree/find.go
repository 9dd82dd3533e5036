package jsontree

import (
	"encoding/json/jsontext"
	"net/url"
	"strconv"
	"strings"
)

// Find is the value of a tree that a local reference of JSON schema points to: "#", a pointer like "#/$defs/x", the
// "$anchor" of a schema behind "#", or its "$id". It is nil if there is none. v is the root.
func (v *Value) Find(reference string) *Value {
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
		switch v.Kind {
		case '{':
			v = v.Member(step)
		case '[':
			position, err := strconv.Atoi(step)
			if err != nil || position < 0 || position >= len(v.Elements) {
				return nil
			}
			v = v.Elements[position]
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
func (v *Value) anchored(reference string) *Value {
	if id := v.Keyword("$id"); id != nil && id.Kind == '"' && id.Text == reference {
		return v
	}
	if anchor := v.Keyword("$anchor"); anchor != nil && anchor.Kind == '"' && "#"+anchor.Text == reference {
		return v
	}
	for _, member := range v.Members {
		if found := member.Value.anchored(reference); found != nil {
			return found
		}
	}
	for _, element := range v.Elements {
		if found := element.anchored(reference); found != nil {
			return found
		}
	}
	return nil
}
