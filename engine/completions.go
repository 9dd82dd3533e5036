package engine

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// completions is any server with POST /v1/completions, of which nothing more is known.
type completions struct{ *client }

func openCompletions(o Options) (Engine, error) {
	c, err := newClient("openai-completions", o)
	if err != nil {
		return nil, err
	}
	return completions{c}, nil
}

func (e completions) Name() string { return e.engine }

func (e completions) Capabilities() Capabilities {
	return Capabilities{Logprobs: true, MaxTopLogprobs: 5, Constraints: []Dialect{JSONSchema, JSONObject}, StopStrings: 4}
}

// openAISampling are the parameters of OpenAI's API, and those that most servers with this API have besides.
var openAISampling = sameNames("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "logit_bias",
	"top_k", "min_p", "repetition_penalty", "min_tokens", "ignore_eos")

func (e completions) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	body := fields{"prompt": strings.TrimPrefix(r.Prompt.Text, r.Prompt.BOS)}
	if err := body.sampling(e.engine, r.Sampling, openAISampling); err != nil {
		return nil, err
	}
	model, err := e.modelName(ctx, r.Model, e.listModels)
	if err != nil {
		return nil, err
	}
	body.completion(model, r)
	body["max_tokens"] = cmp.Or(r.MaxTokens, e.options.DefaultMaxTokens)
	if r.Constraint != nil {
		if body["response_format"], err = r.Constraint.responseFormat(e.engine); err != nil {
			return nil, err
		}
		// llama.cpp passes over response_format on this route, and leaves the model free.
		if served, err := e.model(ctx, r.Model, e.listModels); err == nil && served.OwnedBy == "llamacpp" {
			schema, err := r.Constraint.schema(e.engine)
			if err != nil {
				return nil, err
			}
			body["json_schema"] = tightly(schema)
		}
	}
	return e.stream(ctx, body, r, nil)
}

// completion sets what all bodies of /v1/completions have.
func (f fields) completion(model string, r *Request) {
	f["model"] = model
	f["stream"] = true
	f["stream_options"] = fields{"include_usage": true}
	if len(r.Stop) > 0 {
		f["stop"] = r.Stop
	}
	if r.Logprobs {
		f["logprobs"] = r.TopLogprobs
	}
}

