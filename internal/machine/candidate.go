package machine

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// marker follows a marker that was found in text. The text before it has been given out; the marker itself is
// accounted for here, or begins a candidate.
func (m *Machine) marker(n *program.Node, e *program.Edge) {
	if n.Tray == program.Junk {
		m.markerInCall(n, e)
		return
	}
	swallows := e.Do&program.Blank != 0
	if len(e.Branches) > 0 || e.To.Kind != program.Text {
		m.forget()
		e = m.choose(e)
	}
	switch {
	case m.isText(e): // it has gone out already
		switch {
		case e.Do&program.PairOpener != 0:
			m.pairs++
		case e.Do&program.LoneCloser != 0:
			m.pairs--
		}
	case e.Do&(program.Resolve|program.LoneCloser) != 0:
		if swallows {
			m.dropBlanks()
		}
		m.take(e.Bytes, AsMarkup, -1)
		m.piece()
		if e.Do&program.BeginMessage != 0 {
			m.message(e.To.Tray)
		}
		if e.Do&program.ThoughtOver != 0 {
			m.thought = Over
		}
	default:
		m.startCandidate(n)
		m.swallows = swallows
		m.enter(e.To)
		if e.Do&program.Again != 0 {
			m.again(e.Symbols)
			return
		}
		m.held = append(m.held, e.Bytes...)
		return
	}
	m.enter(e.To)
}

// startCandidate begins to hold. n is the text node where it begins, nil in the tail of a call.
func (m *Machine) startCandidate(n *program.Node) {
	m.open, m.swallows = true, false
	m.held = m.held[:0]
	m.leadIn, m.echo.armed = 0, -1
	if n != nil {
		m.outer = n
		if n.OnText != nil {
			m.outer = n.OnText
		}
	}
}

// forget forgets the captures of an earlier construct.
func (m *Machine) forget() {
	for i := range m.captured {
		m.captured[i] = false
	}
}

// choose follows the branches of an edge by what has been captured.
func (m *Machine) choose(e *program.Edge) *program.Edge {
	for len(e.Branches) > 0 {
		chosen := &e.Branches[len(e.Branches)-1].Edge
		for i := range e.Branches {
			if m.holds(e.Branches[i].Tests) {
				chosen = &e.Branches[i].Edge
				break
			}
		}
		e = chosen
	}
	return e
}

// holds tells whether all tests of a branch hold for what has been captured.
func (m *Machine) holds(tests []program.Test) bool {
	for _, test := range tests {
		captured := m.captured[test.Capture]
		if len(test.Patterns) == 0 {
			if !captured {
				return false
			}
			continue
		}
		matched := false
		for _, pattern := range test.Patterns {
			switch value := m.captures[test.Capture]; {
			case pattern.None:
				matched = matched || !captured
			case !captured:
			case pattern.Prefix:
				matched = matched || len(value) >= len(pattern.Text) && string(value[:len(pattern.Text)]) == pattern.Text
			default:
				matched = matched || string(value) == pattern.Text
			}
		}
		if !matched {
			return false
		}
	}
	return true
}

// heldLength is the length of the candidate up to byte i of the piece.
func (m *Machine) heldLength(i int) int { return len(m.held) + i - m.from }

// tooLong tells whether a candidate has reached its limit (ruling 41).
func (m *Machine) tooLong(i int) bool { return m.heldLength(i) > m.options.HeldLimit }

// room is how much of n more bytes may be read at once where so much is held already: no more than shows that the limit
// is passed, so that a candidate ends at the same byte however the text is cut.
func (m *Machine) room(n, held int) int {
	return min(n, max(m.options.HeldLimit+1-held, 1))
}

// settle takes the held text as one thing, but its last `but` bytes, and ends the candidate. What is left over is for
// the caller.
func (m *Machine) settle(i, but int, as As, call int) {
	m.both(i, but, func(text []byte, _ memory) { m.take(text, as, call) })
	m.open = false
	m.from = i
}

// both visits the held text, but its last `but` bytes: what came with earlier pieces and what is in this one.
func (m *Machine) both(i, but int, visit func(text []byte, kind memory)) {
	n := m.heldLength(i) - but
	early := m.held
	if k := min(n, len(early)); k > 0 {
		visit(early[:k], memoryReused)
		n -= k
	}
	if n > 0 {
		visit(m.buffer[m.from:m.from+n], memoryChunk)
	}
}

