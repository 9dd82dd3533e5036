package generate

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
)

// Limits are what the server allows a request of any interface; 0 is no limit, but for stop strings and choices.
type Limits struct {
	MaxStopStrings, MaxChoices, MaxTools, MaxSchemaDepth int
}

// Check tells what is wrong with a request that fits its interface's schema: more than the server allows, a thing that
// the model's format cannot do, or sampling that no engine takes. The model must have been found.
func (l Limits) Check(r *Request) error {
	if err := l.CheckTools(len(r.Tools)); err != nil {
		return err
	}
	for i, tool := range r.Tools {
		if depth := body.Depth(tool.Parameters); l.MaxSchemaDepth > 0 && depth > l.MaxSchemaDepth {
			return apierror.Invalidf(fmt.Sprintf("tools.%d.function.parameters", i), "the schema of %q is nested %d deep, the limit is %d", tool.Name, depth, l.MaxSchemaDepth)
		}
	}
	if f := r.ResponseFormat; f != nil && l.MaxSchemaDepth > 0 {
		if depth := body.Depth(jsontext.Value(f.Text)); depth > l.MaxSchemaDepth {
			return apierror.Invalidf(f.Param, "the schema is nested %d deep, the limit is %d", depth, l.MaxSchemaDepth)
		}
	}
	if len(r.Stop) > l.MaxStopStrings {
		return apierror.Invalidf("stop", "expected at most %d stop strings, found %d", l.MaxStopStrings, len(r.Stop))
	}
	if slices.Contains(r.Stop, "") {
		return apierror.Invalidf("stop", "stop cannot contain an empty string.")
	}
	if r.N > l.MaxChoices {
		return apierror.Invalidf("n", "n must be at most %d, found %d", l.MaxChoices, r.N)
	}
	if parser := r.Model.Parser; parser != nil && r.Template.ReasoningEffort == "none" {
		if format, ok := parser.ReasoningFormat(); ok && format.Alone && len(format.Thinking) == 0 {
			return apierror.Invalidf("reasoning_effort", "reasoning_effort=none is not supported: models of the format %s cannot switch their reasoning off", format.Name)
		}
	}
	return r.checkSampling()
}

// CheckTools tells whether a request declares more tools than the server allows.
func (l Limits) CheckTools(declared int) error {
	if l.MaxTools > 0 && declared > l.MaxTools {
		return apierror.Invalidf("tools", "expected at most %d tools, found %d", l.MaxTools, declared)
	}
	return nil
}

// checkSampling checks the values of the sampling, as the engine would. A thinking budget of -1 is none.
func (r *Request) checkSampling() error {
	s := &r.Sampling
	within := func(name string, value *float64, low, high float64, open bool) error {
		if value == nil || *value <= high && (*value > low || *value == low && !open) {
			return nil
		}
		bracket := "["
		if open {
			bracket = "("
		}
		return apierror.Invalidf(name, "%s must be in %s%v, %v], got %v.", name, bracket, low, high, *value)
	}
	for _, err := range []error{
		within("temperature", s.Temperature, 0, 2, false),
		within("top_p", s.TopP, 0, 1, true),
		within("min_p", s.MinP, 0, 1, false),
		within("presence_penalty", s.PresencePenalty, -2, 2, false),
		within("frequency_penalty", s.FrequencyPenalty, -2, 2, false),
		within("repetition_penalty", s.RepetitionPenalty, 0, 2, true),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case r.N < 1:
		return apierror.Invalidf("n", "n must be at least 1, got %d.", r.N)
	case r.N > 1 && s.Temperature != nil && *s.Temperature == 0:
		return apierror.Invalidf("n", "n must be 1 when using greedy sampling, got %d.", r.N)
	case s.TopK != nil && *s.TopK < -1:
		return apierror.Invalidf("top_k", "top_k must be 0 or -1 (disable), or at least 1, got %d.", *s.TopK)
	case r.MaxTokens < 0:
		return apierror.Invalidf("max_tokens", "max_tokens must be at least 1, got %d.", r.MaxTokens)
	case s.MinTokens < 0:
		return apierror.Invalidf("min_tokens", "min_tokens must be greater than or equal to 0, got %d.", s.MinTokens)
	case r.MaxTokens > 0 && s.MinTokens > r.MaxTokens:
		return apierror.Invalidf("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", r.MaxTokens, s.MinTokens)
	}
	if r.ThinkingBudget != nil {
		switch {
		case *r.ThinkingBudget < -1:
			return apierror.Invalidf("thinking_token_budget", "thinking_token_budget must be at least 0, or -1 for no limit, got %d.", *r.ThinkingBudget)
		case *r.ThinkingBudget == -1:
			r.ThinkingBudget = nil
		}
	}
	return nil
}