// stream sends a body to /v1/completions.
func (c *client) stream(ctx context.Context, body fields, r *Request, abort func()) (Stream, error) {
	if err := body.fill(c.options.Extra, r.Extra); err != nil {
		return nil, &Error{Kind: Refused, Engine: c.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	return c.generate(ctx, func() generation {
		return generation{address: c.api + "/completions", body: body, events: serverSentEvents,
			decoder: func() eventDecoder { return decodeCompletion }, abort: abort}
	})
}

// completionEvent is a chunk of /v1/completions, of every engine that has the route.
type completionEvent struct {
	Choices []struct {
		Text           string              `json:"text"`
		TokenIDs       []int               `json:"token_ids"`
		PromptTokenIDs []int               `json:"prompt_token_ids"`
		Logprobs       *completionLogprobs `json:"logprobs"`
		FinishReason   string              `json:"finish_reason"`
		StopReason     jsontext.Value      `json:"stop_reason"`
	} `json:"choices"`
	Usage *openAIUsage `json:"usage"`
}

type completionLogprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []*float64           `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
}

type openAIUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          *struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u *openAIUsage) usage() *Usage {
	if u == nil {
		return nil
	}
	usage := &Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens}
	if u.Details != nil {
		usage.CachedTokens = u.Details.CachedTokens
	}
	return usage
}

func decodeCompletion(event []byte) (Piece, bool, error) {
	var chunk completionEvent
	stray, err := unmarshalEvent(event, &chunk)
	if err != nil {
		return Piece{}, false, err
	}
	piece := Piece{Usage: chunk.Usage.usage()}
	if len(chunk.Choices) == 0 {
		return piece, false, nil
	}
	choice := chunk.Choices[0]
	piece.Text, piece.Tokens, piece.PromptTokens = choice.Text, choice.TokenIDs, choice.PromptTokenIDs
	piece.Logprobs = choice.Logprobs.list(choice.TokenIDs)
	if piece.Finish, err = finishReason(choice.FinishReason); err != nil {
		return Piece{}, false, err
	}
	if piece.Finish != "" {
		err = piece.stopped(choice.StopReason)
	}
	return piece, stray, err
}

// finishReason reads an engine's word for it.
func finishReason(word string) (FinishReason, error) {
	switch word {
	case "":
		return "", nil
	case "stop", "eos", "stop_sequence", "eos_token":
		return FinishStop, nil
	case "length", "limit":
		return FinishLength, nil
	case "abort", "cancelled", "canceled":
		return FinishAbort, nil
	case "repetition":
		return FinishRepetition, nil
	case "content_filter":
		return FinishFilter, nil
	case "tool_calls", "function_call":
		return "", parsesItself("tool calls", "--tool-call-parser")
	case "error":
		return "", &Error{Kind: Failed, Status: http.StatusInternalServerError, Message: "the engine ended the answer with an error"}
	}
	return "", &Error{Kind: Broken, Message: "expected a finish reason, found " + strconv.Quote(word)}
}

// parsesItself refuses an engine that reads the answer where Parlance should.
func parsesItself(what, flag string) *Error {
	return &Error{Kind: Broken, Message: "the engine reads " + what + " out of the answer itself; start it without its " + flag}
}

// stopped takes what an engine says stopped it: a string, the id of a token, or nothing.
func (p *Piece) stopped(reason jsontext.Value) error {
	switch reason.Kind() {
	case '"':
		return json.Unmarshal(reason, &p.StopString, lenient)
	case '0':
		return json.Unmarshal(reason, &p.StopToken)
	}
	return nil
}

// list gives the log probabilities in order. ids are those of the same tokens, if the engine tells them.
func (l *completionLogprobs) list(ids []int) []TokenLogprob {
	if l == nil {
		return nil
	}
	var list []TokenLogprob
	for i, token := range l.Tokens {
		logprob := TokenLogprob{Token: restored(token), ID: -1}
		if len(ids) == len(l.Tokens) {
			logprob.ID = ids[i]
		}
		if i < len(l.TokenLogprobs) && l.TokenLogprobs[i] != nil {
			logprob.Logprob = *l.TokenLogprobs[i]
		}
		if i < len(l.TopLogprobs) {
			for text, value := range l.TopLogprobs[i] {
				logprob.Top = append(logprob.Top, TokenLogprob{Token: text, ID: -1, Logprob: value})
			}
			slices.SortFunc(logprob.Top, func(a, b TokenLogprob) int {
				return cmp.Or(cmp.Compare(b.Logprob, a.Logprob), strings.Compare(a.Token, b.Token))
			})
		}
		list = append(list, logprob)
	}
	return list
}

func (e completions) Models(ctx context.Context) ([]Model, error) { return e.listModels(ctx) }

// Health asks for the models; a server without that route is healthy if it says so.
func (e completions) Health(ctx context.Context) error { return e.answers(ctx) }

func (c *client) answers(ctx context.Context) error {
	_, err := c.listModels(ctx)
	if failed, ok := err.(*Error); ok && (failed.Status == http.StatusNotFound || failed.Status == http.StatusMethodNotAllowed) {
		return nil
	}
	return err
}

func (e completions) ApplyTemplate(context.Context, *Conversation) (Prompt, error) {
	return Prompt{}, unsupported(e.engine, "apply template", "", "the API has no route that renders a prompt")
}

func (e completions) Template(context.Context, string) (Template, error) {
	return Template{}, unsupported(e.engine, "template", "", "the API has no route that tells the template")
}

func (e completions) Tokenize(context.Context, string, string, bool) ([]Token, error) {
	return nil, unsupported(e.engine, "tokenize", "", "the API has no tokenizer")
}

func (e completions) Detokenize(context.Context, string, []int) (string, error) {
	return "", unsupported(e.engine, "detokenize", "", "the API has no tokenizer")
}
