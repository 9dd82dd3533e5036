package responses

import (
	"errors"
	"io"
	"net/http"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/requestid"
	"github.com/parlance-llm/parlance/server/sse"
	"github.com/parlance-llm/parlance/server/store"
)

// fields are the names that this interface has for fields of Chat Completions.
var fields = map[string]string{
	"logprobs": "top_logprobs", "reasoning_effort": "reasoning.effort", "messages": "input", "tools.*.function.parameters": "tools.*.parameters",
}

// handle answers with what do writes, or with its error.
func handle(do func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			apierror.ShapeOpenAI.Write(w, apierror.Renamed(err, fields))
		}
	})
}

// Create answers POST /v1/responses.
func (h *Handler) Create() http.Handler { return handle(h.create) }

func (h *Handler) create(w http.ResponseWriter, r *http.Request) error {
	request, err := h.readBody(r)
	if err != nil {
		return err
	}
	request.ID = requestid.From(r.Context())
	if request.background {
		return h.background(w, r, request)
	}
	generation, err := h.Generator.Start(r.Context(), &request.Request)
	if err != nil {
		return err
	}
	defer generation.Close()
	generate.AddWarnings(w.Header(), request.notes...)
	a := &assembler{request: request, object: request.object(inProgress)}
	if request.Stream {
		generate.Warn(w.Header(), generation)
		return h.stream(w, r, a, generation)
	}
	if err := h.produce(r.Context(), a, generation, func() (generate.Step, error) { return generation.Next(0) }); err != nil {
		return err
	}
	generate.Warn(w.Header(), generation)
	return answer(w, a.object)
}

func answer(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(v)) // the client has gone if this fails
	return nil
}

// stream answers with a stream. Nothing is sent before the engine's first piece, so that what only the engine finds wrong
// still has its status.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *assembler, generation *generate.Generation) error {
	step, err := generation.Next(h.Settings.KeepAlive)
	if err != nil && !errors.Is(err, generate.ErrWaiting) && !errors.Is(err, io.EOF) {
		return err
	}
	events := sse.Start(w, h.Settings.WriteTimeout)
	defer events.Close()
	gone := false
	a.send = func(name string, data []byte) error {
		gone = gone || events.Event(name, data) != nil
		return nil // what is made is stored all the same
	}
	_ = errors.Join(a.lifecycle("created"), a.lifecycle("in_progress"))
	began := false
	return h.produce(r.Context(), a, generation, func() (generate.Step, error) {
		if !began && !errors.Is(err, generate.ErrWaiting) {
			began = true
			return step, err
		}
		began = true
		for {
			if gone && a.object.Status == inProgress {
				return generate.Step{}, errGone
			}
			step, err := generation.Next(h.Settings.KeepAlive)
			if errors.Is(err, io.EOF) {
				generate.WarnLate(w.Header(), events, generation)
			}
			if !errors.Is(err, generate.ErrWaiting) {
				return step, err
			}
			gone = gone || events.KeepAlive() != nil
		}
	})
}

// background answers with a response that is queued, or with the stream of its events.
func (h *Handler) background(w http.ResponseWriter, r *http.Request, request *Request) error {
	one, err := h.start(r.Context(), request)
	if err != nil {
		return err
	}
	generate.AddWarnings(w.Header(), request.notes...)
	if request.Stream {
		return h.follow(w, r, one, -1)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(one.object())
	return nil
}

// stored is an error of the store as a client should see it.
func stored(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return apierror.New(apierror.NotFound, what+"_id", "%s with id '%s' not found.", map[string]string{"response": "Response", "conversation": "Conversation", "item": "Item"}[what], id)
	}
	return &apierror.Error{Kind: apierror.Internal, Message: "Internal server error", Cause: err}
}

// readBody reads the request in a body.
func (h *Handler) readBody(r *http.Request) (*Request, error) {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return nil, err
	}
	return h.Read(r.Context(), o)
}

// InputTokens answers POST /v1/responses/input_tokens: how many tokens the prompt of a request has.
func (h *Handler) InputTokens() http.Handler { return handle(h.inputTokens) }

func (h *Handler) inputTokens(w http.ResponseWriter, r *http.Request) error {
	request, err := h.readBody(r)
	if err != nil {
		return err
	}
	n, err := h.Generator.CountPrompt(r.Context(), &request.Request)
	if err != nil {
		return err
	}
	return answer(w, struct {
		Object string `json:"object"`
		Tokens int    `json:"input_tokens"`
	}{"response.input_tokens", n})
}
