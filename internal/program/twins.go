package program

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// This file settles what happens where a grammar has the same thing twice, and one text could be either: in
// `{ @content | call } thought? { @content | call }` the first call may stand before the thought or behind none. The one
// behind which more may come is it; were both kept, the call would have two insides, and lose its way in one of them.

// origin is what a step was made from. Steps of one origin are copies of one place in a definition.
type origin struct {
	op      operation
	literal string
	at      grammar.Position
	half    *grammar.Definition
	stray   bool
}

func (c *compiler) origin(step int) origin {
	s := &c.graph.steps[step]
	o := origin{op: s.op, literal: s.literal, at: s.at, stray: s.stray}
	switch {
	case s.half != nil:
		o.half = s.half.definition
	case s.region != outside:
		o.half = c.graph.regions[s.region].half.definition
	}
	return o
}

// findCopies notes the steps that have copies.
func (c *compiler) findCopies() {
	first := map[origin]int{}
	for at := range c.graph.steps {
		s := &c.graph.steps[at]
		if s.at == (grammar.Position{}) || s.stray {
			continue
		}
		o := c.origin(at)
		if one, known := first[o]; known {
			c.copies[one], c.copies[at] = true, true
			continue
		}
		first[o] = at
	}
}

// withoutTwins leaves out the items that are copies of another one which can do all that they can.
func (c *compiler) withoutTwins(items []item, r reach) []item {
	if len(c.copies) == 0 {
		return items
	}
	out := items[:0:0]
next:
	for _, it := range items {
		if c.copies[it.step] {
			for i := range out {
				if kept := &out[i]; c.copies[kept.step] && kept.push == it.push && kept.echo == it.echo && kept.look == it.look && c.covers(kept.step, it.step, r.mode) {
					kept.blank, kept.own = kept.blank || it.blank, kept.own || it.own
					continue next
				}
			}
		}
		out = append(out, it)
	}
	return out
}

// covers tells whether one step is a copy of another, and all that may come behind the other, and what it stands in, may
// come behind it.
func (c *compiler) covers(one, other int, m Mode) bool {
	if one == other || c.origin(one) != c.origin(other) {
		return false
	}
	g := c.graph
	a, b := g.steps[one].region, g.steps[other].region
	behindA, behindB := places(g.steps[one].next), places(g.steps[other].next)
	for a != b {
		if a == outside || b == outside || g.regions[a].rule != g.regions[b].rule || g.regions[a].half != g.regions[b].half {
			return false
		}
		behindA, behindB = []place{{g.regions[a].exit, 0}}, []place{{g.regions[b].exit, 0}}
		a, b = g.regions[a].parent, g.regions[b].parent
	}
	key := [3]int{behindA[0].step, behindB[0].step, int(m)}
	known, ok := c.covered[key]
	if !ok {
		r := reach{mode: m, begun: true, texts: true, twins: true}
		more, less := c.close(behindA, r).items, c.close(behindB, r).items
		known = !slices.ContainsFunc(less, func(it item) bool {
			return !slices.ContainsFunc(more, func(other item) bool { return c.origin(it.step) == c.origin(other.step) })
		})
		c.covered[key] = known
	}
	return known
}
