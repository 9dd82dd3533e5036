package render

import (
	"bytes"
	"encoding/json/jsontext"
	"slices"
	"strings"
	"sync"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// Options say what is known where a message is written.
type Options struct {
	// Request is the request that the message answers. Its tools give values their types; its prompt, or else its
	// chat-template arguments, say whether a thought is open already (what the prompt has written is not written again);
	// its tool choice whether calls may be written.
	Request parlance.Request
	// EarlierCalls is how many calls the conversation holds before this message, for the formats that number them
	// through a conversation.
	EarlierCalls int
	// Results is the name of a variant of the rules for tool results, where the definition has several because chat templates
	// differ. "" is the variant of a parser's name, if there is one, else the rule without a name, which "results" is always.
	Results string
}

// Renderer writes messages in one format, or in two whose halves are put together. It is immutable; any number of
// goroutines may use it at once.
type Renderer struct {
	parser *parlance.Parser
	root   *half
	halves []*half
	format string
	// written is how the format of the calls spells values.
	written grammar.Written
}

// renderers keeps the renderers that have been made, by the names they were looked up with.
var renderers sync.Map

// For gives the renderer for a tool-parser name and a reasoning-parser name. Either may be "", but not both.
//
// The error is a *parlance.NameError for a name that is not known.
func For(tool, reasoning string) (*Renderer, error) {
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		return nil, err
	}
	key := [2]string{tool, reasoning}
	if r, ok := renderers.Load(key); ok {
		return r.(*Renderer), nil
	}
	kept, _ := renderers.LoadOrStore(key, New(p))
	return kept.(*Renderer), nil
}

// New gives the renderer for what a parser reads.
func New(p *parlance.Parser) *Renderer {
	tool, reasoning, name := p.Definitions()
	r := &Renderer{parser: p}
	thoughts := reasoning != nil && name.Thoughts != "content" && (name.Thoughts != "" || reasoning.Thoughts != "content")
	switch {
	case tool == nil:
		r.root = newHalf(reasoning)
		r.root.thoughts = thoughts
	case reasoning == nil || reasoning.Format == tool.Format:
		r.root = newHalf(tool)
		r.root.calls, r.root.thoughts = true, thoughts
	default:
		r.root = newHalf(reasoning)
		r.root.thoughts = thoughts
		r.root.content = newHalf(tool)
		r.root.content.calls = true
	}
	r.halves, r.format = []*half{r.root}, r.root.definition.Format
	if inner := r.root.content; inner != nil {
		r.halves = append(r.halves, inner)
		r.format = inner.definition.Format + " with " + r.format
	}
	r.written = r.halves[len(r.halves)-1].definition.Written
	return r
}

// Parser is the parser that reads what the renderer writes.
func (r *Renderer) Parser() *parlance.Parser { return r.parser }

// Render writes a message. Its segments are written in their order; where it has none, the reasoning, the content and
// the calls, or the calls before the content where the format has them so. White space at the ends of a tray means
// nothing, as for the parser. Arguments that are blank are no arguments; others must be one JSON object, whose
// values are spelled as the family spells them: see docs/notation.md. A call id is written where the format has one and it fits.
//
// The error is an *Error if the format cannot carry the message. An empty message is an empty text, unless a thought is
// open that must be closed, or the format ends every message with a marker.
func (r *Renderer) Render(m *parlance.Message, o Options) (string, error) {
	text, _, err := r.render(m, o, false)
	return text, err
}

func (r *Renderer) render(m *parlance.Message, o Options, outline bool) (text string, parts []Part, _ error) {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	var first *Error
	w.callsFirst = r.halves[len(r.halves)-1].callsFirst
	for _, items := range w.orders(m) {
		text, err := w.run(r, items, o)
		if err == nil && w.verify {
			err = r.verify(m, text, o)
		}
		if err == nil {
			if outline {
				parts = w.parts()
			}
			return text, parts, nil
		}
		if first == nil || first.Reason == ReasonOrder {
			first = err
		}
	}
	return "", nil, first
}

var writers = sync.Pool{New: func() any { return &writer{} }}

type itemKind uint8

const (
	itemReasoning itemKind = iota
	itemContent
	itemCall
)

// item is a part of a message that is written as a whole.
type item struct {
	kind    itemKind
	text    string
	call    *parlance.Call
	number  int // of the call
	members []member
	read    bool // members have been read
	object  bool // the arguments are an object
}

// member is a member of a JSON object.
type member struct {
	key    string
	quoted []byte // the key as JSON
	raw    []byte // the value as JSON
}

