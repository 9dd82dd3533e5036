package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/match"
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

// inJSON reads a JSON object as arguments.
func (m *Machine) inJSON(n *program.Node, piece []byte, i int) int {
	switch {
	case m.open && n.Phase == program.InCall: // the arguments of a call that has begun already
		if !m.call.first {
			m.fail(n, i, nil) // they have begun in another way
			return i
		}
		m.settle(i, 0, AsMarkup, -1)
		m.call.syntax = inText
	case m.open:
		name := string(m.named("name"))
		if m.options.Forced != "" && name == "" {
			name = m.options.Forced
		}
		if !m.begin(name, string(m.named("id")), i, 0) {
			m.fail(n, i, nil)
			return i
		}
		m.call.syntax = inText
	}
	i, done := m.scan(piece, i)
	if done {
		m.leaveArguments(n, i)
	}
	return i
}

// leaveArguments goes to the tail of a call.
func (m *Machine) leaveArguments(n *program.Node, i int) {
	if !m.call.malformed {
		m.goodArguments()
	}
	m.enter(n.Tail)
	m.from = i
}

// scan passes JSON arguments on and answers whether they are over. JSON that goes wrong goes on raw, to the bracket
// that balances its first (ruling 34).
func (m *Machine) scan(piece []byte, i int) (int, bool) {
	for i < len(piece) {
		if m.raw.on {
			return m.scanRaw(piece, i)
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(piece, i)
		if i > from {
			m.take(piece[from:i], AsArguments, m.calls-1)
			m.passed(piece[from:i])
		}
		switch event {
		case jsonscan.Done:
			return i, true
		case jsonscan.Control:
			m.take(piece[i:i+1], AsArguments, m.calls-1)
			m.scratch = codec.AppendEscaped(m.scratch[:0], piece[i])
			m.arguments(m.scratch, memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			m.call.malformed = true
			m.raw = raw{on: true, depth: m.json.Depth(), inString: m.json.InString(), escape: m.json.AfterEscape()}
		}
	}
	return i, false
}

// passed gives out argument text as the model wrote it.
func (m *Machine) passed(text []byte) {
	m.call.first = false
	m.arguments(text, memoryChunk)
}

// raw follows argument text that is no JSON: brackets are counted, strings respected.
type raw struct {
	on       bool
	depth    int
	inString bool
	escape   bool
}

func (r *raw) step(c byte) (over bool) {
	switch {
	case r.escape:
		r.escape = false
	case r.inString:
		switch c {
		case '\\':
			r.escape = true
		case '"':
			r.inString = false
		}
	case c == '"':
		r.inString = true
	case c == '{' || c == '[':
		r.depth++
	case c == '}' || c == ']':
		r.depth--
		return r.depth <= 0
	}
	return false
}

func (m *Machine) scanRaw(piece []byte, i int) (int, bool) {
	from, over := i, false
	for i < len(piece) && !over {
		over = m.raw.step(piece[i])
		i++
	}
	m.take(piece[from:i], AsArguments, m.calls-1)
	m.passed(piece[from:i])
	if over {
		m.raw = raw{}
	}
	return i, over
}

// inPython reads keyword arguments.
func (m *Machine) inPython(n *program.Node, piece []byte, i int) int {
	if m.open && m.argumentsFrom < 0 {
		m.argumentsFrom = m.heldLength(i)
	}
	from := i
	rest := piece[i:]
	if m.open {
		rest = rest[:m.room(len(rest), m.heldLength(i))]
	}
	arena := len(m.arena)
	used, out, status := m.python.Step(rest, m.arena)
	m.arena, out = out, out[arena:]
	i += used
	if m.open {
		switch {
		case status == codec.Refused:
			m.fail(n, i, nil)
			return i
		case !m.python.Certain():
			if m.tooLong(i) {
				m.fail(n, i, nil)
			}
			return i
		}
		m.suspend(i)
		rest := m.held[m.argumentsFrom:]
		if !m.commit(i, len(rest)) {
			m.fail(n, i, nil)
			return i
		}
		m.call.syntax = inCode
		m.take(rest, AsArguments, m.calls-1)
		from = i
	}
	m.take(piece[from:i], AsArguments, m.calls-1)
	m.give(out)
	if status == codec.Done {
		m.closeArguments()
		m.endCall(false)
		m.enter(n.Tail)
		m.from = i
	}
	return i
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

func (m *Machine) startDelimited(n *program.Node) {
	m.delimited.Quotes = n.Quotes
	m.delimited.Start(n.Delimiter, n.Closer, m.call.schema)
	m.call.syntax = inDelimiters
	m.typed = !m.tokenDelimiter(n)
}

// inDelimited reads arguments with delimited strings. Outside strings the closers of the call end them.
func (m *Machine) inDelimited(n *program.Node, piece []byte, i int) int {
	arena := len(m.arena)
	used, out, status := m.delimited.Step(piece[i:], m.arena, m.typed)
	m.arena, out = out, out[arena:]
	m.take(piece[i:i+used], AsArguments, m.calls-1)
	i += used
	m.give(out)
	if status == codec.Done {
		m.closeArguments()
		m.endCall(false)
		m.enter(n.Tail)
		m.from = i
	}
	return i
}

// tokenDelimiter tells whether the delimiter counts only as a token.
func (m *Machine) tokenDelimiter(n *program.Node) bool {
	for _, token := range m.program.Tokens {
		if string(token) == string(n.Delimiter) {
			return true
		}
	}
	return false
}

func (m *Machine) delimiterToken(n *program.Node, text []byte) {
	m.take(text, AsArguments, m.calls-1)
	m.made(m.delimited.Delimiter(m.arena))
}

// delimitedToken reads a token that is not the delimiter: a closer of the call ends arguments whose bracket is missing.
func (m *Machine) delimitedToken(n *program.Node, s match.Symbol, text []byte) bool {
	if !m.delimited.InString() && n.Tail.Table.Knows(s) {
		m.closeArguments()
		m.endCall(false)
		m.enter(n.Tail)
		return false
	}
	return m.readToken(text)
}
