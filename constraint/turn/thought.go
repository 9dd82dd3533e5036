package turn

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// thinking puts the thought in front of the body.
func (w *walker) thinking(body language.Node) language.Node {
	if w.Reasoning == nil || w.Options.Thinking == Over {
		return body
	}
	w.d = w.Reasoning
	for _, rule := range w.d.Rules {
		if rule.Role() == grammar.Thought {
			return w.thought(rule, body)
		}
	}
	for _, rule := range w.d.Rules {
		if rule.Role() == grammar.Message && w.leads(rule.Body, toReasoning) {
			return w.thoughtMessage(rule, body)
		}
	}
	return body
}

// thought is a thought between markers. It may end in front of a call, where the definition says so.
func (w *walker) thought(rule *grammar.Rule, body language.Node) language.Node {
	var options []language.Node
	for i, a := range rule.Body.Alternatives {
		before, after := split(a.Items)
		var closers []marker
		var closed []language.Node
		open := false
		for _, ending := range endings(skipLayout(after)) {
			if look, ok := ending[0].(*grammar.Look); ok {
				open = open || w.Tool != nil && w.looksAtCall(look)
				continue
			}
			closers = append(closers, w.marker(ending, nil))
			if len(closed) == 0 { // the first is the one that is written
				closed = append(closed, w.sequence(ending, scene{}))
			}
		}
		rest := after[len(after)-len(behind(skipLayout(after))):]
		ends := closers
		if open {
			ends = append(ends, w.callOpeners()...)
		}
		text := language.Node(&language.Mark{Role: language.Reasoning, Inner: w.unlike(ends)})
		whole := language.Join(text, language.Any(closed...), w.sequence(rest, scene{}), body)
		if open && len(w.Tools) > 0 {
			d := w.d
			w.d = w.Tool
			whole = language.Any(whole, language.Join(text, w.forced()))
			w.d = d
		}
		opener := w.sequence(before, scene{})
		switch {
		case w.Options.Thinking == Possible && i == 0:
			options = append(options, language.Join(opener, whole), body)
		case w.Options.Thinking == Possible:
			options = append(options, language.Join(opener, whole))
		default:
			// The opener may be repeated, or still be missing its end: the prompt has written it.
			options = append(options, whole)
		}
		if w.Options.Thinking == Open {
			break
		}
	}
	return language.Any(options...)
}

// split cuts items at the text that they hold.
func split(items []grammar.Expression) (before, after []grammar.Expression) {
	for i, item := range items {
		if c, ok := item.(*grammar.Capture); ok && (c.Name == "reasoning" || c.Name == "content") {
			return items[:i], items[i+1:]
		}
	}
	return items, nil
}

// endings are the ways in which a thought ends: the alternatives of the choice behind its text, or the markers there.
func endings(after []grammar.Expression) (out [][]grammar.Expression) {
	if len(after) == 0 {
		return nil
	}
	if choice, ok := after[0].(*grammar.Choice); ok {
		for _, a := range choice.Alternatives {
			if len(a.Items) > 0 {
				out = append(out, append(append([]grammar.Expression{}, a.Items...), following(after[1:])...))
			}
		}
		return out
	}
	return append(out, following(after))
}

// following are the markers that belong to an ending: literals and blanks, up to a layout.
func following(items []grammar.Expression) (out []grammar.Expression) {
	for _, item := range items {
		switch item.(type) {
		case *grammar.Literal:
			out = append(out, item)
			continue
		}
		break
	}
	return out
}

// behind is what stands behind the ending.
func behind(after []grammar.Expression) []grammar.Expression {
	if len(after) == 0 {
		return nil
	}
	if _, ok := after[0].(*grammar.Choice); ok {
		return after[1+len(following(after[1:])):]
	}
	return after[len(following(after)):]
}

// looksAtCall tells whether a thought may end where a call begins.
func (w *walker) looksAtCall(look *grammar.Look) bool {
	if w.leads(look.Inner, toCall) {
		return true
	}
	literal, ok := look.Inner.(*grammar.Literal)
	if !ok {
		return false
	}
	d := w.d
	w.d = w.Tool
	defer func() { w.d = d }()
	for _, opener := range w.openers(output(w.d), false) {
		if opener == literal.Text {
			return true
		}
	}
	return false
}

// thoughtMessage is a message that is a thought, in front of the body's messages.
func (w *walker) thoughtMessage(rule *grammar.Rule, body language.Node) language.Node {
	if w.Options.Thinking == Possible {
		return language.Join(language.Maybe(w.textMessages(rule, toReasoning)), body)
	}
	var options []language.Node
	for _, a := range rule.Body.Alternatives {
		if w.leads(a, toReasoning) {
			_, rest := w.parts(a, toReasoning)
			options = append(options, language.Join(w.messageText(rest, toReasoning), body))
		}
	}
	return language.Any(options...)
}

