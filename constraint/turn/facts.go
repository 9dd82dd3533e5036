package turn

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// facts are what an expression of a definition holds. They are the same for every tool, so they are found once a turn.
type facts struct {
	// captures are the names of the captures, looking through references; members those of the members of envelopes;
	// named of those captures whose pattern holds the name of a tool. What stands behind & does not count.
	captures, members, named []string
	// calls: there is a reference to a call, looking through references.
	calls bool
	// parameter: there is a reference to a parameter in the expression itself; literal: a literal; last is the name of
	// the last capture there.
	parameter, literal bool
	last               string
}

type factsKey struct {
	d *grammar.Definition
	e grammar.Expression
}

// about are the facts of an expression.
func (w *walker) about(e grammar.Expression) *facts {
	key := factsKey{w.d, e}
	if known, ok := w.facts[key]; ok {
		return known
	}
	f := &facts{}
	w.facts[key] = f
	w.holds(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Capture:
			f.captures = append(f.captures, e.Name)
			if e.Shape != nil && w.captures(e.Shape, "name") {
				f.named = append(f.named, e.Name)
			}
		case *grammar.Envelope:
			for _, member := range e.Members {
				f.members = append(f.members, member.Capture)
				if member.KeyCapture != "" {
					f.members = append(f.members, member.KeyCapture)
				}
			}
		case *grammar.Reference:
			f.calls = f.calls || grammar.RoleOf(e.Name) == grammar.Call
		}
		return false
	})
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Capture:
			f.last = e.Name
		case *grammar.Literal:
			f.literal = true
		case *grammar.Reference:
			f.parameter = f.parameter || grammar.RoleOf(e.Name) == grammar.Parameter
		}
		return true
	})
	return f
}

// leads tells whether an expression holds the target, looking through references. What stands behind & does not count.
func (w *walker) leads(e grammar.Expression, t target) bool {
	switch t {
	case toCall:
		return w.about(e).calls
	case toReasoning:
		return slices.Contains(w.about(e).captures, "reasoning")
	case toContent:
		return slices.Contains(w.about(e).captures, "content")
	}
	return false
}

// captures tells whether an expression captures one of several things, looking through references.
func (w *walker) captures(e grammar.Expression, names ...string) bool {
	f := w.about(e)
	for _, name := range names {
		if slices.Contains(f.captures, name) || slices.Contains(f.members, name) {
			return true
		}
	}
	return false
}

// anyCaptures tells the same of expressions one after the other.
func (w *walker) anyCaptures(list []grammar.Expression, name string) bool {
	return slices.ContainsFunc(list, func(e grammar.Expression) bool { return w.captures(e, name) })
}

// holds tells whether anything in an expression, looking through references, is wanted.
func (w *walker) holds(e grammar.Expression, wanted func(grammar.Expression) bool) bool {
	seen := map[string]bool{}
	found := false
	var visit func(e grammar.Expression) bool
	visit = func(e grammar.Expression) bool {
		if found {
			return false
		}
		if found = wanted(e); found {
			return false
		}
		switch e := e.(type) {
		case *grammar.Look:
			return false
		case *grammar.Reference:
			if rule := w.d.Rule(e.Name); rule != nil && !seen[e.Name] {
				seen[e.Name] = true
				grammar.Walk(rule.Body, visit)
			}
		}
		return true
	}
	grammar.Walk(e, visit)
	return found
}

// captured are the captures that have a value already.
type captured []struct{ name, value string }

func (c captured) get(name string) (value string, ok bool) {
	for _, one := range c {
		if one.name == name {
			return one.value, true
		}
	}
	return "", false
}

// with is the captures and one more.
func (c captured) with(name, value string) captured {
	out := make(captured, len(c), len(c)+1)
	copy(out, c)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
			return out
		}
	}
	return append(out, struct{ name, value string }{name, value})
}
