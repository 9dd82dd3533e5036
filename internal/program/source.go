package program

import "slices"

// source is one step that a literal leads from, with what it leads to.
type source struct {
	item
	after int
}

// edgeSet gathers, by literal, the steps it may stand for.
type edgeSet struct {
	literals []string
	sources  map[string][]source
}

func (e *edgeSet) add(literal string, s source) {
	if e.sources == nil {
		e.sources = map[string][]source{}
	}
	if _, ok := e.sources[literal]; !ok {
		e.literals = append(e.literals, literal)
	}
	for _, other := range e.sources[literal] {
		if other.step == s.step && other.rank == s.rank && other.push == s.push {
			return
		}
	}
	e.sources[literal] = append(e.sources[literal], s)
}

// gather adds the items of a closure that begin with a fixed literal. Codecs that begin with a brace count as such.
func (c *compiler) gather(set *edgeSet, items []item) {
	for _, it := range items {
		s := &c.graph.steps[it.step]
		switch s.op {
		case stepLiteral:
			set.add(c.fill(s.literal), source{it, s.next[0]})
		case stepJSON, stepEnvelope:
			set.add("{", source{it, it.step})
		}
	}
}

// prune leaves of a literal's sources those that count: the best rank, and others only as long as nothing is settled.
func (c *compiler) prune(sources []source, r reach) []source {
	slices.SortStableFunc(sources, func(a, b source) int { return a.rank - b.rank })
	best := sources[0].rank
	settled := func(list []source) bool {
		for _, s := range list {
			if codec := c.graph.steps[s.after].op; s.after == s.step && (codec == stepJSON || codec == stepEnvelope) {
				continue
			}
			r.texts = true
			if len(c.texts(c.close([]place{{s.after, 0}}, r))) > 0 {
				return true
			}
		}
		return false
	}
	n := 0
	for n < len(sources) && sources[n].rank == best {
		n++
	}
	if n == len(sources) || settled(sources[:n]) {
		return sources[:n]
	}
	kept := slices.Clone(sources[:n])
	for _, s := range sources[n:] {
		if !settled([]source{s}) {
			kept = append(kept, s)
		}
	}
	return kept
}

func targets(sources []source) (out []place) {
	for _, s := range sources {
		p := place{s.after, s.rank - sources[0].rank}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// offer gives a node one more way out. Where several have the same marker the first counts.
func (n *Node) offer(e Edge) {
	if !n.expects(e.Text) {
		n.Edges = append(n.Edges, e)
	}
}

// expects tells whether a marker leads out of a node.
func (n *Node) expects(marker string) bool {
	return slices.ContainsFunc(n.Edges, func(e Edge) bool { return e.Text == marker })
}

// markers are the markers of edges, in their order: what the table of the edges is made of.
func markers(edges []Edge) (out []string) {
	for i := range edges {
		out = append(out, edges[i].Text)
	}
	return out
}

// echoes are the echo marks on the way of the sources.
func echoes(sources []source) (do Do) {
	for _, s := range sources {
		do |= s.echo
	}
	return do
}
