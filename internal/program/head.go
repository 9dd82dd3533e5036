package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
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

// arrive makes the edge to what follows a marker of a candidate. fromText: the marker stood in text, nothing was held.
func (c *compiler) arrive(k []place, h head, src source, fromText bool) Edge {
	s := &c.graph.steps[src.step]
	e := Edge{Capture: outside, Text: c.fill(s.literal)}
	cl := c.close(k, reach{mode: h.mode, texts: true, begun: fromText && (s.closing || s.stray)})
	if branch := c.branch(cl); branch != nil {
		for i, tests := range branch.branches {
			next := []place{{branch.next[i], 0}}
			if c.branch(c.close(next, reach{mode: h.mode, texts: true})) == branch {
				c.fail(branch.at, "expected something to be read in each of these alternatives; one leads back to them without")
			}
			to := c.arrive(next, h, src, fromText)
			e.Branches = append(e.Branches, Branch{Tests: c.tests(tests), Edge: to})
		}
		return e
	}
	if texts := c.texts(cl); len(texts) > 0 {
		closesBlock := !s.opening && !s.stray && c.roleOf(s.region) == grammar.Block
		if !fromText && closesBlock && h.phase == Candidate && !h.emptied && !h.inBlock {
			e.Do = AsText // an empty block, or one without a call, is text (ruling 36)
			return e
		}
		e.Do = Resolve
		if closesBlock && (h.phase == InList || h.inBlock) {
			e.Do |= BlockCloser
		}
		e.To = c.text(c.ranked(k, texts[0].rank), h.mode, outside)
		switch {
		case s.act == actLoneCloser:
			e.Do |= LoneCloser
		case s.act == actPairOpener:
			e.Do |= AsText | PairOpener
		}
		if e.To.Body != outside && !s.stray && s.region == e.To.Body {
			e.Do |= BeginMessage
		}
		return e
	}
	h.literal = true
	e.To = c.head(k, h)
	return e
}

// ranked leaves of a set of places the ones of a rank, now the only ones.
func (c *compiler) ranked(k []place, rank int) (out []place) {
	for _, p := range k {
		if p.rank == rank {
			out = append(out, place{p.step, 0})
		}
	}
	if out == nil { // the text was reached beside another
		return k
	}
	return out
}

// branch gives the one branch of a closure, or nil.
func (c *compiler) branch(cl closure) *step {
	for _, it := range cl.items {
		if s := &c.graph.steps[it.step]; s.op == stepBranch {
			return s
		}
	}
	return nil
}

func (c *compiler) tests(tests []grammar.Test) (out []Test) {
	for _, test := range tests {
		out = append(out, Test{Capture: c.graph.capture(test.Capture), Patterns: test.Patterns})
	}
	return out
}

