package engine

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"slices"
)

// Engine is a source of model text. All methods may be called by any number of goroutines at once. Errors are of type
// *Error, but for a context's own, which a method that was cut short by its context returns wrapped in one.
type Engine interface {
	// Name is the name under which Open knows the engine.
	Name() string
	// Capabilities says what the engine can do. The answer never changes and asks nobody.
	Capabilities() Capabilities
	// Generate starts one answer and returns when its first piece is there, or the error that came in its place; so a
	// server that has got a Stream may send its own status, and one that has got an error can still choose it. The context
	// covers the whole stream, not only the call.
	Generate(ctx context.Context, r *Request) (Stream, error)
	// ApplyTemplate renders a conversation with the model's own chat template. Without a template route it is Unsupported.
	ApplyTemplate(ctx context.Context, c *Conversation) (Prompt, error)
	// Template is the source of the model's chat template, where the engine tells it. Otherwise it is Unsupported.
	Template(ctx context.Context, model string) (Template, error)
	// Tokenize gives the tokens of a text. Special tokens that are written out in the text become those tokens.
	// addSpecial adds what the tokenizer puts around a text of its own accord, such as BOS. Without a tokenizer it is
	// Unsupported.
	Tokenize(ctx context.Context, model, text string, addSpecial bool) ([]Token, error)
	// Detokenize gives the text of tokens, special tokens written out. Without a tokenizer it is Unsupported.
	Detokenize(ctx context.Context, model string, tokens []int) (string, error)
	// Models are the models that the engine serves, the one that answers when a request names none first.
	Models(ctx context.Context) ([]Model, error)
	// Health is nil if the engine would take a request now.
	Health(ctx context.Context) error
	// Close lets go of idle connections. Streams that are open are not touched.
	Close() error
}

// Capabilities are what an engine can do.
type Capabilities struct {
	// ChatOnly: a request carries a Conversation instead of a Prompt; the engine renders it.
	ChatOnly bool
	// PromptTokens: a prompt may be given as token ids.
	PromptTokens bool
	// TokenIDs: the pieces of a stream carry the id of every token, and those of the prompt, if the request asks for them.
	TokenIDs bool
	// Logprobs: log probabilities come with the pieces. MaxTopLogprobs is how many alternatives a token may have.
	Logprobs       bool
	MaxTopLogprobs int
	// Constraints are the dialects that the engine takes, the one to prefer first.
	Constraints []Dialect
	// ConstraintAfterThought: the engine itself can let a constraint begin where the thought ends.
	ConstraintAfterThought bool
	// LazyConstraints: a GBNF constraint can sleep until one of its triggers is written.
	LazyConstraints bool
	// SpecialTokens says whether special tokens show in the text.
	SpecialTokens SpecialTokens
	// Tokenizer: Tokenize and Detokenize work. Renders: ApplyTemplate works. TemplateSource: Template may work.
	Tokenizer, Renders, TemplateSource bool
	// StopStrings is how many stop strings a request may have; 0 means any number.
	StopStrings int
	// StopTokens: a request may name token ids that end the answer.
	StopTokens bool
	// IncludeStop: the stop string can be part of the text.
	IncludeStop bool
	// ThinkingBudget: the engine can limit the tokens of the thought.
	ThinkingBudget bool
}

// Takes tells whether the engine takes constraints of a dialect.
func (c Capabilities) Takes(d Dialect) bool { return slices.Contains(c.Constraints, d) }

