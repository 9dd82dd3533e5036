package turn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// message is a message whose body leads to the target. What its header captures decides what the body is, so every
// value that the tests name is tried.
func (w *walker) message(rule *grammar.Rule, s scene) language.Node {
	var options []language.Node
	for _, a := range rule.Body.Alternatives {
		if !w.leads(a, s.target) {
			continue
		}
		header, body := w.parts(a, s.target)
		if s.target == toCall && w.holds(&grammar.Sequence{Items: header}, isCapture("name")) {
			for i := range w.Tools {
				inner := s
				inner.tool = &w.Tools[i]
				options = append(options, w.messageOf(a, header, body, inner))
			}
			continue
		}
		options = append(options, w.messageOf(a, header, body, s))
	}
	return language.Any(options...)
}

// parts cuts a message behind its header.
func (w *walker) parts(a *grammar.Sequence, t target) (header, rest []grammar.Expression) {
	for i, item := range a.Items {
		if w.leads(item, t) {
			return a.Items[:i], a.Items[i:]
		}
	}
	return a.Items, nil
}

func (w *walker) messageOf(a *grammar.Sequence, header, rest []grammar.Expression, s scene) language.Node {
	body := rest[:1]
	closing := w.closers(rest[1:])
	// Several headers may lead to the same body.
	var bodies []language.Node
	heads := map[language.Node][]language.Node{}
	for _, group := range w.widest(merged(w.headers(header, body[0], s)), header, s.target) {
		inner := s
		head := s
		for name, values := range group {
			inner = inner.with(name, values[0])
			head = head.with(name, strings.Join(values, or))
		}
		if s.tool == nil && s.target == toCall {
			head.target = nothing
		}
		var out []language.Node
		for _, item := range header {
			out = append(out, w.header(item, head))
		}
		written := w.item(body[0], inner)
		if heads[written] == nil {
			bodies = append(bodies, written)
		}
		begin := language.Join(out...)
		if s.tool != nil {
			begin = &language.Mark{Role: language.Header, Name: s.tool.Name, Inner: begin}
		}
		heads[written] = append(heads[written], begin)
	}
	var options []language.Node
	for _, written := range bodies {
		options = append(options, language.Join(language.Any(language.Distinct(heads[written])...), written, closing))
	}
	return language.Any(options...)
}

// or stands between the values that a capture may have, where it makes no difference which.
const or = "\x00"

// merged puts headers together that have values for the same captures, if all combinations of the values are there.
func merged(list []map[string]string) (out []map[string][]string) {
	groups := map[string][]map[string]string{}
	var order []string
	for _, values := range list {
		key := fmt.Sprint(slices.Sorted(maps.Keys(values)))
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], values)
	}
	for _, key := range order {
		all := map[string][]string{}
		for _, values := range groups[key] {
			for name, value := range values {
				if !slices.Contains(all[name], value) {
					all[name] = append(all[name], value)
				}
			}
		}
		product := 1
		for _, values := range all {
			product *= len(values)
		}
		if product == len(groups[key]) {
			out = append(out, all)
			continue
		}
		for _, values := range groups[key] {
			one := map[string][]string{}
			for name, value := range values {
				one[name] = []string{value}
			}
			out = append(out, one)
		}
	}
	return out
}

