package machine

import "github.com/parlance-llm/parlance/internal/program"

// blankLimit is how much white space is kept back at most; more of it is text.
const blankLimit = 4 << 10

// The places where white space waits: behind the text of each tray, and before the first letter of a piece.
const leadPlace = 2

// trays sorts white space: by default what stands at the two ends of a tray, or alone between two pieces of markup,
// belongs to no tray (ruling 13). A piece is the text between two pieces of markup.
type trays struct {
	written [2]bool   // the tray has text
	behind  [2][]byte // white space behind the tray's text, which belongs to it if more text comes
	lead    []byte    // white space at the beginning of the piece
	started bool      // the piece has a letter
	running bool      // the white space that is being read is longer than what is kept back: it is text as it comes
	tray    program.Tray
	join    [2]bool // a message of the tray has ended: the next one is joined to it
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func leadingBlanks(text []byte) int {
	n := 0
	for n < len(text) && isBlank(text[n]) {
		n++
	}
	return n
}

func trailingBlanks(text []byte) int {
	n := 0
	for n < len(text) && isBlank(text[len(text)-1-n]) {
		n++
	}
	return n
}

// text puts text into a tray, or drops it. kind says how long the bytes stay as they are.
func (m *Machine) text(tray program.Tray, text []byte, kind memory) {
	if m.promptHeld > 0 {
		text = m.ofOutput(text)
	}
	if len(text) == 0 {
		return
	}
	switch tray {
	case program.Dropped:
		m.take(text, AsDropped, -1)
		return
	case program.Junk:
		m.junk(text)
		return
	}
	if m.exact {
		m.exactText(tray, text, kind)
		return
	}
	t := &m.trays
	if !t.started || t.tray != tray {
		if t.started {
			m.piece()
		}
		n := leadingBlanks(text)
		t.tray = tray
		m.keepBlanks(leadPlace, text[:n])
		if n == len(text) {
			return
		}
		text = text[n:]
		m.startPiece(tray)
	}
	n := len(text)
	if isBlank(text[n-1]) {
		n -= trailingBlanks(text)
	}
	if n > 0 {
		t.running = false
		m.take(text[:n], trayAs(tray), -1)
		m.emitBehindBlanks(tray, text[:n], kind)
	}
	m.keepBlanks(int(tray), text[n:])
}

// junk accounts for text inside a call that means nothing; white space there is markup.
func (m *Machine) junk(text []byte) {
	for len(text) > 0 {
		n := leadingBlanks(text)
		m.take(text[:n], AsMarkup, -1)
		from := n
		for n < len(text) && !isBlank(text[n]) {
			n++
		}
		m.take(text[from:n], AsJunk, m.calls-1)
		text = text[n:]
	}
}

func trayAs(tray program.Tray) As {
	if tray == program.Reasoning {
		return AsReasoning
	}
	return AsContent
}

// startPiece is called at the first letter of a piece: the white space before it belongs to the tray, unless the tray
// begins here.
func (m *Machine) startPiece(tray program.Tray) {
	t := &m.trays
	t.started = true
	if t.join[tray] {
		// Whole messages of one tray are joined, not their white space.
		t.join[tray] = false
		if t.written[tray] {
			m.settleBlanks(tray)
			m.emit(tray, m.joinText, memoryStatic)
			m.settled(leadPlace, AsLayout)
			t.lead = t.lead[:0]
		}
	}
	if !t.written[tray] {
		t.written[tray] = true
		t.lead = t.lead[:0]
		m.settled(leadPlace, AsLayout)
		return
	}
	t.behind[tray] = append(t.behind[tray], t.lead...)
	t.lead = t.lead[:0]
	m.moved(leadPlace, int(tray))
}

// emitBehindBlanks gives out text and the white space that was kept before it, as one event if there is little of it.
func (m *Machine) emitBehindBlanks(tray program.Tray, text []byte, kind memory) {
	t := &m.trays
	if blanks := t.behind[tray]; len(blanks) > 0 && len(text) <= 64 && !m.silent {
		from := len(m.arena)
		m.arena = append(append(m.arena, blanks...), text...)
		t.behind[tray] = blanks[:0]
		m.settled(int(tray), trayAs(tray))
		m.emit(tray, m.arena[from:len(m.arena):len(m.arena)], memoryChunk)
		return
	}
	m.settleBlanks(tray)
	m.emit(tray, text, kind)
}

// settleBlanks gives out the white space that was kept behind a tray's text.
func (m *Machine) settleBlanks(tray program.Tray) {
	t := &m.trays
	if len(t.behind[tray]) == 0 {
		return
	}
	m.emit(tray, t.behind[tray], memoryReused)
	t.behind[tray] = t.behind[tray][:0]
	m.settled(int(tray), trayAs(tray))
}

// keepBlanks keeps white space back at a place. If there is more of it than the limit, all of it is text, or layout at the
// beginning of a tray, and so is what comes behind it.
func (m *Machine) keepBlanks(place int, blanks []byte) {
	if len(blanks) == 0 {
		return
	}
	t := &m.trays
	if t.running {
		if !m.exact && !t.written[t.tray] { // the beginning of a tray
			m.take(blanks, AsLayout, -1)
			return
		}
		m.take(blanks, trayAs(t.tray), -1)
		m.emit(t.tray, blanks, memoryReused)
		return
	}
	m.take(blanks, asPending, place)
	if place == leadPlace {
		t.lead = append(t.lead, blanks...)
		if len(t.lead) > blankLimit {
			t.running = true
			if !m.exact && !t.written[t.tray] {
				t.lead = t.lead[:0] // the beginning of a tray: it will never be text
				m.settled(leadPlace, AsLayout)
				return
			}
			m.startPiece(t.tray)
			m.settleBlanks(t.tray)
		}
		return
	}
	t.behind[place] = append(t.behind[place], blanks...)
	if len(t.behind[place]) > blankLimit {
		m.settleBlanks(program.Tray(place))
		t.running = true
	}
}

// piece ends a piece: a marker has come.
func (m *Machine) piece() {
	t := &m.trays
	if m.swallows {
		m.swallows = false
		m.dropBlanks()
	}
	if m.exact {
		m.settleExact()
	} else if !t.started && len(t.lead) > 0 {
		t.lead = t.lead[:0]
		m.settled(leadPlace, AsLayout)
	}
	t.started, t.running = false, false
}

// dropBlanks makes markup of the white space just before a marker that swallows it.
func (m *Machine) dropBlanks() {
	t := &m.trays
	place := leadPlace
	if t.started && !m.exact {
		place = int(t.tray)
		t.behind[t.tray] = t.behind[t.tray][:0]
	} else {
		t.lead = t.lead[:0]
	}
	m.settled(place, AsMarkup)
}

// exactText puts text into a tray with its white space. Only what a marker may still swallow is kept back.
func (m *Machine) exactText(tray program.Tray, text []byte, kind memory) {
	t := &m.trays
	if t.tray != tray {
		m.settleExact()
		t.tray = tray
	}
	if t.join[tray] {
		t.join[tray] = false
		if t.written[tray] {
			m.emit(tray, m.joinText, memoryStatic)
		}
	}
	t.written[tray] = true
	n := len(text)
	if m.node.SwallowsBlank {
		n -= trailingBlanks(text)
	}
	if n > 0 {
		t.running = false
		m.settleExact()
		m.take(text[:n], trayAs(tray), -1)
		m.emit(tray, text[:n], kind)
	}
	if n < len(text) {
		m.keepBlanks(leadPlace, text[n:])
	}
	t.started = true
}

// settleExact gives out the white space kept back for a marker that did not come.
func (m *Machine) settleExact() {
	t := &m.trays
	if len(t.lead) == 0 {
		return
	}
	m.emit(t.tray, t.lead, memoryReused)
	t.lead = t.lead[:0]
	m.settled(leadPlace, trayAs(t.tray))
}

// message begins a message of a tray: whole messages of one tray are joined by the definition's text.
func (m *Machine) message(tray program.Tray) {
	if len(m.joinText) > 0 && tray <= program.Reasoning && m.trays.written[tray] {
		m.trays.join[tray] = true
	}
}
