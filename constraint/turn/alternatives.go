package turn

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// choice walks a choice: the alternatives that lead to the target, else the first that can be written.
func (w *walker) choice(c *grammar.Choice, s scene) language.Node {
	if s.target != nothing {
		var space [8]*grammar.Sequence
		leading := space[:0]
		for _, a := range c.Alternatives {
			if w.leads(a, s.target) && w.passes(a, c, s) {
				leading = append(leading, a)
			}
		}
		if len(leading) > 0 {
			leading = w.preferred(leading, s)
			if len(leading) == 1 {
				return w.sequence(leading[0].Items, s)
			}
			var options []language.Node
			for _, a := range leading {
				options = append(options, w.sequence(a.Items, s))
			}
			return language.Any(options...)
		}
	}
	if s.inside {
		return w.parameterChoice(c, s)
	}
	for _, a := range c.Alternatives {
		if w.writable(a, s) {
			return w.sequence(a.Items, s)
		}
	}
	return language.Text("")
}

// preferred leaves out a bare call where the same calls can stand in a block.
func (w *walker) preferred(alternatives []*grammar.Sequence, s scene) []*grammar.Sequence {
	if s.target != toCall || len(alternatives) == 1 {
		return alternatives
	}
	alternatives = unmixed(alternatives)
	if s.inBlock { // several ways to write a block: the first
		return alternatives[:1]
	}
	bare := func(a *grammar.Sequence) bool {
		return slices.ContainsFunc(a.Items, func(e grammar.Expression) bool {
			r, ok := e.(*grammar.Reference)
			return ok && grammar.RoleOf(r.Name) == grammar.Call
		})
	}
	rest := slices.DeleteFunc(slices.Clone(alternatives), bare)
	if len(rest) > 0 && len(rest) < len(alternatives) && w.region(rest) {
		return rest
	}
	if len(rest) == 0 { // several ways to write a call: the first
		return alternatives[:1]
	}
	return alternatives
}

// unmixed leaves out alternatives in which text stands beside the calls, if there are others.
func unmixed(alternatives []*grammar.Sequence) []*grammar.Sequence {
	rest := slices.DeleteFunc(slices.Clone(alternatives), func(a *grammar.Sequence) bool {
		return slices.ContainsFunc(a.Items, func(e grammar.Expression) bool {
			c, ok := e.(*grammar.Capture)
			return ok && c.Name == "content"
		})
	})
	if len(rest) == 0 {
		return alternatives
	}
	return rest
}

// region tells whether an alternative refers to a block or to a frame or message with calls.
func (w *walker) region(alternatives []*grammar.Sequence) bool {
	for _, a := range alternatives {
		for _, e := range a.Items {
			if r, ok := e.(*grammar.Reference); ok && grammar.RoleOf(r.Name) == grammar.Block {
				return true
			}
		}
	}
	return false
}

// writable tells whether an alternative can be written with what is known: it holds no text and no word that nobody
// knows.
func (w *walker) writable(a *grammar.Sequence, s scene) bool {
	return w.passes(a, nil, s) && !slices.ContainsFunc(a.Items, func(e grammar.Expression) bool { return !w.known(e, s, 0) })
}

func (w *walker) known(e grammar.Expression, s scene, depth int) bool {
	switch e := e.(type) {
	case *grammar.Choice:
		return slices.ContainsFunc(e.Alternatives, func(a *grammar.Sequence) bool {
			return w.passes(a, nil, s) && !slices.ContainsFunc(a.Items, func(e grammar.Expression) bool { return !w.known(e, s, depth) })
		})
	case *grammar.Reference:
		return depth > 8 || w.known(w.d.Rule(e.Name).Body, s, depth+1)
	case *grammar.Capture:
		switch e.Name {
		case "name", "id", "index", "key", "value", "arguments", "type":
			return true
		}
		if _, known := s.captures.get(e.Name); known {
			return true
		}
		switch e.Shape.(type) {
		case *grammar.Literal, *grammar.Choice:
			return true
		}
		return false
	}
	return true
}

// passes tells whether the tests of an alternative hold, and those of the lines before it do not.
func (w *walker) passes(a *grammar.Sequence, c *grammar.Choice, s scene) bool {
	if c != nil {
		for _, before := range c.Alternatives {
			if before == a {
				break
			}
			if len(before.Tests) > 0 && !w.leads(before, s.target) && tests(before, s) {
				return false
			}
		}
	}
	return tests(a, s)
}

func tests(a *grammar.Sequence, s scene) bool {
	for _, test := range a.Tests {
		value, known := s.captures.get(test.Capture)
		if len(test.Patterns) == 0 {
			if !known {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(test.Patterns, func(p grammar.Pattern) bool { return matches(p, value, known) }) {
			return false
		}
	}
	return true
}

func matches(p grammar.Pattern, value string, known bool) bool {
	switch {
	case p.None:
		return !known
	case !known:
		return false
	case p.Prefix:
		return strings.HasPrefix(value, p.Text)
	}
	return value == p.Text
}
