package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strconv"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/sse"
)

var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.Deterministic(true))

// chunks writes the steps of an answer as chunks.
//
// A chunk holds one kind of thing: reasoning, content, or one entry of one call. The first entry of a call has its id,
// type, name and "arguments": "", later ones argument text only; so every client that docs/server.md names puts them
// together rightly.
type chunks struct {
	handler *Handler
	request *Request
	events  *sse.Writer
	began   bool
	prompt  string // the rendered prompt, for return_prompt_text
	start   []byte // what all chunks begin with, up to the index of the choice
	buffer  []byte
}

func newChunks(h *Handler, r *Request, head head, events *sse.Writer) *chunks {
	c := &chunks{handler: h, request: r, events: events}
	c.start = append(body.Quote([]byte(`{"id":`), head.id), `,"object":"chat.completion.chunk","created":`...)
	c.start = append(strconv.AppendInt(c.start, head.created, 10), `,"model":`...)
	c.start = append(body.Quote(c.start, head.model), `,"choices":[`...)
	return c
}

// Wire writes an answer to a request as the interface streams it, whoever makes the steps.
func (h *Handler) Wire(r *Request, events *sse.Writer) generate.Wire {
	return newChunks(h, r, h.head(r), events)
}

// begin opens a chunk of a choice, with its delta still to come.
func (c *chunks) begin(choice int) {
	c.buffer = append(append(c.buffer[:0], c.start...), `{"index":`...)
	c.buffer = append(strconv.AppendInt(c.buffer, int64(choice), 10), `,"delta":{`...)
}

// rest is what a chunk says beside its delta.
type rest struct {
	finish *generate.Finish
	step   *generate.Step
	tokens bool // the chunk tells of the step's tokens
}

// send closes the chunk and writes it.
func (c *chunks) send(r rest) error {
	c.buffer = append(c.buffer, `},"logprobs":`...)
	shown := r.tokens && !c.handler.hidden(c.request)
	if shown && c.request.Logprobs {
		c.buffer = append(c.buffer, encode(c.request.logprobs(r.step.Logprobs))...)
	} else {
		c.buffer = append(c.buffer, "null"...)
	}
	c.buffer = append(c.buffer, `,"finish_reason":`...)
	if r.finish != nil {
		c.buffer = body.Quote(c.buffer, finishReason(r.finish, c.request.ToolChoice))
		c.buffer = append(append(c.buffer, `,"stop_reason":`...), encode(r.finish.StopReason())...)
	} else {
		c.buffer = append(c.buffer, "null"...)
	}
	c.buffer = append(c.buffer, `,"token_ids":`...)
	if shown && c.request.TokenIDs {
		c.buffer = append(c.buffer, encode(r.step.TokenIDs)...)
	} else {
		c.buffer = append(c.buffer, "null"...)
	}
	if r.finish != nil {
		c.buffer = append(c.buffer, `,"weight_versions":null`...)
	}
	c.buffer = append(c.buffer, `}]`...)
	if r.finish != nil && !c.request.includeUsage {
		c.fingerprint()
	}
	c.continuous(r.step.Usage)
	c.buffer = append(c.buffer, `,"kv_transfer_params":null}`...)
	return c.events.Data(c.buffer)
}

func (c *chunks) fingerprint() {
	if c.handler.Settings.Fingerprint != "" {
		c.buffer = body.Quote(append(c.buffer, `,"system_fingerprint":`...), c.handler.Settings.Fingerprint)
	}
}

// continuous adds the usage of the choice, if every chunk is to have it.
func (c *chunks) continuous(u generate.Usage) {
	if c.request.continuousUsage {
		c.buffer = append(append(c.buffer, `,"usage":`...), c.usage(u, false)...)
	}
}

// usage writes the counts. Only the last usage of a stream tells of the prompt's details.
func (c *chunks) usage(u generate.Usage, last bool) []byte {
	counts := c.handler.usage(u, c.request.Model.ReadsReasoning())
	if !last {
		counts.PromptDetails = nil
	}
	type stream struct {
		Prompt            int                `json:"prompt_tokens"`
		Total             int                `json:"total_tokens"`
		Completion        int                `json:"completion_tokens"`
		PromptDetails     *promptDetails     `json:"prompt_tokens_details,omitzero"`
		CompletionDetails *completionDetails `json:"completion_tokens_details,omitzero"`
	}
	return encode(stream(counts))
}

