// Package completions is the raw interface: POST /v1/completions. The prompt goes to the engine as it is, and what the
// model writes comes back as it is: nothing is parsed.
package completions

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
	"github.com/parlance-llm/parlance/server/requestid"
	"github.com/parlance-llm/parlance/server/sampling"
	"github.com/parlance-llm/parlance/server/sse"
)

// Settings are what the server's flags say of the interface.
type Settings struct {
	ForceUsage, PromptDetails, TokensAsIDs bool
	Limits                                 generate.Limits
	BodyLimit                              int64
	KeepAlive, WriteTimeout                time.Duration
	// Fingerprint is the system fingerprint; "" is null.
	Fingerprint string
	// MaxPrompts is the most prompts of one request.
	MaxPrompts int
}

// Handler serves the interface.
type Handler struct {
	Generator *generate.Generator
	Models    *models.Registry
	Settings  Settings
}

// request is a request of this interface.
type request struct {
	generate.Request
	prompts                       []engine.Prompt
	echo                          bool
	includeUsage, continuousUsage bool
	sampling                      sampling.Fields
}

// defaultMaxTokens is how long an answer is where the request does not say.
const defaultMaxTokens = 16

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, err)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	q, err := h.read(r.Context(), o)
	if err != nil {
		return err
	}
	q.ID = requestid.From(r.Context())
	if h.Generator.Engine.Capabilities().ChatOnly {
		return apierror.New(apierror.NotImplemented, "", "The engine takes only conversations; it has no raw completions")
	}
	out := &answer{handler: h, request: q, id: generate.NewID("cmpl-"), created: time.Now().Unix()}
	if q.Stream {
		return out.stream(w, r.Context())
	}
	return out.whole(w, r.Context())
}