// messageText is the text of a message and its closer.
func (w *walker) messageText(rest []grammar.Expression, t target) language.Node {
	closing := w.closers(rest[1:])
	if optional, ok := closing.(*language.Repeat); ok { // what follows must be seen to be a message
		closing = optional.Inner
	}
	ends := w.markers(rest[1:])
	role := language.Reasoning
	if t == toContent {
		role = language.Content
		if w.Tool != nil {
			ends = append(ends, w.beginOfCall(rest[0])...)
		}
	}
	return language.Join(&language.Mark{Role: role, Inner: w.without(ends)}, closing)
}

// textMessages are the messages whose body is reasoning, or content.
func (w *walker) textMessages(rule *grammar.Rule, t target) language.Node {
	var options []language.Node
	for _, a := range rule.Body.Alternatives {
		if !w.leads(a, t) {
			continue
		}
		header, rest := w.parts(a, t)
		var heads []language.Node
		for _, group := range w.widest(merged(w.headers(header, rest[0], scene{place: place{target: t}})), header, t) {
			s := scene{place: place{target: t}}
			for _, one := range group {
				s = s.with(one.name, strings.Join(one.values, or))
			}
			var head []language.Node
			for _, item := range header {
				head = append(head, w.header(item, s))
			}
			heads = append(heads, language.Join(head...))
		}
		if len(heads) > 0 {
			text := w.messageText(rest, t)
			if _, bare := rest[0].(*grammar.Capture); bare {
				text = w.unlikeOthers(text, rule, a, header)
			}
			options = append(options, language.Join(language.Any(language.Distinct(heads)...), w.bodyPrefix(rest[0], t), text))
		}
	}
	return language.Any(options...)
}

// unlikeOthers takes out the text behind a header that would be read as another kind of message, because it begins with
// what that has behind the same header.
func (w *walker) unlikeOthers(text language.Node, rule *grammar.Rule, a *grammar.Sequence, header []grammar.Expression) language.Node {
	same := w.expression(header, nil)
	var openers []string
	first := "" // what the openers begin with
	for _, other := range rule.Body.Alternatives {
		if other == a {
			continue
		}
		for i, item := range other.Items {
			if w.captures(item, "name", "reasoning", "content", "arguments") {
				if before := w.expression(other.Items[:i], nil); before == same || w.mayBe(other.Items[:i], same) {
					for _, opener := range w.begin(item) {
						openers = append(openers, regular.Quote(opener))
						if r, _ := utf8.DecodeRuneInString(opener); r != utf8.RuneError {
							first += fmt.Sprintf(`\x{%x}`, r)
						}
					}
				}
				break
			}
		}
	}
	if len(openers) == 0 {
		return text
	}
	// A word may stand before the opener: whose message it is.
	begins, err := regular.Match("[^" + first + "]*(?:" + strings.Join(openers, "|") + ").*")
	if err == nil {
		begins, err = begins.Not()
	}
	if err != nil {
		panic(stop{err})
	}
	return mapRegular(text, func(r *language.Regular) *language.Regular {
		both, err := r.Automaton.And(begins)
		if err != nil {
			panic(stop{err})
		}
		return &language.Regular{Automaton: both, Without: r.Without, Looser: true}
	})
}

// mayBe tells whether items, optional ones written or not, can be written as an expression.
func (w *walker) mayBe(items []grammar.Expression, expression string) bool {
	for _, item := range items {
		found := false
		grammar.Walk(item, func(e grammar.Expression) bool {
			literal, ok := e.(*grammar.Literal)
			found = found || ok && literal.Text != "" && strings.HasPrefix(expression, regular.Quote(w.fill(literal.Text)))
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// mapRegular replaces the first text of a node.
func mapRegular(n language.Node, replace func(*language.Regular) *language.Regular) language.Node {
	switch n := n.(type) {
	case *language.Regular:
		return replace(n)
	case *language.Mark:
		return &language.Mark{Role: n.Role, Name: n.Name, Inner: mapRegular(n.Inner, replace)}
	case *language.Sequence:
		items := slices.Clone(n.Items)
		items[0] = mapRegular(items[0], replace)
		return &language.Sequence{Items: items}
	}
	return n
}

// bodyPrefix is what a body has before its text.
func (w *walker) bodyPrefix(body grammar.Expression, t target) language.Node {
	switch e := body.(type) {
	case *grammar.Reference:
		return w.bodyPrefix(w.d.Rule(e.Name).Body, t)
	case *grammar.Choice:
		for _, a := range e.Alternatives {
			if w.leads(a, t) {
				before, _ := split(a.Items)
				return w.sequence(before, scene{})
			}
		}
	}
	return language.Text("")
}

// markers are the literals in items, through references.
func (w *walker) markers(items []grammar.Expression) (out []string) {
	w.holds(&grammar.Sequence{Items: items}, func(e grammar.Expression) bool {
		if literal, ok := e.(*grammar.Literal); ok {
			out = append(out, w.fill(literal.Text))
		}
		return false
	})
	grammar.Walk(&grammar.Sequence{Items: items}, func(e grammar.Expression) bool {
		if look, ok := e.(*grammar.Look); ok {
			out = append(out, w.begin(look.Inner)...)
		}
		return true
	})
	return out
}
