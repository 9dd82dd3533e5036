package render

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// tagged writes the value of the open parameter between its tags.
func (w *writer) tagged(h *half, e *grammar.Capture) bool {
	if !w.inside || !w.keyed || w.valued {
		return false
	}
	open := &w.members[w.member]
	s := w.valueSchema()
	text, isString := w.valueText(), open.raw[0] == '"'
	silent, xml := schema.SilentString, false
	if codec, ok := e.Shape.(*grammar.Codec); ok {
		xml = codec.Kind == "xml"
		if codec.Kind == "json" {
			silent = schema.SilentJSON
			if !isString || sameRead(string(open.raw), open.raw, s, silent) {
				text, isString = string(open.raw), false
			} // else the schema wants the text as it stands
		}
	}
	if e.Shape == nil && !isString && w.lookup("type") != nil {
		return false // where types are written, what is no string is written as JSON
	}
	if w.emptyElement(open.raw, s) {
		w.value, w.closing, w.valued = len(w.out), -1, true
		w.consumed++
		return true
	}
	if !isString {
		if printed := pythonValue(open.raw, &w.r.written); printed != "" && !w.holdsMarker(printed) && sameRead(printed, open.raw, s, silent) {
			text = printed
		}
		text = h.escapeMarkers(w, text)
	}
	if !sameRead(text, open.raw, s, silent) {
		return w.fail(ReasonType, string(open.raw), "expected a value that is not read as another type")
	}
	if w.lone(h, open, text) {
		return w.fail(ReasonLone, string(open.raw), "expected no object as the only argument")
	}
	if xml {
		text = textEntities.Replace(text)
	} else if isString && h.endsIn(w, text) {
		return w.fail(ReasonCloser, text, "expected text without the markers that end a value")
	}
	w.value, w.closing = len(w.out), -1
	w.out = append(w.out, text...)
	w.piece(pieceArgument, w.value)
	w.valued = true
	w.consumed++
	return true
}

// emptyElement tells whether a value is an empty list or object that is written as an element without text: where lists
// are written element by element, and nothing else would be read from it.
func (w *writer) emptyElement(raw []byte, s *schema.Schema) bool {
	return w.r.written.Items != "" && (string(raw) == "[]" && s.Kinds() == schema.Array || string(raw) == "{}" && s.Kinds() == schema.Object)
}

// valueSchema is the schema of the open parameter's value.
func (w *writer) valueSchema() *schema.Schema {
	if w.listed {
		return w.schema.Item(w.member)
	}
	return w.schema.Property(w.members[w.member].key)
}

// valueText is the text of the open parameter's value: of a string what it says.
func (w *writer) valueText() string {
	raw := w.members[w.member].raw
	if raw[0] != '"' {
		return string(raw)
	}
	return unquote(raw)
}

func unquote(raw []byte) string {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return string(raw[1 : len(raw)-1])
	}
	return string(text)
}

// sameRead tells whether a text is read as the value it was written from.
func sameRead(text string, raw []byte, s *schema.Schema, silent schema.Silent) bool {
	kinds := s.Kinds()
	if raw[0] == '"' && silent == schema.SilentString && (kinds == schema.String || kinds == 0) {
		return true
	}
	read := schema.AppendValue(nil, []byte(text), s, silent)
	return bytes.Equal(read, raw) || sameJSON(read, raw)
}

// sameJSON tells whether two JSON texts are the same but for white space and escapes.
func sameJSON(a, b []byte) bool {
	x, y := tokens(a), tokens(b)
	for {
		s, errA := x.ReadToken()
		t, errB := y.ReadToken()
		if errA != nil || errB != nil {
			return errA == io.EOF && errB == io.EOF
		}
		if s.Kind() != t.Kind() || s.String() != t.String() {
			return false
		}
	}
}

func tokens(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// lone tells whether a parameter would be taken for all the arguments (ruling 30).
func (w *writer) lone(h *half, open *member, text string) bool {
	if len(w.members) != 1 || !slices.Contains(h.definition.Unwrap, open.key) || w.schema.Declares(open.key) {
		return false
	}
	read := schema.AppendValue(nil, []byte(text), anObject, schema.SilentJSON)
	return len(read) > 0 && read[0] == '{'
}

var anObject = func() *schema.Schema {
	s, err := schema.Parse([]byte(`{"type": "object"}`))
	if err != nil {
		panic(err)
	}
	return s
}()

// escapeMarkers writes the first character of every marker in the strings of a JSON text as an escape, so that the
// text holds no marker and means the same.
func (h *half) escapeMarkers(w *writer, text string) string {
	for _, marker := range h.markers {
		marker = w.fill(h, marker)
		for {
			before, after, found := strings.Cut(text, marker)
			if !found || strings.Count(before, `"`) == 0 {
				break
			}
			r, size := utf8.DecodeRuneInString(marker)
			text = before + fmt.Sprintf(`\u%04x`, r) + marker[size:] + after
		}
	}
	return text
}

// endsIn tells whether a text holds what ends a value before its own closer: the next parameter, or closers that a call
// follows (ruling 31).
func (h *half) endsIn(w *writer, text string) bool {
	if opener := w.fill(h, h.parameterOpener); opener != "" {
		if _, after, found := strings.Cut(text, opener); found && (h.endInCloser || strings.Contains(after, w.fill(h, h.parameterEnd))) {
			return true
		}
		if h.nests && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), opener) {
			return true
		}
	}
	if !slices.ContainsFunc(h.closers, func(closer string) bool { return strings.Contains(text, w.fill(h, closer)) }) {
		return false
	}
	starts := func(text string, markers []string) string {
		for _, marker := range markers {
			if marker = w.fill(h, marker); strings.HasPrefix(text, marker) {
				return marker
			}
		}
		return ""
	}
	for i := range len(text) {
		rest, closers := text[i:], 0
		for {
			if closer := starts(rest, h.closers); closer != "" {
				rest = strings.TrimLeft(rest[len(closer):], " \t\r\n")
				closers++
				continue
			}
			break
		}
		if closers > 0 && starts(rest, h.openers) != "" {
			return true
		}
	}
	return false
}

// typed gives the first value of an object, at any depth, that delimiters would write as another type, or nil.
func typed(members []member, s *schema.Schema) *member {
	for k := range members {
		if bad := typedValue(&members[k], s.Property(members[k].key)); bad != nil {
			return bad
		}
	}
	return nil
}

func typedValue(m *member, s *schema.Schema) *member {
	switch m.raw[0] {
	case '{':
		members, _ := objectMembers(m.raw, nil)
		return typed(members, s)
	case '[':
		for k, raw := range elements(m.raw) {
			if typedValue(&member{key: m.key, raw: raw}, s.Item(k)) != nil {
				return m
			}
		}
		return nil
	case '"':
		if kinds := s.Kinds(); kinds == 0 || kinds == schema.String {
			return nil
		}
		if read := schema.AppendTyped(nil, []byte(unquote(m.raw)), s, true); !sameJSON(read, m.raw) {
			return m
		}
		return nil
	}
	if read := schema.AppendTyped(nil, m.raw, s, false); !sameJSON(read, m.raw) {
		return m
	}
	return nil
}

// elements are the elements of a JSON array.
func elements(raw []byte) (out [][]byte) {
	decoder := tokens(raw)
	if _, err := decoder.ReadToken(); err != nil {
		return nil
	}
	for decoder.PeekKind() != ']' {
		value, err := decoder.ReadValue()
		if err != nil {
			return out
		}
		out = append(out, bytes.Clone(value))
	}
	return out
}
