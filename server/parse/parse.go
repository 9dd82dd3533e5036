// Package parse serves what the library does without an engine: POST /v1/parse sorts text that somebody else's engine has
// written, POST /v1/parse/stream the same while it arrives.
//
// A request names the parsers, or the model whose parsers are meant, and what is known of the request that the text
// answers: tools, tool choice, prompt, template arguments. docs/server.md shows both.
package parse

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/http"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/models"
)

// Handler serves both routes.
type Handler struct {
	Models *models.Registry
	// Formats are those that a request may name.
	Formats   *parlance.Registry
	BodyLimit int64
}

// ServeHTTP answers POST /v1/parse.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := h.whole(r)
	if err != nil {
		apierror.ShapeOpenAI.Write(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // the client is gone if this fails
}

// question is how a text is to be read.
type question struct {
	parser  *parlance.Parser
	request parlance.Request
	finish  parlance.FinishReason
}

// read reads everything but the text.
func (h *Handler) read(ctx context.Context, o *body.Object) (*question, error) {
	q := &question{finish: parlance.FinishStop}
	tool, reasoning, model := o.String("tool_call_parser"), o.String("reasoning_parser"), o.String("model")
	q.request.Prompt = value(o.String("prompt"))
	q.request.HideReasoning = o.Has("include_reasoning") && !value(o.Bool("include_reasoning"))
	q.request.Trace = value(o.Bool("trace"))
	q.request.Exact = value(o.Choice("white_space", "trim", "exact")) == "exact"
	q.request.Validated = value(o.Choice("calls", "eager", "validated")) == "validated"
	q.request.KnownToolsOnly = value(o.Choice("unknown_tools", "pass", "fail")) == "fail"
	if reason := o.Choice("finish_reason", reasons...); reason != nil {
		q.finish = finishOf(*reason)
	}
	q.request.ChatTemplateKwargs = generate.ReadKwargs(o)
	err := o.Err()
	if err != nil {
		return nil, err
	}
	if q.request.Tools, err = parlance.ParseTools(o.Raw("tools")); err != nil {
		return nil, apierror.Invalidf("tools", "%v", err)
	}
	if q.request.ToolChoice, err = parlance.ParseToolChoice(o.Raw("tool_choice")); err != nil {
		return nil, apierror.Invalidf("tool_choice", "%v", err)
	}
	q.parser, err = h.parser(ctx, value(tool), value(reasoning), value(model))
	return q, err
}

// reasons are the finish reasons of engines and interfaces.
var reasons = []string{"stop", "length", "tool_calls", "abort", "repetition", "content_filter"}

func value[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

func finishOf(reason string) parlance.FinishReason {
	if reason == "" || reason == "stop" || reason == "tool_calls" {
		return parlance.FinishStop
	}
	return parlance.FinishLength
}

// parser is the one that is named, else the model's. As with the flag, the reasoning parser none is none.
func (h *Handler) parser(ctx context.Context, tool, reasoning, model string) (*parlance.Parser, error) {
	if strings.EqualFold(reasoning, "none") {
		reasoning = ""
	}
	if tool != "" || reasoning != "" {
		parser, err := h.Formats.Lookup(tool, reasoning)
		var name *parlance.NameError
		switch {
		case errors.As(err, &name) && name.Half == "reasoning":
			return nil, apierror.Invalidf("reasoning_parser", "%v", err)
		case err != nil:
			return nil, apierror.Invalidf("tool_call_parser", "%v", err)
		}
		return parser, nil
	}
	known, err := h.Models.Resolve(ctx, model)
	if err != nil {
		return nil, err
	}
	if known.Parser == nil {
		return nil, apierror.Invalidf("tool_call_parser", "expected tool_call_parser or reasoning_parser, since the model has no parser")
	}
	return known.Parser, nil
}

// message is what a text became.
type message struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Reasoning *string    `json:"reasoning"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Malformed bool `json:"malformed,omitzero"`
	Cut       bool `json:"cut,omitzero"`
}

type segment struct {
	Kind string  `json:"kind"`
	Text *string `json:"text,omitzero"`
	Call *int    `json:"tool_call,omitzero"`
}

type span struct {
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Became string `json:"became"`
	Call   *int   `json:"tool_call,omitzero"`
}

// parsed is the answer about one text.
type parsed struct {
	Object       string    `json:"object"`
	Message      message   `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Segments     []segment `json:"segments"`
	Trace        []span    `json:"trace,omitzero"`
}

func (q *question) parse(text string, finish parlance.FinishReason) *parsed {
	m := q.parser.Parse(text, q.request, finish)
	out := &parsed{Object: "parse", Segments: []segment{}}
	out.Message, out.FinishReason = q.message(m, finish)
	for _, s := range m.Segments {
		one := segment{Kind: s.Kind.String()}
		if s.Kind == parlance.ToolCall {
			one.Call = &s.Call
		} else {
			one.Text = &s.Text
		}
		out.Segments = append(out.Segments, one)
	}
	out.Trace = trace(m.Trace)
	return out
}

func trace(spans []parlance.Span) (out []span) {
	for _, s := range spans {
		one := span{Start: s.Start, End: s.End, Became: s.Became}
		if s.Call >= 0 {
			one.Call = &s.Call
		}
		out = append(out, one)
	}
	return out
}

func (q *question) message(m *parlance.Message, finish parlance.FinishReason) (message, string) {
	out := message{Role: "assistant"}
	if m.Reasoning != "" {
		out.Reasoning = &m.Reasoning
	}
	if m.Content != "" || len(m.Calls) == 0 && m.Reasoning == "" {
		out.Content = &m.Content
	}
	for i, call := range m.Calls {
		one := toolCall{ID: q.id(call.ID, call.Name, i), Type: "function", Malformed: call.Malformed, Cut: call.Cut}
		one.Function.Name, one.Function.Arguments = call.Name, call.Arguments
		out.ToolCalls = append(out.ToolCalls, one)
	}
	reason := string(finish)
	if len(m.Calls) > 0 && finish == parlance.FinishStop && q.request.ToolChoice.Mode != "function" {
		reason = "tool_calls"
	}
	return out, reason
}

// id is the id of a call: what the model wrote, else one that fits the format.
func (q *question) id(written, name string, number int) string {
	r := generate.Request{Model: generate.Model{Parser: q.parser}}
	if written != "" {
		return written
	}
	return r.NewCallID(name, number)
}

func (h *Handler) whole(r *http.Request) ([]byte, error) {
	o, err := body.Read(r, h.BodyLimit)
	if err != nil {
		return nil, err
	}
	text, completion := o.String("text"), o.Object("completion")
	q, err := h.read(r.Context(), o)
	if err != nil {
		return nil, err
	}
	switch {
	case text != nil && completion == nil:
		return encode(q.parse(*text, q.finish)), nil
	case text == nil && completion != nil:
		return q.completion(o.Raw("completion"))
	}
	return nil, apierror.Invalidf("text", "expected either text or completion")
}

// completion reads a finished completion of an OpenAI interface, of either kind, whose text has not been parsed: what
// comes back is a chat completion, with everything beside the text as it was.
func (q *question) completion(value jsontext.Value) ([]byte, error) {
	members, _ := body.Members(value)
	choices, ok := body.Elements(body.Lookup(members, "choices"))
	if !ok {
		return nil, apierror.Invalidf("completion.choices", "expected a list of choices, found %s", body.Found(body.Lookup(members, "choices")))
	}
	out := jsontext.Value("[")
	for i, choice := range choices {
		fields, ok := body.Members(choice)
		if !ok {
			return nil, apierror.Invalidf("completion.choices", "expected objects, found %s", body.Summary(choice))
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, q.choice(fields)...)
	}
	out = append(out, ']')
	for i := range members {
		switch members[i].Name {
		case "choices":
			members[i].Value = out
		case "object":
			members[i].Value = jsontext.Value(`"chat.completion"`)
		}
	}
	return body.Join(members), nil
}

// choice reads one choice.
func (q *question) choice(fields []body.Member) jsontext.Value {
	text := ""
	if given := body.Lookup(fields, "text"); given.Kind() == '"' {
		text = body.Text(given)
	} else if given, ok := body.Members(body.Lookup(fields, "message")); ok {
		if content := body.Lookup(given, "content"); content.Kind() == '"' {
			text = body.Text(content)
		}
	}
	finish := q.finish
	if given := body.Lookup(fields, "finish_reason"); given.Kind() == '"' {
		finish = finishOf(body.Text(given))
	}
	m, reason := q.message(q.parser.Parse(text, q.request, finish), finish)
	var out []body.Member
	placed := false
	for _, field := range fields {
		switch field.Name {
		case "text", "message":
			if !placed {
				out = append(out, body.Member{Name: "message", Value: encode(m)})
			}
			placed = true
		case "finish_reason":
			out = append(out, body.Member{Name: "finish_reason", Value: body.Quote(nil, reason)})
		default:
			out = append(out, field)
		}
	}
	if !placed {
		out = append(out, body.Member{Name: "message", Value: encode(m)})
	}
	return body.Join(out)
}

func encode(v any) []byte {
	data, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		panic("parse: " + err.Error()) // the shapes hold nothing that JSON cannot write
	}
	return data
}