func (h *Handler) read(ctx context.Context, o *body.Object) (*request, error) {
	q := &request{}
	q.Interface = "completions"
	if options, _ := body.Members(o.Raw("stream_options")); len(options) > 0 && o.Raw("stream").Kind() != 't' {
		return nil, apierror.Invalidf("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	if model := o.String("model"); model != nil {
		q.Model.Name = *model
	}
	q.readPrompts(o, h.Settings.MaxPrompts)
	stream, echo := o.Bool("stream"), o.Bool("echo")
	q.Stream, q.echo = stream != nil && *stream, echo != nil && *echo
	if options := o.Object("stream_options"); options != nil {
		usage, continuous := options.Bool("include_usage"), options.Bool("continuous_usage_stats")
		q.includeUsage = usage != nil && *usage
		q.continuousUsage = q.includeUsage && continuous != nil && *continuous
	}
	q.sampling = sampling.Read(o, &q.Request)
	q.sampling.TokensAsIDs = q.sampling.TokensAsIDs || h.Settings.TokensAsIDs
	if o.Raw("max_tokens") == nil {
		q.MaxTokens = defaultMaxTokens
	}
	logprobs := o.Int("logprobs")
	if err := o.Err(); err != nil {
		return nil, err
	}
	if logprobs != nil {
		if *logprobs < 0 {
			return nil, apierror.Invalidf("logprobs", "`logprobs` must be a positive value, found %d.", *logprobs)
		}
		q.Logprobs, q.TopLogprobs = true, int(*logprobs)
	}
	if suffix := o.String("suffix"); suffix != nil && *suffix != "" {
		return nil, apierror.Invalidf("suffix", "suffix is not supported: the engine writes on from the prompt")
	}
	if h.Settings.ForceUsage && q.Stream {
		q.includeUsage, q.continuousUsage = true, true
	}
	q.CountSteps = q.continuousUsage
	model, err := h.Models.Resolve(ctx, q.Model.Name)
	if err != nil {
		return nil, err
	}
	q.Model = generate.Model{Name: model.Name, Upstream: model.Upstream} // without its parser: nothing is parsed
	q.ToolChoice.Mode, q.IncludeReasoning, q.Parallel = generate.ToolChoiceNone, true, true
	if err := h.Settings.Limits.Check(&q.Request); err != nil {
		return nil, err
	}
	return q, q.sampling.Check()
}

// readPrompts reads the prompt: text, token ids, or a list of either.
func (q *request) readPrompts(o *body.Object, limit int) {
	if !o.Require("prompt") {
		return
	}
	value := o.Raw("prompt")
	if value.Kind() == '"' {
		q.prompts = []engine.Prompt{{Text: body.Text(value)}}
		return
	}
	elements, ok := body.Elements(value)
	switch {
	case !ok || len(elements) == 0:
		o.Complain("prompt", "expected a text, token ids, or a list of either")
		return
	case elements[0].Kind() == '0':
		q.prompts = []engine.Prompt{{Tokens: o.Ints("prompt")}}
		return
	case len(elements) > limit:
		o.Complain("prompt", "expected at most "+strconv.Itoa(limit)+" prompts")
		return
	}
	for _, element := range elements {
		prompt, ok := onePrompt(element)
		if !ok {
			o.Complain("prompt", "expected a text, token ids, or a list of either")
			return
		}
		q.prompts = append(q.prompts, prompt)
	}
}

func onePrompt(value jsontext.Value) (p engine.Prompt, ok bool) {
	if value.Kind() == '"' {
		return engine.Prompt{Text: body.Text(value)}, true
	}
	ids, ok := body.Elements(value)
	for _, id := range ids {
		n, err := strconv.Atoi(string(id))
		if err != nil {
			return p, false
		}
		p.Tokens = append(p.Tokens, n)
	}
	return p, ok && len(ids) > 0
}

// answer is an answer that is being made.
type answer struct {
	handler *Handler
	request *request
	id      string
	created int64
}

// start begins the choices of one prompt.
func (a *answer) start(ctx context.Context, prompt engine.Prompt) (*generate.Generation, string, error) {
	q := a.request.Request
	q.Prompt = &prompt
	echo := ""
	if a.request.echo {
		echo = prompt.Text
		if len(prompt.Tokens) > 0 {
			text, err := a.handler.Generator.Engine.Detokenize(ctx, q.Model.Upstream, prompt.Tokens)
			if err != nil {
				return nil, "", generate.FromEngine(err)
			}
			echo = text
		}
	}
	generation, err := a.handler.Generator.Start(ctx, &q)
	return generation, echo, err
}

func (a *answer) whole(w http.ResponseWriter, ctx context.Context) error {
	out := completion{ID: a.id, Object: "text_completion", Created: a.created, Model: a.request.Model.Name, Fingerprint: a.handler.fingerprint()}
	for number, prompt := range a.request.prompts {
		if err := a.wholePrompt(ctx, number, prompt, &out); err != nil {
			return err
		}
	}
	out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(out)) // the client is gone if this fails
	return nil
}

func (a *answer) wholePrompt(ctx context.Context, number int, prompt engine.Prompt, out *completion) error {
	generation, echo, err := a.start(ctx, prompt)
	if err != nil {
		return err
	}
	defer generation.Close()
	answers, err := generation.Answers()
	if err != nil {
		return err
	}
	for _, one := range answers {
		c := choice{Index: number*a.request.N + one.Choice, Text: echo + one.Content, StopReason: one.Finish.StopReason()}
		reason := one.Finish.OpenAI()
		c.FinishReason = &reason
		c.Logprobs = a.logprobs(one.Logprobs, len(echo))
		if a.request.TokenIDs {
			c.TokenIDs = &one.TokenIDs
			if one.PromptTokenIDs != nil {
				c.PromptTokenIDs = &one.PromptTokenIDs
			}
		}
		out.Choices = append(out.Choices, c)
	}
	a.count(&out.Usage, generation.Usage())
	return nil
}

