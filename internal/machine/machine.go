// Package machine runs a compiled program over the text of a model, whole or in pieces, and sorts it: text of the
// trays, calls, and markup.
//
// A Machine reads bytes, or pieces with token numbers, and appends events: text for a tray, a call that begins, more of
// its arguments, its end. What has been given out is never taken back. How the input was cut makes no difference.
//
// The words: a *candidate* is markup that is not decided; its characters are *held*, and turn back into text of the
// node where they began if it fails. A call *begins* when it commits; where calls are *kept* (whole answers, and
// streams that ask for it) its events wait until it has ended well, and a call that ended badly turns back into text,
// from its opener through its closers (ruling 34).
package machine

import (
	"unsafe"

	"github.com/parlance-llm/parlance/internal/codec/delimited"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/codec/python"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Options are what a request says about reading its answer. The zero value reads with the defaults.
type Options struct {
	// Keep keeps each call until it has ended well.
	Keep bool
	// Exact keeps all white space that is not markup.
	Exact bool
	// Tools are the declared tools by name; nil knows of none.
	Tools map[string]*schema.Schema
	// KnownOnly: a call of a tool that is not declared is no call.
	KnownOnly bool
	// Forced is the tool that a named tool choice names.
	Forced string
	// Trace keeps what became of every byte.
	Trace bool
	// Count counts the tokens that become reasoning.
	Count bool
	// HeldLimit bounds what is held of guards, headers, names and runs of closers; ArgumentLimit bounds arguments before
	// their name and values that must be read whole (ruling 41). Zero means 4 KiB and 16 MiB.
	HeldLimit, ArgumentLimit int
}

// EventKind tells events apart.
type EventKind uint8

// The kinds of event.
const (
	// EventText: more text of a tray.
	EventText EventKind = iota
	// EventCall: a call begins; its name is complete.
	EventCall
	// EventArguments: more of the argument text of the last call.
	EventArguments
	// EventCallEnd: the last call is over.
	EventCallEnd
)

// Event is one thing that has become certain. Data is valid until the next call of a method of the Machine.
type Event struct {
	Kind EventKind
	Tray program.Tray
	// Malformed and Cut are given with EventCallEnd: the arguments could not be read; the output was cut off in them.
	Malformed, Cut bool
	// Call is the number of the call, from 0.
	Call int
	Data []byte
	// Begun is given with EventCall. It is apart because events are many, and few of them begin a call.
	Begun *Begun
}

// Begun is a call that begins: its name, and its id, "" where the model wrote none.
type Begun struct{ Name, ID string }

// Reason is why an output ended.
type Reason uint8

const (
	// Stop: the model ended its turn.
	Stop Reason = iota
	// Length: the output was cut off.
	Length
)

type memory uint8

const (
	memoryChunk  memory = iota // part of the piece that is being read
	memoryStatic               // never changes
	memoryReused               // changes before the caller has seen it
)

// Machine is the state of one output. It belongs to one goroutine at a time.
type Machine struct {
	program *program.Program
	options Options
	exact   bool
	keep    bool
	direct  bool // white space is trimmed and no trace is kept: see Plain

	node  *program.Node
	place match.Place // in the node's table
	pairs int         // openers of thoughts that were text, whose closers are text too (ruling 9)

	// A candidate: open, what of it came before the piece that is being read, and where it begins in that piece.
	open   bool
	held   []byte
	from   int
	leadIn int // bytes of it that stand before the opener: blanks and separators
	outer  *program.Node
	runTo  int // how far a run of closers inside a value has come, in what is held
	// swallows: white space before the candidate is markup if the candidate is.
	swallows bool

	inWord bool
	// wordState is where the automaton of the word stands.
	wordState int
	word      []byte
	quote     byte
	captures  [][]byte
	captured  []bool
	// parted is the name that a pattern took out of a captured text, unsplit the whole of it (ruling 24).
	parted, unsplit string

	call       callState
	blockCalls int // calls of the open block that have begun
	calls      int
	elements   []element
	collectors []collector
	nestedBack *program.Node // where the parameter that is being opened leads back to, if it lies in another

	json      jsonscan.Scanner
	skip      jsonscan.Scanner
	envelope  envelope
	python    python.Codec
	delimited delimited.Codec
	typed     bool // the delimiter counts where it is typed, not only as a token
	whole     whole
	raw       raw
	value     value
	gap       []byte
	gapTokens []gapToken
	echo      echo
	scratch   []byte
	// argumentsFrom is where in the held text the arguments begin that are not certain yet, or -1.
	argumentsFrom int

	trays    trays
	joinText []byte

	events   []Event
	arena    []byte
	buffer   []byte // the piece that is being read
	position int    // bytes of the input that are accounted for
	trace    *trace
	count    *count
	silent   bool // the prompt is being read: nothing is given out
	// promptHeld are bytes held that came with the prompt; they are not part of the output.
	promptHeld int
	thought    State   // what the prompt has shown of the thought
	resumed    []Event // a call that the prompt has begun
	steps      int
	at         int // the byte of the piece that is being read, at the beginning of a text
	most       int // the most bytes that were held at any time
}

// New makes a machine for one output.
func New(p *program.Program, o Options) *Machine {
	m := &Machine{}
	m.Reset(p, o)
	return m
}

// Reset makes the machine ready for another output, keeping its buffers.
func (m *Machine) Reset(p *program.Program, o Options) {
	if o.HeldLimit <= 0 {
		o.HeldLimit = 4 << 10
	}
	if o.ArgumentLimit <= 0 {
		o.ArgumentLimit = 16 << 20
	}
	*m = Machine{
		program: p, options: o, exact: o.Exact, keep: o.Keep, direct: !o.Exact && !o.Trace, joinText: []byte(p.Join),
		held: m.held[:0], word: m.word[:0], gap: m.gap[:0], gapTokens: m.gapTokens[:0], events: m.events[:0], arena: m.arena[:0], elements: m.elements[:0], collectors: m.collectors[:0],
		captures: m.captures[:0], scratch: m.scratch[:0], resumed: m.resumed[:0],
	}
	m.echo.armed = -1
	m.python.Limit, m.delimited.Limit = o.ArgumentLimit, o.ArgumentLimit
	if o.Trace {
		m.trace = &trace{}
	}
	if o.Count {
		m.count = &count{waits: -1}
	}
	for range p.Captures {
		m.captures = append(m.captures, nil)
		m.captured = append(m.captured, false)
	}
	m.node = p.Start[program.On].Outside
}

// Write reads a piece and answers what has become certain. The events, and what they point to, are valid until the
// next call; they may point into the piece.
func (m *Machine) Write(piece []byte) []Event {
	m.next()
	m.run(piece)
	return m.events
}

// next begins a new list of events.
func (m *Machine) next() {
	m.events, m.arena = m.events[:0], m.arena[:0]
	if len(m.resumed) > 0 {
		m.events = append(m.events, m.resumed...)
		m.resumed = m.resumed[:0]
	}
}

// Piece is a part of an output: ordinary text, or a token that counts as a whole.
type Piece struct {
	Text []byte
	// Token is the number of the token among the program's, or Ordinary.
	Token int
	// Ends, if it is not 0, says that a token of the output ends behind the piece: how many bytes of output that makes.
	Ends int
}

// Ordinary is the number of no token.
const Ordinary = -1

// WritePieces reads pieces as Write reads one.
func (m *Machine) WritePieces(pieces []Piece) []Event {
	m.next()
	for _, piece := range pieces {
		if piece.Ends > 0 && m.count != nil {
			m.count.token(piece.Ends)
		}
		m.readPiece(piece)
	}
	return m.events
}

func (m *Machine) readPiece(piece Piece) {
	if piece.Token != Ordinary {
		m.symbol(match.FirstToken + match.Symbol(piece.Token))
		return
	}
	m.run(piece.Text)
}

// run reads bytes. It may be called from within itself, for what has to be read again.
func (m *Machine) run(piece []byte) {
	before, from := m.buffer, m.from
	m.buffer, m.from = piece, 0
	for i := 0; i < len(piece); {
		i = m.read(piece, i)
	}
	m.beginWhole(len(piece))
	m.suspend(len(piece))
	m.buffer, m.from = before, from
}

// suspend saves what is held of the piece that is being read, up to i.
func (m *Machine) suspend(i int) {
	if m.open {
		m.held = append(m.held, m.buffer[m.from:i]...)
		m.from = i
		m.most = max(m.most, len(m.held))
	}
}

// read goes on at byte i of the piece and answers how far it came.
func (m *Machine) read(piece []byte, i int) int {
	n := m.node
	m.steps++
	switch n.Kind {
	case program.Text:
		if n.OnText != nil {
			return m.beginning(n, piece, i)
		}
		return m.inText(n, piece, i)
	case program.Gap:
		return m.inGap(n, piece, i)
	case program.Head:
		return m.inHead(n, piece, i)
	case program.Tail:
		return m.inTail(n, piece, i)
	case program.Until:
		return m.inUntil(n, piece, i)
	case program.Attribute:
		return m.inAttribute(n, piece, i)
	case program.Value:
		return m.inValue(n, piece, i)
	case program.JSON:
		return m.inJSON(n, piece, i)
	case program.Envelope:
		return m.inEnvelope(n, piece, i)
	case program.Python:
		return m.inPython(n, piece, i)
	case program.Delimited:
		return m.inDelimited(n, piece, i)
	case program.Whole:
		return m.inWhole(n, piece, i)
	default:
		return m.inEcho(n, piece, i)
	}
}

// again reads symbols once more.
func (m *Machine) again(symbols []match.Symbol) {
	from := 0
	var scratch [64]byte
	for i := 0; i <= len(symbols); i++ {
		if i < len(symbols) && symbols[i] < match.FirstToken {
			continue
		}
		if i > from {
			text := scratch[:0]
			for _, s := range symbols[from:i] {
				text = append(text, byte(s))
			}
			m.reread(text)
		}
		if i < len(symbols) {
			m.symbol(symbols[i])
		}
		from = i + 1
	}
}

// reread reads bytes once more that are not part of the piece being read, or lie before its current place.
func (m *Machine) reread(text []byte) {
	if len(text) == 0 {
		return
	}
	m.run(m.copy(text))
}

// copy copies bytes to where they stay until the next piece.
func (m *Machine) copy(text []byte) []byte {
	from := len(m.arena)
	m.arena = append(m.arena, text...)
	return m.arena[from:len(m.arena):len(m.arena)]
}

// enter makes a node the current one.
func (m *Machine) enter(n *program.Node) {
	if m.silent && n.Kind == program.Text && n.Tray != program.Junk {
		switch {
		case n.InThought:
			m.thought = Open
		case m.thought == Open:
			m.thought = Over
		}
	}
	m.node, m.place = n, 0
	m.inWord, m.quote = false, 0
	switch n.Kind {
	case program.Until, program.Attribute:
		m.word = m.word[:0]
		if n.Lines {
			m.forgetParameter()
			m.startCandidate(nil)
		}
	case program.JSON:
		m.json.Reset()
	case program.Envelope:
		m.envelope.reset()
		m.json.Reset()
	case program.Python:
		m.python.Start()
		m.argumentsFrom = -1
	case program.Delimited:
		m.startDelimited(n)
	case program.Whole:
		m.whole = whole{}
		m.argumentsFrom = -1
	case program.Gap:
		m.keepGap(0)
	case program.Tail:
		m.startCandidate(nil)
	case program.Echo:
		m.echo.at = 0
	case program.Text:
		if n.Echo != nil && len(m.echo.text) > 0 {
			m.startCandidate(n)
			m.node = n.Echo
			m.echo.at = 0
		}
	}
}

// take accounts for input: what is next in it became something.
func (m *Machine) take(text []byte, as As, call int) {
	if m.echo.recording { // what the prompt holds of the block is repeated too
		m.echo.record(text)
	}
	if m.promptHeld > 0 {
		text = m.ofOutput(text)
	}
	if len(text) == 0 {
		return
	}
	if m.keep && m.call.open {
		m.call.text = append(m.call.text, text...)
	}
	if m.count != nil {
		m.count.add(m.position+len(text), as, call)
	}
	if m.trace != nil {
		if as == asPending {
			m.trace.pending[call] = append(m.trace.pending[call], len(m.trace.spans))
			call = -1
		}
		m.trace.add(m.position, m.position+len(text), as, call)
	}
	m.position += len(text)
}

// ofOutput leaves out what came with the prompt.
func (m *Machine) ofOutput(text []byte) []byte {
	k := min(m.promptHeld, len(text))
	m.promptHeld -= k
	return text[k:]
}

// emit gives out text of a tray.
func (m *Machine) emit(tray program.Tray, text []byte, kind memory) {
	if m.silent || len(text) == 0 {
		return
	}
	if kind == memoryReused {
		text = m.copy(text)
	}
	if n := len(m.events); n > 0 {
		if last := &m.events[n-1]; last.Kind == EventText && last.Tray == tray && adjacent(last.Data, text) {
			last.Data = unsafe.Slice(unsafe.SliceData(last.Data), len(last.Data)+len(text))
			return
		}
	}
	m.event(EventText, tray, 0, text)
}

// event adds an event. The members are written where they will be: a value that is made first and then moved costs
// several times as much.
func (m *Machine) event(kind EventKind, tray program.Tray, call int, data []byte) {
	n := len(m.events)
	if n == cap(m.events) {
		m.events = append(m.events, Event{})
	} else {
		m.events = m.events[:n+1]
	}
	e := &m.events[n]
	e.Kind, e.Tray, e.Malformed, e.Cut = kind, tray, false, false
	e.Call, e.Data, e.Begun = call, data, nil
}

// arguments gives out argument text of the open call, or keeps it.
func (m *Machine) arguments(text []byte, kind memory) {
	if m.keep || m.silent {
		m.call.kept = append(m.call.kept, text...)
		return
	}
	if len(text) == 0 {
		return
	}
	if kind == memoryReused {
		text = m.copy(text)
	}
	if n := len(m.events); n > 0 {
		if last := &m.events[n-1]; last.Kind == EventArguments && adjacent(last.Data, text) {
			last.Data = unsafe.Slice(unsafe.SliceData(last.Data), len(last.Data)+len(text))
			return
		}
	}
	m.event(EventArguments, 0, m.calls-1, text)
}

// adjacent tells whether b begins in memory where a ends, in one allocation: a must have room for it.
func adjacent(a, b []byte) bool {
	return cap(a)-len(a) >= len(b) && unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), len(a)) == unsafe.Pointer(unsafe.SliceData(b))
}

