package program

import (
	"fmt"

	"github.com/parlance-llm/parlance/internal/grammar"
)

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
	n, made := c.held(Envelope, key, h)
	if !made {
		return n
	}
	n.Envelope, n.Call = spec, spec.Call
	n.Tail = c.tail(after, h.mode, spec.Call)
	if json != outside {
		n.Plain = c.json(json, h)
	}
	return n
}

// closers gives an envelope the table by which it finds, when it has gone wrong, the markers that end it: those of its
// tail, which must be complete.
func (c *compiler) closers(n *Node) {
	for _, e := range n.Tail.Edges {
		if hasLetter(e.Text) {
			n.offer(e)
		}
	}
	n.Table = c.table(markers(n.Edges), nil, true)
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
	n, made := c.held(Python, fmt.Sprint(it.step), h)
	if !made {
		return n
	}
	n.Call = c.call(it.step)
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
	for _, step := range c.graph.regions[n.Call].closers {
		n.offer(Edge{To: n.Tail, Capture: outside, Text: c.fill(c.graph.steps[step].literal)})
	}
	n.Table = c.table(markers(n.Edges), nil, true)
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
