package program

import (
	"fmt"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// unsayable is what a refusal panics with; Compile recovers it.
type unsayable struct{ err error }

// file is the definition that a refusal names.
func (c *compiler) file() string {
	if c.options.Tool != nil {
		return c.options.Tool.File
	}
	return c.options.Reasoning.File
}

// fail refuses a definition.
func (c *compiler) fail(at grammar.Position, format string, arguments ...any) {
	panic(unsayable{&grammar.Error{File: c.file(), Position: at, Message: fmt.Sprintf(format, arguments...)}})
}

// ambiguous refuses a definition because of a text that can be read in two ways.
func (c *compiler) ambiguous(a, b item, what string) {
	one, two := &c.graph.steps[a.step], &c.graph.steps[b.step]
	line := func(at grammar.Position) string {
		if at.Line == 0 { // the rule comes from a response template
			return ""
		}
		return fmt.Sprintf(" in line %d", at.Line)
	}
	c.fail(one.at, "ambiguous: %s can be read as %s%s and as %s%s, and no rule decides",
		what, c.describe(one), line(one.at), c.describe(two), line(two.at))
}

// describe tells of a step in the words of the notation.
func (c *compiler) describe(s *step) string {
	role := "the output"
	if s.region != outside {
		role = "the " + string(c.graph.regions[s.region].role)
	}
	name := ""
	if s.capture >= 0 {
		name = " @" + c.graph.captures[s.capture]
	}
	switch s.op {
	case stepLiteral, stepKeyword:
		return fmt.Sprintf("the marker %q of %s", s.literal, role)
	case stepWord:
		return "a word" + name + " of " + role
	case stepUntil, stepAttribute:
		return "the text" + name + " of " + role
	case stepText:
		return fmt.Sprintf("%s of %s", [...]string{"content", "reasoning", "dropped text", "junk"}[s.tray], role)
	case stepValue:
		return "the value of " + role
	}
	return "the arguments of " + role
}

// fail refuses a definition while the graph is built.
func (g *graph) fail(h *half, at grammar.Position, format string, arguments ...any) {
	panic(unsayable{&grammar.Error{File: h.definition.File, Position: at, Message: fmt.Sprintf(format, arguments...)}})
}

// noText refuses a definition because no text can stand where some may come all the same.
func (c *compiler) noText(k []place) {
	at := grammar.Position{}
	for _, p := range k {
		for r := c.graph.steps[p.step].region; r != outside && at.Line == 0; r = c.graph.regions[r].parent {
			at = c.ruleAt(r)
		}
	}
	if at.Line == 0 {
		for _, h := range c.graph.halves {
			if rule := h.definition.Rule(string(grammar.Output)); rule != nil {
				at = rule.Position
			}
		}
	}
	c.fail(at, "expected a place for text, such as @content, around calls and thoughts and behind them, found none")
}

// ruleAt is the place of the rule of a region.
func (c *compiler) ruleAt(region int) grammar.Position {
	r := &c.graph.regions[region]
	if rule := r.half.definition.Rule(r.rule); rule != nil {
		return rule.Position
	}
	return grammar.Position{}
}
