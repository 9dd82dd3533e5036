package program

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

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
			if block := c.graph.regions[call].parent; block != outside && c.graph.regions[block].list && !h.emptied && c.behindMarker(call, block) {
				for _, closer := range c.listClosers(call, block) {
					s := &c.graph.steps[closer]
					inner := h
					inner.emptied, inner.again = true, ""
					e := c.arrive(places(s.next), inner, source{item: item{place: place{closer, 0}, push: -1}, after: s.next[0]}, false)
					law(s.literal, e)
				}
			}
		}
	}
}

// behindMarker tells whether a call can stand in a block behind a marker that is no mere word or punctuation.
func (c *compiler) behindMarker(call, block int) bool {
	type reached struct {
		step   int
		marker bool
	}
	seen := map[reached]bool{}
	var leads func(at reached) bool
	leads = func(at reached) bool {
		if at.step == c.graph.regions[call].entry {
			return at.marker
		}
		s := &c.graph.steps[at.step]
		if seen[at] || s.region != block {
			return false
		}
		seen[at] = true
		if s.op == stepLiteral && hasLetter(s.literal) && !plainWord(s.literal) {
			at.marker = true
		}
		return slices.ContainsFunc(s.next, func(step int) bool { return leads(reached{step, at.marker}) })
	}
	return leads(reached{step: c.graph.regions[block].entry})
}

// listClosers gives the brackets that close the list of which a call of a block is an element.
func (c *compiler) listClosers(call, block int) (out []int) {
	seen := map[int]bool{}
	var behind func(steps []int)
	behind = func(steps []int) {
		for _, step := range steps {
			if seen[step] {
				continue
			}
			seen[step] = true
			switch s := &c.graph.steps[step]; {
			case s.op == stepNothing, s.op == stepBlank:
				behind(s.next)
			case s.op == stepLiteral && s.region == block && s.literal == "]":
				out = append(out, step)
			}
		}
	}
	behind([]int{c.graph.regions[call].exit})
	return out
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
