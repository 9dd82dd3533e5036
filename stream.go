package parlance

import (
	"unicode/utf8"
	"unsafe"

	"github.com/parlance-llm/parlance/internal/escapes"
	"github.com/parlance-llm/parlance/internal/machine"
	"github.com/parlance-llm/parlance/internal/program"
)

// Stream reads one output while it arrives. It belongs to one goroutine.
type Stream struct {
	parser  *Parser
	m       *machine.Machine
	tokens  bool // markers are known by their token ids
	input   int  // bytes of the tokens written
	pieces  []machine.Piece
	hide    bool
	force   bool // an empty content is filled with the reasoning at the end (ruling 14)
	thought []byte
	empty   bool // no content and no call has come
	prefix  string
	deltas  []Delta
	one     [1]Delta // the delta of a piece that is nothing but text or arguments
	part    []byte   // the beginning of a character
	escapes *[2]escapes.Newlines
	tray    program.Tray // the tray of the last text, where there are escapes
	plain   bool         // text goes out as it comes: nothing here changes or keeps it
	arena   []byte
	first   bool
	closed  bool
}

// Stream opens a stream for the answer to a request.
func (p *Parser) Stream(r Request) *Stream { return p.open(&r, r.Validated, false) }

func (p *Parser) open(r *Request, keep, tokens bool) *Stream {
	v := variant{}
	switch r.ToolChoice.Mode {
	case "none":
		v.noCalls = true
	case "required":
		v.forced = program.Required
	case "function":
		v.forced = program.Named
	}
	if p.toolHalf == nil {
		v = variant{}
	}
	v.holes = p.suffix(r)
	v.tokens = tokens && p.bound != nil
	compiled, err := p.program(v)
	if err != nil {
		panic("parlance: " + err.Error()) // the format itself has compiled; a variant of it always does
	}
	o := machine.Options{
		Keep: keep, Exact: r.Exact, KnownOnly: r.KnownToolsOnly, Trace: r.Trace, Forced: r.ToolChoice.Name,
		HeldLimit: r.HeldLimit, ArgumentLimit: r.ArgumentLimit, Count: tokens,
	}
	if r.Tools != nil {
		o.Tools = r.Tools.schemas
	}
	s := &Stream{parser: p, m: machine.New(compiled, o), tokens: v.tokens, hide: r.HideReasoning, empty: true, first: true}
	s.force = r.ChatTemplateKwargs["force_nonempty_content"] == true
	if p.escapesNewlines() {
		s.escapes = new([2]escapes.Newlines)
	}
	s.plain = s.escapes == nil && !s.force
	s.m.Begin(p.start(r, compiled, v.tokens))
	if p.thoughtsStayContent() && p.opensThought(r, v) {
		s.prefix = compiled.Opener
	}
	return s
}

// opensThought tells whether a turn begins in a thought.
func (p *Parser) opensThought(r *Request, v variant) bool {
	v.shown = true
	compiled, err := p.program(v)
	if err != nil {
		return false
	}
	start := p.start(r, compiled, v.tokens)
	return len(start.Prompt) > 0 && machine.New(compiled, machine.Options{}).Begin(start) == machine.Open
}

// Write reads a piece and answers what has become certain, in order. The deltas, and the bytes they point to, are valid
// until the next call of a method, and are not to be changed; they may point into piece.
func (s *Stream) Write(piece []byte) []Delta {
	s.deltas, s.arena = s.deltas[:0], s.arena[:0]
	if s.first {
		if s.closed {
			return nil
		}
		s.begin()
	}
	if len(piece) == 0 {
		return s.deltas
	}
	if len(s.part) > 0 || !endsWhole(piece) {
		if piece = s.whole(piece); len(piece) == 0 {
			return s.deltas
		}
	}
	if s.plain {
		if tray, text, ok := s.m.Plain(piece, 0); ok {
			return s.plainDelta(tray, text)
		}
	}
	events := s.m.Write(piece)
	if len(events) == 1 && events[0].Kind == machine.EventArguments && s.escapes == nil && len(s.deltas) == 0 {
		s.one[0].Kind, s.one[0].Text, s.one[0].Call = Arguments, events[0].Data, events[0].Call
		return s.one[:]
	}
	s.take(events)
	return s.deltas
}

