package machine

import (
	"bytes"
	"slices"

	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// Close ends the output and answers the last events (notation §2, L8). Nothing may be written afterwards.
func (m *Machine) Close(reason Reason) []Event {
	m.next()
	m.settlePending(reason)
	m.atEnd(reason)
	if m.call.open {
		m.endOpenCall(reason)
	}
	m.piece()
	if m.trace != nil {
		for place := range m.trace.pending {
			m.trace.settle(place, AsLayout)
		}
	}
	return m.events
}

// settlePending follows markers that are complete but were waiting for a longer one.
func (m *Machine) settlePending(reason Reason) {
	for {
		n := m.node
		var t *match.Table
		switch n.Kind {
		case program.Text, program.Gap, program.Until, program.Value, program.Whole:
			t = n.Table
			if n.Kind == program.Value && m.value.starting(n) {
				if reason == Length {
					return // the longer one may have been cut off: half a closer (ruling 39)
				}
				t = n.Value.Start
			}
		case program.Head, program.Tail:
			if m.inWord {
				return
			}
			t = n.Table
		}
		if t == nil {
			return
		}
		found, back := t.Pending(m.place)
		if found == match.None {
			return
		}
		if n.Kind == program.Head && reason == Length && n.Edges[found].Do&program.EndCall != 0 {
			return // the longer one may have been cut off, and then the call's arguments (ruling 38)
		}
		path := t.Path(m.place)
		rest := path[len(path)-back:]
		m.settleFound(n, found, rest)
	}
}

// settleFound follows a marker that was complete when the output ended, since a longer one did not come. rest is what was
// read behind it and is read again.
func (m *Machine) settleFound(n *program.Node, found int32, rest []match.Symbol) {
	m.buffer, m.from = nil, 0
	width := m.width(rest)
	switch n.Kind {
	case program.Text:
		e := &n.Edges[found]
		m.release(n, n.Table.Held(m.place, m.circumstances()), nil, m.keptBack(e)+width)
		m.place = 0
		m.marker(n, e)
	case program.Gap:
		m.gapMarker(n, &n.Edges[found], rest)
		return
	case program.Until:
		m.foundUntil(n, &n.Edges[found], rest, 0)
		return
	case program.Whole:
		m.foundWhole(n, &n.Edges[found], rest, 0)
		return
	case program.Value:
		if m.value.starting(n) {
			m.place = 0
			m.startMarker(n, &n.Value.StartEdges[found])
			break
		}
		e := &n.Edges[found]
		m.releaseValue(n.Table.Held(m.place, 0), nil, len(e.Bytes)+width)
		m.place = 0
		m.valueMarker(n, e)
	case program.Tail:
		m.shorten(0, width)
		m.place = 0
		m.tailMarker(n, &n.Edges[found], 0)
	default:
		m.shorten(0, width)
		m.place = 0
		m.advance(n, &n.Edges[found], 0)
	}
	m.again(rest)
}

// atEnd settles what is open where the output ends.
func (m *Machine) atEnd(reason Reason) {
	n := m.node
	m.buffer, m.from = nil, 0
	switch n.Kind {
	case program.Text:
		held := n.Table.Held(m.place, m.circumstances())
		if m.place = 0; reason == Length && n.OnText != nil && m.halfCloser(n, held) {
			m.take(held, AsMarkup, -1)
			return
		}
		m.text(n.Tray, held, memoryStatic)
	case program.Gap:
		m.place = 0
		m.giveUpGap(n, nil)
		m.atEnd(reason)
	case program.Tail:
		m.endTail(n)
	case program.Value:
		m.endInValue(n, reason)
	case program.Head, program.Until, program.Attribute, program.Python, program.Envelope, program.JSON, program.Echo, program.Whole:
		if m.open {
			m.endCandidate(n, reason)
		} else if n.Kind == program.Envelope {
			m.endEnvelope(n, reason)
		}
	}
}

// halfCloser tells whether a text right behind a call is the beginning of a closer of its block, or of a marker that can
// stand only there.
func (m *Machine) halfCloser(n *program.Node, text []byte) bool {
	for i := range n.Edges {
		e := &n.Edges[i]
		if m.blockCalls == 0 || len(text) == 0 || !bytes.HasPrefix(e.Bytes, text) {
			continue
		}
		onlyHere := e.Do&program.Resolve != 0 && !slices.ContainsFunc(n.OnText.Edges, func(other program.Edge) bool { return other.Text == e.Text })
		if e.Do&program.BlockCloser != 0 || onlyHere {
			return true
		}
	}
	return false
}

// endTail: half a closing marker behind complete arguments is dropped (ruling 38).
func (m *Machine) endTail(n *program.Node) {
	if m.keep && m.call.open {
		m.settle(0, 0, AsMarkup, -1)
		m.endBadCall()
		return
	}
	as := AsMarkup
	if m.place == 0 {
		as = AsLayout
	}
	m.settle(0, 0, as, -1)
}

// endCandidate settles a candidate at the end of the output (rulings 20, 37, 40).
func (m *Machine) endCandidate(n *program.Node, reason Reason) {
	switch n.Phase {
	case program.InCall:
		m.settle(0, 0, AsJunk, m.calls-1)
		m.enter(n.Fail)
		return
	case program.InValue:
		m.endInRun(n, reason)
		return
	}
	if n.Kind == program.Whole {
		m.endWhole(n, reason)
		return
	}
	if m.inWord && reason == Stop && n.Kind == program.Head {
		m.endWord(n, 0)
		if !m.open {
			m.atEnd(reason)
			return
		}
		n = m.node
	}
	if n.Kind == program.Python && reason == Length && !m.python.Certain() || n.Kind != program.Head && n.Kind != program.Envelope && n.Kind != program.JSON {
		m.endHeld(n, reason)
		return
	}
	if n.Kind == program.Envelope && m.endHeldEnvelope(n, reason) {
		return
	}
	ending := n.AtStop
	if reason == Length {
		ending = n.AtCut
	}
	switch ending {
	case program.EndDropped:
		m.settle(0, 0, AsMarkup, -1)
	case program.EndMarkup:
		m.settle(0, 0, AsMarkup, -1)
		m.piece()
	case program.EndCalled:
		if !m.commit(0, 0) {
			m.endText(n)
		}
	default:
		m.endText(n)
	}
}

func (m *Machine) endHeld(n *program.Node, reason Reason) {
	if reason == Length && n.AtCut == program.EndDropped {
		m.settle(0, 0, AsMarkup, -1)
		return
	}
	m.endText(n)
}

// endText turns a candidate into text; what is half a marker stays text.
func (m *Machine) endText(n *program.Node) {
	switch {
	case n.Phase == program.InList && len(m.gap) == 0 && m.leadIn > 0 && leadingBlanks(m.held[m.leadIn:]) == len(m.held)-m.leadIn:
		m.settle(0, 0, AsMarkup, -1) // nothing but the separator of a list (ruling 25)
	case n.Phase == program.InList:
		m.both(0, 0, func(text []byte, _ memory) { m.gap = append(m.gap, text...) })
		m.open = false
		text := m.copy(m.gap)
		m.keepGap(0)
		m.text(program.Content, text, memoryChunk)
	default:
		outer := m.outer
		m.both(0, 0, func(text []byte, kind memory) { m.text(outer.Tray, text, kind) })
		m.open, m.swallows = false, false
		m.enter(outer)
	}
}

// endHeldEnvelope settles an envelope whose call has not begun; it answers false where the endings of the node decide.
func (m *Machine) endHeldEnvelope(n *program.Node, reason Reason) bool {
	e := &m.envelope
	if !e.named || !n.Marked && !e.argued {
		return false
	}
	if reason == Stop && !n.Marked && !e.complete {
		return false
	}
	if e.state == envelopeProbe { // half a closing marker, held with the rest
		e.back = e.back[:0]
	}
	if !m.envelopeBegin(n, 0) {
		return true
	}
	m.endEnvelope(n, reason)
	return true
}

// endEnvelope settles an envelope whose call has begun.
func (m *Machine) endEnvelope(n *program.Node, reason Reason) {
	e := &m.envelope
	if e.state == envelopeOther {
		m.endRawArguments()
	}
	m.take(e.back, AsJunk, m.calls-1)
	e.back = e.back[:0]
	if !m.call.open || m.call.malformed || reason == Length {
		return
	}
	switch {
	case e.argued:
		m.call.malformed = true
	case e.state == envelopeComma || e.state == envelopeProbe:
		m.call.first = true // only the closers are missing: no arguments (rulings 25, 40)
	default:
		m.call.malformed = true
	}
}

// endInValue settles a tagged value that is open at the end of the output (rulings 39, 40).
func (m *Machine) endInValue(n *program.Node, reason Reason) {
	if m.value.starting(n) {
		m.beginText(n.Value.Start.Path(m.place))
		if m.node != n {
			m.atEnd(reason)
			return
		}
	}
	held := n.Table.Held(m.place, 0)
	m.place = 0
	if reason == Stop && string(held) == n.Value.LayoutAfter {
		m.take(held, AsMarkup, -1)
	} else {
		m.valueText(held, memoryStatic)
	}
	if reason == Length {
		m.valueBehind(AsArguments)
	}
	if reason == Stop {
		m.endValue()
		m.elements = m.elements[:len(m.elements)-1]
	}
}

// endInRun settles a candidate inside a value: a run of closers ends the value, anything else is data.
func (m *Machine) endInRun(n *program.Node, reason Reason) {
	if n.Run {
		m.valueBehind(AsMarkup)
		m.settle(0, 0, AsMarkup, -1)
		m.endValue()
		m.elements = m.elements[:len(m.elements)-1]
		m.closeCall()
		return
	}
	to := n.Fail
	data := m.held
	if layout := m.layoutAfter(); reason == Stop && layout != "" {
		data = bytes.TrimSuffix(data, []byte(layout))
	}
	m.valueText(data, memoryReused)
	m.take(m.held[len(data):], AsMarkup, -1)
	m.held, m.open = m.held[:0], false
	m.node, m.place = to, 0
	if reason == Length {
		m.valueBehind(AsArguments)
	}
	if reason == Stop {
		m.endValue()
		m.elements = m.elements[:len(m.elements)-1]
	}
}

// endOpenCall ends the call that the output broke off in.
func (m *Machine) endOpenCall(reason Reason) {
	if reason == Stop {
		m.closeCall()
		return
	}
	switch m.call.syntax {
	case inCode:
		m.made(m.python.Cut(m.arena))
	case inDelimiters:
		m.made(m.delimited.Cut(m.arena))
	}
	m.endCall(true)
}
