package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// value makes the node for a tagged value (notation §2, L6). cl is everything that may stand where it begins.
func (c *compiler) value(it item, cl closure, h head) *Node {
	s := &c.graph.steps[it.step]
	n, made := c.node(Value, fmt.Sprint(h.mode, " ", h.call, " ", h.args.Number, " ", it.step, " ", cl.signature()))
	if !made {
		return n
	}
	spec := &ValueSpec{Kind: s.value, TrimBefore: it.blank}
	n.Value, n.Call, n.Capture = spec, h.call, s.capture
	c.values[n] = it.step
	inner := head{phase: InValue, mode: h.mode, marked: true, call: h.call, args: h.args, value: n}

	var set edgeSet
	c.ownClosers(&set, it.step, spec, h)
	own := slices.Clone(set.literals)
	parameter := c.around(s.region, grammar.Parameter)
	spec.Nested = c.nests(parameter)
	if c.singleTag(parameter) {
		c.gatherEntrance(&set, parameter, h)
	}
	c.softClosers(&set, h)
	for _, literal := range set.literals {
		n.offer(c.fromHead(literal, set.sources[literal], inner))
	}
	if spec.LayoutAfter != "" {
		for _, literal := range own {
			e := n.Edges[slices.Index(set.literals, literal)]
			e.Text = spec.LayoutAfter + literal
			n.offer(e)
		}
	}
	n.Table = c.table(markers(n.Edges), nil, true)
	c.valueStart(n, it, cl, h)
	return n
}

// ownClosers adds the closers of the value itself, with the layout before them.
func (c *compiler) ownClosers(set *edgeSet, step int, spec *ValueSpec, h head) {
	var own edgeSet
	c.gather(&own, c.close(places(c.graph.steps[step].next), reach{mode: h.mode, begun: true}).items)
	for _, literal := range own.literals {
		if strings.TrimSpace(literal) == "" && c.isLayout(own.sources[literal][0]) {
			spec.LayoutAfter = literal
			continue
		}
		for _, src := range own.sources[literal] {
			set.add(literal, src)
			spec.TrimAfter = spec.TrimAfter || src.own
		}
	}
}

// isLayout tells of white space behind a value whether the value's closer is still to come.
func (c *compiler) isLayout(src source) bool {
	region := c.graph.steps[src.step].region
	return slices.ContainsFunc(c.close([]place{{src.after, 0}}, reach{begun: true}).items, func(it item) bool {
		s := &c.graph.steps[it.step]
		return s.op == stepLiteral && s.region == region && s.closing
	})
}

// valueStart makes the table of what may stand at the very beginning of a value instead of its text: layout, another
// way of writing the value, or a parameter inside it.
func (c *compiler) valueStart(n *Node, it item, cl closure, h head) {
	spec := n.Value
	var set edgeSet
	c.gather(&set, cl.items)
	if len(set.literals) == 0 {
		return
	}
	for _, literal := range set.literals {
		sources := set.sources[literal]
		var e Edge
		behind := c.close([]place{{sources[0].after, 0}}, reach{mode: h.mode})
		same, isValue := c.first(behind, stepValue)
		switch {
		case isValue && same.step == it.step:
			e = Edge{To: n, Do: Stay, Capture: outside, Text: literal}
		case isValue:
			e = Edge{To: c.value(same, behind, h), Do: Stay, Capture: outside, Text: literal}
		default:
			e = c.fromHead(literal, sources, head{phase: InCall, mode: h.mode, marked: true, call: h.call, args: h.args})
			spec.StartBlank = spec.StartBlank || sources[0].blank
		}
		spec.StartEdges = append(spec.StartEdges, e)
	}
	for _, e := range n.Edges { // what begins like one of them and is not
		if !slices.Contains(set.literals, e.Text) {
			spec.StartEdges = append(spec.StartEdges, e)
		}
	}
	spec.Start = c.table(markers(spec.StartEdges), nil, false)
}

// nests tells whether a parameter may hold parameters.
func (c *compiler) nests(parameter int) bool {
	return slices.ContainsFunc(c.graph.steps, func(s step) bool { return s.op == stepNested && c.inside(s.region, parameter) })
}

// singleTag tells whether exactly one marker stands between a parameter's key and its value, so that the next such
// marker ends the value (ruling 31).
func (c *compiler) singleTag(parameter int) bool {
	if parameter == outside {
		return false
	}
	r := c.graph.regions[parameter]
	rule := r.half.definition.Rule(r.rule)
	for _, sequence := range rule.Body.Alternatives {
		key, markers := false, 0
		for _, item := range sequence.Items {
			if _, ok := item.(*grammar.Literal); ok && key {
				markers++
			}
			if captures(item, "key") {
				key = true
				continue
			}
			if !key || !holds(item, r.half.definition) {
				continue
			}
			if !capturesDeep(item, "value", r.half.definition) {
				markers++ // a part with a capture of its own stands between, or may
				continue
			}
			return markers == 1
		}
	}
	return false
}

// gatherEntrance adds the opener of the next parameter.
func (c *compiler) gatherEntrance(set *edgeSet, parameter int, h head) {
	items := c.close([]place{{c.graph.entrance(c.graph.regions[parameter]), 1}}, reach{mode: h.mode}).items
	c.gather(set, items)
}

