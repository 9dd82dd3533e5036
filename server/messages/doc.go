// Package messages is Anthropic's Messages interface: POST /v1/messages, whole and streamed, and
// POST /v1/messages/count_tokens.
//
// Its conversations are made of blocks. They are translated into the messages that chat templates read, block by block in
// their order, and the steps of the answer are written as blocks again: thinking, text and tool_use, in the order in
// which the model wrote them. Shapes and events are those of Anthropic's API reference; where vLLM 0.33.0 differs from
// it, docs/server.md says what is done here.
//
//   - A block is a part of a message's content. In a stream blocks follow one another, each with a start, deltas and a
//     stop, numbered from 0.
//   - A signature stands for a thinking block when it comes back in a conversation. Engines sign nothing, so it is random,
//     and is not looked at when it comes back.
package messages

import (
	"time"

	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
)

// Settings are what the server's flags say of the interface.
type Settings struct {
	// Defaults are the template arguments of all requests.
	Defaults generate.TemplateDefaults
	// Limits are what a request may ask for.
	Limits generate.Limits
	// DisabledEffort is the effort that a request which disables thinking asks for; "auto" chooses it by the model's format.
	DisabledEffort string
	// CacheDetails: usage tells of cached prompt tokens.
	CacheDetails bool
	// BodyLimit is the largest body in bytes.
	BodyLimit int64
	// KeepAlive is how long a stream may be idle before a ping is sent; 0 sends none. WriteTimeout is how long one write to
	// a client may take.
	KeepAlive, WriteTimeout time.Duration
}

// Handler serves the interface.
type Handler struct {
	Generator *generate.Generator
	Models    *models.Registry
	Settings  Settings
}
