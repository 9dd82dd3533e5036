package turn

import (
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
		closing := w.closers(body[1:])
		if s.target == toCall && (w.anyCaptures(header, "name") || writesName(header)) {
			for i := range w.Tools {
				inner := s
				inner.tool = &w.Tools[i]
				options = append(options, w.messageOf(header, body[0], closing, inner))
			}
			continue
		}
		options = append(options, w.messageOf(header, body[0], closing, s))
	}
	return language.Any(options...)
}

// writesName tells whether a header is written with the name of the tool, though nothing reads it there.
func writesName(header []grammar.Expression) bool {
	found := false
	for _, item := range header {
		grammar.Walk(item, func(e grammar.Expression) bool {
			layout, ok := e.(*grammar.Layout)
			if ok && layout.Inner != nil {
				for _, a := range layout.Inner.Alternatives {
					for _, item := range a.Items {
						c, ok := item.(*grammar.Capture)
						found = found || ok && c.Name == "name"
					}
				}
			}
			return true
		})
	}
	return found
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

// messageOf is a message with a body and what closes it.
func (w *walker) messageOf(header []grammar.Expression, body grammar.Expression, closing language.Node, s scene) language.Node {
	// Several headers may lead to the same body.
	var bodies []language.Node
	heads := map[language.Node][]language.Node{}
	for _, group := range w.widest(merged(w.headers(header, body, s)), header, s.target) {
		inner := s
		head := s
		for _, one := range group {
			inner = inner.with(one.name, one.values[0])
			head = head.with(one.name, strings.Join(one.values, or))
		}
		if s.tool == nil && s.target == toCall {
			head.target = nothing
		}
		var space [8]language.Node
		out := space[:0]
		for _, item := range header {
			out = append(out, w.header(item, head))
		}
		written := w.item(body, inner)
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
