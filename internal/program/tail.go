package program

import (
	"fmt"
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// tail makes the node behind a call's arguments, or behind an element of a list: closing markers in whatever order.
// call is the call whose own closers are still to come, or outside.
func (c *compiler) tail(k []place, m Mode, call int) *Node {
	cl := c.close(k, reach{mode: m, begun: true})
	n, made := c.node(Tail, fmt.Sprint(m, " ", call, " ", cl.signature()))
	if !made {
		return n
	}
	region := call
	if region == outside {
		region = c.graph.steps[k[0].step].region
	}
	n.Blank, n.Call = true, call
	if n.Block = c.around(region, grammar.Block); n.Block != outside {
		n.Rejected = c.text(c.firstText(n.Block, m), m, outside)
	}
	list := c.listAround(cl, region)
	n.Fail = c.afterText(region, m)
	if list != outside {
		n.Fail = c.gap(k, m, list)
	}
	h := head{phase: Candidate, mode: m, gap: nil}
	if list != outside {
		h.phase, h.gap = InList, n.Fail
	}
	c.fillTail(n, cl, region, m, h)
	return n
}

// firstText is the text behind a region, without what its missing closers would add.
func (c *compiler) firstText(region int, m Mode) []place {
	for r := region; r != outside; r = c.graph.regions[r].parent {
		k := []place{{c.graph.regions[r].exit, 0}}
		if len(c.texts(c.close(k, reach{mode: m, texts: true}))) > 0 {
			return k
		}
	}
	c.noText([]place{{c.graph.regions[region].exit, 0}})
	return nil
}

// listAround gives the list that goes on behind an element, or outside.
func (c *compiler) listAround(cl closure, region int) int {
	block := c.around(region, grammar.Block)
	if block == outside || !c.graph.regions[block].list {
		return outside
	}
	for _, it := range cl.items {
		s := &c.graph.steps[it.step]
		if s.op == stepLiteral && s.act == actStray && !s.stray && s.region == block {
			return block // its separator can follow
		}
	}
	return outside
}

func (c *compiler) fillTail(n *Node, cl closure, region int, m Mode, h head) {
	var set edgeSet
	c.gather(&set, slices.DeleteFunc(slices.Clone(cl.items), func(it item) bool {
		// The closer of a frame around the call is found in the text behind the call, where its guard stands.
		s := &c.graph.steps[it.step]
		return s.closing && c.roleOf(s.region) == grammar.Frame
	}))
	for _, literal := range set.literals {
		n.offer(c.fromTail(literal, set.sources[literal], m, h))
	}
	if it, ok := c.first(cl, stepWord); ok && n.Kind == Tail {
		n.Words = &Word{Class: c.graph.steps[it.step].class, Automaton: c.graph.steps[it.step].automaton}
		n.Element = c.head(c.kernel(cl), h)
	}
	c.outerMarkers(region, m, func(literal string, s source, own bool) {
		n.offer(c.fromTail(literal, []source{s}, m, h))
	})
	n.Table = c.table(markers(n.Edges), nil, n.Kind == Gap)
}

// kernel turns a closure back into places.
func (c *compiler) kernel(cl closure) (out []place) {
	for _, it := range cl.items {
		out = append(out, it.place)
	}
	return out
}

// fromTail makes the edge for a marker behind a call: a closer, a separator, or the opener of what comes next.
func (c *compiler) fromTail(literal string, sources []source, m Mode, h head) Edge {
	sources = c.prune(sources, reach{mode: m, begun: true})
	src := sources[0]
	s := &c.graph.steps[src.step]
	if s.op == stepJSON || s.op == stepEnvelope {
		return Edge{To: c.codec(sources, h), Do: Again, Capture: outside, Text: literal}
	}
	k := targets(sources)
	e := Edge{Capture: outside, Text: literal}
	if s.act == actStray && !s.stray { // a separator; what is behind it may not be another element
		h.marked = false
		e.To = c.head(k, h)
		return e
	}
	if s.opening {
		h = head{phase: Candidate, mode: m, marked: hasLetter(literal), again: literal}
		return c.arrive(k, h, src, true)
	}
	cl := c.close(k, reach{mode: m, begun: true, texts: true})
	e.Do = Resolve
	switch texts := c.texts(cl); {
	case len(texts) > 0:
		e.To = c.text(c.ranked(k, texts[0].rank), m, outside)
	default:
		call := c.call(src.step)
		if call != outside {
			within := false
			for _, it := range c.close(k, reach{mode: m, begun: true, within: &c.graph.regions[call]}).items {
				within = within || c.graph.steps[it.step].op != stepBlank
			}
			if !within {
				call = outside
			}
		}
		e.To = c.tail(k, m, call)
	}
	e.Do |= echoes(sources)
	if src.blank {
		e.Do |= Blank
	}
	if c.around(s.region, grammar.Block) != outside && c.call(src.step) == outside {
		e.Do |= BlockCloser
	}
	return e
}

// gap makes the node for text between the elements of a list.
func (c *compiler) gap(k []place, m Mode, block int) *Node {
	cl := c.close(k, reach{mode: m, begun: true})
	n, made := c.node(Gap, fmt.Sprint(m, " ", block, " ", cl.signature()))
	if !made {
		return n
	}
	n.Tray, n.Block = Content, block
	n.Fail = c.afterText(block, m)
	c.fillTail(n, cl, block, m, head{phase: InList, mode: m, gap: n})
	return n
}
