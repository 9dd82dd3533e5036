package machine

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/schema"
)

// mayUnwrap tells whether a parameter may hold the whole argument object (ruling 30).
func (m *Machine) mayUnwrap(key string) bool {
	d := m.program.Options.Tool
	return d != nil && slices.Contains(d.Unwrap, key)
}

// settleUnwrap settles a parameter that might have been all the arguments: another one follows.
func (m *Machine) settleUnwrap() {
	c := &m.call
	if !c.unwraps {
		return
	}
	c.unwraps = false
	m.beginMember(0, []byte(c.unwrapKey), false)
	m.scratch = schema.AppendValue(m.scratch[:0], c.unwrap, nil, silent(m.value.kind))
	m.arguments(m.scratch, memoryReused)
}

// unwrapLone makes the arguments of a parameter that stands alone and holds an object.
func (m *Machine) unwrapLone() {
	c := &m.call
	if !c.unwraps {
		return
	}
	object := schema.AppendValue(m.scratch[:0], c.unwrap, anObject, schema.SilentJSON)
	m.scratch = object
	if len(object) == 0 || object[0] != '{' {
		m.settleUnwrap()
		return
	}
	c.unwraps, c.whole, c.first = false, true, false
	m.arguments(object, memoryReused)
}

var anObject = func() *schema.Schema {
	s, err := schema.Parse([]byte(`{"type": "object"}`))
	if err != nil {
		panic(err)
	}
	return s
}()