// open writes the first chunk of every choice, with its role, and what is echoed.
func (c *chunks) open(first generate.Step) error {
	c.began = true
	for choice := range c.request.N {
		c.begin(choice)
		c.buffer = body.Quote(append(c.buffer, `"role":`...), c.request.role)
		c.buffer = append(c.buffer, `,"content":""},"logprobs":null,"finish_reason":null}]`...)
		c.continuous(generate.Usage{Prompt: first.Usage.Prompt})
		c.buffer = append(c.buffer, `,"prompt_token_ids":`...)
		if first.PromptTokenIDs != nil && !c.handler.hidden(c.request) {
			c.buffer = append(c.buffer, encode(first.PromptTokenIDs)...)
		} else {
			c.buffer = append(c.buffer, "null"...)
		}
		c.buffer = append(c.buffer, `,"prompt_text":`...)
		if c.request.promptText {
			c.buffer = body.Quote(c.buffer, c.prompt)
		} else {
			c.buffer = append(c.buffer, "null"...)
		}
		c.buffer = append(c.buffer, '}')
		if err := c.events.Data(c.buffer); err != nil {
			return err
		}
	}
	if c.request.echo == "" {
		return nil
	}
	for choice := range c.request.N {
		c.begin(choice)
		c.buffer = body.Quote(append(c.buffer, `"content":`...), c.request.echo)
		c.buffer = append(c.buffer, `},"logprobs":null,"finish_reason":null}]}`...)
		if err := c.events.Data(c.buffer); err != nil {
			return err
		}
	}
	return nil
}

// Step writes the chunks of a step: none if it says nothing.
func (c *chunks) Step(s generate.Step) error {
	if !c.began {
		if err := c.open(s); err != nil {
			return err
		}
	}
	r := rest{step: &s, tokens: true}
	for _, d := range s.Deltas {
		if d.Kind == parlance.ToolCallEnd {
			continue
		}
		c.begin(s.Choice)
		c.delta(d)
		if err := c.send(r); err != nil {
			return err
		}
		r.tokens = false
	}
	report := r.tokens && (len(s.Logprobs) > 0 || len(s.TokenIDs) > 0) && !c.handler.hidden(c.request)
	if s.Finish == nil && !report {
		return nil
	}
	r.finish = s.Finish
	c.begin(s.Choice)
	return c.send(r)
}

// delta writes what is in a delta.
func (c *chunks) delta(d generate.Delta) {
	switch d.Kind {
	case parlance.Content:
		c.buffer = body.Quote(append(c.buffer, `"content":`...), d.Text)
	case parlance.Reasoning:
		field := c.handler.Settings.ReasoningField
		if field != "reasoning_content" {
			c.buffer = body.Quote(append(c.buffer, `"reasoning":`...), d.Text)
		}
		if field == "both" {
			c.buffer = append(c.buffer, ',')
		}
		if field != "reasoning" {
			c.buffer = body.Quote(append(c.buffer, `"reasoning_content":`...), d.Text)
		}
	case parlance.ToolCall:
		c.buffer = body.Quote(append(c.buffer, `"tool_calls":[{"id":`...), d.ID)
		c.buffer = append(c.buffer, `,"type":"function","index":`...)
		c.buffer = strconv.AppendInt(c.buffer, int64(d.Call), 10)
		c.buffer = body.Quote(append(c.buffer, `,"function":{"name":`...), d.Name)
		c.buffer = append(c.buffer, `,"arguments":""}}]`...)
	case parlance.Arguments:
		c.buffer = append(c.buffer, `"tool_calls":[{"index":`...)
		c.buffer = strconv.AppendInt(c.buffer, int64(d.Call), 10)
		c.buffer = body.Quote(append(c.buffer, `,"function":{"arguments":`...), d.Text)
		c.buffer = append(c.buffer, `}}]`...)
	}
}

// End writes the usage, if it was asked for, and the end mark.
func (c *chunks) End(u generate.Usage) error {
	if c.request.includeUsage {
		c.buffer = append(append(c.buffer[:0], c.start...), `],"usage":`...)
		c.buffer = append(c.buffer, c.usage(u, true)...)
		c.fingerprint()
		if err := c.events.Data(append(c.buffer, '}')); err != nil {
			return err
		}
	}
	return c.events.Done()
}

// fail ends a stream that has begun with an error.
func (c *chunks) fail(err error) error {
	if err := c.events.Data(apierror.From(err).OpenAI()); err != nil {
		return err
	}
	return c.events.Done()
}
