// Package completions is the raw interface: POST /v1/completions. The prompt goes to the engine as it is, and what the
// model writes comes back as it is: nothing is parsed.
package completions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
	"github.com/parlance-llm/parlance/server/requestid"
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

// fields are the names that this interface has for fields of Chat Completions.
var fields = map[string]string{"top_logprobs": "logprobs"}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, apierror.Renamed(err, fields))
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

// ahead is how many prompts are answered at once, the one whose answer is read included.
const ahead = 32

// each gives the generation of every prompt to do, in their order, with what is echoed. Those behind it have begun by then,
// and the engine works on them all.
func (a *answer) each(ctx context.Context, do func(number int, g *generate.Generation, echo string) error) error {
	type begun struct {
		generation *generate.Generation
		echo       string
	}
	var all []begun
	defer func() {
		for _, one := range all {
			one.generation.Close()
		}
	}()
	for number := range a.request.prompts {
		for len(all) < min(len(a.request.prompts), number+ahead) {
			generation, echo, err := a.start(ctx, a.request.prompts[len(all)])
			if err != nil {
				return err
			}
			all = append(all, begun{generation, echo})
		}
		if err := do(number, all[number].generation, all[number].echo); err != nil {
			return err
		}
		all[number].generation.Close()
	}
	return nil
}

func (a *answer) whole(w http.ResponseWriter, ctx context.Context) error {
	out := completion{ID: a.id, Object: "text_completion", Created: a.created, Model: a.request.Model.Name, Fingerprint: a.handler.fingerprint()}
	err := a.each(ctx, func(number int, g *generate.Generation, echo string) error {
		return a.wholePrompt(number, g, echo, &out)
	})
	if err != nil {
		return err
	}
	out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(out)) // the client is gone if this fails
	return nil
}

func (a *answer) wholePrompt(number int, generation *generate.Generation, echo string, out *completion) error {
	answers, err := generation.Answers()
	if err != nil {
		return err
	}
	for _, one := range answers {
		if a.request.promptOnly {
			one.Content, one.TokenIDs = "", []int{}
		}
		c := choice{Index: number*a.request.N + one.Choice, Text: echo + one.Content}
		c.FinishReason, c.StopReason = a.finish(&one.Finish)
		c.Logprobs = a.logprobs(one.Logprobs, 0)
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

// finish is why a choice ended, and what ended it. One that shows the prompt alone ended at its limit of no tokens.
func (a *answer) finish(f *generate.Finish) (reason *string, stop any) {
	if word := "length"; a.request.promptOnly {
		return &word, nil
	}
	word := f.OpenAI()
	return &word, f.StopReason()
}

// shown are the tokens of a choice that the client is shown.
func (a *answer) shown(tokens int) int {
	if a.request.promptOnly {
		return 0
	}
	return tokens
}

// count adds the usage of one prompt.
func (a *answer) count(sum *usage, u generate.Usage) {
	sum.Prompt += u.Prompt
	sum.Completion += a.shown(u.Completion)
	if a.handler.Settings.PromptDetails {
		if sum.PromptDetails == nil {
			sum.PromptDetails = &promptDetails{}
		}
		sum.PromptDetails.Cached += u.Cached
	}
}

func (a *answer) stream(w http.ResponseWriter, ctx context.Context) error {
	s := &stream{answer: a}
	err := a.each(ctx, func(number int, g *generate.Generation, echo string) error { return s.prompt(w, number, g, echo) })
	if err != nil && s.events == nil {
		return err
	}
	defer s.events.Close()
	switch {
	case errors.Is(err, errGone):
		return nil
	case err != nil:
		if s.events.Data(apierror.From(err).OpenAI()) == nil {
			_ = s.events.Done()
		}
		return nil
	}
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

func (s *stream) prompt(w http.ResponseWriter, number int, generation *generate.Generation, echo string) error {
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
	if s.request.promptOnly {
		step.Deltas, step.TokenIDs = nil, []int{}
	}
	for _, d := range step.Deltas {
		text += d.Text
	}
	if text == "" && step.Finish == nil && len(step.Logprobs) == 0 && len(step.TokenIDs) == 0 {
		return nil
	}
	chunk := s.chunk()
	c := chunkChoice{Index: number*s.request.N + step.Choice, Text: text, Logprobs: s.logprobs(step.Logprobs, *offset)}
	*offset += utf8.RuneCountInString(text)
	if step.Finish != nil {
		c.FinishReason, c.StopReason = s.finish(step.Finish)
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
		completion := s.shown(step.Usage.Completion)
		chunk.Usage = &usage{Prompt: step.Usage.Prompt, Completion: completion, Total: step.Usage.Prompt + completion}
	}
	return s.events.Data(encode(chunk))
}

func (s *stream) chunk() *chunk {
	return &chunk{ID: s.id, Object: "text_completion", Created: s.created, Model: s.request.Model.Name}
}
