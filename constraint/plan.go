package constraint

import (
	"errors"
	"fmt"
	"slices"
)

// plan is what a request comes to.
type plan struct {
	calls, forced, once bool
	named               bool
	pinned              func(*Tool) bool
	format              *ResponseFormat
	notes               []string
}

// plan decides what is held: forced calls always; with auto what a strict tool, the level or a single call asks for; and
// the format of the answer.
func (r *Request) plan(level Level) (*plan, error) {
	out := &plan{format: r.ResponseFormat, once: r.OneCall}
	strict := slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Strict }) && !r.Unenforced
	if _, err := ParseLevel(string(r.StrictLevel)); err != nil {
		return nil, &Error{Param: "strict level", Err: err}
	}
	if r.StrictLevel != LevelDefault {
		level = higher(level, r.StrictLevel)
	}
	if r.Unenforced {
		level = LevelAuto
	}
	out.pinned = func(t *Tool) bool { return !r.Unenforced && (t.Strict || level == LevelParameter) }
	switch r.ToolChoice.Mode {
	case "", "auto":
		held := strict || level == LevelFunction || level == LevelParameter || r.OneCall && !r.Unenforced || r.ResponseFormat != nil
		out.calls = held && len(r.Tools) > 0
	case "required", "function":
		if len(r.Tools) == 0 {
			return nil, &Error{Param: "tool_choice", Err: errors.New("expected tools for the choice to choose from, found none")}
		}
		out.calls, out.forced = true, true
		out.named = r.ToolChoice.Mode == "function"
		out.once = r.OneCall || out.named
		if out.format != nil {
			out.format = nil
			out.notes = append(out.notes, "response_format is not held: the tool choice forces a call")
		}
	case "none":
	default:
		return nil, &Error{Param: "tool_choice", Err: fmt.Errorf("expected auto, none, required or function, found %q", r.ToolChoice.Mode)}
	}
	return out, nil
}

func higher(a, b Level) Level {
	order := []Level{LevelDefault, LevelAuto, LevelFunction, LevelParameter}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
