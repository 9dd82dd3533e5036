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

// Reason is why an output ended.
type Reason uint8

const (
	// Stop: the model ended its turn.
	Stop Reason = iota
	// Length: the output was cut off.
	Length
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

// Steps counts the steps taken, for proofs that work is linear.
func (m *Machine) Steps() int { return m.steps }
