package machine

import (
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// envelopeClosed reads the brace that closes the object.
func (m *Machine) envelopeClosed(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	if !e.named && n.Envelope.KeyIsName && e.complete {
		e.name, e.named = append(e.name[:0], e.keyName...), true
	}
	if m.open {
		if !e.named || !n.Marked && !e.argued && !n.Envelope.Certain {
			m.failEnvelope(n, i)
			return i
		}
		if !m.envelopeBegin(n, i) {
			return i
		}
	}
	m.envelopeTake(piece, i, i+1)
	m.leaveEnvelope(n, i+1)
	return i + 1
}

func (m *Machine) leaveEnvelope(n *program.Node, i int) {
	if m.call.open && !m.call.ended && !m.call.malformed {
		m.arguments(empty, memoryStatic) // no arguments (ruling 25)
		m.goodArguments()
	}
	m.enter(n.Tail)
	m.from = i
}

// envelopeRaw reads arguments that are neither object nor string: raw, to the next comma or brace, or the bracket that
// balances their first, or a marker (ruling 34).
func (m *Machine) envelopeRaw(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	if found != match.None {
		e.back = append(e.back, piece[i:i+read]...)
		return m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, i+read)
	}
	c := piece[i]
	bracketed := m.raw.depth > 0
	if !bracketed && !m.raw.inString && (c == ',' || c == '}') {
		m.endRawArguments()
		return i
	}
	m.place = place
	over := m.raw.step(c) && bracketed
	e.back = append(e.back, c)
	k := len(e.back) - n.Table.Hold(place, 0)
	m.giveRaw(k - trailingBlanks(e.back[:k]))
	if over {
		m.endRawArguments()
	}
	return i + 1
}

// giveRaw gives out the first k bytes of raw argument text that is kept back. Blanks before it are none of it.
func (m *Machine) giveRaw(k int) {
	if k <= 0 {
		return
	}
	e := &m.envelope
	text, n := e.back[:k], 0
	if m.call.first {
		n = leadingBlanks(text)
	}
	m.take(text[:n], AsMarkup, -1)
	if n < k {
		m.take(text[n:], AsArguments, m.calls-1)
		m.call.first = false
		m.arguments(text[n:], memoryReused)
	}
	e.back = append(e.back[:0], e.back[k:]...)
}

// endRawArguments ends raw argument text; blanks at its end are none of it.
func (m *Machine) endRawArguments() {
	e := &m.envelope
	m.giveRaw(len(e.back) - trailingBlanks(e.back))
	m.take(e.back, AsMarkup, -1)
	e.back = e.back[:0]
	m.raw = raw{}
	m.place = 0
	e.state = envelopeRest
}

// envelopeEnd skips to the end of an envelope whose call is complete or lost: its brace, or a marker.
func (m *Machine) envelopeEnd(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	if e.inString {
		m.take(piece[i:i+1], AsJunk, m.calls-1)
		switch {
		case e.escape:
			e.escape = false
		case c == '\\':
			e.escape = true
		case c == '"':
			e.inString = false
		}
		return i + 1
	}
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	e.back = append(e.back, piece[i:i+read]...)
	if found != match.None {
		return m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, i+read)
	}
	m.place = place
	if k := len(e.back) - n.Table.Hold(place, 0); k > 0 {
		m.take(e.back[:k], AsJunk, m.calls-1)
		e.back = append(e.back[:0], e.back[k:]...)
		if c == '}' && len(e.back) == 0 {
			m.leaveEnvelope(n, i+1)
		}
	}
	return i + 1
}

// envelopeMarker follows a marker that ends the envelope: what its tail would have made of it.
func (m *Machine) envelopeMarker(n *program.Node, edge *program.Edge, path []match.Symbol, back, i int) int {
	e := &m.envelope
	rest := path[len(path)-back:]
	e.back = e.back[:max(0, len(e.back)-m.width(rest)-len(edge.Bytes))]
	if e.state == envelopeOther {
		m.endRawArguments()
	} else {
		m.take(e.back, AsJunk, m.calls-1)
		e.back = e.back[:0]
	}
	m.leaveEnvelope(n, i)
	m.again(edge.Symbols)
	m.again(rest)
	m.from = i
	return i
}

// envelopeToken offers a token to an envelope. Where a marker can end the object it may be one; elsewhere its first
// character may show that the object goes wrong there, and then it may be one after all.
func (m *Machine) envelopeToken(n *program.Node, s match.Symbol, text []byte) bool {
	e := &m.envelope
	for !e.searching() {
		i := 0
		if e.state == envelopeComma && m.open && e.named && (n.Marked || e.argued) && n.Table.Next(0, s) != 0 {
			m.envelopeBeginProbe()
			continue
		}
		if m.open && m.envelopeTooLong(0) {
			m.failEnvelope(n, 0)
		} else {
			i = m.envelopeStep(n, text[:m.envelopeRoom(text, 0)], 0)
		}
		if i > 0 { // it is data
			for i < len(text) {
				i = m.read(text, i)
			}
			return true
		}
		if m.node != n {
			return false
		}
	}
	if !n.Table.Knows(s) {
		return m.readToken(text)
	}
	place, found, back, taken := n.Table.Step(m.place, s)
	if taken {
		e.back = append(e.back, text...)
	}
	if e.state == envelopeProbe {
		i := 0
		if taken {
			i = len(text)
		}
		m.envelopeProbed(n, place, found, back, i)
		return taken
	}
	if found != match.None {
		m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, len(text))
		return taken
	}
	m.place = place
	return true
}
