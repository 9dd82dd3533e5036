// Package jsontree reads a JSON text into a tree, as those need it who look things up in a text again and again, and in
// any order: a JSON schema, whose references may point anywhere in it.
//
// A tree keeps the order of members and the spelling of numbers. Of a name that is repeated the last value counts. A
// text is read with few allocations: strings without escapes are parts of one copy of it, values stand side by side.
package jsontree

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Value is one value of a text. It is not changed once it has been read.
type Value struct {
	// Text is what a string says, and of a number its digits as written.
	Text string
	// Members are those of an object, in the order of the text, each name once.
	Members []Member
	// Elements are those of an array.
	Elements []*Value

	parent   *Value
	index    map[string]*Value // of an object with many members
	position int32             // among the members or elements of the parent
	count    int32             // of the root: how many values there are

	// Number counts the values of a text in the order in which they begin, from 0.
	Number int32
	Kind   jsontext.Kind
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value *Value
}

// mostSearched is how many members are looked through for a name; of more an index is made.
const mostSearched = 12

// Read reads a text, one value with nothing but blanks around it. The nesting is bounded by what jsontext accepts, 10,000
// levels. Invalid UTF-8 is read as U+FFFD.
func Read(text []byte) (*Value, error) {
	r := readers.Get().(*reader)
	defer r.done()
	r.source = *bytes.NewBuffer(text)
	r.decoder.Reset(&r.source, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	r.text = string(text)
	// Every value but the root stands behind a comma or an opening bracket, every member before a colon.
	r.mostValues = min(1+strings.Count(r.text, ",")+strings.Count(r.text, "{")+strings.Count(r.text, "["), mostTogether)
	r.mostMembers = min(strings.Count(r.text, ":"), mostTogether)
	root, err := r.value(nil)
	if err != nil {
		return nil, err
	}
	root.count = r.count
	if _, err = r.decoder.ReadToken(); err == io.EOF {
		return root, nil
	}
	if err == nil {
		err = fmt.Errorf("expected the end after the JSON value, found more at byte %d", r.decoder.InputOffset())
	}
	return nil, err
}

// readers are readers that are not in use.
var readers = sync.Pool{New: func() any { return &reader{decoder: jsontext.NewDecoder(nothing)} }}

var nothing = bytes.NewReader(nil)

// done makes a reader ready for another text. It holds on to nothing of this one.
func (r *reader) done() {
	r.decoder.Reset(nothing)
	clear(r.members[:cap(r.members)])
	clear(r.elements[:cap(r.elements)])
	*r = reader{decoder: r.decoder, members: r.members[:0], elements: r.elements[:0]}
	if cap(r.members) <= mostKept && cap(r.elements) <= mostKept {
		readers.Put(r)
	}
}

// mostTogether is how many values are allocated at a time.
const mostTogether = 256

// mostKept is how many members and elements may have been open for the room they took to be used again.
const mostKept = 1 << 10

type reader struct {
	decoder *jsontext.Decoder
	source  bytes.Buffer
	text    string
	count   int32
	// values are values to come, members of objects that are complete go to complete. So many are allocated at a time.
	values                  []Value
	complete                []Member
	mostValues, mostMembers int
	// members and elements are those of the objects and arrays that are open.
	members  []Member
	elements []*Value
}

func (r *reader) value(parent *Value) (*Value, error) {
	if len(r.values) == 0 {
		r.values = make([]Value, r.mostValues)
	}
	v := &r.values[0]
	r.values = r.values[1:]
	v.parent, v.Number = parent, r.count
	r.count++
	var err error
	switch v.Kind = r.decoder.PeekKind(); v.Kind {
	case '{':
		err = r.object(v)
	case '[':
		err = r.array(v)
	case '"':
		v.Text, err = r.string()
	case '0':
		var digits jsontext.Value
		digits, err = r.decoder.ReadValue()
		v.Text = r.last(digits)
	default:
		_, err = r.decoder.ReadToken()
	}
	return v, err
}

// last is the part of the text that has been read last.
func (r *reader) last(raw jsontext.Value) string {
	end := int(r.decoder.InputOffset())
	return r.text[end-len(raw) : end]
}

func (r *reader) string() (string, error) {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return "", err
	}
	text := r.last(raw)
	if bytes.IndexByte(raw, '\\') < 0 && utf8.ValidString(text) {
		return text[1 : len(text)-1], nil
	}
	unquoted, _ := jsontext.AppendUnquote(nil, raw) // the error is that of invalid UTF-8
	return string(unquoted), nil
}

