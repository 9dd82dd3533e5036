package messages

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/generate"
)

// answer is a whole answer.
type answer struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Content      []block `json:"content"`
	Model        string  `json:"model"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

// block is a part of an answer. The fields of its type are set.
type block struct {
	Type      string         `json:"type"`
	Thinking  *string        `json:"thinking,omitzero"`
	Signature *string        `json:"signature,omitzero"`
	Text      *string        `json:"text,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
}

func textBlock(text string) block { return block{Type: "text", Text: &text} }

func thinkingBlock(text, signature string) block {
	return block{Type: "thinking", Thinking: &text, Signature: &signature}
}

func toolBlock(id, name string, input jsontext.Value) block {
	return block{Type: "tool_use", ID: id, Name: name, Input: input}
}

// usage counts tokens. The prompt's tokens are counted without those that were read from a cache, as Anthropic does.
type usage struct {
	Input         int  `json:"input_tokens"`
	Output        int  `json:"output_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens,omitzero"`
	CacheCreation *int `json:"cache_creation_input_tokens,omitzero"`
}

func (h *Handler) usage(u generate.Usage) usage {
	out := usage{Input: u.Prompt, Output: u.Completion}
	if h.Settings.CacheDetails {
		none := 0
		out.Input, out.CacheRead, out.CacheCreation = u.Prompt-u.Cached, &u.Cached, &none
	}
	return out
}

// signature makes the signature of a thinking block.
func signature() string { return generate.NewID("") }

// whole writes a whole answer.
func (h *Handler) whole(r *Request, a *generate.Answer) []byte {
	out := answer{ID: generate.NewID("msg_"), Type: "message", Role: "assistant", Content: []block{}, Model: r.Model.Name, Usage: h.usage(a.Usage)}
	for _, segment := range a.Segments {
		switch segment.Kind {
		case parlance.Reasoning:
			out.Content = append(out.Content, thinkingBlock(segment.Text, signature()))
		case parlance.Content:
			out.Content = append(out.Content, textBlock(segment.Text))
		case parlance.ToolCall:
			call := a.Calls[segment.Call]
			out.Content = append(out.Content, toolBlock(call.ID, call.Name, input(call)))
		}
	}
	if len(out.Content) == 0 {
		out.Content = append(out.Content, textBlock("")) // as in a stream (W29)
	}
	out.StopReason, out.StopSequence = stopReason(&a.Finish)
	return encode(out)
}

// input is the argument object of a call. Of one that was cut off it holds what is complete (W27).
func input(c generate.Call) jsontext.Value {
	if value := jsontext.Value(c.Arguments); value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && value.Kind() == '{' {
		return value
	}
	return complete(c.Arguments)
}

// complete is the object that a text is the beginning of, with the members that are complete in it.
func complete(text string) jsontext.Value {
	decoder := jsontext.NewDecoder(newReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	end, closers := 0, ""
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			break
		}
		depth := decoder.StackDepth()
		if depth == 0 {
			if token.Kind() != '}' {
				return jsontext.Value("{}")
			}
			return jsontext.Value(text[:decoder.InputOffset()])
		}
		kind, length := decoder.StackIndex(depth)
		if kind == '{' && length%2 == 1 {
			continue // a name, without its value
		}
		end, closers = int(decoder.InputOffset()), ""
		for level := depth; level > 0; level-- {
			if kind, _ := decoder.StackIndex(level); kind == '{' {
				closers += "}"
			} else {
				closers += "]"
			}
		}
	}
	if end == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value(text[:end] + closers)
}

// stopReason is why an answer ended, in the interface's words.
func stopReason(f *generate.Finish) (reason, sequence *string) {
	word := "end_turn"
	switch {
	case f.Reason == engine.FinishFilter:
		word = "refusal"
	case f.Incomplete():
		word = "max_tokens"
	case f.Calls > 0 && !f.Cut:
		word = "tool_use"
	case f.StopString != "":
		word, sequence = "stop_sequence", &f.StopString
	}
	return &word, sequence
}

var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), json.Deterministic(true))

func encode(v any) []byte {
	data, err := json.Marshal(v, encoding)
	if err != nil {
		panic("messages: " + err.Error()) // the shapes hold nothing that JSON cannot write, and invalid text is mended
	}
	return data
}
