package messages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/requestid"
	"github.com/parlance-llm/parlance/server/sse"
)

// newReader reads a text.
func newReader(text string) io.Reader { return strings.NewReader(text) }

// fields are the names that this interface has for fields of Chat Completions.
var fields = map[string]string{
	"stop": "stop_sequences", "thinking_token_budget": "thinking.budget_tokens", "reasoning_effort": "output_config.effort",
	"tools.*.function.parameters": "tools.*.input_schema", "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
}

// ServeHTTP answers a request for a message.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		apierror.ShapeAnthropic.Write(w, apierror.Renamed(err, fields))
	}
}

// serve answers a request; an error has not been answered yet.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	id := requestid.From(r.Context())
	w.Header().Set("request-id", id)
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	request, err := h.Read(r.Context(), o, false)
	if err != nil {
		return err
	}
	request.ID = id
	generation, err := h.start(r.Context(), request)
	if err != nil {
		return err
	}
	defer generation.Close()
	generate.AddWarnings(w.Header(), request.notes...)
	if request.Stream {
		generate.Warn(w.Header(), generation)
		return h.stream(w, request, generation)
	}
	answers, err := generation.Answers()
	if err != nil {
		return err
	}
	generate.Warn(w.Header(), generation)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(h.whole(request, answers[0])) // the client has gone if this fails
	return nil
}

// start begins the answer. A template that refuses system messages inside the conversation gets them at its beginning.
func (h *Handler) start(ctx context.Context, r *Request) (*generate.Generation, error) {
	generation, err := h.Generator.Start(ctx, &r.Request)
	if err == nil || !r.inline || apierror.From(err).Kind != apierror.Invalid {
		return generation, err
	}
	merged := r.Request
	merged.Messages = mergeSystem(r.Messages)
	if again, err := h.Generator.Start(ctx, &merged); err == nil {
		r.Request = merged
		return again, nil
	}
	return nil, err
}

// stream answers with a stream. Nothing is sent before the engine's first piece, so that what only the engine finds wrong
// still has its status.
func (h *Handler) stream(w http.ResponseWriter, r *Request, generation *generate.Generation) error {
	step, err := generation.Next(h.Settings.KeepAlive)
	if err != nil && !errors.Is(err, generate.ErrWaiting) && !errors.Is(err, io.EOF) {
		return err
	}
	events := sse.Start(w, h.Settings.WriteTimeout)
	defer events.Close()
	out := &blocks{handler: h, request: r, events: events}
	for {
		switch {
		case err == nil:
			err = out.Step(step)
		case errors.Is(err, generate.ErrWaiting):
			err = out.ping()
		case errors.Is(err, io.EOF):
			generate.WarnLate(w.Header(), events, generation)
			_ = out.End(generation.Usage()) // the client has gone if this fails
			return nil
		default:
			_ = out.fail(err)
			return nil
		}
		if err != nil { // the client has gone, or does not read
			return nil
		}
		step, err = generation.Next(h.Settings.KeepAlive)
	}
}

// CountTokens answers a request for the number of a prompt's tokens.
func (h *Handler) CountTokens(w http.ResponseWriter, r *http.Request) {
	if err := h.count(w, r); err != nil {
		apierror.ShapeAnthropic.Write(w, apierror.Renamed(err, fields))
	}
}

func (h *Handler) count(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("request-id", requestid.From(r.Context()))
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	request, err := h.Read(r.Context(), o, true)
	if err != nil {
		return err
	}
	n, err := h.Generator.CountPrompt(r.Context(), &request.Request)
	if err != nil {
		return err
	}
	type management struct {
		Original int `json:"original_input_tokens"`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(struct {
		Input      int        `json:"input_tokens"`
		Management management `json:"context_management"`
	}{n, management{n}}))
	return nil
}
