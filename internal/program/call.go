package program

import (
	"fmt"
	"slices"

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
	if it, ok := c.only(cl, stepValue); ok {
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
	if _, ok := c.only(cl, stepDelimited); ok {
		e.To = c.head(k, h)
	}
	return e
}

// args makes the node inside a call between its parameters: everything but markers is junk there.
func (c *compiler) args(k []place, call int, m Mode) *Node {
	cl := c.close(k, reach{mode: m, begun: true})
	within := c.close(k, reach{mode: m, begun: true, within: &c.graph.regions[call]})
	line, lines := c.only(within, stepUntil)
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
	var literals []string
	add := func(literal string, e Edge) {
		if !slices.Contains(literals, literal) {
			e.Text = literal
			literals = append(literals, literal)
			n.Edges = append(n.Edges, e)
		}
	}
	for _, literal := range set.literals {
		if literal != "{" {
			add(literal, c.fromHead(literal, set.sources[literal], h))
		}
	}
	c.outerMarkers(call, m, func(literal string, s source, own bool) {
		if own {
			add(literal, c.inCall([]place{{s.after, 0}}, h, s, 0))
			return
		}
		add(literal, Edge{Do: EndCall | Again, To: c.afterText(call, m), Capture: outside})
	})
	if lines {
		// What ends a value ends a line without one, too.
		for _, literal := range c.lineEnds(call) {
			add(literal, Edge{Do: AsText, To: n, Capture: outside})
		}
	}
	n.Table = c.table(literals, nil, true)
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
	it, ok := c.only(c.close(k, reach{mode: m, begun: true, within: &c.graph.regions[call]}), stepUntil)
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
	var literals []string
	add := func(literal string, e Edge) {
		if !slices.Contains(literals, literal) {
			e.Text = literal
			literals = append(literals, literal)
			n.Edges = append(n.Edges, e)
		}
	}
	for _, literal := range set.literals {
		add(literal, c.fromTail(literal, set.sources[literal], m, h))
	}
	if it, ok := c.only(cl, stepWord); ok && n.Kind == Tail {
		n.Words = &Word{Class: c.graph.steps[it.step].class, Automaton: c.graph.steps[it.step].automaton}
		n.Element = c.head(c.kernel(cl), h)
	}
	c.outerMarkers(region, m, func(literal string, s source, own bool) {
		add(literal, c.fromTail(literal, []source{s}, m, h))
	})
	n.Table = c.table(literals, nil, n.Kind == Gap)
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

// codec makes the node for a JSON object or an envelope; several envelopes in one place are read as one.
func (c *compiler) codec(sources []source, h head) *Node {
	var after []place
	spec := &EnvelopeSpec{Members: map[string]Member{}, Call: outside}
	json, envelopes := outside, 0
	key := ""
	for _, src := range sources {
		if src.rank > sources[0].rank {
			break // what is nearer wins
		}
		s := &c.graph.steps[src.step]
		key += fmt.Sprint(src.step, " ")
		if s.op == stepJSON {
			json = src.step
			continue
		}
		envelopes++
		after = append(after, places(s.next)...)
		c.members(spec, s.envelope)
		spec.Call = c.call(src.step)
		spec.Certain = s.half.definition == c.options.Plain
	}
	if json != outside && envelopes == 0 {
		return c.json(json, h)
	}
	n, made := c.node(Envelope, h.key()+" "+key)
	if !made {
		return n
	}
	n.Phase, n.Marked, n.Fail, n.Envelope, n.Call = h.phase, h.marked, h.failure(), spec, spec.Call
	if h.marked {
		n.AtCut = EndDropped
	}
	n.Tail = c.tail(after, h.mode, spec.Call)
	if json != outside {
		n.Plain = c.json(json, h)
	}
	return n
}

// closers gives an envelope the table by which it finds, when it has gone wrong, the markers that end it: those of its
// tail, which must be complete.
func (c *compiler) closers(n *Node) {
	var literals []string
	for _, e := range n.Tail.Edges {
		if hasLetter(e.Text) {
			literals = append(literals, e.Text)
			n.Edges = append(n.Edges, e)
		}
	}
	n.Table = c.table(literals, nil, true)
}

func (c *compiler) members(spec *EnvelopeSpec, e *grammar.Envelope) {
	for _, member := range e.Members {
		if member.KeyCapture != "" {
			spec.KeyIsName = true
			continue
		}
		what := MemberIgnored
		switch member.Capture {
		case "name":
			what = MemberName
		case "arguments":
			what = MemberArguments
		case "id":
			what = MemberID
		}
		for _, key := range member.Keys {
			spec.Members[key] = what
		}
	}
}

func (c *compiler) json(step int, h head) *Node {
	n, made := c.node(JSON, h.key()+fmt.Sprint(" ", step))
	if !made {
		return n
	}
	s := &c.graph.steps[step]
	n.Phase, n.Marked, n.Fail, n.Call = h.phase, h.marked, h.failure(), c.call(step)
	n.Tail = c.tail(places(s.next), h.mode, n.Call)
	return n
}

// behind gives what follows a codec and the bracket that closes it, and the bracket.
func (c *compiler) behind(step int) (k []place, bracket string) {
	for at := c.graph.steps[step].next[0]; ; at = c.graph.steps[at].next[0] {
		if s := &c.graph.steps[at]; s.op == stepLiteral {
			return places(s.next), s.literal
		}
	}
}

func (c *compiler) python(it item, h head) *Node {
	n, made := c.node(Python, h.key()+fmt.Sprint(" ", it.step))
	if !made {
		return n
	}
	n.Phase, n.Marked, n.Fail, n.Call = h.phase, h.marked, h.failure(), c.call(it.step)
	if h.marked {
		n.AtCut = EndDropped
	}
	k, _ := c.behind(it.step)
	n.Tail = c.tail(k, h.mode, n.Call)
	return n
}

// whole makes the node for a region of calls that is read when all of it is there: up to its closer.
func (c *compiler) whole(it item, h head) *Node {
	s := &c.graph.steps[it.step]
	n, made := c.node(Whole, h.key()+fmt.Sprint(" ", it.step))
	if !made {
		return n
	}
	n.Phase, n.Marked, n.Call, n.Whole = h.phase, h.marked, c.call(it.step), s.codec.Whole
	if h.marked {
		n.AtCut = EndDropped
	}
	n.Tail = c.tail(places(s.next), h.mode, n.Call)
	var literals []string
	for _, step := range c.graph.regions[n.Call].closers {
		if literal := c.fill(c.graph.steps[step].literal); !slices.Contains(literals, literal) {
			literals = append(literals, literal)
			n.Edges = append(n.Edges, Edge{To: n.Tail, Capture: outside, Text: literal})
		}
	}
	n.Table = c.table(literals, nil, true)
	return n
}

func (c *compiler) delimited(it item, h head) *Node {
	k, bracket := c.behind(it.step)
	n, made := c.node(Delimited, h.key()+fmt.Sprint(" ", it.step, bracket))
	if !made {
		return n
	}
	n.Call = c.call(it.step)
	n.Quotes = c.graph.steps[it.step].codec.Quotes
	n.Delimiter, n.Closer = []byte(c.fill(c.graph.steps[it.step].codec.Delimiter)), bracket[0]
	n.Tail = c.tail(k, h.mode, n.Call)
	return n
}

// echo makes the node that passes over a block written a second time.
func (c *compiler) echo(it item, h head) *Node {
	n, made := c.node(Echo, h.key()+fmt.Sprint(" ", it.step))
	if !made {
		return n
	}
	n.Phase, n.Marked = h.phase, h.marked
	h.emptied = true // its closer is markup although no call stands before it
	n.Next = c.head(places(c.graph.steps[it.step].next), h)
	return n
}
