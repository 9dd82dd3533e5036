package parse

import (
	"bufio"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/sse"
)

// Stream answers POST /v1/parse/stream. The body is lines of JSON, each as long as it takes: first how to read, as for
// /v1/parse without a text; then a line for each piece, {"text": …}; at the end, if it was not a stop, {"finish_reason": …}.
// The answer is a stream of events, one for everything that becomes certain, sent while the body still arrives.
func (h *Handler) Stream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // HTTP/2 has it anyway
	lines := bufio.NewReader(http.MaxBytesReader(w, r.Body, h.BodyLimit))
	first, err := line(lines)
	if err != nil {
		apierror.ShapeOpenAI.Write(w, ended(err))
		return
	}
	o, err := body.Parse(first)
	if err != nil {
		apierror.ShapeOpenAI.Write(w, err)
		return
	}
	q, err := h.read(r.Context(), o)
	if err != nil {
		apierror.ShapeOpenAI.Write(w, err)
		return
	}
	events := sse.Start(w, 0)
	defer events.Close()
	out := &deltas{question: q, events: events}
	if err := out.run(lines); err != nil {
		_ = events.Data(apierror.From(err).OpenAI())
	}
	_ = events.Done()
}

// line reads the next line that is not empty.
func line(lines *bufio.Reader) ([]byte, error) {
	for {
		data, err := lines.ReadBytes('\n')
		if value := jsontext.Value(data); len(trim(value)) > 0 {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func trim(data []byte) []byte {
	for len(data) > 0 && (data[len(data)-1] == '\n' || data[len(data)-1] == '\r' || data[len(data)-1] == ' ') {
		data = data[:len(data)-1]
	}
	return data
}

// ended is the error of a body that ends too early, or is too long.
func ended(err error) error {
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return apierror.New(apierror.TooLarge, "", "the body is larger than the limit of %d bytes", large.Limit)
	}
	return apierror.New(apierror.Schema, "", "expected a line of JSON, found the end of the body")
}

// deltas are the events of a stream.
type deltas struct {
	*question
	events *sse.Writer
	calls  int
}

func (d *deltas) run(lines *bufio.Reader) error {
	stream := d.parser.Stream(d.request)
	finish := d.finish
	for {
		data, err := line(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return ended(err)
		}
		piece, err := body.Parse(data)
		if err != nil {
			return err
		}
		text, reason := piece.String("text"), piece.Choice("finish_reason", reasons...)
		if err := piece.Err(); err != nil {
			return err
		}
		if text == nil && reason == nil {
			return apierror.New(apierror.Schema, "text", "expected {\"text\": …} or {\"finish_reason\": …}, found %s", body.Summary(trim(data)))
		}
		if text != nil {
			if err := d.send(stream.WriteString(*text)); err != nil {
				return err
			}
		}
		if reason != nil {
			finish = finishOf(*reason)
			break
		}
	}
	if err := d.send(stream.Close(finish)); err != nil {
		return err
	}
	end := struct {
		Kind   string `json:"kind"`
		Reason string `json:"finish_reason"`
		Trace  []span `json:"trace,omitzero"`
	}{"finish", string(finish), trace(stream.Trace())}
	if d.calls > 0 && finish == parlance.FinishStop && d.request.ToolChoice.Mode != "function" {
		end.Reason = "tool_calls"
	}
	return d.events.Data(encode(end))
}

// delta is one thing that has become certain.
type delta struct {
	Kind      string  `json:"kind"`
	Text      *string `json:"text,omitzero"`
	Call      *int    `json:"tool_call,omitzero"`
	ID        string  `json:"id,omitzero"`
	Name      *string `json:"name,omitzero"`
	Malformed bool    `json:"malformed,omitzero"`
	Cut       bool    `json:"cut,omitzero"`
}

func (d *deltas) send(list []parlance.Delta) error {
	for i := range list {
		from := &list[i]
		out := delta{Kind: from.Kind.String(), Malformed: from.Malformed, Cut: from.Cut}
		switch from.Kind {
		case parlance.Content, parlance.Reasoning, parlance.Arguments:
			text := string(from.Text)
			out.Text = &text
		case parlance.ToolCall:
			d.calls++
			out.Name, out.ID = &from.Name, d.id(from.ID, from.Name, from.Call)
		}
		if from.Kind != parlance.Content && from.Kind != parlance.Reasoning {
			out.Call = &from.Call
		}
		if err := d.events.Data(encode(out)); err != nil {
			return err
		}
	}
	return nil
}
