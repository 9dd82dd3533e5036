package engine

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"maps"
	"net/http"
)

// vllm is vLLM, by its completions route.
type vllm struct{ *client }

func openVLLM(o Options) (Engine, error) {
	c, err := newClient("vllm", o)
	if err != nil {
		return nil, err
	}
	c.api = c.base + "/v1"
	return vllm{c}, nil
}

func (e vllm) Name() string { return e.engine }

func (e vllm) Capabilities() Capabilities {
	return Capabilities{
		PromptTokens: true, TokenIDs: true, Logprobs: true, MaxTopLogprobs: 20,
		Constraints:            []Dialect{StructuralTag, EBNF, Lark, JSONSchema, JSONObject, Regex, Choice},
		ConstraintAfterThought: e.options.ReasoningParser,
		SpecialTokens:          SpecialTokensKept, Tokenizer: true, Renders: true, TemplateSource: true,
		StopStrings: 4, StopTokens: true, IncludeStop: true, ThinkingBudget: e.options.ReasoningParser, // else vLLM refuses every request that has one
	}
}

var vllmSampling = sameNames("temperature", "top_p", "min_p", "top_k", "presence_penalty", "frequency_penalty", "repetition_penalty",
	"seed", "logit_bias", "min_tokens", "ignore_eos", "bad_words", "allowed_token_ids")

func (e vllm) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	body := fields{"prompt": r.Prompt.Text, "add_special_tokens": false, "skip_special_tokens": r.SkipSpecialTokens}
	if len(r.Prompt.Tokens) > 0 {
		body["prompt"] = r.Prompt.Tokens
	}
	if err := body.sampling(e.engine, r.Sampling, vllmSampling); err != nil {
		return nil, err
	}
	model, err := e.modelName(ctx, r.Model, e.listModels)
	if err != nil {
		return nil, err
	}
	body.completion(model, r)
	if r.ContinuousUsage {
		body["stream_options"] = fields{"include_usage": true, "continuous_usage_stats": true}
	}
	if body["max_tokens"], err = e.maxTokens(ctx, model, r); err != nil {
		return nil, err
	}
	if r.ID != "" {
		body["request_id"] = r.ID
	}
	if r.SpacesBetweenSpecialTokens != nil {
		body["spaces_between_special_tokens"] = *r.SpacesBetweenSpecialTokens
	}
	if len(r.StopTokens) > 0 {
		body["stop_token_ids"] = r.StopTokens
	}
	if r.IncludeStop {
		body["include_stop_str_in_output"] = true
	}
	if r.TokenIDs || r.PromptTokenIDs || r.Logprobs {
		body["return_token_ids"] = true
	}
	if r.ThinkingBudget != nil {
		body["thinking_token_budget"] = *r.ThinkingBudget
	}
	if r.Constraint != nil {
		if body["structured_outputs"], err = r.Constraint.structuredOutputs(e.engine); err != nil {
			return nil, err
		}
	}
	return e.stream(ctx, body, r, nil)
}

// structuredOutputs is a constraint in vLLM's words.
func (c *Constraint) structuredOutputs(engine string) (fields, error) {
	switch c.Dialect {
	case Choice:
		return fields{"choice": c.Choices}, nil
	case Regex:
		return fields{"regex": c.Text}, nil
	case EBNF, Lark:
		return fields{"grammar": c.Text}, nil
	case JSONObject:
		return fields{"json_object": true}, nil
	case StructuralTag:
		// A string here, an object only in response_format.
		return fields{"structural_tag": c.Text}, nil
	}
	schema, err := c.jsonText(engine)
	return fields{"json": schema}, err
}

// maxTokens is the limit for a request: its own, or what the context leaves. vLLM would take 16 for a request without one.
func (e vllm) maxTokens(ctx context.Context, model string, r *Request) (int, error) {
	return e.client.maxTokens(ctx, model, r, e.listModels, e.Tokenize)
}

func (c *client) maxTokens(ctx context.Context, model string, r *Request, list func(context.Context) ([]Model, error),
	tokenize func(context.Context, string, string, bool) ([]Token, error)) (int, error) {
	if r.MaxTokens > 0 {
		return r.MaxTokens, nil
	}
	known, err := c.model(ctx, model, list)
	if err != nil {
		return 0, err
	}
	if known.MaxTokens == 0 {
		return c.options.DefaultMaxTokens, nil
	}
	length := len(r.Prompt.Tokens)
	if length == 0 {
		tokens, err := tokenize(ctx, model, r.Prompt.Text, false)
		if err != nil {
			return 0, err
		}
		length = len(tokens)
	}
	// A prompt that leaves no room is the engine's to refuse.
	return max(known.MaxTokens-length, 1), nil
}