// widest leaves out the groups whose headers are among those of another: what it captures besides may be left out.
func (w *walker) widest(groups []map[string][]string, header []grammar.Expression, t target) []map[string][]string {
	if t == toReasoning { // whatever makes it a thought is written
		return groups
	}
	covers := func(wide, narrow map[string][]string) bool {
		if len(wide) <= len(narrow) {
			return false
		}
		for name, values := range narrow {
			if slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(wide[name], value) }) {
				return false
			}
		}
		for name := range wide {
			if _, both := narrow[name]; !both && !leftOut(header, name) {
				return false
			}
		}
		return true
	}
	return slices.DeleteFunc(slices.Clone(groups), func(narrow map[string][]string) bool {
		return slices.ContainsFunc(groups, func(wide map[string][]string) bool { return covers(wide, narrow) })
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
		for name := range s.captures {
			needed = needed || w.holds(optional.Inner, isCapture(name))
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

// headers are the values that captures of a header may have, so that the body leads to the target.
func (w *walker) headers(header []grammar.Expression, body grammar.Expression, s scene) (out []map[string]string) {
	named := map[string][]string{}
	var names []string
	var tests [][]grammar.Test
	w.holds(body, func(e grammar.Expression) bool {
		if c, ok := e.(*grammar.Choice); ok {
			for _, a := range c.Alternatives {
				tests = append(tests, a.Tests)
			}
		}
		return false
	})
	for _, list := range tests {
		for _, test := range list {
			if !slices.Contains(names, test.Capture) {
				names = append(names, test.Capture)
			}
			for _, p := range test.Patterns {
				if !p.None && !p.Prefix && !slices.Contains(named[test.Capture], p.Text) {
					named[test.Capture] = append(named[test.Capture], p.Text)
				}
			}
		}
	}
	inHeader := func(name string) bool {
		return w.holds(&grammar.Sequence{Items: header}, isCapture(name))
	}
	var try func(i int, values map[string]string)
	try = func(i int, values map[string]string) {
		if i < len(names) {
			name := names[i]
			try(i+1, values) // not captured
			if !inHeader(name) {
				return
			}
			choices := named[name]
			if s.target == toCall && s.tool == nil { // whom a call is for: the tools
				choices = nil
				for _, tool := range w.Tools {
					choices = append(choices, tool.Name)
				}
			}
			if s.tool != nil && w.patterned(header, name) {
				choices = []string{s.tool.Name}
				delete(values, name)
			}
			for _, value := range choices {
				next := map[string]string{name: value}
				for k, v := range values {
					next[k] = v
				}
				try(i+1, next)
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
			for _, name := range names {
				if _, ok := values[name]; !ok && w.patterned(header, name) {
					return
				}
			}
		}
		out = append(out, values)
	}
	try(0, map[string]string{})
	if s.target != toCall {
		// A text is for nobody, or for whom the tests name; it has no recipient among the tools.
		plain := slices.DeleteFunc(slices.Clone(out), func(values map[string]string) bool {
			for name := range values {
				if w.patterned(header, name) {
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
	return w.holds(&grammar.Sequence{Items: header}, func(e grammar.Expression) bool {
		c, ok := e.(*grammar.Capture)
		return ok && c.Name == name && c.Shape != nil && w.holds(c.Shape, isCapture("name"))
	})
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

// closers are all the markers that may close a message, and nothing where the definition lets it end by what follows,
// or where the engine leaves the marker out because it ends the turn.
func (w *walker) closers(rest []grammar.Expression) language.Node {
	var options []language.Node
	open := false
	var visit func(e grammar.Expression)
	visit = func(e grammar.Expression) {
		switch e := e.(type) {
		case *grammar.Reference:
			if rule := w.d.Rule(e.Name); rule != nil {
				visit(rule.Body)
			}
		case *grammar.Choice:
			for _, a := range e.Alternatives {
				var items []language.Node
				for _, item := range a.Items {
					switch item := item.(type) {
					case *grammar.Look:
						open = true
					case *grammar.Reference, *grammar.Choice:
						visit(item)
					default:
						items = append(items, w.item(item, scene{}))
					}
				}
				if len(items) > 0 {
					options = append(options, language.Join(items...))
				}
			}
		case *grammar.Literal:
			options = append(options, w.item(e, scene{}))
		case *grammar.Look:
			open = true
		}
	}
	for _, item := range rest {
		visit(item)
	}
	if len(options) == 0 {
		return language.Text("")
	}
	closer := language.Any(options...)
	if open {
		return language.Maybe(closer)
	}
	return closer
}
