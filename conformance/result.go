package conformance

import (
	"encoding/json/jsontext"

	"github.com/parlance-llm/parlance"
)

// Result is what an implementation made of an Input. Its keys are those of a result of `parlance batch`.
type Result struct {
	ID        jsontext.Value  `json:"id"`
	Reasoning string          `json:"reasoning"`
	Content   string          `json:"content"`
	ToolCalls []ResultCall    `json:"tool_calls"`
	Segments  []ResultSegment `json:"segments"`
	Malformed bool            `json:"malformed"`
	// ReasoningTokens is how many tokens became reasoning; it is known only of an output that comes as tokens.
	ReasoningTokens *int `json:"reasoning_tokens,omitzero"`
}

// ResultCall is a call. Arguments is the argument text.
type ResultCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ResultSegment is a stretch of text of a tray, or the number of a call, in the order of the output.
type ResultSegment struct {
	Type  string  `json:"type"`
	Text  *string `json:"text,omitzero"`
	Index *int    `json:"index,omitzero"`
}

// Result sorts a prepared input and makes its result; see Sort and NewResult.
func (p *Prepared) Result(id jsontext.Value, stream bool, chunk Chunk) *Result {
	m := p.Sort(stream, chunk)
	r := NewResult(id, m)
	if p.output.byToken {
		r.ReasoningTokens = &m.ReasoningTokens
	}
	return r
}

// NewResult makes a result of a message. An id that is not given is null.
func NewResult(id jsontext.Value, m *parlance.Message) *Result {
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	r := &Result{ID: id, Reasoning: m.Reasoning, Content: m.Content, ToolCalls: []ResultCall{}, Segments: []ResultSegment{}, Malformed: m.Malformed}
	for _, call := range m.Calls {
		r.ToolCalls = append(r.ToolCalls, ResultCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
	}
	for i := range m.Segments {
		segment := ResultSegment{Type: m.Segments[i].Kind.String()}
		if m.Segments[i].Kind == parlance.ToolCall {
			segment.Index = &m.Segments[i].Call
		} else {
			segment.Text = &m.Segments[i].Text
		}
		r.Segments = append(r.Segments, segment)
	}
	return r
}

// Failure is a line of `parlance batch` for an input that could not be read.
type Failure struct {
	ID    jsontext.Value `json:"id"`
	Error string         `json:"error"`
}

// Line is one line that `parlance batch` reads: an input, its id, and whether and in which chunks it comes as a stream.
type Line struct {
	ID jsontext.Value `json:"id,omitzero"`
	Input
	Stream bool  `json:"stream,omitzero"`
	Chunk  Chunk `json:"chunk"`
}
