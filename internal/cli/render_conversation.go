package cli

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/internal/content"
	"github.com/parlance-llm/parlance/render"
)

// conversationMessage is a message of a conversation in JSON. Only those of the assistant and of tools are read.
type conversationMessage struct {
	assistantMessage
	Name       string `json:"name"`
	ToolCallID string `json:"tool_call_id"`
}

// result gives what the JSON of a tool's message says. A content of text, or of parts of text, is the text; any other is
// the JSON that it is.
func (m *conversationMessage) result() (render.Result, error) {
	r := render.Result{ID: m.ToolCallID, Name: m.Name}
	switch m.Content.Kind() {
	case '{', '0', 't', 'f':
		r.Value = m.Content
		return r, nil
	case '[':
		if !areParts(m.Content) {
			r.Value = m.Content
			return r, nil
		}
	}
	var err error
	if r.Content, err = content.Text(m.Content); err != nil {
		return r, fmt.Errorf("content: %w", err)
	}
	return r, nil
}

// areParts tells whether a JSON array holds the parts of a content: objects with a type.
func areParts(content jsontext.Value) bool {
	var parts []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return false
	}
	for _, part := range parts {
		if part.Type == "" {
			return false
		}
	}
	return true
}

// rendered is a line of a conversation that was rendered.
type rendered struct {
	// Index is the number of the message, or of the first of Results messages that are written together.
	Index   int           `json:"index"`
	Results int           `json:"results,omitzero"`
	Text    *string       `json:"text,omitzero"`
	Error   string        `json:"error,omitzero"`
	Reason  render.Reason `json:"reason,omitzero"`
}

// renderConversation writes a line for each message of the assistant, and for the results behind one. It ends silently
// with an error if one could not be written.
func renderConversation(out io.Writer, r *render.Renderer, o render.Options, data []byte) error {
	var messages []conversationMessage
	if err := conformance.Decode(data, &messages); err != nil {
		return err
	}
	failed := false
	write := func(line rendered, text string, err error) error {
		var refused *render.Error
		switch {
		case errors.As(err, &refused):
			line.Error, line.Reason = err.Error(), refused.Reason
			failed = true
		case err != nil:
			return err
		default:
			line.Text = &text
		}
		return writeLine(out, line)
	}
	var answered *parlance.Message // the last message of the assistant
	var behind string              // the results that the next one stands behind
	given := o.Request.Prompt != ""
	for k := 0; k < len(messages); k++ {
		switch role := messages[k].Role; role {
		case "":
			return fmt.Errorf("message %d: expected a role", k)
		case "assistant":
			if answered != nil {
				o.EarlierCalls += len(answered.Calls)
			}
			m, err := messages[k].message()
			if err != nil {
				return fmt.Errorf("message %d: %w", k, err)
			}
			if !given {
				o.Request.Prompt = behind
			}
			answered, behind = m, ""
			text, err := r.Render(m, o)
			if err := write(rendered{Index: k}, text, err); err != nil {
				return err
			}
		case "tool":
			line := rendered{Index: k}
			var results []render.Result
			for ; k < len(messages) && messages[k].Role == role; k++ {
				result, err := messages[k].result()
				if err != nil {
					return fmt.Errorf("message %d: %w", k, err)
				}
				results = append(results, result)
			}
			k--
			line.Results = len(results)
			text, err := r.Results(answered, results, o)
			if err := write(line, text, err); err != nil {
				return err
			}
			behind = text
		default:
			behind = ""
		}
	}
	if failed {
		return errSilent
	}
	return nil
}
