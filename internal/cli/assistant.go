package cli

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/content"
)

// assistantMessage is a message in JSON: as in an OpenAI request, or as `parlance parse --json` prints it.
type assistantMessage struct {
	Role             string         `json:"role"`
	Content          jsontext.Value `json:"content"`
	Reasoning        *string        `json:"reasoning"`
	ReasoningContent *string        `json:"reasoning_content"`
	ToolCalls        []toolCall     `json:"tool_calls"`
	Segments         []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Index int    `json:"index"`
	} `json:"segments"`
}

// given tells whether there is anything of a message; null counts, as in an answer of calls only.
func (m *assistantMessage) given() bool {
	return m.Role != "" || m.Content != nil || m.Reasoning != nil || m.ReasoningContent != nil || m.ToolCalls != nil || m.Segments != nil
}

// toolCall is a call with its function, or with the name and the arguments beside the id.
type toolCall struct {
	ID        *string        `json:"id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Function  *struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// message gives what the JSON says. Arguments may be text or an object.
func (m *assistantMessage) message() (out *parlance.Message, err error) {
	out = &parlance.Message{}
	for _, reasoning := range []*string{m.Reasoning, m.ReasoningContent} {
		if reasoning != nil {
			out.Reasoning = *reasoning
			break
		}
	}
	if out.Content, err = content.Text(m.Content); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	for k, call := range m.ToolCalls {
		name, arguments := call.Name, call.Arguments
		if call.Function != nil {
			name, arguments = call.Function.Name, call.Function.Arguments
		}
		if name == "" {
			return nil, fmt.Errorf("tool_calls[%d]: expected the name of a function", k)
		}
		c := parlance.Call{Name: name, Arguments: string(arguments)}
		if arguments.Kind() == '"' {
			if err := json.Unmarshal(arguments, &c.Arguments); err != nil {
				return nil, fmt.Errorf("tool_calls[%d].arguments: %w", k, err)
			}
		}
		if call.ID != nil {
			c.ID = *call.ID
		}
		out.Calls = append(out.Calls, c)
	}
	for k, s := range m.Segments {
		segment := parlance.Segment{Text: s.Text, Call: s.Index}
		switch s.Type {
		case parlance.Content.String():
		case parlance.Reasoning.String():
			segment.Kind = parlance.Reasoning
		case parlance.ToolCall.String():
			segment.Kind = parlance.ToolCall
			if s.Index < 0 || s.Index >= len(out.Calls) {
				return nil, fmt.Errorf("segments[%d].index: expected the number of a call, found %d of %d", k, s.Index, len(out.Calls))
			}
		default:
			return nil, fmt.Errorf("segments[%d].type: expected content, reasoning or tool_call, found %q", k, s.Type)
		}
		out.Segments = append(out.Segments, segment)
	}
	return out, nil
}
