package responses

import (
	"errors"

	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/sse"
)

// Wire writes an answer to a request as the interface streams it, whoever makes the steps. The response is not stored.
func (h *Handler) Wire(r *Request, events *sse.Writer) generate.Wire {
	return &wire{assembler: &assembler{request: r, object: r.object(inProgress), send: events.Event}}
}

type wire struct {
	*assembler
	began  bool
	finish *generate.Finish
}

func (w *wire) begin() error {
	if w.began {
		return nil
	}
	w.began = true
	return errors.Join(w.lifecycle("created"), w.lifecycle("in_progress"))
}

// Step implements generate.Wire.
func (w *wire) Step(s generate.Step) error {
	if s.Finish != nil {
		w.finish = s.Finish
	}
	if err := w.begin(); err != nil {
		return err
	}
	return w.step(s)
}

// End implements generate.Wire.
func (w *wire) End(u generate.Usage) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.object.finish(w.finish, u)
	return w.lifecycle(w.object.Status)
}