// fail ends a candidate that is none. rest is the part of a marker that was being read, the last of what is held: it is
// read again where the failure leads.
func (m *Machine) fail(n *program.Node, i int, rest []match.Symbol) {
	but := m.width(rest)
	switch n.Phase {
	case program.InCall:
		m.settle(i, but, AsJunk, m.calls-1)
		m.enter(n.Fail)
	case program.InValue:
		m.both(i, but, func(text []byte, _ memory) { m.valueText(text, memoryReused) })
		m.open, m.from = false, i
		m.enter(n.Fail)
		m.value.begun = true
	case program.InList:
		m.both(i, but, func(text []byte, _ memory) { m.gap = append(m.gap, text...) })
		m.open, m.from = false, i
		m.node, m.place = n.Fail, 0
		if n.Fail.Kind != program.Gap {
			m.endGap(n.Fail)
		}
	default:
		outer := m.outer
		m.both(i, but, func(text []byte, kind memory) { m.text(outer.Tray, text, kind) })
		m.open, m.from, m.swallows = false, i, false
		if n.Opened != nil && outer.Block < 0 && outer.Tray == program.Content && !outer.InThought {
			outer, m.blockCalls = n.Opened, 0
		}
		m.enter(outer)
	}
	m.again(rest)
}

// advance follows an edge out of a candidate: its marker is the last of what is held, up to i.
func (m *Machine) advance(n *program.Node, e *program.Edge, i int) {
	e = m.choose(e)
	do := e.Do
	if do&program.AsText != 0 && do&program.Again != 0 {
		m.fail(n, i, e.Symbols)
		return
	}
	if do&program.PairOpener != 0 {
		m.pairs++
	}
	if do&program.BlockCloser != 0 && m.blockCalls == 0 {
		m.fail(n, i, nil)
		return
	}
	if do&program.AsText != 0 || do&program.LoneCloser != 0 && m.pairs > 0 {
		if do&program.LoneCloser != 0 {
			m.pairs--
		}
		m.fail(n, i, nil)
		if e.To != nil && do&program.LoneCloser == 0 {
			m.enter(e.To)
		}
		return
	}
	if do&program.RunCloser != 0 {
		m.runTo = m.heldLength(i)
	}
	but := 0
	if do&program.Again != 0 {
		but = len(e.Bytes)
	}
	if do&program.RecordEcho != 0 {
		m.echo.armed = m.heldLength(i) - len(e.Bytes)
	}
	if do&program.Commit != 0 {
		if !m.commit(i, but) {
			m.fail(n, i, nil)
			return
		}
	}
	if do&program.EndValue != 0 {
		m.endOfValue(e, i, but)
	}
	switch {
	case do&program.EndCall != 0:
		m.closeCandidate(i, but)
		m.closeCall()
	case do&program.KeyDone != 0 && do&program.EndValue == 0:
		m.closeCandidate(i, 0)
		m.keyDone(e)
		return
	case do&program.CloseElement != 0 && do&program.EndValue == 0:
		m.closeCandidate(i, 0)
		m.closeElement(e)
		return
	case do&program.Resolve != 0:
		m.closeCandidate(i, 0)
		m.piece()
		if do&program.BeginMessage != 0 {
			m.message(e.To.Tray)
		}
	case do&program.EndValue != 0, do&program.Again != 0 && do&program.Commit != 0:
		m.closeCandidate(i, but)
	case do&program.Again != 0: // a codec reads its first bracket itself; all is still held
		m.shorten(i, but)
	case e.To.Kind == program.Text:
		m.closeCandidate(i, 0)
	case e.To.Kind == program.Delimited:
		m.closeCandidate(i, 0)
	}
	if do&program.EndValue != 0 && do&program.EndCall == 0 {
		m.leaveValue(e)
		return
	}
	if !m.open && e.To.Phase == program.InCall && e.To.Kind != program.Text {
		m.startCandidate(nil) // the header of a parameter, behind the name that made the call certain
		m.from = i
		m.enterHeld(e.To)
		return
	}
	m.enterFrom(n, e.To)
	if do&program.Again != 0 {
		m.again(e.Symbols)
	}
}

// closeCandidate makes markup of what is held, but its last bytes, if a candidate is open.
func (m *Machine) closeCandidate(i, but int) {
	if m.open {
		m.settleGap(m.gap) // it stands before the candidate
		m.settle(i, but, AsMarkup, -1)
	}
}

// enterFrom goes from a head to the next node, keeping what is held if the candidate goes on.
func (m *Machine) enterFrom(n, to *program.Node) {
	if to.Kind == program.Tail { // begins anew
		m.open = false
	}
	m.enter(to)
}

// capture sets a capture, split by its pattern if it has one.
func (m *Machine) capture(number int, text []byte) bool {
	if number < 0 {
		return true
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 && m.program.Captures[number] == "name" {
		return false // a call without a name is none (rulings 33, 36)
	}
	m.captures[number] = append(m.captures[number][:0], text...)
	m.captured[number] = true
	if pattern := m.program.Patterns[number]; pattern != nil {
		return m.split(pattern, string(text))
	}
	return true
}
