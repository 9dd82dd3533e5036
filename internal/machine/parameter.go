package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// keyDone begins a parameter: its key is complete.
func (m *Machine) keyDone(e *program.Edge) {
	key := m.named("key")
	depth := len(m.elements)
	inList := depth > 0 && m.elements[depth-1].array
	parent := m.call.schema
	if depth > 0 {
		parent = m.elements[depth-1].schema
	}
	if depth < cap(m.elements) {
		m.elements = m.elements[:depth+1]
	} else {
		m.elements = append(m.elements, element{})
	}
	el := &m.elements[depth]
	*el = element{key: append(el.key[:0], key...), back: m.nestedBack}
	m.nestedBack = nil
	if inList {
		el.schema = parent.Item(m.elements[depth-1].children)
	} else {
		el.schema = parent.Property(string(key))
	}
	spec := e.To.Value
	v := &m.value
	*v = value{
		blanks: v.blanks[:0], behind: v.behind[:0], text: v.text[:0], entity: v.entity[:0],
		trims: spec.TrimBefore, schema: el.schema, kind: spec.Kind, nested: spec.Nested,
	}
	kinds := el.schema.Kinds()
	switch {
	case depth == 0 && m.call.first && !m.call.unwraps && m.mayUnwrap(string(key)) && !parent.Declares(string(key)):
		v.unwraps = true
		m.call.unwrapKey = string(key)
	case spec.Nested && !inList && kinds.Has(schema.Array) && !kinds.Has(schema.String):
		m.settleUnwrap()
		m.collect(depth, el)
	default:
		m.settleUnwrap()
		m.settleCollected(depth)
		v.streams = kinds == schema.String || kinds == 0 && spec.Kind != program.ValueJSON
		m.beginMember(depth, key, inList)
		if v.streams && !spec.Nested {
			m.openQuote()
		}
	}
	m.enter(e.To)
	v.begun = e.To.Value.Start == nil
}

// beginMember gives out what stands before a value: the separator, and the key where there is one.
func (m *Machine) beginMember(depth int, key []byte, inList bool) {
	out := m.scratch[:0]
	switch {
	case depth == 0 && m.call.first:
		out = append(out, '{')
		m.call.first = false
	case depth == 0 || m.elements[depth-1].children > 0:
		out = append(out, ", "...)
	}
	if depth > 0 {
		m.elements[depth-1].children++
	}
	if !inList {
		out = codec.AppendQuoted(out, key)
		out = append(out, ": "...)
	}
	m.scratch = out
	m.arguments(out, memoryReused)
}

// markerInCall follows a marker found between parameters.
func (m *Machine) markerInCall(n *program.Node, e *program.Edge) {
	m.forgetParameter()
	e = m.choose(e)
	do := e.Do
	m.nestedBack = e.Return
	switch {
	case do&program.EndCall != 0:
		if do&program.Again == 0 {
			m.take(e.Bytes, AsMarkup, -1)
		}
		m.closeCall()
		m.enter(e.To)
		if do&program.Again != 0 {
			m.again(e.Symbols)
		}
	case do&program.KeyDone != 0:
		m.take(e.Bytes, AsMarkup, -1)
		m.keyDone(e)
	case e.To.Kind == program.Text:
		m.take(e.Bytes, AsMarkup, -1)
		m.enter(e.To)
	default:
		m.startCandidate(nil)
		m.held = append(m.held, e.Bytes...)
		m.enterHeld(e.To)
	}
}

// forgetParameter forgets the captures of an earlier parameter.
func (m *Machine) forgetParameter() {
	for number, name := range m.program.Captures {
		if name != "name" && name != "id" {
			m.captured[number] = false
		}
	}
}
