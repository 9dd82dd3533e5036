package machine

import (
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// callState is the call that is open, or the last one.
type callState struct {
	open bool
	name string
	id   string
	// syntax is who makes the arguments; first: nothing of them is out.
	syntax syntax
	first  bool
	schema *schema.Schema
	// malformed: the arguments could not be read. ended: they are complete.
	malformed bool
	ended     bool
	// start is where the call began. For calls that are kept: the events' data, and the text of the call.
	start int
	kept  []byte
	text  []byte
	// swallows: white space before the opener is markup once a call that is kept has ended well.
	swallows bool
	// unwrap is a parameter that may hold all the arguments (ruling 30).
	unwrap    []byte
	unwrapKey string
	unwraps   bool
	whole     bool // such a parameter was all the arguments, and is out
}

// syntax is how the arguments of a call are written.
type syntax uint8

const (
	inTags syntax = iota
	inText        // JSON as it stands
	inCode        // Python
	inDelimiters
)

// commit begins the call of the candidate that is held up to i, but for its last bytes. It answers false if the call is
// of a tool that may not be called.
func (m *Machine) commit(i, but int) bool {
	return m.begin(string(m.named("name")), string(m.named("id")), i, but)
}

// named gives what was captured under a name.
func (m *Machine) named(name string) []byte {
	for number, other := range m.program.Captures {
		if other == name && m.captured[number] {
			return m.captures[number]
		}
	}
	return nil
}

// begin begins a call. What is held is its markup.
func (m *Machine) begin(name, id string, i, but int) bool {
	tool, declared := m.options.Tools[name]
	if !declared && m.options.Tools != nil {
		// A name the format splits counts unsplit if only that is declared (ruling 24).
		if t, ok := m.options.Tools[m.unsplit]; ok && m.unsplit != "" && name == m.parted {
			name, tool, declared = m.unsplit, t, true
		}
	}
	if !declared && m.options.KnownOnly {
		return false
	}
	m.settleGap(m.gap)
	m.countCall()
	m.beginEcho()
	c := &m.call
	m.calls++
	if m.keep {
		// Blanks and separators before the opener stay markup whatever becomes of the call.
		lead := min(m.leadIn, m.heldLength(i))
		m.both(i, m.heldLength(i)-lead, func(text []byte, _ memory) { m.take(text, AsMarkup, -1) })
		*c = callState{kept: c.kept[:0], text: c.text[:0], start: m.position, swallows: m.swallows}
		m.swallows = false
		c.open = true
		m.suspend(i)
		m.held = m.held[lead:]
	} else {
		*c = callState{kept: c.kept[:0], text: c.text[:0], start: m.position}
		c.open = true
	}
	c.name, c.id, c.schema, c.first = name, id, tool, true
	m.settle(i, but, AsMarkup, -1)
	if !m.keep {
		m.piece()
		if !m.silent {
			m.events = append(m.events, Event{Kind: EventCall, Call: m.calls - 1, Begun: &Begun{name, id}})
		}
	}
	return true
}

// countCall counts the calls of a block: a call whose candidate began outside a block begins a new one.
func (m *Machine) countCall() {
	if m.node.Phase != program.InList && (m.outer == nil || m.outer.Block < 0) {
		m.blockCalls = 0
	}
	m.blockCalls++
}

// closeCall ends the open call: made arguments are closed.
func (m *Machine) closeCall() {
	c := &m.call
	if !c.open {
		return
	}
	if !c.ended && !c.malformed {
		m.closeArguments()
	}
	if c.malformed && m.keep {
		m.rejectCall()
		return
	}
	m.endCall(false)
}

// closeArguments appends what is missing of arguments that are made here, or `{}` if none began.
func (m *Machine) closeArguments() {
	c := &m.call
	c.ended = true
	switch c.syntax {
	case inCode:
		m.made(m.python.Close(m.arena))
	case inDelimiters:
		m.made(m.delimited.Close(m.arena))
	case inText:
		if c.first {
			m.arguments(empty, memoryStatic)
		} else {
			c.malformed = true
		}
	default:
		m.closeElements(0)
		m.unwrapLone()
		if c.first {
			m.arguments(empty, memoryStatic)
		} else if !c.whole {
			m.arguments(empty[1:], memoryStatic)
		}
	}
}

// finishArguments ends a call whose arguments are made here and complete; its closers are read next.
func (m *Machine) finishArguments(n *program.Node) {
	m.closeArguments()
	m.endCall(false)
	m.enter(n.Tail)
}

// empty are the arguments of a call that has none.
var empty = []byte("{}")

// endCall gives out the end of the open call; a call that was kept is given out with it.
func (m *Machine) endCall(cut bool) {
	c := &m.call
	c.open = false
	if m.keep {
		m.swallows = c.swallows
		m.piece()
	}
	if m.silent {
		return
	}
	if m.keep {
		m.events = append(m.events, Event{Kind: EventCall, Call: m.calls - 1, Begun: &Begun{c.name, c.id}})
		if len(c.kept) > 0 {
			m.events = append(m.events, Event{Kind: EventArguments, Call: m.calls - 1, Data: m.copy(c.kept)})
		}
	}
	m.events = append(m.events, Event{Kind: EventCallEnd, Call: m.calls - 1, Malformed: c.malformed, Cut: cut})
}

// rejectCall turns a call that was kept back into text, from its opener to here.
func (m *Machine) rejectCall() {
	c := &m.call
	c.open = false
	m.calls--
	m.blockCalls--
	m.position = c.start
	if m.trace != nil {
		m.trace.cut(c.start)
	}
	m.text(program.Content, c.text, memoryReused)
}

// endBadCall ends a call whose arguments could not be read, now that its closers have been read too.
func (m *Machine) endBadCall() {
	if m.call.open {
		m.closeCall()
	}
}

// goodArguments is called when arguments in JSON are complete.
func (m *Machine) goodArguments() {
	m.call.ended = true
	m.endCall(false)
}

// made gives out argument text that was appended to the arena.
func (m *Machine) made(arena []byte) {
	text := arena[len(m.arena):]
	m.arena = arena
	m.give(text)
}

// give gives out argument text that lies in the arena.
func (m *Machine) give(text []byte) {
	if len(text) > 0 {
		m.call.first = false
		m.arguments(text[:len(text):len(text)], memoryStatic)
	}
}
