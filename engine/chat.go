package engine

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"maps"
	"strings"
)

// chat is any server with POST /v1/chat/completions: it renders the messages itself, and its own parsing is switched off as
// far as a request can do that. What it parses all the same is not lost: reasoning comes as reasoning, tool calls are an
// error that says what to do.
type chat struct{ completions }

func openChat(o Options) (Engine, error) {
	c, err := newClient("openai-chat", o)
	if err != nil {
		return nil, err
	}
	return chat{completions{c}}, nil
}

func (e chat) Capabilities() Capabilities {
	return Capabilities{ChatOnly: true, Logprobs: true, MaxTopLogprobs: 20, Constraints: []Dialect{JSONSchema, JSONObject}, StopStrings: 4}
}

// chatServers are what servers call themselves in their lists of models, and what keeps them from parsing. With a tool choice
// of none most of them render the tools and parse nothing; SGLang would not render them then, and parses nothing anyway when
// it is started without a parser.
var chatServers = map[string]struct {
	toolChoice string
	fields     map[string]any
}{
	"vllm":     {"none", map[string]any{"skip_special_tokens": false}},
	"sglang":   {"auto", map[string]any{"skip_special_tokens": false, "separate_reasoning": false}},
	"llamacpp": {"none", map[string]any{"reasoning_format": "none"}},
	"lmdeploy": {"none", map[string]any{"skip_special_tokens": false}},
}

func (e chat) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	c := r.Conversation
	if c.Template != "" {
		return nil, unsupported(e.engine, "generate", "chat_template", "the engine uses the template of its model")
	}
	model, err := e.model(ctx, cmp.Or(r.Model, c.Model), e.listModels)
	if failed, ok := err.(*Error); ok && (failed.Kind == Refused || failed.Kind == Unsupported) && (r.Model != "" || e.options.Model != "") {
		// A server without a list of models can be spoken with if the model is named.
		model, err = Model{ID: cmp.Or(r.Model, e.options.Model)}, nil
	}
	if err != nil {
		return nil, err
	}
	server, known := chatServers[model.OwnedBy]
	if !known {
		server.toolChoice = "none"
	}
	body := fields{"messages": c.Messages}
	if err := body.sampling(e.engine, r.Sampling, openAISampling); err != nil {
		return nil, err
	}
	body.completion(model.ID, r)
	delete(body, "logprobs")
	if r.Logprobs {
		body["logprobs"], body["top_logprobs"] = true, r.TopLogprobs
	}
	if r.MaxTokens > 0 {
		body["max_tokens"] = r.MaxTokens
	}
	if tools := strings.TrimSpace(string(c.Tools)); tools != "" && tools != "null" && tools != "[]" {
		body["tools"], body["tool_choice"] = c.Tools, server.toolChoice
	}
	c.templateFields(body)
	if c.ReasoningEffort != "" {
		body["reasoning_effort"] = c.ReasoningEffort
	}
	maps.Copy(body, server.fields)
	if r.SkipSpecialTokens && known {
		body["skip_special_tokens"] = true
	}
	if r.Constraint != nil {
		if body["response_format"], err = r.Constraint.responseFormat(e.engine); err != nil {
			return nil, err
		}
	}
	if err := body.fill(e.options.Extra, r.Extra); err != nil {
		return nil, &Error{Kind: Refused, Engine: e.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	return e.generate(ctx, func() generation {
		return generation{address: e.api + "/chat/completions", body: body, events: serverSentEvents,
			decoder: func() eventDecoder { return decodeChat }}
	})
}

// templateFields are the fields of a body that a chat template is for.
func (c *Conversation) templateFields(body fields) {
	if len(c.ChatTemplateKwargs) > 0 {
		body["chat_template_kwargs"] = c.ChatTemplateKwargs
	}
	if c.ContinueFinalMessage {
		body["continue_final_message"] = true
	}
	if c.NoGenerationPrompt || c.ContinueFinalMessage {
		body["add_generation_prompt"] = false
	}
}

// chatEvent is a chunk of /v1/chat/completions.
type chatEvent struct {
	Choices []struct {
		Delta struct {
			Content          string           `json:"content"`
			Reasoning        string           `json:"reasoning"`
			ReasoningContent string           `json:"reasoning_content"`
			ToolCalls        []jsontext.Value `json:"tool_calls"`
		} `json:"delta"`
		Logprobs *struct {
			Content []chatLogprob `json:"content"`
		} `json:"logprobs"`
		FinishReason string         `json:"finish_reason"`
		StopReason   jsontext.Value `json:"stop_reason"`
		MatchedStop  jsontext.Value `json:"matched_stop"`
	} `json:"choices"`
	Usage *openAIUsage `json:"usage"`
}

// chatLogprob is a token with its log probability, as chat completions, llama.cpp and Ollama have it.
type chatLogprob struct {
	ID      *int          `json:"id"`
	Token   string        `json:"token"`
	Logprob float64       `json:"logprob"`
	Bytes   []int         `json:"bytes"`
	Top     []chatLogprob `json:"top_logprobs"`
}

func logprobs(list []chatLogprob) (out []TokenLogprob) {
	for _, l := range list {
		logprob := TokenLogprob{Token: l.Token, ID: -1, Logprob: l.Logprob, Top: logprobs(l.Top)}
		if l.ID != nil {
			logprob.ID = *l.ID
		}
		for _, b := range l.Bytes {
			logprob.Bytes = append(logprob.Bytes, byte(b))
		}
		out = append(out, logprob)
	}
	return out
}

func decodeChat(event []byte) (Piece, bool, error) {
	var chunk chatEvent
	stray, err := unmarshalEvent(event, &chunk)
	if err != nil {
		return Piece{}, false, err
	}
	piece := Piece{Usage: chunk.Usage.usage()}
	if len(chunk.Choices) == 0 {
		return piece, false, nil
	}
	choice := chunk.Choices[0]
	if len(choice.Delta.ToolCalls) > 0 {
		return Piece{}, false, parsesItself("tool calls", "tool-call parser")
	}
	piece.Text = choice.Delta.Content
	piece.Reasoning = cmp.Or(choice.Delta.Reasoning, choice.Delta.ReasoningContent)
	if choice.Logprobs != nil {
		piece.Logprobs = logprobs(choice.Logprobs.Content)
	}
	if piece.Finish, err = finishReason(choice.FinishReason); err != nil {
		return Piece{}, false, err
	}
	if piece.Finish != "" {
		reason := choice.StopReason
		if len(reason) == 0 {
			reason = choice.MatchedStop
		}
		err = piece.stopped(reason)
	}
	return piece, stray, err
}
