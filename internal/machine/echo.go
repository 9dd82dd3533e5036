package machine

import (
	"github.com/parlance-llm/parlance/internal/program"
)

// echoLimit is how long a block may be, white space aside, to be recognised when it is written a second time.
const echoLimit = 64 << 10

// echo is a block that may be written a second time: what was recorded of it, without its white space, and how much of
// that has come again.
type echo struct {
	// armed: a candidate holds the beginning of a block, from this byte of it on; recording begins when it commits.
	armed     int
	recording bool
	skip      int // bytes to leave out before the block begins
	text      []byte
	at        int
}

// record adds text of the block that is being recorded.
func (e *echo) record(text []byte) {
	if k := min(e.skip, len(text)); k > 0 {
		e.skip -= k
		text = text[k:]
	}
	for _, c := range text {
		if !isBlank(c) {
			e.text = append(e.text, c)
		}
	}
	if len(e.text) > echoLimit { // too long to be recognised
		e.recording, e.text = false, e.text[:0]
	}
}

// beginEcho: the block of a candidate begins with its call.
func (m *Machine) beginEcho() {
	if e := &m.echo; e.armed >= 0 {
		*e = echo{armed: -1, recording: true, skip: e.armed, text: e.text[:0]}
	}
}

// inEcho reads text as long as it repeats the recorded block, white space aside.
func (m *Machine) inEcho(n *program.Node, piece []byte, i int) int {
	e := &m.echo
	for i < len(piece) {
		c := piece[i]
		switch {
		case isBlank(c):
			if m.heldLength(i) >= len(e.text)+m.options.HeldLimit { // too much white space between its parts
				m.noEcho(i)
				return i
			}
			i++
			continue
		case e.at == len(e.text):
			m.enterHeld(n.Next)
			return i
		case c != e.text[e.at]:
			m.noEcho(i)
			return i
		}
		e.at++
		i++
	}
	return i
}

// noEcho: the text differs from the block, so it is read as what it is.
func (m *Machine) noEcho(i int) {
	m.suspend(i)
	text := m.copy(m.held)
	m.open, m.from = false, i
	m.enter(m.outer)
	m.reread(text)
	m.from = i
}

// echoToken reads a token as long as it repeats the recorded block. It answers whether it was used up.
func (m *Machine) echoToken(n *program.Node, text []byte) bool {
	e := &m.echo
	switch {
	case e.at == len(e.text):
		m.enterHeld(n.Next)
		return false
	case len(text) > len(e.text)-e.at || string(text) != string(e.text[e.at:e.at+len(text)]):
		m.noEcho(0)
		return false
	}
	e.at += len(text)
	return true
}