// plainDelta makes the delta of a piece that is nothing but text.
func (s *Stream) plainDelta(tray program.Tray, text []byte) []Delta {
	kind := Content
	switch {
	case len(text) == 0, tray == program.Reasoning && s.hide:
		return s.deltas
	case tray == program.Reasoning:
		kind = Reasoning
	default:
		s.empty = false
	}
	if len(s.deltas) > 0 { // the thought's opener, before all else
		return append(s.deltas, Delta{Kind: kind, Text: text})
	}
	s.one[0].Kind, s.one[0].Text, s.one[0].Call = kind, text, 0
	return s.one[:]
}

// WriteString is Write for a string.
func (s *Stream) WriteString(piece string) []Delta {
	return s.Write(unsafe.Slice(unsafe.StringData(piece), len(piece)))
}

func (s *Stream) begin() {
	s.first = false
	if s.prefix != "" {
		s.empty = false
		s.deltas = append(s.deltas, Delta{Kind: Content, Text: []byte(s.prefix)})
	}
}

// endsWhole tells whether a piece ends with a whole character; it may be wrong about one that is not ASCII.
func endsWhole(piece []byte) bool { return len(piece) > 0 && piece[len(piece)-1] < utf8.RuneSelf }

// whole keeps the beginning of a character until the rest of it comes, so that no delta ends inside a character.
func (s *Stream) whole(piece []byte) []byte {
	if len(s.part) > 0 {
		piece = append(s.part, piece...)
		s.part = nil
	}
	for k := 1; k < utf8.UTFMax && k <= len(piece); k++ {
		c := piece[len(piece)-k]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(piece[len(piece)-k:]) {
				s.part = append([]byte(nil), piece[len(piece)-k:]...)
				piece = piece[:len(piece)-k]
			}
			break
		}
	}
	return piece
}

// Close ends the output and answers the last deltas. What is written afterwards is not read, and answers nothing.
func (s *Stream) Close(reason FinishReason) []Delta {
	s.deltas = s.deltas[:0]
	if s.closed {
		return s.deltas
	}
	s.closed = true
	if s.first {
		s.begin()
	}
	s.first = true // so that Write looks whether the stream is closed
	if len(s.part) > 0 {
		s.take(s.m.Write(s.part))
		s.part = nil
		s.keepDeltas()
	}
	why := machine.Stop
	if reason == FinishLength {
		why = machine.Length
	}
	s.take(s.m.Close(why))
	if s.escapes != nil {
		s.settleEscapes(s.tray)
	}
	if s.force && s.empty && len(s.thought) > 0 {
		s.deltas = append(s.deltas, Delta{Kind: Content, Text: s.thought})
	}
	return s.deltas
}

// keepDeltas copies what the deltas point to, since the machine goes on.
func (s *Stream) keepDeltas() {
	for i := range s.deltas {
		s.deltas[i].Text = append([]byte(nil), s.deltas[i].Text...)
	}
}

// take turns the machine's events into deltas.
func (s *Stream) take(events []machine.Event) {
	for i := range events {
		e := &events[i]
		d := Delta{Text: e.Data, Call: e.Call}
		if s.escapes != nil && (e.Kind != machine.EventText || e.Tray != s.tray) {
			s.settleEscapes(s.tray) // what a tray's filter still holds stands before the next segment
			s.tray = e.Tray
		}
		switch e.Kind {
		case machine.EventText:
			if s.escapes != nil {
				if d.Text = s.recover(e.Tray, e.Data); len(d.Text) == 0 {
					continue
				}
			}
			if e.Tray == program.Reasoning {
				if s.force {
					s.thought = append(s.thought, d.Text...)
				}
				if s.hide {
					continue
				}
				d.Kind = Reasoning
			} else {
				s.empty = false
			}
		case machine.EventCall:
			d.Kind, d.Name, d.ID = ToolCall, e.Begun.Name, e.Begun.ID
			s.empty = false
		case machine.EventArguments:
			d.Kind = Arguments
		default:
			d.Kind, d.Malformed, d.Cut = ToolCallEnd, e.Malformed, e.Cut
		}
		s.deltas = append(s.deltas, d)
	}
}

// recover makes line breaks of written-out ones in a tray's text.
func (s *Stream) recover(tray program.Tray, text []byte) []byte {
	from := len(s.arena)
	s.arena = s.escapes[tray].Append(s.arena, text)
	return s.arena[from:len(s.arena):len(s.arena)]
}

