package program

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// set writes a set as a loop over its elements. Where all are attributes, others are passed over.
func (g *graph) set(e *grammar.Set, c context) (fragment, bool) {
	loop, out := g.nothing(c.region), g.nothing(c.region)
	start := len(g.steps)
	defer func() {
		for i := start; i < len(g.steps); i++ {
			g.steps[i].inSet = true
		}
	}()
	blank := g.add(step{op: stepBlank, region: c.region, at: e.Position, capture: -1})
	inside := g.nothing(c.region)
	g.link(loop, blank)
	g.link(blank, inside)
	g.link(inside, out)
	c.inSet = true
	attributes := true
	for _, element := range e.Elements {
		attribute, ok := element.(*grammar.Attribute)
		if !ok {
			attributes = false
			f, ok := g.build(element, c)
			if !ok {
				continue
			}
			g.link(inside, f.in)
			g.link(f.out, loop)
			continue
		}
		if shape, ok := attribute.Capture.Shape.(*grammar.Choice); ok {
			g.pattern(g.capture(attribute.Capture.Name), shape)
		}
		g.attribute(inside, loop, step{op: stepKeyword, literal: attribute.Name, class: &attributeClass, at: attribute.Position},
			g.capture(attribute.Capture.Name), c)
	}
	if attributes { // attributes nobody asked for are passed over
		g.attribute(inside, loop, step{op: stepWord, class: &attributeClass, at: e.Position}, -1, c)
	}
	return fragment{loop, out}, true
}

// attribute writes out name, "=" and value, with blanks allowed around the sign.
func (g *graph) attribute(from, to int, name step, capture int, c context) {
	name.region, name.capture, name.half = c.region, -1, c.half
	steps := []step{name, {op: stepBlank, region: c.region, capture: -1},
		{op: stepLiteral, literal: "=", region: c.region, at: name.at, capture: -1, act: actStray},
		{op: stepBlank, region: c.region, capture: -1},
		{op: stepAttribute, region: c.region, at: name.at, capture: capture, half: c.half}}
	for _, s := range steps {
		at := g.add(s)
		g.link(from, at)
		from = at
	}
	g.link(from, to)
}

// list writes a list: an element, and further ones behind separators.
func (g *graph) list(e *grammar.List, c context) (fragment, bool) {
	first, ok := g.build(e.Inner, c)
	if !ok {
		return fragment{}, false
	}
	separator := strings.TrimSpace(e.Separator)
	after, out := g.nothing(c.region), g.nothing(c.region)
	g.link(first.out, after)
	g.link(after, out)
	if separator == "" {
		blank := g.add(step{op: stepBlank, region: c.region, capture: -1})
		g.link(after, blank)
		g.link(blank, first.in)
		g.between(after, e.Inner, c)
		return fragment{first.in, out}, true
	}
	// Separators may be missing, doubled, or stand behind the last element (notation §1.2, `%`).
	blank := g.add(step{op: stepBlank, region: c.region, capture: -1})
	mark := g.add(step{op: stepLiteral, literal: separator, region: c.region, at: e.Position, capture: -1, act: actStray})
	behind := g.add(step{op: stepBlank, region: c.region, capture: -1})
	g.link(after, blank)
	g.link(blank, mark)
	g.link(blank, first.in)
	g.link(mark, behind)
	g.link(behind, first.in)
	g.link(behind, mark)
	g.link(behind, out)
	return fragment{first.in, out}, true
}

// between adds the text that may stand between the calls of a block (ruling 13): content, where the calls have markers
// of their own and are not the elements of a list.
func (g *graph) between(loop int, inner grammar.Expression, c context) {
	if c.region == outside || g.regions[c.region].role != grammar.Block || !refersTo(inner, grammar.Call) || !g.marked(inner, c) {
		return
	}
	t := g.add(step{op: stepText, tray: Content, between: true, region: c.region, capture: -1, half: c.half})
	g.link(loop, t)
	g.link(t, loop)
	g.regions[c.region].texts = append(g.regions[c.region].texts, t)
}

// marked tells whether some of the calls in an expression begin with a marker.
func (g *graph) marked(inner grammar.Expression, c context) bool {
	found := false
	grammar.Walk(inner, func(e grammar.Expression) bool {
		reference, ok := e.(*grammar.Reference)
		if !ok || grammar.RoleOf(reference.Name) != grammar.Call {
			return true
		}
		for _, sequence := range c.half.definition.Rule(reference.Name).Body.Alternatives {
			if len(sequence.Items) > 0 {
				_, literal := sequence.Items[0].(*grammar.Literal)
				found = found || literal
			}
		}
		return false
	})
	return found
}

// closedList notes on a block that its calls are the elements of a list that has a closing bracket.
func (g *graph) closedList(items []grammar.Expression, i int, c context) {
	list, ok := items[i].(*grammar.List)
	if !ok || strings.TrimSpace(list.Separator) == "" || c.region == outside || g.regions[c.region].role != grammar.Block {
		return
	}
	for _, item := range items[i+1:] {
		switch item.(type) {
		case *grammar.Blank, *grammar.Layout:
			continue
		case *grammar.Literal:
			g.regions[c.region].list = true
		}
		return
	}
}
