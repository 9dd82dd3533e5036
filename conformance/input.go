package conformance

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"

	"github.com/parlance-llm/parlance"
)

// Input is a model's output with what its request says. The keys are those of a case file and of a line of
// `parlance batch` (ruling 4); null is the same as nothing.
type Input struct {
	// Text is the output; nil if it comes as Tokens.
	Text *string `json:"text,omitzero"`
	// Tokens are the output as an engine gives it that sends token ids, in place of Text. Where a vocabulary is known
	// (AddedTokens, or that of the Environment), a marker in it that is a token of the vocabulary counts only as that.
	Tokens          []Token        `json:"tokens,omitzero"`
	ToolParser      string         `json:"tool_parser,omitzero"`
	ReasoningParser string         `json:"reasoning_parser,omitzero"`
	Tools           jsontext.Value `json:"tools,omitzero"`
	ToolChoice      jsontext.Value `json:"tool_choice,omitzero"`
	Prompt          string         `json:"prompt,omitzero"`
	// PromptTokens are the tokens of the prompt, or of its end, in place of Prompt.
	PromptTokens       []Token        `json:"prompt_tokens,omitzero"`
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitzero"`
	IncludeReasoning   *bool          `json:"include_reasoning,omitzero"`
	FinishReason       string         `json:"finish_reason,omitzero"`
	ResponseTemplate   jsontext.Value `json:"response_template,omitzero"`
	// SpecialTokens are markers that are single tokens in the vocabulary; a suffix of all markers is read off them.
	SpecialTokens []string `json:"special_tokens,omitzero"`
	// AddedTokens is the vocabulary of the model by the ids of its tokens, as far as they stand for themselves: what a
	// file added_tokens.json holds. It is used in place of that of the Environment.
	AddedTokens map[string]int `json:"added_tokens,omitzero"`
}

// Prepared is what the library needs to sort an Input.
type Prepared struct {
	Parser  *parlance.Parser
	Request parlance.Request
	Finish  parlance.FinishReason

	output output
}

// Prepare looks up what an input names. The error is a *parlance.NameError for a parser that does not exist, a
// *parlance.VocabularyError for one that cannot be used with the vocabulary, a *parlance.TemplateError for a response
// template that is missing or cannot be read, a *parlance.ToolError for a tool that is broken, and else names the key at
// fault.
func (in *Input) Prepare(e *Environment) (p Prepared, err error) {
	if p.output, err = in.output(); err != nil {
		return p, err
	}
	if p.Parser, err = e.parser(in); err != nil {
		return p, err
	}
	if p.Finish, err = ParseFinishReason(in.FinishReason); err != nil {
		return p, err
	}
	if p.Request.Tools, err = e.tools.parse(in.Tools); err != nil {
		return p, err
	}
	if p.Request.ToolChoice, err = parlance.ParseToolChoice(in.ToolChoice); err != nil {
		return p, err
	}
	p.Request.Prompt = in.Prompt
	p.Request.PromptTokens = tokens(in.PromptTokens)
	p.Request.ChatTemplateKwargs = in.ChatTemplateKwargs
	p.Request.SpecialTokens = in.SpecialTokens
	p.Request.HideReasoning = in.IncludeReasoning != nil && !*in.IncludeReasoning
	return p, nil
}

// output gives what the model wrote.
func (in *Input) output() (output, error) {
	switch {
	case in.Text == nil && in.Tokens == nil:
		return output{}, errors.New("text: expected a string, found nothing")
	case in.Text == nil:
		return output{tokens: tokens(in.Tokens), byToken: true}, nil
	case in.Tokens != nil:
		return output{}, errors.New("tokens: expected them in place of text, found both")
	}
	return output{text: *in.Text}, nil
}

// ParseFinishReason reads a finish reason; nothing is stop.
func ParseFinishReason(reason string) (parlance.FinishReason, error) {
	switch reason {
	case "", string(parlance.FinishStop):
		return parlance.FinishStop, nil
	case string(parlance.FinishLength):
		return parlance.FinishLength, nil
	}
	return "", fmt.Errorf("finish_reason: expected stop or length, found %q", reason)
}

// given tells whether a JSON value is there and not null.
func given(value jsontext.Value) bool { return len(value) > 0 && value.Kind() != 'n' }
