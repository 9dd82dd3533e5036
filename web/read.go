package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
)

// Question is what the page asks: how a text reads.
type Question struct {
	Text            string `json:"text"`
	ToolParser      string `json:"tool_parser"`
	ReasoningParser string `json:"reasoning_parser"`
	// Tools are tools as the OpenAI interface has them, ToolChoice likewise.
	Tools              json.RawMessage `json:"tools"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	Prompt             string          `json:"prompt"`
	ChatTemplateKwargs map[string]any  `json:"chat_template_kwargs"`
	FinishReason       string          `json:"finish_reason"`
	Exact              bool            `json:"exact"`
	Validated          bool            `json:"validated"`
	// Chunk is the number of characters a piece, 0 for all at once; with Seed, pieces of 1 to Chunk characters.
	Chunk int    `json:"chunk"`
	Seed  uint64 `json:"seed"`
	// Surface is the interface whose events are wanted beside the deltas, "" for none.
	Surface string `json:"surface"`
}

// Summary is the first line of an answer: what became of the text.
type Summary struct {
	// ToolParser and ReasoningParser are the parsers that read the text.
	ToolParser      string  `json:"tool_parser"`
	ReasoningParser string  `json:"reasoning_parser"`
	Message         Message `json:"message"`
	Spans           []Span  `json:"spans"`
	// Detected are the formats that the text looks like.
	Detected detect.Result `json:"detected"`
	Flags    string        `json:"flags"`
}

// Message is the sorted text.
type Message struct {
	Reasoning string    `json:"reasoning"`
	Content   string    `json:"content"`
	Calls     []Call    `json:"tool_calls"`
	Segments  []Segment `json:"segments"`
	Malformed bool      `json:"malformed"`
}

// Call is a tool call.
type Call struct {
	ID        string `json:"id,omitzero"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Malformed bool   `json:"malformed,omitzero"`
	Cut       bool   `json:"cut,omitzero"`
}

// Segment is a stretch of a tray, or a call.
type Segment struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitzero"`
	Call int    `json:"call"`
}

// Step is what one piece gave.
type Step struct {
	// At is where the piece ends, Held how much of the text up to there is held back, in UTF-16 units.
	At     int     `json:"at"`
	Held   int     `json:"held,omitzero"`
	Deltas []Delta `json:"deltas,omitzero"`
	// Wire is what the surface sends: server-sent events. LeftOut: from here on they are left out, for there are too many.
	Wire    string `json:"wire,omitzero"`
	LeftOut bool   `json:"left_out,omitzero"`
}

// Delta is one thing that became certain.
type Delta struct {
	Kind      string `json:"kind"`
	Text      string `json:"text,omitzero"`
	Call      int    `json:"call,omitzero"`
	Name      string `json:"name,omitzero"`
	ID        string `json:"id,omitzero"`
	Malformed bool   `json:"malformed,omitzero"`
	Cut       bool   `json:"cut,omitzero"`
}

// reading is a question that can be answered.
type reading struct {
	question Question
	parser   *parlance.Parser
	request  parlance.Request
	reason   parlance.FinishReason
	detector *detect.Detector
	wire     Wire // nil: no surface is asked for
	formats  []parlance.FormatInfo
}

// prepare checks a question. The error says what is wrong with it, for the person at the page.
func (h *handler) prepare(ctx context.Context, q *Question) (*reading, error) {
	chosen, err := q.choose(h.detector)
	if err != nil {
		return nil, err
	}
	parser, err := h.registry().Lookup(chosen.ToolParser, chosen.ReasoningParser)
	if err != nil {
		return nil, err
	}
	r := &reading{question: chosen, parser: parser, reason: parlance.FinishStop, detector: h.detector, formats: h.registry().Formats()}
	r.request = parlance.Request{Prompt: q.Prompt, ChatTemplateKwargs: q.ChatTemplateKwargs, Exact: q.Exact, Validated: q.Validated}
	if r.request.Tools, err = parlance.ParseTools(q.Tools); err != nil {
		return nil, err
	}
	if r.request.ToolChoice, err = parlance.ParseToolChoice(q.ToolChoice); err != nil {
		return nil, err
	}
	switch q.FinishReason {
	case "", "stop":
	case "length":
		r.reason = parlance.FinishLength
	default:
		return nil, fmt.Errorf("the finish reason must be stop or length, not %q", q.FinishReason)
	}
	if q.Chunk < 0 {
		return nil, fmt.Errorf("the chunk must be a number of characters, not %d", q.Chunk)
	}
	if q.Surface != "" {
		i := slices.IndexFunc(h.Surfaces, func(s Surface) bool { return s.Name == q.Surface })
		if i < 0 {
			return nil, fmt.Errorf("the interface %q is not served here", q.Surface)
		}
		if r.wire, err = h.Surfaces[i].Open(ctx, Reading{Parser: parser, Request: r.request, Tools: q.Tools}); err != nil {
			return nil, fmt.Errorf("%s refuses the request: %w", h.Surfaces[i].Title, err)
		}
	}
	return r, nil
}

