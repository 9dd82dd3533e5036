package program

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// bareElement is a bracketed list of JSON calls, which takes one bare object as well (ruling 22).
type bareElement struct {
	from, left int
	list       []grammar.Expression
}

func (g *graph) bareElement(b bareElement, to int, c context) {
	for _, item := range b.list {
		if list, ok := item.(*grammar.List); ok {
			if f, ok := g.build(list.Inner, c); ok {
				g.link(b.from, f.in)
				g.link(f.out, to)
			}
		}
	}
}

// bracketed tells how many items from here on are a bracketed list of calls in JSON, or 0.
func (g *graph) bracketed(items []grammar.Expression, d *grammar.Definition) int {
	open, ok := items[0].(*grammar.Literal)
	if !ok || open.Text != "[" {
		return 0
	}
	for n, item := range items[1:] {
		switch item := item.(type) {
		case *grammar.Blank:
		case *grammar.List:
			reference, ok := item.Inner.(*grammar.Reference)
			if !ok || !hasEnvelope(d.Rule(reference.Name)) {
				return 0
			}
		case *grammar.Literal:
			if item.Text == "]" {
				return n + 2
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

func hasEnvelope(rule *grammar.Rule) bool {
	found := false
	if rule != nil {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if _, ok := e.(*grammar.Envelope); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

// joined makes one literal of literals that stand side by side.
func joined(items []grammar.Expression) (*grammar.Literal, int) {
	first, ok := items[0].(*grammar.Literal)
	if !ok {
		return nil, 0
	}
	text, n := first.Text, 1
	for n < len(items) {
		next, ok := items[n].(*grammar.Literal)
		if !ok {
			break
		}
		text += next.Text
		n++
	}
	return &grammar.Literal{Position: first.Position, Text: text}, n
}

// ownParts tells whether a sequence is a role's own body rather than a part deep inside it.
func (g *graph) ownParts(c context, e *grammar.Sequence) bool {
	if c.region == outside {
		return false
	}
	rule := g.regionRule(c)
	return rule != nil && slices.Contains(rule.Body.Alternatives, e)
}

// regionRule gives the rule of the region in which an expression stands.
func (g *graph) regionRule(c context) *grammar.Rule {
	return g.regions[c.region].half.definition.Rule(g.regions[c.region].rule)
}

// closingFrom gives the index of the first item behind everything that a role holds.
func closingFrom(e *grammar.Sequence, d *grammar.Definition) int {
	for i := len(e.Items) - 1; i >= 0; i-- {
		if holds(e.Items[i], d) {
			return i + 1
		}
	}
	return len(e.Items)
}

// holds tells whether an expression holds anything but markers: captures, codecs, other roles.
func holds(e grammar.Expression, d *grammar.Definition) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Look:
			return false
		case *grammar.Capture, *grammar.Envelope, *grammar.Set:
			found = true
		case *grammar.Reference:
			if grammar.RoleOf(e.Name) != "" {
				found = true
			} else if rule := d.Rule(e.Name); rule != nil && holds(rule.Body, d) {
				found = true
			}
		}
		return !found
	})
	return found
}

// capturesName tells whether a call's name is complete behind an item.
func capturesName(e grammar.Expression, d *grammar.Definition) bool {
	return capturesDeep(e, "name", d)
}

// capturesDeep tells whether an expression captures a name, itself or in an abbreviation. What an envelope captures does
// not count.
func capturesDeep(e grammar.Expression, name string, d *grammar.Definition) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Capture:
			found = found || e.Name == name
		case *grammar.Envelope:
			return false
		case *grammar.Reference:
			if rule := d.Rule(e.Name); rule != nil && grammar.RoleOf(e.Name) == "" {
				found = found || capturesDeep(rule.Body, name, d)
			}
		}
		return !found
	})
	return found
}

func captures(e grammar.Expression, name string) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if capture, ok := e.(*grammar.Capture); ok && capture.Name == name {
			found = true
		}
		return !found
	})
	return found
}

func following(items []grammar.Expression, i int) grammar.Expression {
	if i+1 < len(items) {
		return items[i+1]
	}
	return nil
}

func refersTo(e grammar.Expression, role grammar.Role) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if reference, ok := e.(*grammar.Reference); ok && grammar.RoleOf(reference.Name) == role {
			found = true
		}
		return !found
	})
	return found
}

// opener is the first marker of a rule, or "".
func opener(rule *grammar.Rule, d *grammar.Definition) (text string) {
	walk(rule, d, func(e grammar.Expression) bool {
		if literal, ok := e.(*grammar.Literal); ok && text == "" {
			text = literal.Text
		}
		return text == ""
	})
	return text
}

// walk visits a rule, and the abbreviations in it.
func walk(rule *grammar.Rule, d *grammar.Definition, visit func(grammar.Expression) bool) {
	grammar.Walk(rule.Body, func(e grammar.Expression) bool {
		if !visit(e) {
			return false
		}
		if reference, ok := e.(*grammar.Reference); ok && grammar.RoleOf(reference.Name) == "" {
			if inner := d.Rule(reference.Name); inner != nil {
				walk(inner, d, visit)
			}
		}
		return true
	})
}