// softClosers adds the closers of what is around the value. Each begins a run of closers and blanks, which ends the
// value only if the output or a new call follows it.
func (c *compiler) softClosers(set *edgeSet, h head) {
	loop := c.run(h.call)
	for r := h.call; r != outside; r = c.graph.regions[r].parent {
		if role := c.graph.regions[r].role; role != grammar.Call && role != grammar.Block && role != grammar.Message {
			continue
		}
		for _, step := range c.graph.regions[r].closers {
			literal := c.fill(c.graph.steps[step].literal)
			if !hasLetter(literal) {
				continue
			}
			copied := c.graph.copyMarker(step, loop)
			s := &c.graph.steps[copied]
			set.add(literal, source{item{place: place{copied, 2}, push: -1}, s.next[0]})
		}
	}
}

// run makes the step of the loop of closers in a value, once for each call.
func (c *compiler) run(call int) int {
	if loop, ok := c.inRun[call]; ok {
		return loop
	}
	loop := c.graph.add(step{op: stepNothing, region: call, capture: -1, inRun: true})
	blank := c.graph.add(step{op: stepBlank, region: call, capture: -1, inRun: true})
	c.graph.link(loop, blank)
	c.graph.link(blank, loop)
	c.inRun[call] = loop
	for r := call; r != outside; r = c.graph.regions[r].parent {
		if role := c.graph.regions[r].role; role != grammar.Call && role != grammar.Block && role != grammar.Message {
			continue
		}
		for _, closer := range c.graph.regions[r].closers {
			if hasLetter(c.graph.steps[closer].literal) {
				c.graph.link(loop, c.graph.copyMarker(closer, loop))
			}
		}
	}
	return loop
}

// copyMarker copies a marker, with the literals glued to it, leading somewhere else.
func (g *graph) copyMarker(at, to int) int {
	s := g.steps[at]
	s.next, s.inRun = nil, true
	first := g.add(s)
	last := first
	for at = g.steps[at].next[0]; ; {
		switch s := g.steps[at]; {
		case s.op == stepNothing && len(s.next) == 1:
			at = s.next[0]
			continue
		case s.op == stepBlank && g.gluedBehind(s.next[0]), s.op == stepLiteral && s.glued:
			next := s.next[0]
			s.next, s.inRun = nil, true
			copied := g.add(s)
			g.link(last, copied)
			last, at = copied, next
			continue
		}
		break
	}
	g.link(last, to)
	return first
}

func (g *graph) gluedBehind(at int) bool {
	for g.steps[at].op == stepNothing && len(g.steps[at].next) == 1 {
		at = g.steps[at].next[0]
	}
	return g.steps[at].op == stepLiteral && g.steps[at].glued
}

// inValue makes the edge to what follows a marker inside a value: the rest of a marker, the end of the value, or a run
// of closers.
func (c *compiler) inValue(k []place, h head, src source) Edge {
	s := &c.graph.steps[src.step]
	e := Edge{Capture: outside, Text: c.fill(s.literal)}
	if s.inRun {
		if slices.ContainsFunc(k, func(p place) bool { return p.step == c.inRun[h.call] }) {
			h.run = true
			e.Do = RunCloser
			k = c.inRunPlaces(k, h)
		}
		e.To = c.head(k, h)
		return e
	}
	if s.closing && s.region == h.call { // the call's closer ends the value, where the grammar says so
		inner := h
		inner.phase = InCall
		e = c.inCall(k, inner, src, 0)
		e.Do |= EndValue
		return e
	}
	cl := c.close(k, reach{mode: h.mode, begun: true})
	if c.branch(cl) != nil {
		inner := h
		inner.phase = InCall
		e = c.inCall(k, inner, src, 0)
		for i := range e.Branches {
			e.Branches[i].Edge.Do |= EndValue
		}
		return e
	}
	if _, ok := c.first(cl, stepValue); ok { // the header of the next parameter is complete
		inner := h
		inner.phase = InCall
		e = c.inCall(k, inner, src, 0)
		e.Do |= EndValue
		return e
	}
	for _, it := range cl.items {
		step := &c.graph.steps[it.step]
		if step.inRun {
			continue
		}
		if it.push >= 0 || step.opening && c.roleOf(step.region) == grammar.Parameter || step.closing && !step.glued && step.region == h.call {
			// The value's own closer is complete.
			inner := h
			inner.phase = InCall
			e = c.inCall(k, inner, src, 0)
			e.Do |= EndValue
			if h.run {
				e.Do |= EndValueHere
			}
			return e
		}
	}
	e.To = c.head(k, h)
	return e
}

// inRunPlaces is where a run of closers stands: its loop, and the value's own closer, which shows that it was data.
func (c *compiler) inRunPlaces(k []place, h head) []place {
	var own edgeSet
	var spec ValueSpec
	out := slices.Clone(k)
	c.ownClosers(&own, c.values[h.value], &spec, h)
	for _, literal := range own.literals {
		for _, src := range own.sources[literal] {
			if p := (place{src.step, 0}); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// runLaw adds to a run of closers what shows that the value has ended: a new call.
func (c *compiler) runLaw(h head, law func(string, Edge)) {
	c.outerMarkers(h.call, h.mode, func(literal string, s source, own bool) {
		// White space is a part of the run, so a marker that begins with it shows nothing.
		if step := &c.graph.steps[s.step]; !own && step.opening && hasLetter(literal) && !strings.ContainsAny(literal[:1], " \t\r\n") {
			law(literal, Edge{Do: EndValue | EndCall | Again, To: c.afterText(h.call, h.mode)})
		}
	})
}