// Held is the number of bytes that are held at the moment: what has been read and is neither given out nor markup.
func (m *Machine) Held() int {
	n := len(m.gap)
	if m.open {
		n += len(m.held)
	}
	switch {
	case m.node.Kind == program.Text:
		n += m.node.Table.Hold(m.place, m.circumstances())
	case m.node.Kind == program.Value && m.value.starting(m.node):
		n += len(m.value.blanks) + m.node.Value.Start.Hold(m.place, 0)
	case m.node.Kind == program.Value:
		n += m.node.Table.Hold(m.place, 0) + len(m.value.text) + len(m.value.behind) + len(m.value.entity)
	case m.node.Kind == program.Envelope && !m.open:
		n += len(m.envelope.back)
	}
	return n - m.promptHeld + len(m.trays.lead) + len(m.trays.behind[0]) + len(m.trays.behind[1])
}

// MostHeld is the most bytes that were held for a candidate or a value at any time.
func (m *Machine) MostHeld() int { return m.most }

// Steps counts the steps taken, for proofs that work is linear.
func (m *Machine) Steps() int { return m.steps }

// Trace gives what became of every byte so far, if a trace is kept.
func (m *Machine) Trace() []Span {
	if m.trace == nil {
		return nil
	}
	return m.trace.merged()
}
