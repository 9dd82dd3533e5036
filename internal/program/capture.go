package program

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// captured writes out a capture by its name and shape.
func (g *graph) captured(e *grammar.Capture, c context) (fragment, bool) {
	if e.Shape == nil || e.Name == "content" {
		switch e.Name {
		case "reasoning", "content", "drop", "text":
			return g.text(e, c), true
		}
	}
	s := step{region: c.region, at: e.Position, capture: g.capture(e.Name), half: c.half, named: c.named}
	if e.Name == "value" {
		s.op, s.value = stepValue, ValueText
		if codec, ok := e.Shape.(*grammar.Codec); ok {
			switch codec.Kind {
			case "json":
				s.value = ValueJSON
			case "xml":
				s.value = ValueXML
			}
		}
		g.makes(c)
		return g.single(s), true
	}
	switch shape := e.Shape.(type) {
	case nil:
		s.op, s.class = stepWord, &grammar.WordClass
		switch e.Name {
		case "key", "type", "sources":
			if c.inSet {
				break
			}
			s.op = stepUntil
			s.equals = e.Name == "key" && slices.Contains(c.nested, "@key")
		case "echo":
			s.op = stepEcho
		}
	case *grammar.Codec:
		s.codec = shape
		s.capture = -1
		switch shape.Kind {
		case "json":
			s.op = stepJSON
		case "python":
			s.op = stepPython
		case "delimited":
			s.op = stepDelimited
			g.makes(c)
		case "whole":
			s.op = stepWhole
		case "text":
			s.op, s.capture = stepUntil, g.capture(e.Name)
		default:
			g.fail(c.half, e.Position, "the codec %s reads a @value, not @%s", shape.Kind, e.Name)
		}
	case *grammar.Run:
		s.op, s.class, s.count, s.automaton = stepWord, &shape.Class, shape.Count, shape.Automaton
	case *grammar.Literal:
		s.op, s.literal, s.class = stepKeyword, shape.Text, &grammar.WordClass
	case *grammar.Choice:
		if e.Name == "echo" {
			return g.echo(shape, c)
		}
		s.op, s.class = stepWord, &grammar.WordClass
		g.pattern(s.capture, shape)
	}
	return g.single(s), true
}

// pattern notes that a captured text is taken apart, into captures of its own.
func (g *graph) pattern(capture int, shape *grammar.Choice) {
	g.patterns[capture] = shape
	grammar.Walk(shape, func(e grammar.Expression) bool {
		if part, ok := e.(*grammar.Capture); ok {
			g.capture(part.Name)
		}
		return true
	})
}

func (g *graph) echo(inner *grammar.Choice, c context) (fragment, bool) {
	f, ok := g.build(inner, c)
	if !ok {
		return f, false
	}
	in := g.add(step{op: stepEchoBegin, region: c.region, capture: -1})
	out := g.add(step{op: stepEchoEnd, region: c.region, capture: -1})
	end := g.nothing(c.region)
	g.link(in, f.in)
	g.link(f.out, out)
	g.link(out, end)
	return fragment{in, end}, true
}

// text writes out a text capture: text of a tray, with the markers around it that are markup wherever text stands.
func (g *graph) text(e *grammar.Capture, c context) fragment {
	if literal, ok := e.Shape.(*grammar.Literal); ok { // @content:"…": a marker that stays in the tray
		return g.single(step{op: stepLiteral, literal: literal.Text, act: actContent, tray: Content, region: c.region, at: e.Position, capture: -1})
	}
	tray := Content
	switch e.Name {
	case "reasoning":
		if tray = Reasoning; !c.half.thoughts {
			tray = Content
		}
	case "drop":
		tray = Dropped
	case "content":
		if c.half.content != nil {
			return g.otherHalf(c)
		}
	}
	t := g.add(step{op: stepText, tray: tray, region: c.region, at: e.Position, capture: -1, half: c.half})
	out := g.nothing(c.region)
	g.link(t, out)
	if c.region != outside {
		g.regions[c.region].texts = append(g.regions[c.region].texts, t)
	}
	return fragment{t, out}
}

// look writes a look ahead. It answers false if nothing that it asks for can come in this combination.
func (g *graph) look(e *grammar.Look, c context) (fragment, bool) {
	if c.noLook {
		return fragment{}, false
	}
	ahead := &lookahead{}
	var gather func(e grammar.Expression)
	gather = func(e grammar.Expression) {
		switch e := e.(type) {
		case *grammar.Blank:
			ahead.blank = true
		case *grammar.End:
			ahead.end = true
		case *grammar.Literal:
			ahead.literals = append(ahead.literals, e.Text)
		case *grammar.Reference:
			if g.possible(c, grammar.RoleOf(e.Name)) {
				ahead.rules = append(ahead.rules, e.Name)
			}
		case *grammar.Choice:
			for _, alternative := range e.Alternatives {
				gather(alternative)
			}
		case *grammar.Sequence:
			for _, item := range e.Items {
				gather(item)
			}
		default:
			g.fail(c.half, e.At(), "expected literals, rules or end behind '&'")
		}
	}
	gather(e.Inner)
	if !ahead.end && len(ahead.rules) == 0 && len(ahead.literals) == 0 {
		return fragment{}, false
	}
	return g.single(step{op: stepLook, look: ahead, region: c.region, at: e.Position, capture: -1}), true
}
