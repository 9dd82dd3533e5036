package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

var quote = []byte(`"`)

func (m *Machine) openQuote() {
	if !m.value.quoted {
		m.value.quoted = true
		m.arguments(quote, memoryStatic)
	}
}

func silent(kind program.ValueKind) schema.Silent {
	if kind == program.ValueJSON {
		return schema.SilentJSON
	}
	return schema.SilentString
}

// appendValue reads a value by its schema. Where parameters may be nested, one that is empty is an empty container if
// a container is wanted.
func (m *Machine) appendValue(out, text []byte, s *schema.Schema) []byte {
	if kinds := s.Kinds(); m.value.nested && leadingBlanks(text) == len(text) && !kinds.Has(schema.String) {
		switch {
		case kinds.Has(schema.Array):
			return append(out, "[]"...)
		case kinds.Has(schema.Object):
			return append(out, "{}"...)
		}
	}
	return schema.AppendValue(out, text, s, silent(m.value.kind))
}

// valueText adds text to the open value.
func (m *Machine) valueText(text []byte, kind memory) {
	if len(text) == 0 {
		return
	}
	v := &m.value
	if v.trims {
		n := leadingBlanks(text)
		m.take(text[:n], AsMarkup, -1)
		if text = text[n:]; len(text) == 0 {
			return
		}
		v.trims = false
	}
	if m.valueSpec().TrimAfter {
		n := len(text) - trailingBlanks(text)
		if n > 0 {
			m.valueBehind(AsArguments)
			m.takenValueText(text[:n], kind)
			v.running = false
		}
		if v.behind = append(v.behind, text[n:]...); v.running || len(v.behind) > blankLimit {
			v.running = true
			m.valueBehind(AsArguments)
		}
		return
	}
	m.takenValueText(text, kind)
}

// valueSpec is what the open value needs to know.
func (m *Machine) valueSpec() *program.ValueSpec {
	if m.node.Value == nil { // a candidate in the value
		return m.node.Fail.Value
	}
	return m.node.Value
}

// valueBehind settles the white space behind the text of a value: as its text, or as markup.
func (m *Machine) valueBehind(as As) {
	v := &m.value
	if len(v.behind) == 0 {
		return
	}
	behind := m.copy(v.behind)
	v.behind = v.behind[:0]
	if as == AsArguments {
		m.takenValueText(behind, memoryChunk)
		return
	}
	m.take(behind, as, -1)
}

// takenValueText adds text to the open value that is certain to be its text.
func (m *Machine) takenValueText(text []byte, kind memory) {
	m.take(text, AsArguments, m.calls-1)
	v := &m.value
	if v.kind == program.ValueXML {
		text, kind = m.entities(text, kind)
	}
	m.plainValueText(text, kind)
}

// plainValueText adds text to the open value: given out as part of a JSON string where the value is one, else kept.
func (m *Machine) plainValueText(text []byte, kind memory) {
	v := &m.value
	if !v.streams {
		v.text = append(v.text, text...)
		if len(v.text) > m.options.ArgumentLimit {
			m.overflow()
		}
		return
	}
	m.openQuote()
	if !needsEscape(text) {
		m.arguments(text, kind)
		return
	}
	from := len(m.arena)
	m.arena = codec.AppendString(m.arena, text)
	m.arguments(m.arena[from:len(m.arena):len(m.arena)], memoryChunk)
}

// overflow: a value that must be read whole is too long; it becomes a string (rulings 32, 41).
func (m *Machine) overflow() {
	v := &m.value
	if v.unwraps || m.elements[len(m.elements)-1].collects {
		depth := len(m.elements) - 1
		m.elements[depth].collects = false
		if depth < len(m.collectors) {
			m.settleCollected(depth)
		}
		v.unwraps = false
		m.beginMember(depth, m.elements[depth].key, depth > 0 && m.elements[depth-1].array)
	}
	v.streams = true
	text := v.text
	v.text = nil
	m.plainValueText(text, memoryReused)
}

var escaped = func() (t [256]bool) {
	for b := range 256 {
		t[b] = b < ' ' || b == '"' || b == '\\'
	}
	return t
}()

func needsEscape(text []byte) bool {
	for _, c := range text {
		if escaped[c] {
			return true
		}
	}
	return false
}
