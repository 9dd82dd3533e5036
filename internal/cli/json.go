package cli

import (
	"io"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
)

// writeLine writes a value as one line of JSON.
func writeLine(out io.Writer, value any) error {
	data, err := conformance.Encode(value)
	if err != nil {
		return err
	}
	_, err = out.Write(append(data, '\n'))
	return err
}

// span is a span of the input in JSON. Call is left out where the span belongs to no call.
type span struct {
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Became string `json:"became"`
	Call   *int   `json:"call,omitzero"`
	Text   string `json:"text"`
}

// writeMessage writes a message as `parlance batch` does, with the trace if it is asked for.
func writeMessage(out io.Writer, m *parlance.Message, text []byte, trace bool) error {
	result := conformance.NewResult(nil, m)
	if !trace {
		return writeLine(out, result)
	}
	spans := []span{}
	for i := range m.Trace {
		s := &m.Trace[i]
		in := span{Start: s.Start, End: s.End, Became: s.Became, Text: string(text[s.Start:s.End])}
		if s.Call >= 0 {
			in.Call = &s.Call
		}
		spans = append(spans, in)
	}
	return writeLine(out, struct {
		*conformance.Result
		Trace []span `json:"trace"`
	}{result, spans})
}

// delta is a delta in JSON.
type delta struct {
	Type      string  `json:"type"`
	Index     *int    `json:"index,omitzero"`
	ID        *string `json:"id,omitzero"`
	Name      *string `json:"name,omitzero"`
	Text      *string `json:"text,omitzero"`
	Malformed *bool   `json:"malformed,omitzero"`
	Cut       *bool   `json:"cut,omitzero"`
}

func writeDeltas(out io.Writer, deltas []parlance.Delta) error {
	for i := range deltas {
		d := &deltas[i]
		line := delta{Type: d.Kind.String()}
		text := string(d.Text)
		switch d.Kind {
		case parlance.Content, parlance.Reasoning:
			line.Text = &text
		case parlance.ToolCall:
			line.Index, line.ID, line.Name = &d.Call, &d.ID, &d.Name
		case parlance.Arguments:
			line.Index, line.Text = &d.Call, &text
		case parlance.ToolCallEnd:
			line.Index, line.Malformed, line.Cut = &d.Call, &d.Malformed, &d.Cut
		}
		if err := writeLine(out, line); err != nil {
			return err
		}
	}
	return nil
}
