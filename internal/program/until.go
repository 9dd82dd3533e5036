package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// until makes the node that captures text up to a marker.
func (c *compiler) until(it item, h head) *Node {
	s := &c.graph.steps[it.step]
	n, made := c.held(Until, fmt.Sprint(it.step), h)
	if !made {
		return n
	}
	if h.mode == Prompt {
		c.again[n] = func(m Mode) *Node { h := h; h.mode = m; return c.until(it, h) }
	}
	n.Capture, n.Equals = s.capture, s.equals
	n.Opened = c.opened(closure{items: []item{it}}, h)
	var set edgeSet
	c.gather(&set, c.close(places(s.next), reach{mode: h.mode}).items)
	for _, literal := range set.literals {
		inner := h
		inner.literal = true
		n.offer(c.fromHead(literal, set.sources[literal], inner))
	}
	for _, literal := range c.aborts(h) {
		n.offer(Edge{Do: AsText | Again, Capture: outside, Text: literal})
	}
	n.Table = c.table(markers(n.Edges), nil, true)
	return n
}

// aborts are the markers that show that a captured text is none: those that open or close what is around it.
func (c *compiler) aborts(h head) (out []string) {
	add := func(literal string) {
		if literal = c.fill(literal); hasLetter(literal) && !plainWord(literal) && !slices.Contains(out, literal) {
			out = append(out, literal)
		}
	}
	for i, r := range c.graph.regions {
		if r.role == grammar.Parameter && h.phase == InValue { // no other parameter: the value is closed
			for _, closer := range r.closers {
				add(c.graph.steps[closer].literal)
				if h.value != nil && h.value.Value.LayoutAfter != "" {
					add(h.value.Value.LayoutAfter + c.graph.steps[closer].literal)
				}
			}
		}
		if r.role != grammar.Block && r.role != grammar.Call && r.role != grammar.Message {
			continue
		}
		for _, closer := range r.closers {
			if h.phase != Candidate {
				add(c.graph.steps[closer].literal)
			}
		}
		for at := range c.graph.steps {
			if s := &c.graph.steps[at]; s.region == i && s.op == stepLiteral && !s.glued && !s.stray {
				if !s.closing {
					add(s.literal)
				}
				break
			}
		}
	}
	return out
}

// attribute makes the node that captures the value of an attribute.
func (c *compiler) attribute(it item, h head) *Node {
	s := &c.graph.steps[it.step]
	n, made := c.held(Attribute, fmt.Sprint(it.step), h)
	if !made {
		return n
	}
	if h.mode == Prompt {
		c.again[n] = func(m Mode) *Node { h := h; h.mode = m; return c.attribute(it, h) }
	}
	n.Capture = s.capture
	n.Opened = c.opened(closure{items: []item{it}}, h)
	n.Next = c.head(places(s.next), h)
	var set edgeSet
	c.gather(&set, c.close(places(s.next), reach{mode: h.mode}).items)
	for _, literal := range set.literals {
		n.offer(Edge{Capture: outside, Text: literal})
	}
	for _, literal := range c.aborts(h) {
		if !slices.ContainsFunc(n.Edges, func(e Edge) bool { return strings.HasPrefix(literal, e.Text) }) {
			n.offer(Edge{Do: AsText | Again, Capture: outside, Text: literal})
		}
	}
	n.Table = c.table(markers(n.Edges), nil, true)
	return n
}