// count adds the usage of one prompt.
func (a *answer) count(sum *usage, u generate.Usage) {
	sum.Prompt += u.Prompt
	sum.Completion += u.Completion
	if a.handler.Settings.PromptDetails {
		if sum.PromptDetails == nil {
			sum.PromptDetails = &promptDetails{}
		}
		sum.PromptDetails.Cached += u.Cached
	}
}

func (a *answer) stream(w http.ResponseWriter, ctx context.Context) error {
	s := &stream{answer: a}
	for number, prompt := range a.request.prompts {
		err := s.prompt(w, ctx, number, prompt)
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil && s.events == nil:
			return err
		case err != nil:
			defer s.events.Close()
			if s.events.Data(apierror.From(err).OpenAI()) == nil {
				_ = s.events.Done()
			}
			return nil
		}
	}
	defer s.events.Close()
	if a.request.includeUsage {
		s.sum.Total = s.sum.Prompt + s.sum.Completion
		last := s.chunk()
		last.Choices, last.Usage, last.Fingerprint = []chunkChoice{}, &s.sum, a.handler.fingerprint()
		if s.events.Data(encode(last)) != nil {
			return nil
		}
	}
	_ = s.events.Done()
	return nil
}

// stream is an answer that is streamed.
type stream struct {
	*answer
	events *sse.Writer // nil until the first event
	sum    usage
}

// errGone: the client has gone, or does not read.
var errGone = errors.New("the client has gone")

func (s *stream) prompt(w http.ResponseWriter, ctx context.Context, number int, prompt engine.Prompt) error {
	generation, echo, err := s.start(ctx, prompt)
	if err != nil {
		return err
	}
	defer generation.Close()
	offsets := make([]int, s.request.N)
	echoed := make([]bool, s.request.N)
	for {
		step, err := generation.Next(s.handler.Settings.KeepAlive)
		switch {
		case errors.Is(err, io.EOF):
			s.count(&s.sum, generation.Usage())
			return nil
		case err != nil && !errors.Is(err, generate.ErrWaiting):
			return err
		}
		if s.events == nil {
			s.events = sse.Start(w, s.handler.Settings.WriteTimeout)
		}
		if err != nil {
			err = s.events.KeepAlive()
		} else {
			text := ""
			if !echoed[step.Choice] {
				text, echoed[step.Choice] = echo, true
			}
			err = s.step(number, step, text, &offsets[step.Choice])
		}
		if err != nil {
			return errGone
		}
	}
}

// step writes a step; text stands before it.
func (s *stream) step(number int, step generate.Step, text string, offset *int) error {
	for _, d := range step.Deltas {
		text += d.Text
	}
	if text == "" && step.Finish == nil && len(step.Logprobs) == 0 && len(step.TokenIDs) == 0 {
		return nil
	}
	chunk := s.chunk()
	c := chunkChoice{Index: number*s.request.N + step.Choice, Text: text, Logprobs: s.logprobs(step.Logprobs, *offset)}
	*offset += len(text)
	if step.Finish != nil {
		reason := step.Finish.OpenAI()
		c.FinishReason, c.StopReason = &reason, step.Finish.StopReason()
		if !s.request.includeUsage {
			chunk.Fingerprint = s.handler.fingerprint()
		}
	}
	if s.request.TokenIDs {
		c.TokenIDs = &step.TokenIDs
		if step.PromptTokenIDs != nil {
			c.PromptTokenIDs = &step.PromptTokenIDs
		}
	}
	chunk.Choices = []chunkChoice{c}
	if s.request.continuousUsage {
		chunk.Usage = &usage{Prompt: step.Usage.Prompt, Completion: step.Usage.Completion, Total: step.Usage.Prompt + step.Usage.Completion}
	}
	return s.events.Data(encode(chunk))
}

func (s *stream) chunk() *chunk {
	return &chunk{ID: s.id, Object: "text_completion", Created: s.created, Model: s.request.Model.Name}
}