// only gives the first item of an operation.
func (c *compiler) only(cl closure, op operation) (item, bool) {
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
	if it, ok := c.only(cl, stepUntil); ok {
		return c.until(it, h)
	}
	if it, ok := c.only(cl, stepAttribute); ok {
		return c.attribute(it, h)
	}
	if it, ok := c.only(cl, stepPython); ok {
		return c.python(it, h)
	}
	if it, ok := c.only(cl, stepWhole); ok {
		return c.whole(it, h)
	}
	if it, ok := c.only(cl, stepDelimited); ok {
		return c.delimited(it, h)
	}
	if it, ok := c.only(cl, stepEcho); ok {
		return c.echo(it, h)
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

	var literals []string
	committing := h
	for _, it := range cl.items {
		if s := &c.graph.steps[it.step]; h.args == nil && s.named && c.call(it.step) != outside && c.graph.regions[c.call(it.step)].made {
			committing.args = c.args(k, c.call(it.step), h.mode)
		}
	}
	for _, literal := range set.literals {
		literals = append(literals, literal)
		n.Edges = append(n.Edges, c.fromHead(literal, set.sources[literal], committing))
	}
	law := func(literal string, e Edge) {
		if slices.Contains(literals, literal) {
			return
		}
		e.Capture, e.Text = outside, literal
		literals = append(literals, literal)
		n.Edges = append(n.Edges, e)
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
		for _, marker := range c.longer(literals) {
			law(marker, Edge{Do: AsText | Again})
		}
	}
	n.Table = c.table(literals, nil, false)
	return n
}

// longer gives the markers of texts that begin like mere punctuation among some literals, as "[THINK]" does like "[": a
// candidate that goes on with one of them is none, and the marker counts.
func (c *compiler) longer(literals []string) (out []string) {
	for at := range c.graph.steps {
		s := &c.graph.steps[at]
		if s.op != stepLiteral || s.glued || !s.opening && !s.closing && !s.stray {
			continue
		}
		marker := c.fill(s.literal)
		if hasLetter(marker) && !slices.Contains(out, marker) && slices.ContainsFunc(literals, func(l string) bool {
			return !hasLetter(l) && l != marker && strings.HasPrefix(marker, l)
		}) {
			out = append(out, marker)
		}
	}
	return out
}

// opened gives the text in a block whose first call turns out to be none: the block stays open.
func (c *compiler) opened(cl closure, h head) *Node {
	if h.phase != Candidate || !h.marked {
		return nil
	}
	for _, it := range cl.items {
		block := c.around(c.graph.steps[it.step].region, grammar.Block)
		if block == outside {
			continue
		}
		for _, text := range c.graph.regions[block].texts {
			if c.graph.steps[text].between {
				return c.text([]place{{text, 0}}, h.mode, outside)
			}
		}
	}
	return nil
}

func (h head) failure() *Node {
	switch h.phase {
	case InCall:
		return h.args
	case InValue:
		return h.value
	case InList:
		return h.gap
	}
	return nil
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

func inClass(literal string, class *grammar.Class) bool {
	for _, b := range []byte(literal) {
		if !class.Has(b) {
			return false
		}
	}
	return true
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

// candidateLaw adds what commits or empties a candidate without being expected (notation §2, L1; ruling 36).
func (c *compiler) candidateLaw(k []place, cl closure, h head, law func(string, Edge)) {
	for _, it := range cl.items {
		s := &c.graph.steps[it.step]
		call := c.call(it.step)
		switch {
		case s.op == stepJSON && s.named && call != outside && !c.graph.regions[call].made:
			// The call's closer where its arguments should begin: it has none (ruling 25).
			r := call
			for {
				for _, closer := range c.graph.regions[r].closers {
					law(c.fill(c.graph.steps[closer].literal), Edge{Do: Commit | EndCall | Again, To: c.tail(places(s.next), h.mode, call)})
				}
				if r = c.graph.regions[r].parent; r == outside || c.graph.regions[r].role != grammar.Message {
					break
				}
			}
		case s.named && call != outside && c.graph.regions[call].made && s.op == stepLiteral:
			args := c.args(k, call, h.mode)
			for _, literal := range c.ownMarkup(call) {
				law(literal, Edge{Do: Commit | Again, To: args})
			}
		case s.op == stepEnvelope && h.marked && call != outside:
			if block := c.graph.regions[call].parent; block != outside && c.graph.regions[block].list && !h.emptied {
				for _, closer := range c.graph.regions[block].closers {
					s := &c.graph.steps[closer]
					if s.literal == "]" {
						inner := h
						inner.emptied, inner.again = true, ""
						e := c.arrive(places(s.next), inner, source{item: item{place: place{closer, 0}, push: -1}, after: s.next[0]}, false)
						law("]", e)
					}
				}
			}
		}
	}
}

// ownMarkup are the markers of a call, its parameters and its block.
func (c *compiler) ownMarkup(call int) (out []string) {
	block := c.graph.regions[call].parent
	for at := range c.graph.steps {
		s := &c.graph.steps[at]
		if s.op != stepLiteral || s.stray || s.glued || !hasLetter(s.literal) || plainWord(s.literal) {
			continue
		}
		if c.inside(s.region, call) || s.region == block && block != outside && c.graph.regions[block].role == grammar.Block {
			if literal := c.fill(s.literal); !slices.Contains(out, literal) {
				out = append(out, literal)
			}
		}
	}
	return out
}

// endings says what the end of the output makes of a candidate (rulings 20, 37, 40).
func (c *compiler) endings(n *Node, k []place, cl closure, h head) {
	if h.phase != Candidate && h.phase != InList {
		return
	}
	if h.marked {
		n.AtCut = EndDropped
	}
	if cl.end {
		n.AtStop, n.AtCut = EndMarkup, EndMarkup
		return
	}
	for _, it := range cl.items {
		s := &c.graph.steps[it.step]
		call := c.call(it.step)
		if !s.named || call == outside {
			continue
		}
		n.Call = call
		n.AtCut = EndCalled // the name is complete (ruling 38)
		message := c.roleOf(c.graph.regions[call].parent) == grammar.Message && s.op == stepJSON
		if c.graph.regions[call].made && c.optional(k, call) || message {
			n.AtStop = EndCalled
			return
		}
	}
}

// optional tells whether everything that could still come in a call may be left out, closers aside.
func (c *compiler) optional(k []place, call int) bool {
	seen := map[int]bool{}
	var reaches func(step int) bool
	reaches = func(step int) bool {
		if step == c.graph.regions[call].exit {
			return true
		}
		if seen[step] {
			return false
		}
		seen[step] = true
		s := &c.graph.steps[step]
		switch {
		case s.op == stepNothing, s.op == stepBlank, s.op == stepLiteral && s.closing:
			return slices.ContainsFunc(s.next, reaches)
		}
		return false
	}
	return slices.ContainsFunc(k, func(p place) bool { return reaches(p.step) })
}

// until makes the node that captures text up to a marker.
func (c *compiler) until(it item, h head) *Node {
	s := &c.graph.steps[it.step]
	n, made := c.node(Until, fmt.Sprint(h.key(), " ", it.step))
	if !made {
		return n
	}
	if h.mode == Prompt {
		c.again[n] = func(m Mode) *Node { h := h; h.mode = m; return c.until(it, h) }
	}
	n.Phase, n.Marked, n.Fail, n.Capture, n.Equals = h.phase, h.marked, h.failure(), s.capture, s.equals
	n.Opened = c.opened(closure{items: []item{it}}, h)
	if h.marked {
		n.AtCut = EndDropped
	}
	var set edgeSet
	c.gather(&set, c.close(places(s.next), reach{mode: h.mode}).items)
	var literals []string
	for _, literal := range set.literals {
		inner := h
		inner.literal = true
		e := c.fromHead(literal, set.sources[literal], inner)
		literals = append(literals, literal)
		n.Edges = append(n.Edges, e)
	}
	for _, literal := range c.aborts(h) {
		if !slices.Contains(literals, literal) {
			literals = append(literals, literal)
			n.Edges = append(n.Edges, Edge{Do: AsText | Again, Capture: outside, Text: literal})
		}
	}
	n.Table = c.table(literals, nil, true)
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
	n, made := c.node(Attribute, fmt.Sprint(h.key(), " ", it.step))
	if !made {
		return n
	}
	if h.mode == Prompt {
		c.again[n] = func(m Mode) *Node { h := h; h.mode = m; return c.attribute(it, h) }
	}
	n.Phase, n.Marked, n.Fail, n.Capture = h.phase, h.marked, h.failure(), s.capture
	n.Opened = c.opened(closure{items: []item{it}}, h)
	if h.marked {
		n.AtCut = EndDropped
	}
	n.Next = c.head(places(s.next), h)
	var set edgeSet
	c.gather(&set, c.close(places(s.next), reach{mode: h.mode}).items)
	literals := slices.Clone(set.literals)
	for _, literal := range literals {
		n.Edges = append(n.Edges, Edge{Capture: outside, Text: literal})
	}
	for _, literal := range c.aborts(h) {
		if !slices.ContainsFunc(literals, func(other string) bool { return strings.HasPrefix(literal, other) || other == literal }) {
			literals = append(literals, literal)
			n.Edges = append(n.Edges, Edge{Do: AsText | Again, Capture: outside, Text: literal})
		}
	}
	n.Table = c.table(literals, nil, true)
	return n
}
