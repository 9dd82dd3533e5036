package machine

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// element is a parameter that is open: the outermost one, and those nested in it.
type element struct {
	key      []byte
	schema   *schema.Schema
	back     *program.Node // where a nested one leads back to
	nested   bool          // it holds parameters
	array    bool          // they are the elements of a list
	children int
	collects bool // its value is kept with its neighbours of the same name
}

// collector keeps the values of parameters of the same name side by side, whose schema wants a list: together they are
// one list (ruling 30). Every depth of nesting has its own.
type collector struct {
	active bool
	key    []byte
	schema *schema.Schema
	items  [][]byte
}

// collect keeps the value that begins with its neighbours of the same name.
func (m *Machine) collect(depth int, el *element) {
	for len(m.collectors) <= depth {
		m.collectors = append(m.collectors, collector{})
	}
	el.collects = true
	if c := &m.collectors[depth]; !c.active || !bytes.Equal(c.key, el.key) {
		m.settleCollected(depth)
		*c = collector{active: true, key: append(c.key[:0], el.key...), schema: el.schema, items: c.items[:0]}
	}
}

// settleCollected gives out the values kept at a depth: one as it is, several as a list.
func (m *Machine) settleCollected(depth int) {
	if depth >= len(m.collectors) || !m.collectors[depth].active {
		return
	}
	c := &m.collectors[depth]
	c.active = false
	if len(c.items) == 0 {
		return
	}
	m.beginMember(depth, c.key, depth > 0 && m.elements[depth-1].array)
	out := m.scratch[:0]
	if len(c.items) == 1 {
		out = m.appendValue(out, c.items[0], c.schema)
	} else {
		for k, item := range c.items {
			separator := ", "
			if k == 0 {
				separator = "["
			}
			out = m.appendValue(append(out, separator...), item, c.schema.Item(k))
		}
		out = append(out, ']')
	}
	m.scratch = out
	m.arguments(out, memoryReused)
}

// openElement: the parameter whose value was expected holds parameters.
func (m *Machine) openElement() {
	depth := len(m.elements) - 1
	el := &m.elements[depth]
	el.nested = true
	kinds := el.schema.Kinds()
	el.array = kinds.Has(schema.Array) && !kinds.Has(schema.Object)
	if el.collects { // it was taken for an element of a list
		m.settleCollected(depth)
		el.collects = false
		m.beginMember(depth, el.key, depth > 0 && m.elements[depth-1].array)
	}
	if el.array {
		m.arguments([]byte("["), memoryStatic)
	} else {
		m.arguments([]byte("{"), memoryStatic)
	}
}

// closeElement closes a parameter that holds parameters.
func (m *Machine) closeElement(e *program.Edge) {
	back := m.elements[len(m.elements)-1].back
	m.closeElements(len(m.elements) - 1)
	if back != nil {
		m.enter(back)
		return
	}
	m.enter(e.To)
}

// closeElements closes the open parameters down to a depth.
func (m *Machine) closeElements(depth int) {
	for len(m.elements) > depth {
		el := &m.elements[len(m.elements)-1]
		if el.nested {
			m.settleCollected(len(m.elements))
			if el.array {
				m.arguments([]byte("]"), memoryStatic)
			} else {
				m.arguments([]byte("}"), memoryStatic)
			}
		}
		m.elements = m.elements[:len(m.elements)-1]
	}
	if depth == 0 {
		m.settleCollected(0)
	}
}

// closesElement tells whether a closer's key is that of an open parameter; parameters inside it end with it.
func (m *Machine) closesElement(key []byte) bool {
	key = bytes.TrimSpace(key)
	for depth := len(m.elements) - 1; depth >= 0; depth-- {
		if !bytes.Equal(m.elements[depth].key, key) {
			continue
		}
		if depth < len(m.elements)-1 && m.node.Phase != program.InValue {
			m.closeElements(depth + 1)
		}
		return depth == len(m.elements)-1 || m.node.Phase != program.InValue
	}
	return false
}
