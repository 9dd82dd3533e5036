// Package constrain has the engine hold the model to what a request demands: forced calls, strict tools, a response format.
//
// The constraint comes from package constraint, made from the definition that the parser reads by; here the dialect is
// chosen that the engine takes, and what the dialect cannot say becomes a note. Where an engine takes nothing that fits,
// the request is refused: a model that is free must not pass for one that is held (W12).
package constrain

import (
	"encoding/json/jsontext"
	"errors"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// Constrainer implements generate.Constrainer.
type Constrainer struct {
	// Level raises how strictly calls are held. Unenforced holds forced calls only.
	Level      constraint.Level
	Unenforced bool
}

// Constrain implements generate.Constrainer.
func (c Constrainer) Constrain(r *generate.Request, reading parlance.Request, can engine.Capabilities) (generate.Constraint, error) {
	thinking := constraint.ThinkingOver
	if r.Model.Parser != nil {
		thinking = constraint.ThinkingOf(r.Model.Parser, reading)
	}
	calls := r.Model.ReadsCalls() && r.ToolChoice.Mode != generate.ToolChoiceNone
	if !calls && (r.ResponseFormat == nil || thinking == constraint.ThinkingOver) {
		return direct(r.ResponseFormat, can)
	}
	if r.Model.Parser == nil {
		return direct(r.ResponseFormat, can)
	}
	request := constraint.Request{
		ToolChoice: parlance.ToolChoice{Mode: r.ToolChoice.Mode, Name: r.ToolChoice.Name}, StrictLevel: c.Level, Unenforced: c.Unenforced,
		OneCall: !r.Parallel, Thinking: thinking, Suffix: r.Model.Parser.Suffix(reading),
	}
	for _, tool := range r.Tools {
		request.Tools = append(request.Tools, constraint.Tool{Name: tool.Name, Parameters: tool.Parameters, Strict: tool.Strict != nil && *tool.Strict})
	}
	var notes []string
	if r.ResponseFormat != nil {
		format, err := formatOf(r.ResponseFormat)
		switch {
		case err == nil:
			request.ResponseFormat = format
		case !r.ToolChoice.Forced():
			return generate.Constraint{}, err
		}
		if r.ToolChoice.Forced() {
			request.ResponseFormat = nil
			notes = append(notes, r.ResponseFormat.Param+" does not hold beside a forced call")
		}
	}
	made, err := constraint.New(r.Model.Parser, request)
	if err != nil {
		return generate.Constraint{}, refused(err, r)
	}
	if made == nil {
		return generate.Constraint{Notes: notes}, nil
	}
	out, err := written(made, r, thinking, can)
	out.Notes = append(append(notes, made.Notes()...), out.Notes...)
	return out, err
}

// written writes a constraint in the first dialect that the engine takes.
func written(made *constraint.Constraint, r *generate.Request, thinking constraint.Thinking, can engine.Capabilities) (generate.Constraint, error) {
	guarded := func(dialect engine.Dialect, text constraint.Text) (generate.Constraint, error) {
		out := generate.Constraint{Engine: &engine.Constraint{Dialect: dialect, Text: text.Text}, Notes: text.Notes}
		out.Guard = func() generate.Guard { return made.Reader() }
		return out, nil
	}
	for _, dialect := range can.Constraints {
		switch dialect {
		case engine.StructuralTag:
			return guarded(dialect, made.StructuralTag())
		case engine.GBNF:
			return guarded(dialect, made.GBNF())
		case engine.EBNF:
			return guarded(dialect, made.EBNF())
		case engine.Lark:
			return guarded(dialect, made.Lark())
		}
	}
	if !can.Takes(engine.JSONSchema) {
		return generate.Constraint{}, apierror.Invalidf(param(r), "the engine takes no constraint, so that this cannot be held")
	}
	schema, ok := made.JSONSchema()
	if !ok {
		if r.ToolChoice.Forced() || r.ResponseFormat != nil {
			return generate.Constraint{}, apierror.Invalidf(param(r), "the engine takes only JSON schemas as constraints, and none says this")
		}
		return generate.Constraint{Notes: []string{"strict tools and parallel_tool_calls are not held: the engine takes only JSON schemas as constraints"}}, nil
	}
	out := generate.Constraint{Engine: &engine.Constraint{Dialect: engine.JSONSchema, Text: schema.Text}, Notes: schema.Notes}
	// Plain JSON from the first token leaves no room for a thought: the model thinks first, in a request of its own.
	out.ThinkFirst = thinking == constraint.ThinkingOpen
	if r.ToolChoice.Forced() {
		out.Guard = jsonGuards(r.ToolChoice.Mode != generate.ToolChoiceRequired)
	}
	return out, nil
}

// param is the field that asks for the constraint.
func param(r *generate.Request) string {
	if r.ToolChoice.Forced() || r.ResponseFormat == nil {
		return "tool_choice"
	}
	return r.ResponseFormat.Param
}

// direct passes a response format on as it is: no calls and no thought stand beside it.
func direct(f *generate.ResponseFormat, can engine.Capabilities) (generate.Constraint, error) {
	if f == nil {
		return generate.Constraint{}, nil
	}
	if !can.Takes(f.Dialect) {
		return generate.Constraint{}, apierror.Invalidf(f.Param, "the engine takes no constraint of the kind %s", f.Dialect)
	}
	return generate.Constraint{Engine: &engine.Constraint{Dialect: f.Dialect, Text: f.Text, Choices: f.Choices}}, nil
}

// formatOf is a response format for package constraint, which knows no grammars of others.
func formatOf(f *generate.ResponseFormat) (*constraint.ResponseFormat, error) {
	switch f.Dialect {
	case engine.JSONSchema:
		return &constraint.ResponseFormat{Schema: jsontext.Value(f.Text)}, nil
	case engine.JSONObject:
		return &constraint.ResponseFormat{Schema: jsontext.Value(`{"type":"object"}`)}, nil
	case engine.Regex:
		return &constraint.ResponseFormat{Regex: f.Text}, nil
	case engine.Choice:
		return &constraint.ResponseFormat{Choices: f.Choices}, nil
	}
	return nil, apierror.Invalidf(f.Param, "a constraint of the kind %s cannot be combined with tools or with a thought", f.Dialect)
}

// refused is the error of package constraint as the server answers it.
func refused(err error, r *generate.Request) error {
	var e *constraint.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Param == "response_format" && r.ResponseFormat != nil { // as the request calls it
		return apierror.Invalidf(r.ResponseFormat.Param, "%v", e.Err)
	}
	place := strings.NewReplacer("[", ".", "]", "").Replace(e.Param)
	return apierror.Invalidf(place, "%v", e)
}