func (e vllm) Models(ctx context.Context) ([]Model, error) { return e.listModels(ctx) }

func (e vllm) Health(ctx context.Context) error {
	return e.call(ctx, "health", e.base+"/health", nil, nil)
}

func (e vllm) ApplyTemplate(ctx context.Context, c *Conversation) (Prompt, error) {
	if err := textOnly(e.engine, c.Messages); err != nil {
		return Prompt{}, err
	}
	model, err := e.modelName(ctx, c.Model, e.listModels)
	if err != nil {
		return Prompt{}, err
	}
	body := fields{"model": model, "messages": c.Messages}
	if len(c.Tools) > 0 && string(c.Tools) != "null" {
		body["tools"] = c.Tools
	}
	c.withEffort().templateFields(body)
	if c.Template != "" {
		body["chat_template"] = c.Template
	}
	return e.render(ctx, model, body)
}

// render has a conversation rendered by /tokenize, and reads the tokens as text.
func (c *client) render(ctx context.Context, model string, body fields) (Prompt, error) {
	var answer struct {
		Tokens []int `json:"tokens"`
	}
	if err := c.call(ctx, "apply template", c.base+"/tokenize", body, &answer); err != nil {
		return Prompt{}, err
	}
	text, err := c.detokenize(ctx, model, answer.Tokens)
	return Prompt{Text: text, Tokens: answer.Tokens}, err
}

// withEffort puts the reasoning effort where /tokenize, which has no field for it, hands it to the template.
func (c *Conversation) withEffort() *Conversation {
	if c.ReasoningEffort == "" {
		return c
	}
	kwargs := map[string]any{"reasoning_effort": c.ReasoningEffort}
	maps.Copy(kwargs, c.ChatTemplateKwargs)
	with := *c
	with.ChatTemplateKwargs = kwargs
	return &with
}

func (e vllm) Template(ctx context.Context, _ string) (Template, error) {
	var answer struct {
		ChatTemplate jsontext.Value `json:"chat_template"`
		BOS          jsontext.Value `json:"bos_token"`
		EOS          jsontext.Value `json:"eos_token"`
	}
	err := e.call(ctx, "template", e.base+"/tokenizer_info", nil, &answer)
	if failed, ok := err.(*Error); ok && failed.Status == http.StatusNotFound {
		return Template{}, unsupported(e.engine, "template", "", "start the engine with --enable-tokenizer-info-endpoint")
	}
	if err != nil {
		return Template{}, err
	}
	template := Template{BOS: tokenText(answer.BOS), EOS: tokenText(answer.EOS)}
	if answer.ChatTemplate.Kind() == '"' {
		template.Source = wholeText(answer.ChatTemplate)
	}
	if template.Source == "" {
		return Template{}, unsupported(e.engine, "template", "", "the model has no chat template")
	}
	return template, nil
}

func (e vllm) Tokenize(ctx context.Context, model, text string, addSpecial bool) ([]Token, error) {
	return e.tokenize(ctx, model, text, addSpecial, fields{"return_token_strs": true})
}

// tokenize asks /tokenize, which vLLM and SGLang share.
func (c *client) tokenize(ctx context.Context, model, text string, addSpecial bool, body fields) ([]Token, error) {
	name, err := c.modelName(ctx, model, c.listModels)
	if err != nil {
		return nil, err
	}
	body["model"], body["prompt"], body["add_special_tokens"] = name, text, addSpecial
	var answer struct {
		Tokens  []int    `json:"tokens"`
		Strings []string `json:"token_strs"`
	}
	if err := c.call(ctx, "tokenize", c.base+"/tokenize", body, &answer); err != nil {
		return nil, err
	}
	tokens := make([]Token, len(answer.Tokens))
	for i, id := range answer.Tokens {
		tokens[i].ID = id
		if i < len(answer.Strings) {
			tokens[i].Text = answer.Strings[i]
		}
	}
	return tokens, nil
}

func (e vllm) Detokenize(ctx context.Context, model string, tokens []int) (string, error) {
	return e.detokenize(ctx, model, tokens)
}

func (c *client) detokenize(ctx context.Context, model string, tokens []int) (string, error) {
	name, err := c.modelName(ctx, model, c.listModels)
	if err != nil {
		return "", err
	}
	var answer struct {
		Prompt string `json:"prompt"`
		Text   string `json:"text"`
	}
	err = c.call(ctx, "detokenize", c.base+"/detokenize", fields{"model": name, "tokens": tokens, "skip_special_tokens": false}, &answer)
	return cmp.Or(answer.Prompt, answer.Text), err
}
