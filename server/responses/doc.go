// Package responses is the OpenAI Responses interface: POST /v1/responses, whole, streamed and in the background, what
// reads, cancels and deletes stored responses, and conversations.
//
// A conversation is a list of items here: messages, reasoning, calls of functions and of custom tools, and their outputs.
// They are translated into the messages that chat templates read; the steps of the answer become items again, in the
// order in which the model wrote them. Shapes and events are those of the OpenAI API reference; where vLLM 0.33.0 differs
// from it, docs/server.md says what is done here.
//
//   - A tool in a namespace is shown to the model as NAMESPACE__NAME, and shown to the client under both names.
//   - A custom tool is shown to the model as a function with one text, input.
//   - A run is one response while it is made: its events, numbered from 0, the response object, and who listens.
package responses

import (
	"log/slog"
	"time"

	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
	"github.com/parlance-llm/parlance/server/store"
)

// Settings are what the server's flags say of the interface.
type Settings struct {
	// Defaults are the template arguments of all requests.
	Defaults generate.TemplateDefaults
	// Limits are what a request may ask for.
	Limits generate.Limits
	// ContextLength is the length of a model's context in tokens where the engine does not tell; 0 if nobody knows.
	ContextLength int
	// BodyLimit is the largest body in bytes.
	BodyLimit int64
	// KeepAlive is how long a stream may be idle before a comment is sent; 0 sends none. WriteTimeout is how long one write
	// to a client may take.
	KeepAlive, WriteTimeout time.Duration
}

// Handler serves the interface.
type Handler struct {
	Generator *generate.Generator
	Models    *models.Registry
	// Store keeps responses; nil keeps none.
	Store    store.Store
	Settings Settings
	Logger   *slog.Logger

	runs runs
}
