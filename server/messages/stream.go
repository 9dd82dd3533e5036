package messages

import (
	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/sse"
)

// blocks writes the steps of an answer as events. Blocks follow one another: one is stopped before the next starts, and
// what comes later for it would start it again, so nothing is lost and nothing moves (W28).
type blocks struct {
	handler *Handler
	request *Request
	events  *sse.Writer
	began   bool
	index   int // of the block that is open, or of the last one
	open    bool
	kind    parlance.Kind
	finish  *generate.Finish
}

type startEvent struct {
	Type    string `json:"type"`
	Message answer `json:"message"`
}

type blockStart struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block block  `json:"content_block"`
}

type blockDelta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta delta  `json:"delta"`
}

type delta struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitzero"`
	Thinking  *string `json:"thinking,omitzero"`
	Signature *string `json:"signature,omitzero"`
	Partial   *string `json:"partial_json,omitzero"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type bare struct {
	Type string `json:"type"`
}

func (b *blocks) send(name string, v any) error { return b.events.Event(name, encode(v)) }

// Wire writes an answer to a request as the interface streams it, whoever makes the steps.
func (h *Handler) Wire(r *Request, events *sse.Writer) generate.Wire {
	return &blocks{handler: h, request: r, events: events}
}

// begin sends message_start.
func (b *blocks) begin(u generate.Usage) error {
	b.began, b.index = true, -1
	start := b.handler.usage(generate.Usage{Prompt: u.Prompt, Cached: u.Cached})
	if err := b.send("message_start", startEvent{"message_start", answer{
		ID: generate.NewID("msg_"), Type: "message", Role: "assistant", Content: []block{}, Model: b.request.Model.Name, Usage: start,
	}}); err != nil {
		return err
	}
	return b.ping()
}

// ping keeps the connection alive; before message_start, where clients expect no event, by a comment.
func (b *blocks) ping() error {
	if !b.began {
		return b.events.KeepAlive()
	}
	return b.send("ping", bare{"ping"})
}

// Step writes the events of a step.
func (b *blocks) Step(s generate.Step) error {
	if !b.began {
		if err := b.begin(s.Usage); err != nil {
			return err
		}
	}
	if s.Finish != nil {
		b.finish = s.Finish
	}
	for _, d := range s.Deltas {
		if err := b.delta(d); err != nil {
			return err
		}
	}
	return nil
}

func (b *blocks) delta(d generate.Delta) error {
	switch d.Kind {
	case parlance.ToolCall:
		return b.start(parlance.ToolCall, toolBlock(d.ID, d.Name, []byte("{}")))
	case parlance.ToolCallEnd:
		return b.stop()
	case parlance.Arguments:
		return b.add(delta{Type: "input_json_delta", Partial: &d.Text})
	}
	if !b.open || b.kind != d.Kind {
		first := textBlock("")
		if d.Kind == parlance.Reasoning {
			first = thinkingBlock("", "")
		}
		if err := b.start(d.Kind, first); err != nil {
			return err
		}
	}
	if d.Kind == parlance.Reasoning {
		return b.add(delta{Type: "thinking_delta", Thinking: &d.Text})
	}
	return b.add(delta{Type: "text_delta", Text: &d.Text})
}

func (b *blocks) add(d delta) error {
	return b.send("content_block_delta", blockDelta{"content_block_delta", b.index, d})
}

// start stops the open block and starts another.
func (b *blocks) start(kind parlance.Kind, first block) error {
	if err := b.stop(); err != nil {
		return err
	}
	b.open, b.kind = true, kind
	b.index++
	return b.send("content_block_start", blockStart{"content_block_start", b.index, first})
}

// stop stops the open block; a thought is signed before.
func (b *blocks) stop() error {
	if !b.open {
		return nil
	}
	b.open = false
	if b.kind == parlance.Reasoning {
		signature := signature()
		if err := b.add(delta{Type: "signature_delta", Signature: &signature}); err != nil {
			return err
		}
	}
	return b.send("content_block_stop", blockStop{"content_block_stop", b.index})
}

// End closes the message. One that is empty has an empty text block, as in a whole answer (W29).
func (b *blocks) End(u generate.Usage) error {
	if !b.began {
		if err := b.begin(u); err != nil {
			return err
		}
	}
	if b.index < 0 {
		if err := b.start(parlance.Content, textBlock("")); err != nil {
			return err
		}
	}
	if err := b.stop(); err != nil {
		return err
	}
	last := messageDelta{Type: "message_delta", Usage: b.handler.usage(u)}
	if b.finish != nil {
		last.Delta.StopReason, last.Delta.StopSequence = stopReason(b.finish)
	}
	if err := b.send("message_delta", last); err != nil {
		return err
	}
	return b.send("message_stop", bare{"message_stop"})
}

// fail ends a stream that has begun with an error.
func (b *blocks) fail(err error) error {
	if b.began {
		if err := b.stop(); err != nil {
			return err
		}
	}
	return b.events.Event("error", apierror.From(err).Anthropic())
}
