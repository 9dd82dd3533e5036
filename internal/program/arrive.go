package program

import "github.com/parlance-llm/parlance/internal/grammar"

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