// orders gives the items of a message in the orders in which they may be written.
func (w *writer) orders(m *parlance.Message) [][]item {
	text := func(items []item, kind itemKind, text string) []item {
		if strings.TrimSpace(text) == "" {
			return items
		}
		if k := len(items); k > 0 && items[k-1].kind == kind {
			items[k-1].text += text
			return items
		}
		return append(items, item{kind: kind, text: text})
	}
	call := func(items []item, number int) []item {
		return append(items, item{kind: itemCall, call: &m.Calls[number], number: number})
	}
	items := w.items[:0]
	if len(m.Segments) > 0 {
		for _, s := range m.Segments {
			switch s.Kind {
			case parlance.Reasoning:
				items = text(items, itemReasoning, s.Text)
			case parlance.Content:
				items = text(items, itemContent, s.Text)
			case parlance.ToolCall:
				items = call(items, s.Call)
			}
		}
		w.items = items
		return [][]item{items}
	}
	items = text(items, itemReasoning, m.Reasoning)
	items = text(items, itemContent, m.Content)
	calls := len(items)
	for k := range m.Calls {
		items = call(items, k)
	}
	w.items = items
	if calls == 0 || calls == len(items) || items[calls-1].kind != itemContent {
		return [][]item{items}
	}
	callsFirst := slices.Concat(items[:calls-1], items[calls:], items[calls-1:calls])
	if w.callsFirst {
		return [][]item{callsFirst, items}
	}
	return [][]item{items, callsFirst}
}

// arguments reads the arguments of a call and spells them as the format does; object tells whether they are one JSON
// object.
func (i *item) arguments(written *grammar.Written) (members []member, object bool) {
	if i.read {
		return i.members, i.object
	}
	i.read = true
	i.members, i.object = objectMembers([]byte(i.call.Arguments), nil)
	spell(i.members, written)
	return i.members, i.object
}

// objectMembers reads the members of a JSON object, in order. Nothing but white space is the empty object.
func objectMembers(text []byte, members []member) ([]member, bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return members, true
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for decoder.PeekKind() != '}' {
		key, err := decoder.ReadValue()
		if err != nil {
			return nil, false
		}
		m := member{key: unquote(key), quoted: bytes.Clone(key)}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, false
		}
		m.raw = bytes.Clone(value)
		members = append(members, m)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, false
	}
	_, err := decoder.ReadToken()
	return members, err != nil && decoder.InputOffset() == int64(len(bytes.TrimRight(text, " \t\r\n")))
}

// verify reads a text in which something looks like markup.
func (r *Renderer) verify(m *parlance.Message, text string, o Options) *Error {
	got := r.parser.Parse(text, o.Request, parlance.FinishStop)
	want := trays(m, r.join())
	reasoning, content := strings.TrimSpace(got.Reasoning), strings.TrimSpace(got.Content)
	same := reasoning == want[0] && content == want[1] && len(got.Calls) == len(m.Calls)
	for k := 0; same && k < len(m.Calls); k++ {
		same = got.Calls[k].Name == m.Calls[k].Name
	}
	if same {
		return nil
	}
	value := m.Content
	if reasoning != want[0] {
		value = m.Reasoning
	}
	return &Error{Format: r.format, Reason: ReasonMarker, Call: -1, Value: shortly(value), Detail: "expected text that is not read as markup"}
}

// trays puts the reasoning and the content of a message together as the parser does, without the white space at their
// ends.
func trays(m *parlance.Message, join string) (out [2]string) {
	if len(m.Segments) == 0 {
		return [2]string{strings.TrimSpace(m.Reasoning), strings.TrimSpace(m.Content)}
	}
	last := parlance.Kind(255)
	for _, s := range m.Segments {
		tray := 0
		switch s.Kind {
		case parlance.Content:
			tray = 1
			fallthrough
		case parlance.Reasoning:
			if strings.TrimSpace(s.Text) == "" {
				continue
			}
			text := s.Text
			if join != "" && out[tray] != "" && last != s.Kind {
				out[tray] += join
				text = strings.TrimLeft(text, " \t\r\n\f\v")
			}
			out[tray] += text
		}
		last = s.Kind
	}
	return [2]string{strings.TrimSpace(out[0]), strings.TrimSpace(out[1])}
}

// join is what the parser puts between whole messages of one tray.
func (r *Renderer) join() string {
	for _, h := range r.halves {
		if h.definition.Join != "" {
			return h.definition.Join
		}
	}
	return ""
}

// Expected is the reasoning and the content that the parser gives for a message that was rendered, without the white
// space at their ends: where the message has segments, those of one tray put together as the format does.
func (r *Renderer) Expected(m *parlance.Message) (reasoning, content string) {
	out := trays(m, r.join())
	return out[0], out[1]
}