// check refuses a request that asks for more than the engine can do.
func (c Capabilities) check(engine string, r *Request) error {
	refuse := func(param, message string) error { return unsupported(engine, "generate", param, message) }
	switch {
	case c.ChatOnly && r.Conversation == nil:
		return refuse("prompt", "the engine takes messages, not a prompt")
	case !c.ChatOnly && r.Conversation != nil:
		return refuse("messages", "the engine takes a prompt, not messages")
	case len(r.Prompt.Tokens) > 0 && !c.PromptTokens:
		return refuse("prompt", "the engine takes text, not token ids")
	case (r.TokenIDs || r.PromptTokenIDs) && !c.TokenIDs:
		return refuse("return_token_ids", "the engine does not tell token ids")
	case r.Logprobs && !c.Logprobs:
		return refuse("logprobs", "the engine does not tell log probabilities")
	case r.Logprobs && r.TopLogprobs > c.MaxTopLogprobs:
		return refuse("top_logprobs", fmt.Sprintf("the engine tells at most %d alternatives, not %d", c.MaxTopLogprobs, r.TopLogprobs))
	case c.StopStrings > 0 && len(r.Stop) > c.StopStrings:
		return refuse("stop", fmt.Sprintf("the engine takes at most %d stop strings, not %d", c.StopStrings, len(r.Stop)))
	case len(r.StopTokens) > 0 && !c.StopTokens:
		return refuse("stop_token_ids", "the engine takes no stop tokens")
	case r.IncludeStop && !c.IncludeStop:
		return refuse("include_stop_str_in_output", "the engine leaves the stop string out")
	case r.ThinkingBudget != nil && !c.ThinkingBudget:
		return refuse("thinking_token_budget", "the engine cannot limit the thought")
	}
	if constraint := r.Constraint; constraint != nil {
		switch {
		case !c.Takes(constraint.Dialect):
			return refuse("structured_outputs", fmt.Sprintf("the engine takes no constraint in the dialect %s", constraint.Dialect))
		case len(constraint.Triggers) > 0 && !c.LazyConstraints:
			return refuse("structured_outputs", "the engine takes no constraint that sleeps until it is triggered")
		case constraint.AfterThought && !c.ConstraintAfterThought:
			return refuse("structured_outputs", "the engine cannot begin a constraint behind the thought")
		}
	}
	return nil
}

// SpecialTokens says what becomes of special tokens in an engine's text.
type SpecialTokens uint8

const (
	// SpecialTokensUnknown: nothing is known; they may be missing.
	SpecialTokensUnknown SpecialTokens = iota
	// SpecialTokensKept: all of them show, unless the request skips them.
	SpecialTokensKept
	// SpecialTokensListed: those show that the request lists as PreservedTokens.
	SpecialTokensListed
	// SpecialTokensLost: none shows.
	SpecialTokensLost
)

func (s SpecialTokens) String() string {
	return [...]string{"unknown", "kept", "listed", "lost"}[s]
}

// Prompt is what a model reads. If Tokens is not empty it counts, for engines that take ids; Text then only tells what the
// tokens say. What the template of the model begins with, a BOS say, is part of the prompt: engines are asked to add none.
type Prompt struct {
	Text   string
	Tokens []int
	// BOS is the text of the BOS that Text begins with, if it does and the one who rendered it knows. An engine that puts
	// one in front of every text prompt, and cannot be asked not to, gets the prompt without it.
	BOS string
}

// Conversation is what a chat template renders, in the shapes of the OpenAI Chat Completions API.
type Conversation struct {
	// Model is the model whose template is meant; "" is the engine's first.
	Model string
	// Messages is the JSON array of messages; Tools the array of tools, or nothing.
	Messages, Tools jsontext.Value
	// ChatTemplateKwargs are further arguments of the template.
	ChatTemplateKwargs map[string]any
	// ReasoningEffort is passed on where it is set.
	ReasoningEffort string
	// NoGenerationPrompt leaves out the beginning of the assistant's turn. ContinueFinalMessage leaves the last message
	// open, so that the answer goes on with it; it implies NoGenerationPrompt.
	NoGenerationPrompt, ContinueFinalMessage bool
	// Template is the source of a template to use instead of the model's own; only vllm takes it.
	Template string
}

// Template is a model's chat template.
type Template struct {
	// Source is the template, in Jinja. ToolUse is the one that the model has for requests with tools, if it has two.
	Source, ToolUse string
	// BOS and EOS are the texts of those tokens, as the template wants them; "" where they are not known.
	BOS, EOS string
}

// Token is a token of a text.
type Token struct {
	ID int
	// Text is what it stands for; "" where the engine does not tell.
	Text string
}

// Model is a model that an engine serves.
type Model struct {
	ID string
	// MaxTokens is the length of its context in tokens; 0 if the engine does not tell.
	MaxTokens int
	// Root is what the model was loaded from; Parent the model that an adapter belongs to. Both may be "".
	Root, Parent string
	// Created is when, in seconds since 1970; 0 if the engine does not tell.
	Created int64
	OwnedBy string
	// ToolCallParser and ReasoningParser name the parsers for its answers: those that a recording tells, or those that the
	// engine itself was started with. "" where the engine does not tell.
	ToolCallParser, ReasoningParser string
}
