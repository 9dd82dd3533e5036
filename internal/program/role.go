package program

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// reference writes out a rule where it is used; a role becomes a region.
func (g *graph) reference(e *grammar.Reference, c context) (fragment, bool) {
	rule := c.half.definition.Rule(e.Name)
	role := rule.Role()
	if slices.Contains(c.nested, e.Name) {
		if role != grammar.Parameter {
			g.fail(c.half, e.Position, "the rule %s uses itself; only parameters may be nested", e.Name)
		}
		return g.single(step{op: stepNested, region: c.region, at: e.Position, capture: -1}), true
	}
	if !g.possible(c, role) {
		return fragment{}, false
	}
	c.nested = append(slices.Clone(c.nested), e.Name)
	if role == "" {
		return g.build(rule.Body, c)
	}
	return g.role(rule, c)
}

// markOpening marks the steps by which a region can be entered.
func (g *graph) markOpening(at int, seen map[int]bool) {
	if seen[at] {
		return
	}
	seen[at] = true
	s := &g.steps[at]
	switch s.op {
	case stepNothing, stepBlank, stepThought, stepEnter, stepLeave, stepEchoBegin:
		for _, next := range s.next {
			g.markOpening(next, seen)
		}
	default:
		s.opening = true
	}
}

// role writes a use of a rule with a role: a region with what the rule says inside. It answers false if the rule cannot be
// read in this combination.
func (g *graph) role(rule *grammar.Rule, c context) (fragment, bool) {
	role := rule.Role()
	if (role == grammar.Call || role == grammar.Block) && g.needsOuter(rule, c) {
		return fragment{}, false
	}
	in, exit := g.nothing(c.region), g.nothing(c.region)
	if role == grammar.Thought {
		g.steps[in].op = stepThought
	}
	number := len(g.regions)
	g.regions = append(g.regions, region{role: role, rule: rule.Name, parent: c.region, exit: exit, half: c.half})
	inner := c
	inner.region = number
	inner.closing = false
	if role == grammar.Call {
		// A call in a message may have its name in the header.
		inner.named = c.named
	} else if role == grammar.Block {
		inner.named = false
	}
	f, ok := g.build(rule.Body, inner)
	if !ok {
		return fragment{}, false
	}
	g.link(in, f.in)
	g.link(f.out, exit)
	g.regions[number].entry = f.in
	for at := range g.steps {
		if s := &g.steps[at]; s.region == number && s.op == stepLiteral && s.closing && !s.glued {
			g.regions[number].closers = append(g.regions[number].closers, at)
		}
	}
	g.markOpening(f.in, map[int]bool{})
	if role == grammar.Thought {
		g.thoughts = append(g.thoughts, g.regions[number].texts...)
		g.over = append(g.over, exit)
	}
	return fragment{in, exit}, true
}

// needsOuter tells whether a call outside a block, or a block outside a message, does not count because the outer one
// begins with a token and it itself does not: ordinary text could forge it (ruling 22).
func (g *graph) needsOuter(rule *grammar.Rule, c context) bool {
	d := c.half.definition
	outer := grammar.Block
	if rule.Role() == grammar.Block {
		outer = grammar.Message
	}
	if g.token == nil || g.around(c.region, outer) != outside || g.token(opener(rule, d)) {
		return false
	}
	for _, other := range d.Rules {
		if other.Role() != outer || !g.token(opener(other, d)) {
			continue
		}
		holds := false
		walk(other, d, func(e grammar.Expression) bool {
			reference, ok := e.(*grammar.Reference)
			holds = holds || ok && reference.Name == rule.Name
			return true
		})
		if holds {
			return true
		}
	}
	return false
}
