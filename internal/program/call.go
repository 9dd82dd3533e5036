package program

import (
	"fmt"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// inCall makes the edge to what follows a marker inside a call that has begun (or begins with it: do has Commit).
func (c *compiler) inCall(k []place, h head, src source, do Do) Edge {
	s := &c.graph.steps[src.step]
	e := Edge{Do: do, Capture: outside, Text: c.fill(s.literal)}
	cl := c.close(k, reach{mode: h.mode, begun: true, texts: true})
	if branch := c.branch(cl); branch != nil {
		for i, tests := range branch.branches {
			to := c.inCall([]place{{branch.next[i], 0}}, h, src, do)
			e.Branches = append(e.Branches, Branch{Tests: c.tests(tests), Edge: to})
		}
		return e
	}
	if s.closing && c.roleOf(s.region) == grammar.Parameter {
		e.Do |= CloseElement
	}
	within, between := false, false
	for _, it := range c.close(k, reach{mode: h.mode, begun: true, within: &c.graph.regions[h.call]}).items {
		step := &c.graph.steps[it.step]
		if step.op == stepBlank || step.op == stepText || !c.inside(step.region, h.call) {
			continue
		}
		within = true
		// Between parameters the next one, or the call's closer, can come.
		between = between || it.push >= 0 || step.opening && c.roleOf(step.region) == grammar.Parameter ||
			step.closing && !step.glued && step.region == h.call
	}
	if !within {
		e.Do |= EndCall | Resolve
		e.To = c.afterCall(k, h.mode)
		return e
	}
	h.phase = InCall
	if h.args == nil {
		h.args = c.args(k, h.call, h.mode)
	}
	if it, ok := c.first(cl, stepValue); ok {
		e.Do |= KeyDone
		e.To = c.value(it, cl, h)
		return e
	}
	switch {
	case between:
		e.To = c.args(k, h.call, h.mode)
	default:
		e.To = c.head(k, h)
	}
	if _, ok := c.first(cl, stepDelimited); ok {
		e.To = c.head(k, h)
	}
	return e
}

// args makes the node inside a call between its parameters: everything but markers is junk there.
func (c *compiler) args(k []place, call int, m Mode) *Node {
	cl := c.close(k, reach{mode: m, begun: true})
	within := c.close(k, reach{mode: m, begun: true, within: &c.graph.regions[call]})
	line, lines := c.first(within, stepUntil)
	kind := Text
	if lines {
		kind = Until
	}
	n, made := c.node(kind, fmt.Sprint("args ", m, " ", call, " ", cl.signature()))
	if !made {
		return n
	}
	n.Tray, n.Call = Junk, call
	h := head{phase: InCall, mode: m, call: call, args: n, marked: true}
	var set edgeSet
	c.gather(&set, within.items)
	if lines {
		n.Phase, n.Lines, n.Fail, n.Marked, n.Capture = InCall, true, n, true, c.graph.steps[line.step].capture
		c.gather(&set, c.close(places(c.graph.steps[line.step].next), reach{mode: m}).items)
	}
	for _, literal := range set.literals {
		if literal != "{" {
			n.offer(c.fromHead(literal, set.sources[literal], h))
		}
	}
	c.outerMarkers(call, m, func(literal string, s source, own bool) {
		if own {
			n.offer(c.inCall([]place{{s.after, 0}}, h, s, 0))
			return
		}
		n.offer(Edge{Do: EndCall | Again, To: c.afterText(call, m), Capture: outside, Text: literal})
	})
	if lines {
		// What ends a value ends a line without one, too.
		for _, literal := range c.lineEnds(call) {
			n.offer(Edge{Do: AsText, To: n, Capture: outside, Text: literal})
		}
	}
	n.Table = c.table(markers(n.Edges), nil, true)
	return n
}

// lineEnds are the closers of the parameters of a call that stand in lines.
func (c *compiler) lineEnds(call int) (out []string) {
	for i, r := range c.graph.regions {
		if r.role != grammar.Parameter || !c.inside(i, call) {
			continue
		}
		for _, closer := range r.closers {
			out = append(out, c.fill(c.graph.steps[closer].literal))
		}
	}
	return out
}

// beginsLines tells whether the parameters of a call begin with their keys, without a marker, where a position is.
func (c *compiler) beginsLines(k []place, call int, m Mode) bool {
	if call == outside {
		return false
	}
	it, ok := c.first(c.close(k, reach{mode: m, begun: true, within: &c.graph.regions[call]}), stepUntil)
	return ok && c.roleOf(c.graph.steps[it.step].region) == grammar.Parameter
}

// outerMarkers visits what ends a call from outside (notation §2, L4): its closers (own), the closers of the block and
// the message around it, and the openers of calls, blocks and messages that may follow it, the nearest first.
func (c *compiler) outerMarkers(call int, m Mode, visit func(literal string, s source, own bool)) {
	for r := call; r != outside; r = c.graph.regions[r].parent {
		role := c.graph.regions[r].role
		if role != grammar.Call && role != grammar.Block && role != grammar.Message {
			continue
		}
		for _, step := range c.graph.regions[r].closers {
			s := &c.graph.steps[step]
			visit(c.fill(s.literal), source{item{place: place{step, 0}, push: -1}, s.next[0]}, r == call)
		}
		for _, it := range c.close([]place{{c.graph.regions[r].exit, 0}}, reach{mode: m, begun: true}).items {
			s := &c.graph.steps[it.step]
			if s.op != stepLiteral || s.stray {
				continue
			}
			switch c.roleOf(s.region) {
			case grammar.Call, grammar.Block, grammar.Message:
				visit(c.fill(s.literal), source{it, s.next[0]}, false)
			}
		}
	}
}

// afterCall makes the node behind a call that ended as it should.
func (c *compiler) afterCall(k []place, m Mode) *Node {
	cl := c.close(k, reach{mode: m, begun: true, texts: true})
	if len(c.texts(cl)) > 0 {
		return c.text(k, m, outside)
	}
	return c.tail(k, m, outside)
}

// afterText makes the node for text behind a region whose closers have not come.
func (c *compiler) afterText(region int, m Mode) *Node {
	for r := region; ; r = c.graph.regions[r].parent {
		k := []place{{c.graph.regions[r].exit, 0}}
		if len(c.texts(c.close(k, reach{mode: m, begun: true, texts: true}))) > 0 {
			return c.text(k, m, region)
		}
		if c.graph.regions[r].parent == outside {
			c.noText([]place{{c.graph.regions[region].exit, 0}, {c.graph.regions[r].exit, 0}})
		}
	}
}
