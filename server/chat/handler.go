package chat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/requestid"
	"github.com/parlance-llm/parlance/server/sse"
)

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, err)
	}
}

// serve answers a request; an error has not been answered yet.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	req, err := h.Read(r.Context(), o)
	if err != nil {
		return err
	}
	req.ID = requestid.From(r.Context())
	generation, err := h.Generator.Start(r.Context(), &req.Request)
	if err != nil {
		return err
	}
	defer generation.Close()
	head := h.head(req)
	if req.Stream {
		generate.Warn(w.Header(), generation)
		return h.stream(w, req, generation, head)
	}
	answers, err := generation.Answers()
	if err != nil {
		return err
	}
	generate.Warn(w.Header(), generation)
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(h.whole(req, answers, generation.Usage(), head, h.times(generation), generation.Prompt()))
	return ignore(err)
}

// Read reads a request and finds its model.
func (h *Handler) Read(ctx context.Context, o *body.Object) (*Request, error) {
	req, err := h.read(o)
	if err != nil {
		return nil, err
	}
	if req.Model, err = h.Models.Resolve(ctx, req.Model.Name); err != nil {
		return nil, err
	}
	if err := h.Settings.Limits.Check(&req.Request); err != nil {
		return nil, err
	}
	return req, req.sampling.Check()
}

// ignore forgets that a client has gone.
func ignore(error) error { return nil }

// head is what all chunks of an answer begin with.
type head struct {
	id, model string
	created   int64
}

func (h *Handler) head(r *Request) head {
	return head{id: generate.NewID("chatcmpl-"), model: r.Model.Name, created: time.Now().Unix()}
}

// stream answers with a stream. Nothing is sent before the engine's first piece, so that what only the engine finds wrong
// still has its status (W6); only where the client is to be kept alive meanwhile, the stream begins without it.
func (h *Handler) stream(w http.ResponseWriter, r *Request, generation *generate.Generation, head head) error {
	step, err := generation.Next(h.Settings.KeepAlive)
	if err != nil && !errors.Is(err, generate.ErrWaiting) && !errors.Is(err, io.EOF) {
		return err
	}
	events := sse.Start(w, h.Settings.WriteTimeout)
	defer events.Close()
	out := newChunks(h, r, head, events)
	out.prompt = generation.Prompt()
	for {
		switch {
		case err == nil:
			err = out.Step(step)
		case errors.Is(err, generate.ErrWaiting):
			err = events.KeepAlive()
		case errors.Is(err, io.EOF):
			generate.WarnLate(w.Header(), events, generation)
			return ignore(out.End(generation.Usage()))
		default:
			return ignore(out.fail(err))
		}
		if err != nil { // the client has gone, or does not read
			return nil
		}
		step, err = generation.Next(h.Settings.KeepAlive)
	}
}

// finishReason is the reason in the interface's words.
func finishReason(f *generate.Finish, choice generate.ToolChoice) string {
	if f.Incomplete() || f.Calls == 0 || f.Cut || choice.Mode == generate.ToolChoiceFunction {
		return f.OpenAI()
	}
	return "tool_calls"
}