// settleEscapes gives out what a tray's filter still holds.
func (s *Stream) settleEscapes(tray program.Tray) {
	text := s.escapes[tray].Close(nil)
	kind := Content
	switch {
	case len(text) == 0, tray == program.Reasoning && s.hide:
		return
	case tray == program.Reasoning:
		kind = Reasoning
	default:
		s.empty = false
	}
	s.deltas = append(s.deltas, Delta{Kind: kind, Text: text})
}

// Trace tells what became of every byte so far, if the request asked for it.
func (s *Stream) Trace() []Span {
	var out []Span
	for _, span := range s.m.Trace() {
		out = append(out, Span{Start: span.Start, End: span.End, Became: span.As.String(), Call: span.Call})
	}
	return out
}

// Held is the number of bytes that have been written and are held: neither given out nor known to be markup.
func (s *Stream) Held() int {
	if s.closed {
		return 0
	}
	return s.m.Held() + len(s.part)
}

// Parse reads a whole output, and never fails. A call that ended badly is text here, markup included (rulings 33, 34); the
// reason tells whether what is missing at the end was cut off. Any number of goroutines may call it at once.
func (p *Parser) Parse(text string, r Request, reason FinishReason) *Message {
	return whole(p.open(&r, true, false), reason, func(s *Stream) []Delta { return s.WriteString(text) })
}

// whole reads a whole output.
func whole(s *Stream, reason FinishReason, write func(*Stream) []Delta) *Message {
	c := collector{}
	c.add(write(s))
	c.add(s.Close(reason))
	m := c.message()
	if s.force && m.Content == string(s.thought) && len(m.Calls) == 0 {
		m.moveReasoning()
	}
	m.Trace, m.ReasoningTokens = s.Trace(), s.ReasoningTokens()
	return m
}

// moveReasoning leaves the text of a thought that was moved to the content in one tray only.
func (m *Message) moveReasoning() {
	m.Reasoning = ""
	m.Segments = []Segment{{Kind: Content, Text: m.Content}}
}

// Collector puts the deltas of a stream together to a message. Its zero value is ready. It belongs to one goroutine, and
// keeps copies: the deltas need not live longer than the call of Add.
type Collector struct{ collector }

// Add takes the deltas of one call of Write or Close.
func (c *Collector) Add(deltas []Delta) { c.add(deltas) }

// Message is the message so far.
func (c *Collector) Message() *Message { return c.message() }

type collector struct {
	texts    [2][]byte
	calls    []Call
	args     [][]byte
	segments []segment
}

type segment struct {
	kind     Kind
	from, to int
	call     int
}

func (c *collector) add(deltas []Delta) {
	for i := range deltas {
		d := &deltas[i]
		switch d.Kind {
		case Content, Reasoning:
			from := len(c.texts[d.Kind])
			c.texts[d.Kind] = append(c.texts[d.Kind], d.Text...)
			if n := len(c.segments); n > 0 && c.segments[n-1].kind == d.Kind {
				c.segments[n-1].to = len(c.texts[d.Kind])
				continue
			}
			c.segments = append(c.segments, segment{kind: d.Kind, from: from, to: len(c.texts[d.Kind])})
		case ToolCall:
			c.calls = append(c.calls, Call{ID: d.ID, Name: d.Name})
			c.args = append(c.args, nil)
			c.segments = append(c.segments, segment{kind: ToolCall, call: d.Call})
		case Arguments:
			if c.args[d.Call] == nil { // often all of them
				c.args[d.Call] = append(make([]byte, 0, len(d.Text)), d.Text...)
				continue
			}
			c.args[d.Call] = append(c.args[d.Call], d.Text...)
		case ToolCallEnd:
			c.calls[d.Call].Malformed, c.calls[d.Call].Cut = d.Malformed, d.Cut
		}
	}
}

func (c *collector) message() *Message {
	m := &Message{Content: string(c.texts[Content]), Reasoning: string(c.texts[Reasoning]), Calls: append([]Call(nil), c.calls...)}
	for i := range m.Calls {
		m.Calls[i].Arguments = string(c.args[i])
		m.Malformed = m.Malformed || m.Calls[i].Malformed
	}
	whole := [...]string{m.Content, m.Reasoning}
	for _, s := range c.segments {
		segment := Segment{Kind: s.kind, Call: s.call}
		if s.kind != ToolCall {
			segment.Text = whole[s.kind][s.from:s.to]
		}
		m.Segments = append(m.Segments, segment)
	}
	return m
}
