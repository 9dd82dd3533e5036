package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// llamacpp is llama.cpp's server, by its route /completion.
type llamacpp struct{ *client }

func openLlamaCpp(o Options) (Engine, error) {
	c, err := newClient("llamacpp", o)
	if err != nil {
		return nil, err
	}
	c.api = c.base + "/v1"
	return llamacpp{c}, nil
}

func (e llamacpp) Name() string { return e.engine }

// Capabilities: no token ids, since the events of a stream do not list all of them.
func (e llamacpp) Capabilities() Capabilities {
	return Capabilities{
		PromptTokens: true, Logprobs: true, MaxTopLogprobs: 100,
		Constraints:     []Dialect{GBNF, JSONSchema, JSONObject, Lark},
		LazyConstraints: true,
		SpecialTokens:   SpecialTokensListed, Tokenizer: true, Renders: true, TemplateSource: true,
	}
}

var llamaCppSampling = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "min_p": "min_p", "top_k": "top_k", "presence_penalty": "presence_penalty",
	"frequency_penalty": "frequency_penalty", "repetition_penalty": "repeat_penalty", "seed": "seed", "ignore_eos": "ignore_eos",
	"logit_bias": "logit_bias",
}

// llamaCppFields are what the last event of a stream is to tell; without a list it repeats the prompt and all settings.
var llamaCppFields = []string{"content", "tokens", "stop", "stop_type", "stopping_word", "truncated", "tokens_predicted",
	"tokens_evaluated", "tokens_cached", "timings", "completion_probabilities"}

