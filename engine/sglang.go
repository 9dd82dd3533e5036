package engine

import (
	"context"
	"crypto/rand"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/parlance-llm/parlance/internal/stops"
)

// sglang is SGLang, by its route /generate.
type sglang struct{ *client }

func openSGLang(o Options) (Engine, error) {
	c, err := newClient("sglang", o)
	if err != nil {
		return nil, err
	}
	c.api = c.base + "/v1"
	return sglang{c}, nil
}

func (e sglang) Name() string { return e.engine }

func (e sglang) Capabilities() Capabilities {
	return Capabilities{
		PromptTokens: true, TokenIDs: true, Logprobs: true, MaxTopLogprobs: 20,
		Constraints:            []Dialect{StructuralTag, EBNF, JSONSchema, JSONObject, Regex},
		ConstraintAfterThought: e.options.ReasoningParser,
		SpecialTokens:          SpecialTokensKept, Tokenizer: true, Renders: true,
		StopStrings: 32, StopTokens: true, IncludeStop: true,
	}
}

// sglangSampling are the names in sampling_params, where an unknown one is refused.
var sglangSampling = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "min_p": "min_p", "top_k": "top_k", "presence_penalty": "presence_penalty",
	"frequency_penalty": "frequency_penalty", "repetition_penalty": "repetition_penalty", "seed": "sampling_seed",
	"logit_bias": "logit_bias", "min_tokens": "min_new_tokens", "ignore_eos": "ignore_eos",
}

