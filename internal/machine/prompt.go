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
	m.silent = true
	outside := m.program.Start[program.Prompt].Outside
	m.node = outside
	for _, piece := range s.Prompt {
		m.readPiece(piece)
	}
	m.silent = false
	m.position = 0
	if m.trace != nil {
		m.trace = &trace{}
	}
	if m.count != nil {
		m.count = &count{waits: -1}
	}
	m.trays = trays{lead: m.trays.lead[:0]}
	if m.call.open {
		m.resumeCall()
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
		m.promptHeld = len(m.held)
		if m.outer != nil && m.outer.Twins[s.Mode] != nil {
			m.outer = m.outer.Twins[s.Mode]
		}
		return shown
	}
	if m.node.Kind == program.Text && n.Kind == program.Text {
		m.beginWith(n.Table.Path(m.place))
	}
	return shown
}

// resumeCall gives out a call that the prompt has begun: its name and its arguments so far belong to the output.
func (m *Machine) resumeCall() {
	c := &m.call
	if m.keep {
		return
	}
	m.resumed = append(m.resumed[:0], Event{Kind: EventCall, Call: m.calls - 1, Name: c.name, ID: c.id})
	if len(c.kept) > 0 {
		m.resumed = append(m.resumed, Event{Kind: EventArguments, Call: m.calls - 1, Data: c.kept})
	}
}
