package program

import (
	"fmt"
)

// head says where markup is being read.
type head struct {
	phase  Phase
	mode   Mode
	marked bool
	// again is the opener just read, which may stand here once more (ruling 22).
	again string
	// emptied: an empty list has been read, which is no call and no text (ruling 36).
	emptied bool
	// inBlock: the candidate began in the text between the calls of a block.
	inBlock bool
	// literal: the last thing read was a marker, not a word; a call's header is complete then.
	literal bool
	// args is the node of the open call where junk leads; call its region (InCall and InValue).
	args *Node
	call int
	// value is the value that is open (InValue); run: a run of closers has begun in it.
	value *Node
	run   bool
	// gap is where a failure leads in a list (InList).
	gap *Node
}

func (h head) key() string {
	number := func(n *Node) int {
		if n == nil {
			return -1
		}
		return n.Number
	}
	return fmt.Sprint(h.phase, h.mode, h.marked, h.emptied, h.inBlock, h.literal, " ", h.again, " ", number(h.args), " ", h.call, " ", number(h.value), h.run, " ", number(h.gap))
}

// first gives the first item of an operation.
func (c *compiler) first(cl closure, op operation) (item, bool) {
	for _, it := range cl.items {
		if c.graph.steps[it.step].op == op {
			return it, true
		}
	}
	return item{}, false
}

// head makes the node that reads markup.
func (c *compiler) head(k []place, h head) *Node {
	cl := c.close(k, reach{mode: h.mode})
	for _, other := range []struct {
		op   operation
		node func(item, head) *Node
	}{
		{stepUntil, c.until}, {stepAttribute, c.attribute}, {stepPython, c.python}, {stepWhole, c.whole},
		{stepDelimited, c.delimited}, {stepEcho, c.echo},
	} {
		if it, ok := c.first(cl, other.op); ok {
			return other.node(it, h)
		}
	}
	n, made := c.node(Head, h.key()+" "+cl.signature())
	if !made {
		return n
	}
	if h.mode == Prompt {
		c.again[n] = func(m Mode) *Node { h := h; h.mode = m; return c.head(k, h) }
	}
	n.Phase, n.Marked, n.Fail, n.Run = h.phase, h.marked, h.failure(), h.run
	n.Opened = c.opened(cl, h)
	for _, it := range cl.items {
		op := c.graph.steps[it.step].op
		n.Blank = n.Blank || op == stepBlank || op == stepLook
	}
	var set edgeSet
	c.gather(&set, cl.items)
	c.words(n, cl, h, &set)
	c.endings(n, k, cl, h)

	committing := h
	for _, it := range cl.items {
		if s := &c.graph.steps[it.step]; h.args == nil && s.named && c.call(it.step) != outside && c.graph.regions[c.call(it.step)].made {
			committing.args = c.args(k, c.call(it.step), h.mode)
		}
	}
	for _, literal := range set.literals {
		n.offer(c.fromHead(literal, set.sources[literal], committing))
	}
	law := func(literal string, e Edge) {
		e.Capture, e.Text = outside, literal
		n.offer(e)
	}
	if h.again != "" {
		law(h.again, Edge{To: n})
		n.Blank = true
	}
	if h.phase == Candidate || h.phase == InList {
		c.candidateLaw(k, cl, h, law)
	}
	if h.run {
		c.runLaw(h, law)
	}
	if h.phase == Candidate {
		for _, marker := range c.longer(markers(n.Edges)) {
			law(marker, Edge{Do: AsText | Again})
		}
	}
	n.Table = c.table(markers(n.Edges), nil, false)
	return n
}

// held makes a node that reads on in a head's stead, and what it reads is held as the head's markup is. key tells it from
// others of its kind.
func (c *compiler) held(kind Kind, key string, h head) (n *Node, made bool) {
	n, made = c.node(kind, h.key()+" "+key)
	if made {
		n.Phase, n.Marked, n.Fail = h.phase, h.marked, h.failure()
		if h.marked {
			n.AtCut = EndDropped
		}
	}
	return n, made
}

// words adds the words a head may read. A literal that is a word itself counts only as the whole word then.
func (c *compiler) words(n *Node, cl closure, h head, set *edgeSet) {
	var word *item
	for i, it := range cl.items {
		s := &c.graph.steps[it.step]
		switch s.op {
		case stepKeyword:
			c.keyword(n, s.literal, Edge{To: c.head(places(s.next), h), Capture: s.capture, Text: s.literal})
		case stepWord:
			if word != nil && c.graph.steps[word.step].capture != s.capture {
				c.ambiguous(*word, it, "the same word")
			}
			if word == nil {
				word = &cl.items[i]
			}
		}
	}
	if word == nil {
		return
	}
	var after []place
	for _, it := range cl.items {
		if s := &c.graph.steps[it.step]; s.op == stepWord {
			after = append(after, place{s.next[0], it.rank - word.rank})
		}
	}
	s := &c.graph.steps[word.step]
	inner := h
	inner.again, inner.literal = "", false
	n.Words = &Word{Class: s.class, Count: s.count, Automaton: s.automaton, Edge: Edge{To: c.head(after, inner), Capture: s.capture}}
	var rest []string
	for _, literal := range set.literals {
		if s.automaton == nil && inClass(literal, s.class) {
			c.keyword(n, literal, c.fromHead(literal, set.sources[literal], h))
			delete(set.sources, literal)
			continue
		}
		rest = append(rest, literal)
	}
	set.literals = rest
}

func (c *compiler) keyword(n *Node, word string, e Edge) {
	if n.Keywords == nil {
		n.Keywords = map[string]Edge{}
	}
	if _, nearer := n.Keywords[word]; !nearer {
		n.Keywords[word] = e
	}
	if n.Words == nil {
		n.Words = &Word{Class: &attributeClass, Edge: Edge{Capture: outside}}
	}
}

// fromHead makes the edge for a marker that stands where the head expects it.
func (c *compiler) fromHead(literal string, sources []source, h head) Edge {
	sources = c.prune(sources, reach{mode: h.mode, begun: h.phase != Candidate})
	src := sources[0]
	s := &c.graph.steps[src.step]
	if s.op == stepJSON || s.op == stepEnvelope {
		return Edge{To: c.codec(sources, h), Do: Again, Capture: outside, Text: literal}
	}
	h.again = ""
	h.marked = h.marked || hasLetter(literal)
	k := targets(sources)
	var e Edge
	switch {
	case h.phase == InCall:
		e = c.inCall(k, h, src, 0)
	case h.phase == InValue:
		e = c.inValue(k, h, src)
	case s.named && c.call(src.step) != outside && c.graph.regions[c.call(src.step)].made,
		// Behind the header any text may follow: it is a line of the call.
		h.phase == Candidate && c.beginsLines(k, c.call(src.step), h.mode):
		h.call = c.call(src.step)
		e = c.inCall(k, h, src, Commit)
	default:
		e = c.arrive(k, h, src, false)
	}
	e.Do |= echoes(sources)
	e.Text = literal
	if src.push >= 0 {
		e.Do |= OpenNested
		e.Return = c.args([]place{{src.push, 0}}, h.call, h.mode)
	}
	return e
}
