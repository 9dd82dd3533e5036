package machine

import (
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// State is what a prompt shows of the thought at its end.
type State uint8

const (
	// Silent: it shows nothing.
	Silent State = iota
	// Open: a thought is open.
	Open
	// Over: a thought has ended, or something else is open.
	Over
)

// Start says where a turn begins.
type Start struct {
	// Mode is On, or Off where the family's switch is off.
	Mode program.Mode
	// Inside: without a word in the prompt the turn begins in a thought.
	Inside bool
	// After: without a word in the prompt the turn begins behind the thought.
	After bool
	// Prompt is the end of the prompt, behind its last turn boundary; nothing if nothing is known.
	Prompt []Piece
}

// Begin puts the machine where a turn begins: where the prompt leaves it, else where the switch says (rulings 5 to 7).
// It answers what the prompt showed.
func (m *Machine) Begin(s Start) State {
	p := m.program
	shown := Silent
	var path []match.Symbol
	if len(s.Prompt) > 0 {
		shown = m.readPrompt(s)
		if shown != Silent {
			return shown
		}
		path = m.node.Table.Path(m.place)
	}
	starts := &p.Start[s.Mode]
	m.node = starts.Outside
	switch {
	case s.Inside && starts.Inside != nil:
		m.node = starts.Inside
	case s.After:
		m.node = starts.After
	}
	m.beginWith(path)
	return shown
}

// beginWith continues with half a marker that the prompt ends in.
func (m *Machine) beginWith(path []match.Symbol) {
	m.place = m.node.Table.Walk(path)
	m.promptHeld = m.node.Table.Hold(m.place, m.circumstances())
}

// readPrompt runs the end of a prompt through the machine, giving nothing out.
func (m *Machine) readPrompt(s Start) State {
	outside := m.program.Start[program.Prompt].Outside
	m.node = outside
	m.readSilently(s.Prompt)
	if m.call.open {
		m.resumeCall(s.Prompt, outside, m.program.Start[s.Mode].After)
		return Over
	}
	n := m.node
	nothing := m.thought == Silent && !m.open && (n == outside || n == outside.OnText || outside.OnText != nil && n == outside.OnText.OnText)
	if nothing {
		return Silent
	}
	shown := Over
	if n.InThought {
		shown = Open
	}
	if twin := n.Twins[s.Mode]; twin != nil {
		m.node = twin
	}
	if m.open {
		if m.outer != nil && m.outer.Twins[s.Mode] != nil {
			m.outer = m.outer.Twins[s.Mode]
		}
	}
	if !m.open && m.node.Kind == program.Text && n.Kind == program.Text {
		m.beginWith(n.Table.Path(m.place))
	} else {
		m.promptHeld = m.Held()
	}
	return shown
}

// readSilently reads pieces, giving nothing out, and forgets them but for where they have led: the same place for a whole
// answer as for a stream, also where a call in them is malformed, which only a whole answer could make text of.
func (m *Machine) readSilently(pieces []Piece) {
	keep := m.keep
	m.silent, m.keep = true, false
	for _, piece := range pieces {
		m.readPiece(piece)
	}
	m.silent, m.keep = false, keep
	m.position, m.calls = 0, 0
	if m.trace != nil {
		m.trace = &trace{}
	}
	if m.count != nil {
		m.count = &count{waits: -1}
	}
	m.trays = trays{lead: m.trays.lead[:0]}
}

// resumeCall goes on with a call that the prompt has begun: its name and its arguments so far belong to the output. The
// prompt is read again, silently only up to where the call begins; the rest of it is read like output of which no byte is
// there: whatever becomes of the call, nothing of the prompt comes out as text.
//
// If the call was begun while another was open, which its opener closed, reading begins before that one, so that the
// machine is where it was; the other call is over, and is the prompt's. A prompt with more such calls than a few is taken
// to be done with: otherwise it would be read as often as it has calls.
func (m *Machine) resumeCall(prompt []Piece, outside, after *program.Node) {
	const most = 4
	start := m.call.start
	for tries := 0; ; tries++ {
		before, rest := m.divide(prompt, start)
		m.Reset(m.program, m.options)
		m.node = outside
		if tries == most {
			if after != nil {
				m.node = after
			}
			return
		}
		m.readSilently(before)
		if m.call.open {
			start = m.call.start
			continue
		}
		m.promptHeld = m.Held()
		for _, piece := range rest {
			m.promptHeld += m.length(piece)
		}
		for _, piece := range rest {
			m.readPiece(piece)
		}
		break
	}
	for _, e := range m.events {
		if e.Call == m.calls-1 && m.call.open {
			e.Call, e.Data = 0, append([]byte(nil), e.Data...)
			m.resumed = append(m.resumed, e)
		}
	}
	m.events = m.events[:0]
	if m.calls = 0; m.call.open {
		m.calls = 1
	}
}

// length is the number of bytes of a piece.
func (m *Machine) length(piece Piece) int {
	if piece.Token != Ordinary {
		return len(m.program.Tokens[piece.Token])
	}
	return len(piece.Text)
}

// divide divides pieces at a place that is counted in bytes.
func (m *Machine) divide(pieces []Piece, at int) (before, rest []Piece) {
	for i, piece := range pieces {
		n := m.length(piece)
		if n <= at {
			at -= n
			continue
		}
		before = pieces[:i]
		if piece.Token != Ordinary || at == 0 {
			return before, pieces[i:]
		}
		before = append(before[:i:i], Piece{Text: piece.Text[:at], Token: Ordinary})
		return before, append([]Piece{{Text: piece.Text[at:], Token: Ordinary}}, pieces[i+1:]...)
	}
	return pieces, nil
}
