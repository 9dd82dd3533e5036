package turn

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// markersOf are the first markers of the regions with calls, even those that mean nothing by themselves.
func (w *walker) markersOf(c *grammar.Choice) []string {
	w.first = true
	defer func() { w.first = false }()
	return w.openers(c, false)
}

// openers are the texts that regions with calls begin with, in text (start false) or only at the beginning of the output.
func (w *walker) openers(c *grammar.Choice, start bool) (out []string) {
	add := func(list []string) {
		for _, text := range list {
			if text != "" && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	var visit func(e grammar.Expression, repeated bool)
	visit = func(e grammar.Expression, repeated bool) {
		if !w.leads(e, toCall) {
			return
		}
		switch e := e.(type) {
		case *grammar.Choice:
			leading := slices.DeleteFunc(slices.Clone(e.Alternatives), func(a *grammar.Sequence) bool { return !w.leads(a, toCall) })
			for _, a := range unmixed(leading) {
				for _, item := range a.Items {
					visit(item, repeated)
				}
			}
		case *grammar.Sequence:
			for _, item := range e.Items {
				visit(item, repeated)
			}
		case *grammar.Optional:
			visit(e.Inner, repeated)
		case *grammar.Repeat:
			visit(e.Inner, true)
		case *grammar.Reference:
			role := grammar.RoleOf(e.Name)
			if role == "" || role == grammar.Frame {
				visit(w.d.Rule(e.Name).Body, repeated)
				return
			}
			if repeated != start {
				if role == grammar.Message {
					for _, a := range w.d.Rule(e.Name).Body.Alternatives {
						if w.leads(a, toCall) {
							add(w.messageOpeners(a))
						}
					}
					return
				}
				add(w.begin(e))
			}
		}
	}
	visit(c, false)
	return out
}

// begin are the texts that an expression can begin with: its first marker, and what stands before it.
func (w *walker) begin(e grammar.Expression) []string {
	var visit func(items []grammar.Expression) (texts []string, empty bool)
	one := func(e grammar.Expression) (texts []string, empty bool) {
		switch e := e.(type) {
		case *grammar.Literal:
			return []string{w.fill(e.Text)}, e.Text == ""
		case *grammar.Choice:
			for _, a := range e.Alternatives {
				list, none := visit(a.Items)
				texts, empty = append(texts, list...), empty || none
			}
			return texts, empty
		case *grammar.Sequence:
			return visit(e.Items)
		case *grammar.Optional:
			texts, _ = visit([]grammar.Expression{e.Inner})
			return texts, true
		case *grammar.Repeat:
			texts, _ = visit([]grammar.Expression{e.Inner})
			return texts, true
		case *grammar.List:
			return visit([]grammar.Expression{e.Inner})
		case *grammar.Reference:
			return visit([]grammar.Expression{w.d.Rule(e.Name).Body})
		case *grammar.Envelope:
			if member := e.Members[0]; member.KeyCapture == "" {
				return []string{`{"` + member.Keys[0] + `": `}, false
			}
			return []string{"{"}, false
		case *grammar.Capture:
			if shape, ok := e.Shape.(*grammar.Choice); ok {
				return visit([]grammar.Expression{shape})
			}
			if shape, ok := e.Shape.(*grammar.Literal); ok {
				return []string{w.fill(shape.Text)}, false
			}
			return nil, false
		}
		return nil, true
	}
	visit = func(items []grammar.Expression) (texts []string, empty bool) {
		for i, item := range items {
			list, none := one(item)
			// a marker without a letter, or that is a word of a language, means something only with what follows
			for _, text := range list {
				if w.first || !plain(text) && !w.shared(text) {
					texts = append(texts, text)
					continue
				}
				more, _ := visit(items[i+1:])
				for _, next := range more {
					texts = append(texts, text+next)
				}
				if len(more) == 0 {
					texts = append(texts, text)
				}
			}
			if !none {
				return texts, false
			}
		}
		return texts, true
	}
	texts, _ := visit([]grammar.Expression{e})
	return texts
}

// shared tells whether something else than a call begins with a marker, too.
func (w *walker) shared(text string) bool {
	for _, rule := range w.d.Rules {
		if role := rule.Role(); (role == grammar.Thought || role == grammar.Frame) && len(rule.Body.Alternatives[0].Items) > 0 {
			if literal, ok := rule.Body.Alternatives[0].Items[0].(*grammar.Literal); ok && w.fill(literal.Text) == text {
				return true
			}
		}
	}
	return false
}

// plain tells whether a marker means nothing by itself: a bracket, or a word.
func plain(text string) bool {
	letters, others := false, false
	for _, r := range text {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			letters = true
		} else if r != ' ' {
			others = true
		}
	}
	return !letters || !others
}

// messageOpeners are the literals of a message's header that show that it carries a call.
func (w *walker) messageOpeners(a *grammar.Sequence) (out []string) {
	header, body := w.parts(a, toCall)
	grammar.Walk(&grammar.Sequence{Items: header}, func(e grammar.Expression) bool {
		if attribute, ok := e.(*grammar.Attribute); ok && w.captures(attribute, "name") {
			texts := w.begin(attribute.Capture.Shape)
			for _, text := range texts {
				out = append(out, attribute.Name+"="+text)
			}
		}
		return true
	})
	if len(out) == 0 {
		for _, e := range body {
			if w.leads(e, toCall) {
				out = append(out, w.beginOfCall(e)...)
			}
		}
	}
	return out
}

// beginOfCall are the texts that the parts of an expression which lead to calls begin with.
func (w *walker) beginOfCall(e grammar.Expression) []string {
	var out []string
	var visit func(e grammar.Expression)
	visit = func(e grammar.Expression) {
		switch e := e.(type) {
		case *grammar.Reference:
			if role := grammar.RoleOf(e.Name); role == grammar.Block || role == grammar.Call {
				out = append(out, w.begin(e)...)
				return
			}
			visit(w.d.Rule(e.Name).Body)
		case *grammar.Choice:
			for _, a := range e.Alternatives {
				if w.leads(a, toCall) {
					if _, isLiteral := a.Items[0].(*grammar.Literal); isLiteral {
						out = append(out, w.begin(a)...)
						continue
					}
					for _, item := range a.Items {
						if w.leads(item, toCall) {
							visit(item)
						}
					}
				}
			}
		case *grammar.Repeat:
			visit(e.Inner)
		}
	}
	visit(e)
	return out
}

// callOpeners are the openers of calls, with what shows that they are not mere text.
func (w *walker) callOpeners() (out []marker) {
	if w.Tool == nil {
		return nil
	}
	d := w.d
	w.d = w.Tool
	for _, opener := range w.openers(output(w.d), false) {
		out = append(out, marker{opener})
	}
	w.d = d
	return out
}
