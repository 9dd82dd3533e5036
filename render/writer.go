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

type pieceKind uint8

const (
	pieceMarkup pieceKind = iota
	pieceLayout
	pieceBlank
	pieceText
	pieceName     // of a call
	pieceArgument // the key or the value of an argument, or all of them
)

// piece is a stretch of the output, for what white space means there.
type piece struct {
	kind       pieceKind
	tray       itemKind // of text
	start, end int
	call       int // the call that a name or an argument belongs to
}

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

func (w *writer) sequence(h *half, items []grammar.Expression) bool {
	m := w.mark()
	for k, item := range items {
		if literal, always := layoutLiteral(item); literal != "" && w.inside {
			// Layout beside a value: written where the value would lose its own otherwise.
			switch {
			case k+1 < len(items) && isValue(items[k+1]):
				if always || strings.HasPrefix(w.valueText(), literal) {
					w.literal(literal)
				}
				continue
			case k > 0 && isValue(items[k-1]):
				if always || strings.HasSuffix(w.valueText(), literal) {
					w.out = append(w.out, literal...)
				}
				continue
			}
		}
		if !w.write(h, item) || isValue(item) && w.losesBlanks(items, k) {
			return w.undo(m)
		}
	}
	return true
}

// losesBlanks tells whether a value has white space at an end where the format passes it over.
func (w *writer) losesBlanks(items []grammar.Expression, k int) bool {
	text := w.valueText()
	if text == "" {
		return false
	}
	blank := func(k int) bool {
		if k < 0 || k >= len(items) {
			return false
		}
		_, ok := items[k].(*grammar.Blank)
		return ok
	}
	if blank(k-1) && isSpace(text[0]) || blank(k+1) && isSpace(text[len(text)-1]) {
		return !w.fail(ReasonSpace, text, "expected text without white space at its ends")
	}
	return false
}

// layoutLiteral gives the white space that may stand, or not, beside a value, and whether it is written always.
func layoutLiteral(e grammar.Expression) (text string, always bool) {
	switch e := e.(type) {
	case *grammar.Optional:
		if literal, ok := e.Inner.(*grammar.Literal); ok && strings.TrimSpace(literal.Text) == "" {
			return literal.Text, true
		}
	case *grammar.Choice:
		if len(e.Alternatives) == 2 && len(e.Alternatives[0].Items) == 0 && len(e.Alternatives[1].Items) == 1 {
			if literal, ok := e.Alternatives[1].Items[0].(*grammar.Literal); ok && strings.TrimSpace(literal.Text) == "" {
				return literal.Text, false
			}
		}
	}
	return "", false
}

func isValue(e grammar.Expression) bool {
	capture, ok := e.(*grammar.Capture)
	return ok && capture.Name == "value"
}

// optional writes an optional part if it carries something, or if nothing that could be carried is in it.
func (w *writer) optional(h *half, inner grammar.Expression) bool {
	m := w.mark()
	if !w.write(h, inner) || w.consumed == m.consumed && w.idle > m.idle {
		w.undo(m)
	}
	return true
}

// repeat writes a part as often as there is something for it. Parameters are all written or none, so that what cannot
// be written so is tried otherwise.
func (w *writer) repeat(h *half, e, inner grammar.Expression, separator *string) bool {
	m := w.mark()
	for written := 0; written == 0 || !once(e); written++ {
		before := w.mark()
		if separator != nil {
			w.literal(*separator)
		}
		if !w.write(h, inner) || w.consumed == before.consumed {
			w.undo(before)
			break
		}
	}
	if h.facts[e].parameters {
		if w.member < len(w.members) {
			return w.undo(m)
		}
		if !w.inside {
			w.argued = true
		}
	}
	return true
}

// once tells whether a repetition is written once at most.
func once(e grammar.Expression) bool {
	repeat, ok := e.(*grammar.Repeat)
	return ok && repeat.Once
}

// literal writes a marker. A key or a value that it ends must not hold it.
func (w *writer) literal(text string) bool {
	if w.key >= 0 {
		key := w.out[w.key:]
		if at := strings.Index(string(key)+text, text); at < len(key) {
			return w.fail(ReasonKey, string(key), "expected a name without "+text)
		}
		w.key = -1
	}
	switch {
	case w.value >= 0 && w.closing < 0:
		w.closing = len(w.out)
		w.closers = w.closing + len(text)
	case w.value >= 0 && w.closers == len(w.out):
		w.closers += len(text)
	}
	start := len(w.out)
	w.out = append(w.out, text...)
	w.piece(pieceMarkup, start)
	return true
}

// piece notes what has been written from a place on.
func (w *writer) piece(kind pieceKind, start int) {
	p := piece{kind: kind, start: start, end: len(w.out), call: -1}
	if w.has(itemCall) {
		p.call = w.items[w.next].number
	}
	w.pieces = append(w.pieces, p)
}

func (w *writer) space(kind pieceKind, text string) {
	start := len(w.out)
	w.out = append(w.out, text...)
	w.piece(kind, start)
	if w.value >= 0 && w.closers == start {
		w.closers = len(w.out)
	}
}

// text writes text of a tray.
func (w *writer) text(kind itemKind, text string) {
	start := len(w.out)
	w.out = append(w.out, text...)
	w.pieces = append(w.pieces, piece{kind: pieceText, tray: kind, start: start, end: len(w.out), call: -1})
	w.next++
	w.consumed++
	w.verify = w.verify || w.looksLikeMarkup(text)
}

// looksLikeMarkup tells whether a text holds anything that a grammar of the combination knows.
func (w *writer) looksLikeMarkup(text string) bool {
	for _, h := range w.r.halves {
		if h.definition.Escapes != "" && strings.Contains(text, `\`) {
			return true
		}
	}
	return strings.ContainsAny(text, "{[") || w.holdsMarker(text)
}

// holdsMarker tells whether a text holds a marker of the combination.
func (w *writer) holdsMarker(text string) bool {
	for _, h := range w.r.halves {
		for _, marker := range h.markers {
			if strings.Contains(text, w.fill(h, marker)) {
				return true
			}
		}
	}
	return false
}
