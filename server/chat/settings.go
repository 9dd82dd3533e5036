// Package chat is the Chat Completions interface: POST /v1/chat/completions, whole and streamed.
//
// It reads the interface's JSON into a generate.Request and writes the steps that answer it in the interface's shape; it
// never looks at model text. Fields, checks, statuses and the order of keys are vLLM 0.33.0's, but for what is listed in
// docs/server.md.
package chat

import (
	"time"

	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
)

// Settings are what the server's flags say of the interface.
type Settings struct {
	// Defaults are the template arguments of all requests.
	Defaults generate.TemplateDefaults
	// ResponseRole is the role of answers.
	ResponseRole string
	// ReasoningField names the field that reasoning stands in: reasoning, reasoning_content, or both.
	ReasoningField string
	// ExcludeTools: with tool_choice none the template gets no tools.
	ExcludeTools bool
	// ForceUsage: every stream has usage in every chunk. PromptDetails: usage tells of cached prompt tokens. Metrics: answers
	// have the times of the request.
	ForceUsage, PromptDetails, Metrics bool
	// TokensAsIDs: log probabilities name tokens as token_id:N.
	TokensAsIDs bool
	// Limits are what a request may ask for.
	Limits generate.Limits
	// BodyLimit is the largest body in bytes.
	BodyLimit int64
	// KeepAlive is how long a stream may be idle before a comment is sent; 0 sends none. WriteTimeout is how long one write
	// to a client may take.
	KeepAlive, WriteTimeout time.Duration
	// Fingerprint is the system fingerprint; "" is null.
	Fingerprint string
}

// Handler serves the interface.
type Handler struct {
	Generator *generate.Generator
	Models    *models.Registry
	Settings  Settings
}
