package machine

import (
	"bytes"
	"slices"

	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// value is the state of a tagged value.
type value struct {
	begun   bool // what may stand only at its beginning is past
	streams bool // it is a string that goes out as it comes
	quoted  bool // its opening quote is out
	unwraps bool // it may hold all the arguments
	kind    program.ValueKind
	nested  bool // it may hold parameters
	schema  *schema.Schema
	blanks  []byte
	trims   bool   // white space at its beginning is still to be left out
	behind  []byte // white space behind its text, which may be left out as its end
	running bool   // there is more of it than is kept back: it is text as it comes
	text    []byte // a value that must be read whole
	entity  []byte // the beginning of an entity
}

// inValue reads a tagged value.
func (m *Machine) inValue(n *program.Node, piece []byte, i int) int {
	if m.value.starting(n) {
		return m.valueStart(n, piece, i)
	}
	t := n.Table
	before := m.place
	place, read, found, back := t.Find(before, piece[i:])
	owed := t.Held(before, 0)
	chunk := piece[i : i+read]
	i += read
	if found == match.None {
		m.place = place
		m.releaseValue(owed, chunk, t.Hold(place, 0))
		return i
	}
	path := t.Path(place)
	m.foundInValue(n, found, path[len(path)-back:], owed, chunk, i)
	return i
}

// foundInValue follows a marker found in a value. rest is what was read behind it and is read again; owed and chunk are
// what has not been given out, marker and rest included, and end is where the chunk ends in the piece.
func (m *Machine) foundInValue(n *program.Node, found int32, rest []match.Symbol, owed, chunk []byte, end int) {
	e := &n.Edges[found]
	m.releaseValue(owed, chunk, len(e.Bytes)+m.width(rest))
	m.place = 0
	m.valueMarker(n, e)
	m.from = end
	m.again(rest)
	m.from = end
}

// releaseValue gives out what has been read of a value, but for its last bytes, which may belong to a marker.
func (m *Machine) releaseValue(owed, chunk []byte, hold int) {
	count := len(owed) + len(chunk) - hold
	if count <= 0 {
		return
	}
	if k := min(count, len(owed)); k > 0 {
		m.valueText(owed[:k], memoryStatic)
		count -= k
	}
	if count > 0 {
		m.valueText(chunk[:count], memoryChunk)
	}
}

// valueMarker follows a marker found in a value: its closer, or the beginning of a candidate in it.
func (m *Machine) valueMarker(n *program.Node, e *program.Edge) {
	if e.Do&program.EndValue != 0 && len(e.Branches) == 0 {
		m.valueBehind(AsMarkup)
		m.take(e.Bytes, AsMarkup, -1)
		m.endValue()
		if e.Do&program.EndCall != 0 {
			m.elements = m.elements[:len(m.elements)-1]
			m.closeCall()
			m.enter(e.To)
			return
		}
		m.leaveValue(e)
		return
	}
	m.open = true
	m.held = append(m.held[:0], e.Bytes...)
	m.leadIn, m.runTo = 0, 0
	if e.Do&program.RunCloser != 0 {
		m.runTo = len(m.held)
	}
	m.enterHeld(e.To)
}

// endOfValue ends the value before what is held, or, where a run of closers turned out to be data, behind it.
func (m *Machine) endOfValue(e *program.Edge, i, but int) {
	if e.Do&program.EndValueHere != 0 {
		m.suspend(i)
		data := m.held[:m.runTo+leadingBlanks(m.held[m.runTo:])] // then the value's own closer begins
		if layout := m.layoutAfter(); layout != "" && bytes.HasSuffix(data, []byte(layout)) {
			data = data[:len(data)-len(layout)]
		}
		m.valueText(data, memoryReused)
		m.valueBehind(AsMarkup)
		m.take(m.held[len(data):], AsMarkup, -1)
		m.open, m.from = false, i
	}
	m.endValue()
}

func (m *Machine) layoutAfter() string {
	if v := m.node.Fail; v != nil && v.Value != nil {
		return v.Value.LayoutAfter
	}
	return ""
}

// leaveValue goes on behind a parameter that has ended.
func (m *Machine) leaveValue(e *program.Edge) {
	el := m.elements[len(m.elements)-1]
	m.elements = m.elements[:len(m.elements)-1]
	if e.Do&program.KeyDone != 0 { // the next parameter's header ended it
		m.nestedBack = el.back
		m.keyDone(e)
		return
	}
	if el.back != nil {
		m.enter(el.back)
		return
	}
	m.enter(e.To)
}

// endValue ends the open value and gives out what has been held of it.
func (m *Machine) endValue() {
	v := &m.value
	m.valueBehind(AsMarkup)
	if len(v.entity) > 0 {
		rest := v.entity
		v.entity = v.entity[:0]
		m.plainValueText(rest, memoryReused)
	}
	el := &m.elements[len(m.elements)-1]
	switch {
	case v.streams:
		m.openQuote()
		m.arguments(quote, memoryStatic)
	case v.unwraps:
		m.call.unwrap = append(m.call.unwrap[:0], v.text...)
		m.call.unwraps = true
	case el.collects:
		c := &m.collectors[len(m.elements)-1]
		c.items = append(c.items, slices.Clone(v.text))
	default:
		m.scratch = m.appendValue(m.scratch[:0], v.text, v.schema)
		m.arguments(m.scratch, memoryReused)
	}
}

// valueToken reads a token in a tagged value; see tokenInText.
func (m *Machine) valueToken(n *program.Node, s match.Symbol, text []byte) bool {
	if m.value.starting(n) {
		if m.valueStartSymbol(n, s) {
			m.from = len(text)
			return true
		}
		return false
	}
	t := n.Table
	before := m.place
	owed := t.Held(before, 0)
	place, found, back, taken := t.Step(before, s)
	chunk, end := text, len(text)
	if !taken { // the token is read again where the marker leads
		chunk, end = nil, 0
	}
	if found == match.None {
		m.place = place
		m.releaseValue(owed, chunk, t.Hold(place, 0))
		m.from = len(text)
		return true
	}
	path := t.Path(place)
	m.foundInValue(n, found, path[len(path)-back:], owed, chunk, end)
	return taken
}
