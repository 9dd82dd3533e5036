package structuraltag

import (
	"encoding/binary"
	"encoding/json/jsontext"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// element is a part of a tag. Elements that are written alike are one, so what has been written once need not be written
// again to be told apart from others.
type element struct {
	// open is what is written before the elements inside, which have commas between them, and close what is behind them.
	open, close string
	inner       []*element
	// number counts the elements, size the bytes of one.
	number, size int
}

func (e *element) write(out *strings.Builder) {
	out.WriteString(e.open)
	for i, inner := range e.inner {
		if i > 0 {
			out.WriteString(", ")
		}
		inner.write(out)
	}
	out.WriteString(e.close)
}

// leaf is an element with nothing inside.
func (w *writer) leaf(text []byte) *element {
	w.leaves += len(text)
	if known, ok := w.alike[string(text)]; ok {
		return known
	}
	e := &element{open: string(text), number: len(w.alike), size: len(text)}
	w.alike[e.open] = e
	return e
}

// holding is an element with others inside.
func (w *writer) holding(open, close string, inner ...*element) *element {
	var space [256]byte
	key := append(append(append(append(space[:0], open...), 0), close...), 0)
	key = appendNumbers(key, inner)
	if known, ok := w.alike[string(key)]; ok {
		return known
	}
	e := &element{open: open, close: close, inner: slices.Clone(inner), number: len(w.alike), size: len(open) + len(close) + 2*max(len(inner)-1, 0)}
	for _, one := range inner {
		e.size = min(e.size+one.size, 2*mostWritten)
	}
	w.alike[string(key)] = e
	return e
}

func appendNumbers(key []byte, elements []*element) []byte {
	for _, e := range elements {
		key = binary.AppendUvarint(key, uint64(e.number))
	}
	return key
}

func (w *writer) constant(text string) *element {
	if known, ok := w.constants[text]; ok {
		return known
	}
	w.room = append(w.room[:0], `{"type": "const_string", "value": `...)
	w.room = append(toolschema.AppendQuote(w.room, text), '}')
	e := w.leaf(w.room)
	w.constants[text] = e
	return e
}

func (w *writer) anyText(excludes []string) *element {
	var space [256]byte
	out := append(space[:0], `{"type": "any_text"`...)
	return w.leaf(append(appendTexts(out, "excludes", excludes), '}'))
}

// appendTexts appends a member that is a list of texts, if there are any.
func appendTexts(out []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return out
	}
	out = append(append(append(out, `, "`...), name...), `": [`...)
	for i, text := range list {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = toolschema.AppendQuote(out, text)
	}
	return append(out, ']')
}

// grammar writes a node that has no form of its own.
func (w *writer) grammar(n language.Node) *element {
	w.room = w.ebnf.Append(w.room[:0], n)
	from := len(w.room)
	w.room = slices.Grow(w.room, from+from/4+64) // most of it is as long in quotes
	w.room = append(w.room, `{"type": "grammar", "grammar": `...)
	w.room, _ = jsontext.AppendQuote(w.room, w.room[:from]) // the grammar is valid UTF-8
	w.room = append(w.room, '}')
	return w.leaf(w.room[from:])
}

func (w *writer) repeated(inner *element, least, most int) *element {
	open := ""
	switch {
	case least == 0 && most == 1:
		open = `{"type": "optional", "content": `
	case least == 0 && most < 0:
		open = `{"type": "star", "content": `
	case least == 1 && most < 0:
		open = `{"type": "plus", "content": `
	default:
		open = `{"type": "repeat", "min": ` + strconv.Itoa(least) + `, "max": ` + strconv.Itoa(most) + `, "content": `
	}
	return w.holding(open, "}", inner)
}

// sequence is elements one after the other.
func (w *writer) sequence(elements []*element) *element {
	switch len(elements) {
	case 0:
		return w.constant("")
	case 1:
		return elements[0]
	}
	return w.holding(`{"type": "sequence", "elements": [`, "]}", elements...)
}

// either is one of several options.
func (w *writer) either(options []*element) *element {
	if len(options) == 1 {
		return options[0]
	}
	return w.holding(`{"type": "or", "elements": [`, "]}", options...)
}

// choice appends one of several options. What all of them begin and end with stands outside, and those that differ only
// in their first element share the others.
func (w *writer) choice(out []*element, options [][]*element) []*element {
	first := options[0]
	if len(options) == 1 {
		return append(out, first...)
	}
	begin := 0
	for ; all(options, func(o []*element) bool { return begin < len(o) && o[begin] == first[begin] }); begin++ {
	}
	end := 0
	for ; all(options, func(o []*element) bool {
		return begin+end < len(o) && begin+end < len(first) && o[len(o)-1-end] == first[len(first)-1-end]
	}); end++ {
	}
	// group is options with the same elements behind the first.
	type group struct{ firsts, rest []*element }
	var written []*element
	var groups []group
	places := map[string]int{}
	var space [64]byte
	for _, o := range options {
		o = o[begin : len(o)-end]
		if len(o) < 2 {
			written = append(written, w.sequence(o))
			continue
		}
		key := appendNumbers(space[:0], o[1:])
		place, met := places[string(key)]
		if !met {
			place = len(groups)
			places[string(key)] = place
			groups = append(groups, group{rest: o[1:]})
		}
		groups[place].firsts = append(groups[place].firsts, o[0])
	}
	for _, g := range groups {
		written = append(written, w.sequence(append([]*element{w.either(g.firsts)}, g.rest...)))
	}
	out = append(out, first[:begin]...)
	out = append(out, w.either(written))
	return append(out, first[len(first)-end:]...)
}

func all(options [][]*element, test func([]*element) bool) bool {
	for _, o := range options {
		if !test(o) {
			return false
		}
	}
	return true
}
