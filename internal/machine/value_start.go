package machine

import (
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// valueStart reads what may stand at the very beginning of a value instead of its text.
func (m *Machine) valueStart(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n && !m.value.begun {
		c := piece[i]
		if m.place == 0 && n.Value.StartBlank && isBlank(c) && !n.Value.Start.Knows(match.Symbol(c)) {
			if m.value.blanks = append(m.value.blanks, c); len(m.value.blanks) > blankLimit {
				m.beginText(nil)
			}
			i++
			continue
		}
		if m.valueStartSymbol(n, match.Symbol(c)) {
			i++
		}
		m.from = i
	}
	return i
}

// valueStartSymbol offers a symbol to the beginning of a value; see headSymbol.
func (m *Machine) valueStartSymbol(n *program.Node, s match.Symbol) bool {
	before := m.place
	place, found, back, taken := n.Value.Start.Step(before, s)
	switch {
	case found != match.None:
		path := n.Value.Start.Path(place)
		rest := path[len(path)-back:]
		m.place = 0
		m.startMarker(n, &n.Value.StartEdges[found])
		m.again(rest)
		return taken
	case place == match.Dead:
		m.beginText(n.Value.Start.Path(before))
		return false
	}
	m.place = place
	return true
}

// beginText: the value is text from its beginning; rest has been read of it.
func (m *Machine) beginText(rest []match.Symbol) {
	v := &m.value
	v.begun = true
	m.place = 0
	blanks := m.copy(v.blanks)
	v.blanks = v.blanks[:0]
	m.reread(blanks)
	m.again(rest)
}

// startMarker follows a marker at the very beginning of a value: layout, another way of writing the value, a parameter
// inside it, or one that the value would have found too.
func (m *Machine) startMarker(n *program.Node, e *program.Edge) {
	v := &m.value
	if e.Do&program.Stay != 0 { // layout, or another way of writing the value
		m.take(v.blanks, AsMarkup, -1)
		v.blanks = v.blanks[:0]
		m.take(e.Bytes, AsMarkup, -1)
		v.begun = true
		if e.To != n {
			m.enter(e.To)
			v.kind = e.To.Value.Kind
			v.begun = e.To.Value.Start == nil
		}
		return
	}
	if e.Do&program.EndValue == 0 && e.To.Phase == program.InCall { // a parameter inside
		m.take(v.blanks, AsMarkup, -1)
		v.blanks = v.blanks[:0]
		m.openElement()
		m.markerInCall(n, e)
		return
	}
	blanks := m.copy(v.blanks)
	v.blanks = v.blanks[:0]
	v.begun = true
	m.valueText(blanks, memoryChunk)
	m.valueMarker(n, e)
}

func (v *value) starting(n *program.Node) bool { return !v.begun && n.Value.Start != nil }