// choose fills in the parsers that are to be detected from the text ("auto").
func (q *Question) choose(d *detect.Detector) (Question, error) {
	chosen := *q
	if q.ToolParser != "auto" && q.ReasoningParser != "auto" {
		return chosen, nil
	}
	found := d.Samples(q.Text)
	if q.ToolParser == "auto" {
		chosen.ToolParser = ""
		if len(found.Tools) > 0 {
			chosen.ToolParser = found.Tools[0].Name
		}
	}
	if q.ReasoningParser == "auto" {
		chosen.ReasoningParser = ""
		if len(found.Reasoning) > 0 {
			chosen.ReasoningParser = found.Reasoning[0].Name
		}
	}
	if chosen.ToolParser == "" && chosen.ReasoningParser == "" {
		return chosen, errors.New("no format was recognised in the text: there is no whole call and no thought with its markers in it; choose a parser by name")
	}
	return chosen, nil
}

// A line has at most batch steps, and not many more than batchBytes of events.
const (
	batch      = 400
	batchBytes = 64 << 10
)

// MostWire is how many bytes of events of a surface are answered.
const MostWire = 16 << 20

// run reads the text and gives out the lines of the answer; send answers whether to go on.
func (r *reading) run(send func(any) bool) {
	text := r.question.Text
	traced := r.request
	traced.Trace = true
	whole := r.parser.Parse(text, traced, r.reason)
	detected := r.detector.Samples(text)
	summary := Summary{ToolParser: r.parser.ToolName(), ReasoningParser: r.parser.ReasoningName(), Message: message(whole), Spans: r.spans(text, whole), Detected: detected, Flags: detected.Flags()}
	if !send(map[string]any{"summary": summary}) {
		return
	}
	stream := r.parser.Stream(r.request)
	watch := r.detector.NewWatch(r.parser, r.parser.PromptState(r.request))
	var steps []Step
	at, bytes, filled := 0, 0, 0
	events := events{wire: r.wire}
	size := r.pieces()
	for bytes < len(text) {
		piece := first(text[bytes:], size())
		deltas := stream.WriteString(piece)
		watch.Write([]byte(piece), deltas)
		bytes += len(piece)
		at += units(piece)
		step := Step{At: at, Held: units(text[max(bytes-stream.Held(), 0):bytes]), Deltas: copied(deltas)}
		step.Wire, step.LeftOut = events.of(func(w Wire) (string, error) { return w.Write(piece) })
		filled += len(step.Wire)
		if steps = append(steps, step); len(steps) == batch || filled > batchBytes {
			if !send(map[string]any{"steps": steps}) {
				return
			}
			steps, filled = steps[:0], 0
		}
	}
	deltas := stream.Close(r.reason)
	alarms := watch.Close(deltas)
	last := Step{At: at, Deltas: copied(deltas)}
	last.Wire, last.LeftOut = events.of(func(w Wire) (string, error) { return w.Close(r.reason) })
	steps = append(steps, last)
	if send(map[string]any{"steps": steps}) {
		send(map[string]any{"alarms": append([]detect.Alarm{}, alarms...)})
	}
}

// events keeps what a surface sends within bounds.
type events struct {
	wire Wire
	sent int
	over bool
}

// of gives the events of a piece. They are left out, which is said once, when there have been too many.
func (e *events) of(write func(Wire) (string, error)) (text string, leftOut bool) {
	if e.wire == nil || e.over {
		return "", false
	}
	text, err := write(e.wire)
	if e.sent += len(text); e.sent > MostWire || err != nil {
		e.over = true
		return "", true
	}
	return text, false
}

// pieces says how many characters the next piece has.
func (r *reading) pieces() func() int {
	switch chunk := r.question.Chunk; {
	case chunk == 0:
		return func() int { return len(r.question.Text) }
	case r.question.Seed != 0:
		random := rand.New(rand.NewPCG(r.question.Seed, 0))
		return func() int { return 1 + random.IntN(chunk) }
	default:
		return func() int { return chunk }
	}
}

// first is the first n characters of a text.
func first(text string, n int) string {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at]
}

// units is the length of a text in UTF-16 units.
func units(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

func copied(deltas []parlance.Delta) (out []Delta) {
	for _, d := range deltas {
		out = append(out, Delta{Kind: d.Kind.String(), Text: string(d.Text), Call: d.Call, Name: d.Name, ID: d.ID, Malformed: d.Malformed, Cut: d.Cut})
	}
	return out
}

func message(m *parlance.Message) Message {
	out := Message{Reasoning: m.Reasoning, Content: m.Content, Malformed: m.Malformed, Calls: []Call{}, Segments: []Segment{}}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Malformed: c.Malformed, Cut: c.Cut})
	}
	for _, s := range m.Segments {
		out.Segments = append(out.Segments, Segment{Kind: s.Kind.String(), Text: s.Text, Call: s.Call})
	}
	return out
}
