package turn

import (
	"slices"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// or stands between the values that a capture may have, where it makes no difference which.
const or = "\x00"

// choices are captures of a header with the values that each may have.
type choices []testedCapture

func (c choices) of(name string) []string {
	for _, one := range c {
		if one.name == name {
			return one.values
		}
	}
	return nil
}

// add adds values of captures.
func (c choices) add(values captured) choices {
	c = slices.Grow(c, len(values))
	for _, one := range values {
		i := slices.IndexFunc(c, func(known testedCapture) bool { return known.name == one.name })
		if i < 0 {
			i = len(c)
			c = append(c, testedCapture{name: one.name})
		}
		if !slices.Contains(c[i].values, one.value) {
			c[i].values = append(c[i].values, one.value)
		}
	}
	return c
}

// merged puts headers together that have values for the same captures, if all combinations of the values are there. What
// a header captures stands in one order in all of them.
func merged(list []captured) (out []choices) {
	alike := func(a, b captured) bool {
		return slices.EqualFunc(a, b, func(a, b struct{ name, value string }) bool { return a.name == b.name })
	}
	for i, values := range list {
		if slices.ContainsFunc(list[:i], func(before captured) bool { return alike(before, values) }) {
			continue
		}
		var all choices
		count := 0
		for _, other := range list[i:] {
			if alike(values, other) {
				all = all.add(other)
				count++
			}
		}
		product := 1
		for _, one := range all {
			product *= len(one.values)
		}
		if product == count {
			out = append(out, all)
			continue
		}
		for _, other := range list[i:] {
			if alike(values, other) {
				out = append(out, choices(nil).add(other))
			}
		}
	}
	return out
}

// widest leaves out the groups whose headers are among those of another: what it captures besides may be left out.
func (w *walker) widest(groups []choices, header []grammar.Expression, t target) []choices {
	if t == toReasoning || len(groups) < 2 { // whatever makes it a thought is written
		return groups
	}
	covers := func(wide, narrow choices) bool {
		if len(wide) <= len(narrow) {
			return false
		}
		for _, one := range narrow {
			known := wide.of(one.name)
			if slices.ContainsFunc(one.values, func(value string) bool { return !slices.Contains(known, value) }) {
				return false
			}
		}
		for _, one := range wide {
			if narrow.of(one.name) == nil && !leftOut(header, one.name) {
				return false
			}
		}
		return true
	}
	return slices.DeleteFunc(slices.Clone(groups), func(narrow choices) bool {
		return slices.ContainsFunc(groups, func(wide choices) bool { return covers(wide, narrow) })
	})
}

// leftOut tells whether a header may leave out what a capture is written with: it is an element of a set.
func leftOut(header []grammar.Expression, name string) bool {
	for _, item := range header {
		set, ok := item.(*grammar.Set)
		if !ok {
			continue
		}
		for _, element := range set.Elements {
			found := false
			grammar.Walk(element, func(e grammar.Expression) bool {
				c, ok := e.(*grammar.Capture)
				found = found || ok && c.Name == name
				return true
			})
			if _, attribute := element.(*grammar.Attribute); found {
				return !attribute
			}
		}
	}
	return false
}

// header walks a part of a header. An optional part is written if it says what has to be said.
func (w *walker) header(item grammar.Expression, s scene) language.Node {
	s.header = true
	if optional, ok := item.(*grammar.Optional); ok {
		needed := false
		for _, known := range s.captures {
			needed = needed || w.captures(optional.Inner, known.name)
		}
		s.target = nothing
		inner := w.item(optional.Inner, s)
		if needed {
			return inner
		}
		return language.Maybe(inner)
	}
	return w.item(item, s)
}

// testedCapture is a capture that the tests in a body name, with the values that they name.
type testedCapture struct {
	name   string
	values []string
	// inHeader: the header captures it; patterned: with the name of the tool in it.
	inHeader, patterned bool
}

// testsKey is a header, by its first part and its length, and a body.
type testsKey struct {
	factsKey
	length int
	body   grammar.Expression
}

// tested are the captures that tests in the body of a header name.
func (w *walker) tested(header []grammar.Expression, body grammar.Expression) []testedCapture {
	key := testsKey{factsKey: factsKey{d: w.d}, length: len(header), body: body}
	if len(header) > 0 {
		key.e = header[0]
	}
	if known, ok := w.tests[key]; ok {
		return known
	}
	var out []testedCapture
	w.holds(body, func(e grammar.Expression) bool {
		c, ok := e.(*grammar.Choice)
		if !ok {
			return false
		}
		for _, a := range c.Alternatives {
			for _, test := range a.Tests {
				i := slices.IndexFunc(out, func(t testedCapture) bool { return t.name == test.Capture })
				if i < 0 {
					i = len(out)
					out = append(out, testedCapture{name: test.Capture})
				}
				for _, p := range test.Patterns {
					if !p.None && !p.Prefix && !slices.Contains(out[i].values, p.Text) {
						out[i].values = append(out[i].values, p.Text)
					}
				}
			}
		}
		return false
	})
	for i := range out {
		out[i].inHeader, out[i].patterned = w.anyCaptures(header, out[i].name), w.patterned(header, out[i].name)
	}
	w.tests[key] = out
	return out
}

// headers are the values that captures of a header may have, so that the body leads to the target.
func (w *walker) headers(header []grammar.Expression, body grammar.Expression, s scene) (out []captured) {
	tested := w.tested(header, body)
	var try func(i int, values captured)
	try = func(i int, values captured) {
		if i < len(tested) {
			name := tested[i].name
			try(i+1, values) // not captured
			switch {
			case !tested[i].inHeader:
			case s.tool != nil && tested[i].patterned:
				try(i+1, values.with(name, s.tool.Name))
			case s.target == toCall && s.tool == nil: // whom a call is for: the tools
				for _, tool := range w.Tools {
					try(i+1, values.with(name, tool.Name))
				}
			default:
				for _, value := range tested[i].values {
					try(i+1, values.with(name, value))
				}
			}
			return
		}
		inner := s
		inner.captures = values
		if !w.reaches(body, inner) {
			return
		}
		// With a tool the header must name it.
		if s.tool != nil {
			for _, t := range tested {
				if _, ok := values.get(t.name); !ok && t.patterned {
					return
				}
			}
		}
		out = append(out, values)
	}
	try(0, nil)
	if s.target != toCall {
		// A text is for nobody, or for whom the tests name; it has no recipient among the tools.
		plain := slices.DeleteFunc(slices.Clone(out), func(values captured) bool {
			for _, one := range values {
				if w.patterned(header, one.name) {
					return true
				}
			}
			return false
		})
		if len(plain) > 0 {
			return plain
		}
	}
	return out
}

// patterned tells whether a capture of the header holds the name of the tool.
func (w *walker) patterned(header []grammar.Expression, name string) bool {
	return slices.ContainsFunc(header, func(e grammar.Expression) bool { return slices.Contains(w.about(e).named, name) })
}

// reaches tells whether the tests let a body lead to the target.
func (w *walker) reaches(body grammar.Expression, s scene) bool {
	switch e := body.(type) {
	case *grammar.Reference:
		if rule := w.d.Rule(e.Name); rule != nil && grammar.RoleOf(e.Name) == "" {
			return w.reaches(rule.Body, s)
		}
	case *grammar.Choice:
		for _, a := range e.Alternatives {
			if !tests(a, s) {
				continue
			}
			if len(a.Tests) == 0 && len(e.Alternatives) == 1 {
				return true
			}
			return w.leads(a, s.target) || len(a.Tests) == 0 && w.reachesLater(e, a, s)
		}
		return false
	}
	return true
}

// reachesLater tells whether a later alternative without tests leads to the target: there no test decides.
func (w *walker) reachesLater(c *grammar.Choice, from *grammar.Sequence, s scene) bool {
	for i := slices.Index(c.Alternatives, from); i < len(c.Alternatives); i++ {
		if a := c.Alternatives[i]; len(a.Tests) == 0 && w.leads(a, s.target) {
			return true
		}
	}
	return false
}