func (e llamacpp) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	prompt := r.Prompt.Tokens
	if len(prompt) == 0 {
		// A text would get a BOS in front if the model wants one, and nothing prevents that.
		tokens, err := e.Tokenize(ctx, r.Model, r.Prompt.Text, false)
		if err != nil {
			return nil, err
		}
		for _, token := range tokens {
			prompt = append(prompt, token.ID)
		}
	}
	body := fields{"prompt": prompt, "stream": true, "n_predict": cmp.Or(r.MaxTokens, -1), "response_fields": llamaCppFields}
	if err := body.sampling(e.engine, r.Sampling, llamaCppSampling); err != nil {
		return nil, err
	}
	if len(r.Sampling.LogitBias) > 0 {
		var bias [][2]any
		for id, value := range r.Sampling.LogitBias {
			bias = append(bias, [2]any{id, value})
		}
		slices.SortFunc(bias, func(a, b [2]any) int { return cmp.Compare(a[0].(int), b[0].(int)) })
		body["logit_bias"] = bias
	}
	if model := cmp.Or(r.Model, e.options.Model); model != "" {
		body["model"] = model
	}
	if len(r.Stop) > 0 {
		body["stop"] = r.Stop
	}
	if r.Logprobs {
		body["n_probs"] = max(r.TopLogprobs, 1)
	}
	preserved := slices.Clone(r.PreservedTokens)
	if r.SkipSpecialTokens {
		preserved = nil
	}
	if r.Constraint != nil {
		if err := r.Constraint.llamaCpp(e.engine, body); err != nil {
			return nil, err
		}
		for _, trigger := range r.Constraint.Triggers {
			// A trigger that is one token is not seen unless it shows.
			if !trigger.Pattern && !slices.Contains(preserved, trigger.Text) {
				preserved = append(preserved, trigger.Text)
			}
		}
	}
	if len(preserved) > 0 {
		body["preserved_tokens"] = preserved
	}
	if err := body.fill(e.options.Extra, r.Extra); err != nil {
		return nil, &Error{Kind: Refused, Engine: e.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	return e.generate(ctx, func() generation {
		return generation{address: e.base + "/completion", body: body, events: serverSentEvents,
			decoder: func() eventDecoder { return (&llamaCppDecoder{request: r}).decode }}
	})
}

// llamaCpp sets a constraint.
func (c *Constraint) llamaCpp(engine string, body fields) error {
	switch c.Dialect {
	case GBNF:
		body["grammar"] = c.Text
	case Lark:
		body["grammar"] = c.Text
		if !strings.HasPrefix(c.Text, "%llguidance") {
			body["grammar"] = "%llguidance {}\n" + c.Text
		}
	default:
		schema, err := c.schema(engine)
		if err != nil {
			return err
		}
		body["json_schema"] = tightly(schema)
	}
	if len(c.Triggers) == 0 {
		return nil
	}
	if c.Dialect != GBNF {
		return unsupported(engine, "generate", "structured_outputs", fmt.Sprintf("the engine lets only gbnf sleep until it is triggered, not %s", c.Dialect))
	}
	var triggers []fields
	for _, trigger := range c.Triggers {
		kind := 1 // a word
		if trigger.Pattern {
			kind = 2
		}
		triggers = append(triggers, fields{"type": kind, "value": trigger.Text})
	}
	body["grammar_lazy"], body["grammar_triggers"] = true, triggers
	return nil
}

// tightly asks for one blank at most between the tokens of JSON. A server built with llguidance admits any number else, and
// small models then write blanks to the limit; other builds do not know the keyword and pass over it.
func tightly(schema jsontext.Value) jsontext.Value {
	text := strings.TrimSpace(string(schema))
	if !strings.HasPrefix(text, "{") || strings.Contains(text, `"x-guidance"`) {
		return schema
	}
	comma := ","
	if strings.TrimSpace(text[1:]) == "}" {
		comma = ""
	}
	return jsontext.Value(`{"x-guidance":{"whitespace_flexible":false,"key_separator":": ","item_separator":", "}` + comma + text[1:])
}

type llamaCppEvent struct {
	Content       string        `json:"content"`
	Stop          bool          `json:"stop"`
	StopType      string        `json:"stop_type"`
	StoppingWord  string        `json:"stopping_word"`
	Predicted     int           `json:"tokens_predicted"`
	Evaluated     int           `json:"tokens_evaluated"`
	Probabilities []chatLogprob `json:"completion_probabilities"`
	Timings       struct {
		Cached int `json:"cache_n"`
	} `json:"timings"`
}

type llamaCppDecoder struct{ request *Request }

func (l *llamaCppDecoder) decode(data []byte) (Piece, bool, error) {
	var event llamaCppEvent
	stray, err := unmarshalEvent(data, &event)
	if err != nil {
		return Piece{}, false, err
	}
	piece := Piece{Text: event.Content}
	if l.request.ContinuousUsage || event.Stop {
		piece.Usage = &Usage{PromptTokens: event.Evaluated, CompletionTokens: event.Predicted, CachedTokens: event.Timings.Cached}
	}
	if l.request.Logprobs {
		piece.Logprobs = logprobs(event.Probabilities)
		for i := range piece.Logprobs {
			if l.request.TopLogprobs == 0 {
				piece.Logprobs[i].Top = nil
			}
		}
	}
	if event.Stop {
		switch event.StopType {
		case "word":
			piece.Finish, piece.StopString = FinishStop, event.StoppingWord
		case "none":
			piece.Finish = FinishAbort
		default:
			piece.Finish, err = finishReason(event.StopType)
		}
		if piece.Finish == "" && err == nil {
			err = fmt.Errorf("expected a stop_type in the last event, found %q", event.StopType)
		}
	}
	return piece, stray, err
}

type llamaCppProps struct {
	ChatTemplate string `json:"chat_template"`
	ToolUse      string `json:"chat_template_tool_use"`
	BOS          string `json:"bos_token"`
	EOS          string `json:"eos_token"`
	Settings     struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
}

func (e llamacpp) props(ctx context.Context, op string) (props llamaCppProps, err error) {
	err = e.call(ctx, op, e.base+"/props", nil, &props)
	return props, err
}

// Models are those of /v1/models, with the context that one slot has.
func (e llamacpp) Models(ctx context.Context) ([]Model, error) {
	models, err := e.listModels(ctx)
	if err != nil {
		return nil, err
	}
	props, err := e.props(ctx, "models")
	if err != nil {
		return nil, err
	}
	for i := range models {
		models[i].MaxTokens = props.Settings.Context
	}
	return e.keepModels(models), nil
}

func (e llamacpp) Health(ctx context.Context) error {
	return e.call(ctx, "health", e.base+"/health", nil, nil)
}

func (e llamacpp) ApplyTemplate(ctx context.Context, c *Conversation) (Prompt, error) {
	const op = "apply template"
	if err := textOnly(e.engine, c.Messages); err != nil {
		return Prompt{}, err
	}
	if c.Template != "" {
		return Prompt{}, unsupported(e.engine, op, "chat_template", "the engine uses the template it was started with")
	}
	body := fields{"messages": c.Messages}
	if model := cmp.Or(c.Model, e.options.Model); model != "" {
		body["model"] = model
	}
	if len(c.Tools) > 0 && string(c.Tools) != "null" {
		tools, err := withoutNulls(c.Tools)
		if err != nil {
			return Prompt{}, &Error{Kind: Refused, Engine: e.engine, Op: op, Param: "tools", Message: "tools: expected an array of tools: " + err.Error(), Err: err}
		}
		body["tools"] = tools
	}
	c.templateFields(body)
	if !c.ContinueFinalMessage && endsWithAssistant(c.Messages) {
		return Prompt{}, unsupported(e.engine, op, "messages", "the engine goes on with a last message of the assistant, and begins no new turn behind it")
	}
	if c.ReasoningEffort != "" {
		body["reasoning_effort"] = c.ReasoningEffort
	}
	var answer struct {
		Prompt string `json:"prompt"`
	}
	if err := e.call(ctx, op, e.base+"/apply-template", body, &answer); err != nil {
		return Prompt{}, err
	}
	return Prompt{Text: answer.Prompt}, nil
}

// withoutNulls leaves out of tools what is null, such as the description of a function that has none: the server takes only
// texts there. All else stands as it was, and in its order.
func withoutNulls(tools jsontext.Value) ([]jsontext.Value, error) {
	var list []jsontext.Value
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, err
	}
	for i, tool := range list {
		var err error
		if list[i], err = membersNotNull(tool, "function"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// membersNotNull is an object without its members that are null, and without those of the member inner that are.
func membersNotNull(object jsontext.Value, inner string) (jsontext.Value, error) {
	if object.Kind() != '{' {
		return object, nil
	}
	in := jsontext.NewDecoder(bytes.NewReader(object))
	var buffer bytes.Buffer
	out := jsontext.NewEncoder(&buffer)
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	if err := out.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		if value.Kind() == 'n' {
			continue
		}
		if key == inner {
			if value, err = membersNotNull(value, ""); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(out.WriteToken(jsontext.String(key)), out.WriteValue(value)); err != nil {
			return nil, err
		}
	}
	if err := out.WriteToken(jsontext.EndObject); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buffer.Bytes()), nil
}

func endsWithAssistant(messages jsontext.Value) bool {
	var list []struct {
		Role string `json:"role"`
	}
	return json.Unmarshal(messages, &list, lenient) == nil && len(list) > 0 && list[len(list)-1].Role == "assistant"
}

func (e llamacpp) Template(ctx context.Context, _ string) (Template, error) {
	props, err := e.props(ctx, "template")
	if err != nil {
		return Template{}, err
	}
	return Template{Source: props.ChatTemplate, ToolUse: props.ToolUse, BOS: props.BOS, EOS: props.EOS}, nil
}

func (e llamacpp) Tokenize(ctx context.Context, _, text string, addSpecial bool) ([]Token, error) {
	var answer struct {
		Tokens []struct {
			ID int `json:"id"`
			// Piece is a text, or the bytes of one that is no UTF-8.
			Piece jsontext.Value `json:"piece"`
		} `json:"tokens"`
	}
	body := fields{"content": text, "add_special": addSpecial, "parse_special": true, "with_pieces": true}
	if err := e.call(ctx, "tokenize", e.base+"/tokenize", body, &answer); err != nil {
		return nil, err
	}
	tokens := make([]Token, len(answer.Tokens))
	for i, token := range answer.Tokens {
		tokens[i] = Token{ID: token.ID, Text: wholeText(token.Piece)}
		if token.Piece.Kind() == '[' {
			var numbers []int
			if err := json.Unmarshal(token.Piece, &numbers); err != nil {
				return nil, &Error{Kind: Broken, Engine: e.engine, Op: "tokenize", Message: err.Error(), Err: err}
			}
			codes := make([]byte, len(numbers))
			for i, number := range numbers {
				codes[i] = byte(number)
			}
			tokens[i].Text = string(codes)
		}
	}
	return tokens, nil
}

func (e llamacpp) Detokenize(ctx context.Context, _ string, tokens []int) (string, error) {
	var answer struct {
		Content string `json:"content"`
	}
	err := e.call(ctx, "detokenize", e.base+"/detokenize", fields{"tokens": tokens}, &answer)
	return answer.Content, err
}