func (e sglang) Generate(ctx context.Context, r *Request) (Stream, error) {
	if err := e.Capabilities().check(e.engine, r); err != nil {
		return nil, err
	}
	set, err := stops.Compile(r.Stop)
	if err != nil {
		return nil, &Error{Kind: Refused, Engine: e.engine, Op: "generate", Param: "stop", Message: err.Error(), Err: err}
	}
	prompt := r.Prompt.Tokens
	if len(prompt) == 0 {
		// A text would get the tokenizer's own BOS in front, and nothing prevents that.
		tokens, err := e.Tokenize(ctx, r.Model, r.Prompt.Text, false)
		if err != nil {
			return nil, err
		}
		for _, token := range tokens {
			prompt = append(prompt, token.ID)
		}
	}
	sampling := fields{"skip_special_tokens": r.SkipSpecialTokens}
	if err := sampling.sampling(e.engine, r.Sampling, sglangSampling); err != nil {
		return nil, err
	}
	limited := *r
	limited.Prompt = Prompt{Tokens: prompt}
	if sampling["max_new_tokens"], err = e.maxTokens(ctx, r.Model, &limited, e.listModels, e.Tokenize); err != nil {
		return nil, err
	}
	if r.SpacesBetweenSpecialTokens != nil {
		sampling["spaces_between_special_tokens"] = *r.SpacesBetweenSpecialTokens
	}
	if len(r.Stop) > 0 {
		sampling["stop"] = r.Stop
	}
	if len(r.StopTokens) > 0 {
		sampling["stop_token_ids"] = r.StopTokens
	}
	if r.IncludeStop {
		sampling["no_stop_trim"] = true
	}
	body := fields{"input_ids": prompt, "stream": true, "sampling_params": sampling}
	if err := r.Constraint.sglang(e.engine, sampling, body); err != nil {
		return nil, err
	}
	if r.Logprobs {
		body["return_logprob"], body["return_text_in_logprobs"], body["top_logprobs_num"] = true, true, r.TopLogprobs
	}
	if err := body.fill(e.options.Extra, r.Extra); err != nil {
		return nil, &Error{Kind: Refused, Engine: e.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	return e.generate(ctx, func() generation {
		// Each try is a request of its own for the engine.
		name := r.ID
		if name == "" {
			name = "parlance-" + rand.Text()
		}
		body := shallow(body)
		body["rid"] = name
		return generation{address: e.base + "/generate", body: body, events: serverSentEvents,
			decoder: func() eventDecoder { return (&sglangDecoder{request: r, stops: set.Matcher(), prompt: prompt}).decode },
			abort:   func() { e.abort(name) }}
	})
}

func shallow(f fields) fields {
	out := fields{}
	for name, value := range f {
		out[name] = value
	}
	return out
}

// abort ends the engine's work on a request. On a closed connection alone it acts only after about two seconds.
func (e sglang) abort(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := e.call(ctx, "abort", e.base+"/abort_request", fields{"rid": name}, nil); err != nil {
		e.options.Logger.Warn("engine not told to abort", "engine", e.engine, "error", err)
	}
}

// sglang sets a constraint: one of four parameters.
func (c *Constraint) sglang(engine string, sampling, body fields) error {
	if c == nil {
		return nil
	}
	if c.AfterThought {
		body["require_reasoning"] = true
	}
	switch c.Dialect {
	case Regex:
		sampling["regex"] = c.Text
	case EBNF:
		sampling["ebnf"] = c.Text
	case StructuralTag:
		sampling["structural_tag"] = c.Text
	default:
		schema, err := c.schema(engine)
		if err != nil {
			return err
		}
		sampling["json_schema"] = string(schema)
	}
	return nil
}

type sglangEvent struct {
	Text      string `json:"text"`
	OutputIDs []int  `json:"output_ids"`
	Meta      struct {
		FinishReason *struct {
			Type       string         `json:"type"`
			Matched    jsontext.Value `json:"matched"`
			Message    string         `json:"message"`
			StatusCode int            `json:"status_code"`
		} `json:"finish_reason"`
		PromptTokens     int               `json:"prompt_tokens"`
		CompletionTokens int               `json:"completion_tokens"`
		CachedTokens     int               `json:"cached_tokens"`
		Logprobs         []sglangLogprob   `json:"output_token_logprobs"`
		TopLogprobs      [][]sglangLogprob `json:"output_top_logprobs"`
	} `json:"meta_info"`
}

// sglangLogprob is [log probability, id, text or null].
type sglangLogprob struct {
	logprob float64
	id      int
	text    string
}

func (l *sglangLogprob) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readTuple(d, &l.logprob, &l.id, &l.text)
}

// sglangDecoder turns events that repeat everything so far into what is new. Servers that were started to send only what is
// new are told by the count of tokens.
type sglangDecoder struct {
	request *Request
	stops   *stops.Matcher
	prompt  []int
	text    string // all of it so far, as the engine has sent it; not kept if it sends only what is new
	tokens  int
	over    bool
}

func (s *sglangDecoder) decode(data []byte) (Piece, bool, error) {
	var event sglangEvent
	stray, err := unmarshalEvent(data, &event)
	if err != nil {
		return Piece{}, false, err
	}
	meta := event.Meta
	piece := Piece{Usage: &Usage{PromptTokens: meta.PromptTokens, CompletionTokens: meta.CompletionTokens, CachedTokens: meta.CachedTokens}}
	if finish := meta.FinishReason; finish != nil && finish.Type == "abort" && (finish.StatusCode != 0 || finish.Message != "") {
		failed := &Error{Kind: Failed, Status: finish.StatusCode, Message: finish.Message}
		if finish.StatusCode != 0 {
			failed.Kind = kindOf(finish.StatusCode)
		}
		return Piece{}, false, failed
	}
	text, ids := event.Text, event.OutputIDs
	if stray {
		text = restored(text) // the halves of a character are compared with the whole one
	}
	logprobs, top := meta.Logprobs, meta.TopLogprobs
	if whole := len(ids) == meta.CompletionTokens; whole && s.tokens > 0 {
		if s.tokens > len(ids) {
			return Piece{}, false, errors.New("the list of tokens has become shorter")
		}
		ids = ids[s.tokens:]
		switch {
		case strings.HasPrefix(text, s.text):
			text, s.text = text[len(s.text):], text
		case strings.HasPrefix(s.text, text):
			// What stopped the answer has been cut off again.
			text = ""
		default:
			return Piece{}, false, errors.New("the text so far has changed")
		}
		logprobs, top = behind(logprobs, s.tokens), behind(top, s.tokens)
	} else if s.tokens == 0 {
		s.text = text
	}
	if s.tokens == 0 && s.request.PromptTokenIDs {
		piece.PromptTokens = s.prompt
	}
	s.tokens += len(ids)
	if s.request.TokenIDs {
		piece.Tokens = ids
	}
	for i, l := range logprobs {
		logprob := TokenLogprob{Token: l.text, ID: l.id, Logprob: l.logprob}
		if i < len(top) {
			for _, alternative := range top[i] {
				logprob.Top = append(logprob.Top, TokenLogprob{Token: alternative.text, ID: alternative.id, Logprob: alternative.logprob})
			}
		}
		piece.Logprobs = append(piece.Logprobs, logprob)
	}
	if finish := meta.FinishReason; finish != nil {
		if piece.Finish, err = finishReason(finish.Type); err != nil {
			return Piece{}, false, err
		}
		if err := piece.stopped(finish.Matched); err != nil {
			return Piece{}, false, err
		}
	} else if !s.request.ContinuousUsage {
		piece.Usage = nil
	}
	piece.Text = s.held(text, piece)
	return piece, false, nil
}

// held holds back what may be the beginning of a stop string: the engine sends it and cuts it off afterwards.
func (s *sglangDecoder) held(text string, piece Piece) string {
	if s.request.IncludeStop {
		return text
	}
	if s.over {
		return ""
	}
	text, stop := s.stops.Write(text)
	switch {
	case stop != "":
		s.over = true
	case piece.Finish != "" && piece.StopString == "":
		text += s.stops.Flush()
	}
	return text
}

func behind[T any](list []T, n int) []T {
	if n >= len(list) {
		return nil
	}
	return list[n:]
}

func (e sglang) Models(ctx context.Context) ([]Model, error) {
	models, err := e.listModels(ctx)
	if err != nil {
		return nil, err
	}
	var info struct {
		ReasoningParser string `json:"reasoning_parser"`
		ToolCallParser  string `json:"tool_call_parser"`
	}
	if err := e.call(ctx, "models", e.base+"/model_info", nil, &info); err != nil {
		if failed, ok := err.(*Error); !ok || failed.Status != http.StatusNotFound {
			return nil, err
		}
	}
	for i := range models {
		models[i].ReasoningParser, models[i].ToolCallParser = info.ReasoningParser, info.ToolCallParser
	}
	return models, nil
}

// Health asks /ready: /health would generate a token.
func (e sglang) Health(ctx context.Context) error {
	return e.call(ctx, "health", e.base+"/ready", nil, nil)
}

func (e sglang) ApplyTemplate(ctx context.Context, c *Conversation) (Prompt, error) {
	if err := textOnly(e.engine, c.Messages); err != nil {
		return Prompt{}, err
	}
	if c.Template != "" {
		return Prompt{}, unsupported(e.engine, "apply template", "chat_template", "the engine uses the template of its model")
	}
	model, err := e.modelName(ctx, c.Model, e.listModels)
	if err != nil {
		return Prompt{}, err
	}
	body := fields{"model": model, "messages": c.Messages}
	if len(c.Tools) > 0 && string(c.Tools) != "null" {
		// With a tool choice of none the template would not see them.
		body["tools"], body["tool_choice"] = c.Tools, "auto"
	}
	c.withEffort().templateFields(body)
	return e.render(ctx, model, body)
}

func (e sglang) Template(context.Context, string) (Template, error) {
	return Template{}, unsupported(e.engine, "template", "", "the engine has no route that tells the template")
}

func (e sglang) Tokenize(ctx context.Context, model, text string, addSpecial bool) ([]Token, error) {
	return e.tokenize(ctx, model, text, addSpecial, fields{})
}

func (e sglang) Detokenize(ctx context.Context, model string, tokens []int) (string, error) {
	return e.detokenize(ctx, model, tokens)
}