func (r *reader) object(v *Value) error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	from := len(r.members)
	for r.decoder.PeekKind() != '}' {
		if r.decoder.PeekKind() != '"' { // it is no name, or the text is over
			_, err := r.decoder.ReadToken()
			return err
		}
		name, err := r.string()
		if err != nil {
			return err
		}
		member, err := r.value(v)
		if err != nil {
			return err
		}
		r.add(v, from, Member{name, member})
	}
	v.Members = r.keep(r.members[from:])
	r.members = r.members[:from]
	_, err := r.decoder.ReadToken()
	return err
}

// add adds a member to an object whose members begin at an index.
func (r *reader) add(v *Value, from int, m Member) {
	members := r.members[from:]
	if v.index != nil || len(members) > mostSearched {
		if v.index == nil {
			v.index = make(map[string]*Value, 4*mostSearched)
			for _, other := range members {
				v.index[other.Name] = other.Value
			}
		}
		first, twice := v.index[m.Name]
		v.index[m.Name] = m.Value
		if twice {
			m.Value.position = first.position
			members[first.position] = m
			return
		}
	} else {
		for i := range members {
			if members[i].Name == m.Name {
				m.Value.position = int32(i)
				members[i] = m
				return
			}
		}
	}
	m.Value.position = int32(len(members))
	r.members = append(r.members, m)
}

func (r *reader) keep(members []Member) []Member {
	if len(members) > len(r.complete) {
		r.complete = make([]Member, max(r.mostMembers, len(members)))
	}
	n := copy(r.complete, members)
	out := r.complete[:n:n]
	r.complete = r.complete[n:]
	return out
}

func (r *reader) array(v *Value) error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	from := len(r.elements)
	for r.decoder.PeekKind() != ']' {
		element, err := r.value(v)
		if err != nil {
			return err
		}
		element.position = int32(len(r.elements) - from)
		r.elements = append(r.elements, element)
	}
	v.Elements = append([]*Value(nil), r.elements[from:]...)
	r.elements = r.elements[:from]
	_, err := r.decoder.ReadToken()
	return err
}

// Count is how many values there are in a text, for its root.
func (v *Value) Count() int { return int(v.count) }

// Member is the member of that name, nil if there is none.
func (v *Value) Member(name string) *Value {
	if v.index != nil {
		return v.index[name]
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return nil
}

// Keyword is the member of that name. One that is null counts as missing: generators of schemas write it so.
func (v *Value) Keyword(name string) *Value {
	if member := v.Member(name); member != nil && member.Kind != 'n' {
		return member
	}
	return nil
}

// Whole tells whether a number is written without a fraction and an exponent.
func (v *Value) Whole() bool {
	for i := range len(v.Text) {
		switch v.Text[i] {
		case '.', 'e', 'E':
			return false
		}
	}
	return true
}

// Pointer is where the value stands in the text, as a JSON pointer.
func (v *Value) Pointer() string {
	var space [128]byte
	return string(v.appendPointer(space[:0]))
}

func (v *Value) appendPointer(dst []byte) []byte {
	if v.parent == nil {
		return dst
	}
	dst = append(v.parent.appendPointer(dst), '/')
	if v.parent.Kind == '[' {
		return strconv.AppendInt(dst, int64(v.position), 10)
	}
	name := v.parent.Members[v.position].Name
	for i := range len(name) {
		switch c := name[i]; c {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Described names the value as an error message does that something else was expected.
func (v *Value) Described() string {
	switch v.Kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '0':
		return "the number " + v.Text
	case '"':
		return "the string " + strconv.Quote(v.Text)
	case '[':
		return "an array"
	}
	return "an object"
}

// Append appends the value as JSON text, members in their order, with a blank behind commas and colons.
func (v *Value) Append(dst []byte) []byte {
	switch v.Kind {
	case 'n':
		return append(dst, "null"...)
	case 't':
		return append(dst, "true"...)
	case 'f':
		return append(dst, "false"...)
	case '0':
		return append(dst, v.Text...)
	case '"':
		return AppendString(dst, v.Text)
	case '[':
		dst = append(dst, '[')
		for i, element := range v.Elements {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = element.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, member := range v.Members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(AppendString(dst, member.Name), ": "...)
		dst = member.Value.Append(dst)
	}
	return append(dst, '}')
}

// AppendString appends a JSON string, escaping only what must be. Invalid UTF-8 is written as U+FFFD.
func AppendString(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error is that of invalid UTF-8
	return dst
}
