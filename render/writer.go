package render

import (
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// writer is one walk over a grammar with a message. Every method that writes answers whether it could; what it has
// changed when it could not, the caller undoes.
type writer struct {
	r          *Renderer
	options    Options
	items      []item
	suffix     string
	noCalls    bool
	callsFirst bool // content stands behind the calls where nothing else is said
	off        bool // no thought may be opened
	over       bool // the only thought is over
	verify     bool // something looks like markup
	cut        int  // what of the output the prompt holds already

	out    []byte
	pieces []piece
	bound  []binding
	state

	failure *Error
	depth   int // how much had been written when it was noted
}

// state is what a walk has reached, and what is undone when it turns back.
type state struct {
	next     int // the item to be written
	consumed int // how many parts of the message have been written
	idle     int // how many captures had nothing new to hold

	call   int  // the item whose call is open, or -1
	named  int  // the item whose name has been written, or -1
	argued bool // the arguments of the open call have been written

	members []member // of the object whose parameters are written
	member  int
	schema  *schema.Schema
	listed  bool // the members are the elements of a list
	inside  bool // a parameter is open
	keyed   bool
	valued  bool

	left     bool // the tool half's output has been written, and no marker of the reasoning half since
	framed   bool // what the tool half writes stands in a frame of the reasoning half
	scope    int  // where the bindings of the open role begin
	assigned []assignment
	solving  *grammar.Choice
	target   int

	key     int // where a key begins that runs to the next literal, or -1
	value   int // where a value begins whose closer has not been written, or -1
	closing int // where its closer begins, or -1
	closers int // where the closer's literals end, as far as they follow each other
}

// binding is a capture that has been written.
type binding struct{ name, text string }

// assignment is what a test wants a capture to be.
type assignment struct {
	name string
	text string
	mode mode
}

type mode uint8

const (
	free    mode = iota // as the data are
	missing             // not written
	fixed               // written as the text
	natural             // what the next item calls for
)

type mark struct {
	state
	out, pieces, bound int
	verify             bool
}

func (w *writer) mark() mark { return mark{w.state, len(w.out), len(w.pieces), len(w.bound), w.verify} }

func (w *writer) undo(m mark) bool {
	w.state, w.out, w.pieces, w.bound, w.verify = m.state, w.out[:m.out], w.pieces[:m.pieces], w.bound[:m.bound], m.verify
	return false
}

// fail notes why something could not be written. What went furthest is what the user is told; always false.
func (w *writer) fail(reason Reason, value, detail string) bool {
	if w.failure != nil && w.consumed <= w.depth {
		return false
	}
	e := &Error{Format: w.r.format, Reason: reason, Call: -1, Value: shortly(value), Detail: detail}
	if w.next < len(w.items) && w.items[w.next].kind == itemCall {
		e.Call = w.items[w.next].number
		if w.inside {
			e.Argument = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(w.members[w.member].key)
		}
	}
	w.failure, w.depth = e, w.consumed
	return false
}

// run writes items from the beginning.
func (w *writer) run(r *Renderer, items []item, o Options) (string, *Error) {
	start := r.parser.PromptState(o.Request)
	*w = writer{r: r, options: o, items: items, callsFirst: w.callsFirst, out: w.out[:0], pieces: w.pieces[:0], bound: w.bound[:0]}
	w.state = state{call: -1, named: -1, target: -1, key: -1, value: -1, closing: -1}
	w.suffix = r.parser.Suffix(o.Request)
	w.noCalls = o.Request.ToolChoice.Mode == "none"
	w.off = start.Off && !start.Inside
	w.over = start.Prompt == parlance.ThoughtClosed
	if start.Inside && (len(items) == 0 || items[0].kind != itemReasoning) {
		w.items = append([]item{{kind: itemReasoning}}, items...) // the thought that is open is closed
	}
	if start.Prompt == parlance.ThoughtOpen {
		w.cut = -1
	}
	for k := range w.items {
		if item := &w.items[k]; item.kind == itemCall {
			if _, ok := item.arguments(&r.written); !ok || item.call.Malformed || item.call.Cut {
				w.next = k
				w.fail(ReasonArguments, item.call.Arguments, "expected one JSON object as the arguments")
				return "", w.failure
			}
		}
	}
	if w.write(r.root, r.root.output) && w.next == len(w.items) {
		if err := w.settleLayout(); err != nil {
			return "", err
		}
		return string(w.out), nil
	}
	if w.failure == nil || w.next < len(w.items) && w.consumed > w.depth {
		w.misplaced()
	}
	return "", w.failure
}

// misplaced notes that the next item has no place.
func (w *writer) misplaced() {
	w.failure, w.depth = nil, 0
	if w.next >= len(w.items) {
		w.fail(ReasonOrder, "", "expected a message that the format can hold")
		return
	}
	switch item := &w.items[w.next]; item.kind {
	case itemReasoning:
		w.fail(ReasonThought, item.text, "expected no reasoning here")
	case itemContent:
		w.fail(ReasonOrder, item.text, "expected no content here")
	case itemCall:
		reason := ReasonOrder
		if w.noCalls || w.r.root.definition == w.r.halves[len(w.r.halves)-1].definition && !w.r.root.calls {
			reason = ReasonCalls
		}
		w.fail(reason, item.call.Name, "expected no call here")
	}
}

func (w *writer) fill(h *half, literal string) string {
	return h.definition.Fill(literal, w.suffix)
}

// write writes what an expression says.
func (w *writer) write(h *half, e grammar.Expression) bool {
	switch e := e.(type) {
	case *grammar.Literal:
		w.left = w.left && h.content == nil
		return w.literal(w.fill(h, e.Text))
	case *grammar.Blank:
		w.space(pieceBlank, e.Canonical)
		return true
	case *grammar.Layout:
		if e.Inner != nil {
			return w.layout(h, e.Inner)
		}
		w.space(pieceLayout, e.Text)
		return true
	case *grammar.Look:
		return w.follows(h, e.Inner)
	case *grammar.Capture:
		return w.capture(h, e, false)
	case *grammar.Envelope:
		return w.envelope(h, e)
	case *grammar.Set:
		return w.set(h, e)
	case *grammar.Reference:
		return w.reference(h, e)
	case *grammar.Choice:
		return w.choice(h, e)
	case *grammar.Sequence:
		return w.sequence(h, e.Items)
	case *grammar.Optional:
		return w.optional(h, e.Inner)
	case *grammar.Repeat:
		return w.repeat(h, e, e.Inner, nil)
	case *grammar.List:
		m := w.mark()
		if !w.write(h, e.Inner) || w.consumed == m.consumed {
			return w.undo(m)
		}
		return w.repeat(h, e, e.Inner, &e.Separator)
	}
	return false // a run that nothing captures, or the end of the output
}
