package doctor

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/parlance-llm/parlance/server/generate"
)

// client asks a chat route.
type client struct{ base, key, model string }

// Reply is what a client gets, whole or put together from a stream.
type Reply struct {
	Status int `json:"status"`
	// Error is what the server says where it refuses, or what went wrong with the stream.
	Error     string `json:"error,omitzero"`
	Reasoning string `json:"reasoning"`
	// Field is the field that the reasoning came in: reasoning, reasoning_content, or both.
	Field   string `json:"reasoning_field,omitzero"`
	Content string `json:"content"`
	Calls   []Call `json:"tool_calls"`
	// Finish is the finish_reason, Stop the stop_reason as text.
	Finish string `json:"finish_reason"`
	Stop   string `json:"stop_reason,omitzero"`
	// Warnings are those of the header and the trailer X-Parlance-Warning.
	Warnings []string `json:"warnings,omitzero"`

	prompt string
}

// Call is a tool call that a client gets.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// answered tells whether there is an answer.
func (r *Reply) answered() bool { return r != nil && r.Error == "" }

type wireMessage struct {
	Reasoning        string `json:"reasoning"`
	ReasoningContent string `json:"reasoning_content"`
	Content          string `json:"content"`
	Calls            []struct {
		Index    *int `json:"index"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type wireAnswer struct {
	Choices []struct {
		Message wireMessage `json:"message"`
		Delta   wireMessage `json:"delta"`
		Finish  string      `json:"finish_reason"`
		Stop    any         `json:"stop_reason"`
	} `json:"choices"`
	Prompt string `json:"prompt_text"`
	Error  any    `json:"error"`
}

// add takes a message, or a delta.
func (r *Reply) add(m wireMessage) {
	switch {
	case m.Reasoning != "" && m.ReasoningContent != "":
		r.Field = "both"
	case m.Reasoning != "":
		r.Field = "reasoning"
	case m.ReasoningContent != "":
		r.Field = "reasoning_content"
	}
	if m.Reasoning != "" {
		r.Reasoning += m.Reasoning
	} else {
		r.Reasoning += m.ReasoningContent
	}
	r.Content += m.Content
	for i, call := range m.Calls {
		at := i
		if call.Index != nil {
			at = *call.Index
		}
		for len(r.Calls) <= min(at, 1000) {
			r.Calls = append(r.Calls, Call{})
		}
		if at < len(r.Calls) {
			r.Calls[at].Name += call.Function.Name
			r.Calls[at].Arguments += call.Function.Arguments
		}
	}
}

// take takes an answer, or a chunk of one.
func (r *Reply) take(a *wireAnswer, stream bool) {
	if a.Prompt != "" {
		r.prompt = a.Prompt
	}
	if a.Error != nil {
		r.Error = fmt.Sprint(a.Error)
	}
	for _, c := range a.Choices {
		m := c.Message
		if stream {
			m = c.Delta
		}
		r.add(m)
		if c.Finish != "" {
			r.Finish = c.Finish
		}
		if c.Stop != nil {
			r.Stop = fmt.Sprint(c.Stop)
		}
	}
}

// chat posts a request. What goes wrong is part of the reply.
func (c *client) chat(ctx context.Context, body map[string]any) *Reply {
	r := &Reply{}
	if err := c.post(ctx, body, r); err != nil {
		r.Error = err.Error()
	}
	return r
}

func (c *client) post(ctx context.Context, body map[string]any, r *Reply) error {
	stream, _ := body["stream"].(bool)
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/chat/completions", bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	r.Status = response.StatusCode
	defer func() {
		r.Warnings = append(response.Header.Values(generate.WarningHeader), response.Trailer.Values(generate.WarningHeader)...)
	}()
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(response.Body, mostTold))
		if err != nil {
			return err
		}
		return errors.New(cmp.Or(refusal(text), "(without a message)"))
	}
	if stream {
		return r.stream(response.Body)
	}
	var a wireAnswer
	if err := json.UnmarshalRead(response.Body, &a); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(a.Choices) == 0 && a.Error != nil {
		return fmt.Errorf("the answer has no choice, but an error: %s", errorText(a.Error))
	}
	if len(a.Choices) == 0 {
		return errors.New("the answer has no choice")
	}
	r.take(&a, false)
	return nil
}

// refusal is the message of an error in any of the usual shapes, else its text.
func refusal(text []byte) string {
	var e struct {
		Error   any    `json:"error"`
		Message string `json:"message"`
		Detail  any    `json:"detail"`
	}
	if json.Unmarshal(text, &e) != nil {
		return strings.TrimSpace(string(text))
	}
	for _, said := range []any{e.Error, e.Detail} {
		if said != nil {
			return errorText(said)
		}
	}
	if e.Message != "" {
		return e.Message
	}
	return strings.TrimSpace(string(text))
}

// errorText is the message of an error object, or the error as it is.
func errorText(said any) string {
	if object, ok := said.(map[string]any); ok {
		if message, ok := object["message"].(string); ok {
			return message
		}
	}
	return fmt.Sprint(said)
}

// stream puts the chunks of a stream together.
func (r *Reply) stream(body io.Reader) error {
	lines := bufio.NewReader(body)
	ended := false
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			var a wireAnswer
			switch {
			case string(data) == "[DONE]":
				ended = true
			case len(data) > 0:
				if err := json.Unmarshal(data, &a); err != nil {
					return fmt.Errorf("a chunk cannot be read: %w", err)
				}
				r.take(&a, true)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if !ended && r.Finish == "" && r.Error == "" {
		return errors.New("the stream broke off before it said why it ended")
	}
	return nil
}
