package engine

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"

	"github.com/parlance-llm/parlance/internal/content"
	"github.com/parlance-llm/parlance/internal/explain"
)

// ollama is Ollama, by its route /api/generate in raw mode.
type ollama struct{ *client }

func openOllama(o Options) (Engine, error) {
	c, err := newClient("ollama", o)
	if err != nil {
		return nil, err
	}
	c.api = c.base + "/v1"
	return ollama{c}, nil
}

func (e ollama) Name() string { return e.engine }

// Capabilities: whether special tokens show depends on Ollama's version.
func (e ollama) Capabilities() Capabilities {
	return Capabilities{Logprobs: true, MaxTopLogprobs: 20, Constraints: []Dialect{JSONSchema, JSONObject}, Renders: true, TemplateSource: true}
}

var ollamaSampling = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "min_p": "min_p", "top_k": "top_k", "presence_penalty": "presence_penalty",
	"frequency_penalty": "frequency_penalty", "repetition_penalty": "repeat_penalty", "seed": "seed",
}

func (e ollama) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	options := fields{"num_predict": cmp.Or(r.MaxTokens, -1)}
	if err := options.sampling(e.engine, r.Sampling, ollamaSampling); err != nil {
		return nil, err
	}
	if len(r.Stop) > 0 {
		options["stop"] = r.Stop
	}
	model, err := e.modelName(ctx, r.Model, e.Models)
	if err != nil {
		return nil, err
	}
	body := fields{
		"model": model, "prompt": strings.TrimPrefix(r.Prompt.Text, r.Prompt.BOS), "raw": true, "stream": true, "options": options,
		// If nothing is said the thought is cut out of the answer, and a prompt that is too long is cut in silence.
		"think": false, "truncate": false, "shift": false,
	}
	if r.Logprobs {
		body["logprobs"], body["top_logprobs"] = true, r.TopLogprobs
	}
	if r.Constraint != nil {
		body["format"] = "json"
		if r.Constraint.Dialect == JSONSchema {
			if body["format"], err = r.Constraint.schema(e.engine); err != nil {
				return nil, err
			}
		}
	}
	if err := body.fill(e.options.Extra, r.Extra); err != nil {
		return nil, &Error{Kind: Refused, Engine: e.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	return e.generate(ctx, func() generation {
		decoder := &ollamaDecoder{}
		return generation{address: e.base + "/api/generate", body: body, events: jsonLines,
			decoder: func() eventDecoder { return decoder.decode }, atEOF: decoder.repeated}
	})
}

type ollamaEvent struct {
	Response   string        `json:"response"`
	Thinking   string        `json:"thinking"`
	Done       bool          `json:"done"`
	DoneReason string        `json:"done_reason"`
	Prompt     int           `json:"prompt_eval_count"`
	Predicted  int           `json:"eval_count"`
	Logprobs   []chatLogprob `json:"logprobs"`
}

// ollamaDecoder watches for the one way in which Ollama ends a stream without a word: after thirty equal pieces.
type ollamaDecoder struct {
	last    string
	repeats int
}

func (o *ollamaDecoder) decode(data []byte) (Piece, bool, error) {
	var event ollamaEvent
	stray, err := unmarshalEvent(data, &event)
	if err != nil {
		return Piece{}, false, err
	}
	if event.Response == o.last && strings.TrimSpace(event.Response) != "" {
		o.repeats++
	} else {
		o.last, o.repeats = event.Response, 0
	}
	piece := Piece{Text: event.Response, Reasoning: event.Thinking, Logprobs: logprobs(event.Logprobs)}
	if event.Done {
		piece.Usage = &Usage{PromptTokens: event.Prompt, CompletionTokens: event.Predicted}
		switch event.DoneReason {
		case "", "load", "unload":
			piece.Finish = FinishStop
		default:
			piece.Finish, err = finishReason(event.DoneReason)
		}
	}
	return piece, stray, err
}

func (o *ollamaDecoder) repeated() *Piece {
	if o.repeats < 30 {
		return nil
	}
	return &Piece{Finish: FinishRepetition}
}

func (e ollama) Models(ctx context.Context) ([]Model, error) {
	var answer struct {
		Models []struct {
			Name  string `json:"name"`
			Model string `json:"model"`
		} `json:"models"`
	}
	if err := e.call(ctx, "models", e.base+"/api/tags", nil, &answer); err != nil {
		return nil, err
	}
	var models []Model
	for _, m := range answer.Models {
		models = append(models, Model{ID: cmp.Or(m.Model, m.Name), OwnedBy: "library"})
	}
	return e.keepModels(models), nil
}

func (e ollama) Health(ctx context.Context) error {
	return e.call(ctx, "health", e.base+"/api/version", nil, nil)
}

// ApplyTemplate has the prompt of a chat request shown instead of answered.
func (e ollama) ApplyTemplate(ctx context.Context, c *Conversation) (Prompt, error) {
	const op = "apply template"
	if err := textOnly(e.engine, c.Messages); err != nil {
		return Prompt{}, err
	}
	if c.Template != "" {
		return Prompt{}, unsupported(e.engine, op, "chat_template", "the engine uses the template of its model")
	}
	if c.NoGenerationPrompt && !c.ContinueFinalMessage {
		return Prompt{}, unsupported(e.engine, op, "add_generation_prompt", "the engine always begins the assistant's turn")
	}
	model, err := e.modelName(ctx, c.Model, e.Models)
	if err != nil {
		return Prompt{}, err
	}
	messages, err := ollamaMessages(c.Messages)
	if err != nil {
		return Prompt{}, &Error{Kind: Refused, Engine: e.engine, Op: op, Status: http.StatusBadRequest, Param: "messages", Message: err.Error(), Err: err}
	}
	body := fields{"model": model, "messages": messages, "stream": false, "_debug_render_only": true}
	if len(c.Tools) > 0 && string(c.Tools) != "null" {
		body["tools"] = c.Tools
	}
	for _, name := range []string{"enable_thinking", "thinking"} {
		if value, ok := c.ChatTemplateKwargs[name].(bool); ok {
			body["think"] = value
		}
	}
	if c.ReasoningEffort != "" {
		body["think"] = c.ReasoningEffort
		if c.ReasoningEffort == "none" {
			body["think"] = false
		}
	}
	var answer struct {
		Debug *struct {
			Rendered string `json:"rendered_template"`
		} `json:"_debug_info"`
	}
	if err := e.call(ctx, op, e.base+"/api/chat", body, &answer); err != nil {
		return Prompt{}, err
	}
	if answer.Debug == nil {
		return Prompt{}, unsupported(e.engine, op, "", "this version of the engine does not show rendered prompts")
	}
	return Prompt{Text: answer.Debug.Rendered}, nil
}

// ollamaMessages are messages in the shape of /api/chat: content is a text, arguments are objects.
func ollamaMessages(messages jsontext.Value) ([]fields, error) {
	var list []struct {
		Role      string         `json:"role"`
		Content   jsontext.Value `json:"content"`
		Reasoning string         `json:"reasoning"`
		Name      string         `json:"name"`
		CallID    string         `json:"tool_call_id"`
		Calls     []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string         `json:"name"`
				Arguments jsontext.Value `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(messages, &list, lenient); err != nil {
		return nil, fmt.Errorf("messages: %w", explain.Error(err))
	}
	names := map[string]string{} // of calls, by their ids
	out := make([]fields, 0, len(list))
	for i, message := range list {
		text, err := content.Text(message.Content)
		if err != nil {
			return nil, fmt.Errorf("messages.%d.content: %w", i, err)
		}
		m := fields{"role": message.Role, "content": text}
		if message.Reasoning != "" {
			m["thinking"] = message.Reasoning
		}
		if name := cmp.Or(message.Name, names[message.CallID]); message.Role == "tool" && name != "" {
			m["tool_name"] = name
		}
		var calls []fields
		for _, call := range message.Calls {
			names[call.ID] = call.Function.Name
			arguments := call.Function.Arguments
			if arguments.Kind() == '"' {
				if arguments = jsontext.Value(wholeText(arguments)); !arguments.IsValid() || arguments.Kind() != '{' {
					arguments = jsontext.Value("{}")
				}
			}
			calls = append(calls, fields{"function": fields{"name": call.Function.Name, "arguments": arguments}})
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		out = append(out, m)
	}
	return out, nil
}

// Template is that of /api/show, if it is Jinja; most models have one in Go's template language.
func (e ollama) Template(ctx context.Context, model string) (Template, error) {
	model, err := e.modelName(ctx, model, e.Models)
	if err != nil {
		return Template{}, err
	}
	var answer struct {
		Template string `json:"template"`
	}
	if err := e.call(ctx, "template", e.base+"/api/show", fields{"model": model}, &answer); err != nil {
		return Template{}, err
	}
	if !strings.Contains(answer.Template, "{%") {
		return Template{}, unsupported(e.engine, "template", "", "the model's template is not in Jinja")
	}
	return Template{Source: answer.Template}, nil
}

func (e ollama) Tokenize(context.Context, string, string, bool) ([]Token, error) {
	return nil, unsupported(e.engine, "tokenize", "", "the engine has no route for it")
}

func (e ollama) Detokenize(context.Context, string, []int) (string, error) {
	return "", unsupported(e.engine, "detokenize", "", "the engine has no route for it")
}
