package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
)

// text makes the node for text of a tray, given what may follow. late is a call that ended without its closers, which
// are markup if they come later; outside if there is none.
func (c *compiler) text(k []place, m Mode, late int) *Node {
	r := reach{mode: m, begun: true, texts: true}
	cl := c.close(k, r)
	n, made := c.node(Text, fmt.Sprint(m, " ", late, " ", cl.signature()))
	if !made {
		return n
	}
	if m == Prompt {
		c.again[n] = func(m Mode) *Node { return c.text(k, m, late) }
	}
	texts := c.texts(cl)
	for _, it := range texts {
		if c.graph.steps[it.step].tray != c.graph.steps[texts[0].step].tray {
			c.ambiguous(texts[0], it, "the same text")
		}
	}
	if len(texts) == 0 {
		c.noText(k)
	}
	first := &c.graph.steps[texts[0].step]
	n.Tray = first.tray
	n.InThought = c.around(first.region, grammar.Thought) != outside
	if first.between {
		n.Block = first.region
	}
	if first.region != outside && c.graph.regions[first.region].role == grammar.Message {
		n.Body = first.region
	}
	behind := make([]place, len(texts))
	for i, it := range texts {
		behind[i] = place{it.step, 0}
	}
	if c.close(behind, r).signature() != cl.signature() {
		c.begins[n] = true
		n.OnText = c.text(behind, m, late)
		for _, it := range cl.items {
			n.KeepBlank = n.KeepBlank || c.graph.steps[it.step].op == stepBlank
		}
	}
	c.fillText(n, cl, m, late)
	return n
}

func (c *compiler) fillText(n *Node, cl closure, m Mode, late int) {
	var set edgeSet
	c.gather(&set, cl.items)
	for _, it := range cl.items {
		s := &c.graph.steps[it.step]
		switch s.op {
		case stepKeyword: // a set that opens by an attribute: name, sign
			sign := c.graph.steps[s.next[0]].next[0]
			set.add(s.literal+"=", source{it, c.graph.steps[sign].next[0]})
		case stepWord:
			// A word may begin something only before the first text, where it is held until that is settled.
			switch {
			case s.inSet:
			case n.OnText == nil:
				c.ambiguous(it, c.texts(cl)[0], "the same text")
			case n.Words == nil:
				n.Words = &Word{Class: s.class, Automaton: s.automaton}
				n.Element = c.head(c.kernel(c.withoutTexts(cl)), head{phase: Candidate, mode: m})
			}
		case stepEcho:
			n.Echo = c.echo(it, head{phase: Candidate, mode: m, marked: true})
		case stepUntil, stepAttribute, stepValue, stepPython, stepDelimited, stepWhole:
			if !s.inSet {
				c.ambiguous(it, c.texts(cl)[0], "the same text")
			}
		}
	}
	for _, literal := range set.literals {
		n.offer(c.fromText(n, literal, set.sources[literal], m))
	}
	if late != outside {
		for _, closer := range c.lateClosers(late) {
			if !n.expects(closer) {
				n.offer(Edge{Do: Resolve, To: c.text(c.textPlaces(cl), m, outside), Capture: outside, Text: closer})
			}
		}
	}
	var watch []match.Watch
	n.Edges, watch = extended(n.Edges)
	n.Table = c.table(markers(n.Edges), watch, true)
}

// extended settles what happens where one marker is the beginning of another and is text itself. If both always are, the
// longer one tells nothing more. If they are in some circumstances, both are held until it is known which one comes:
// what has gone out as text could not become part of a marker any more.
func extended(edges []Edge) (kept []Edge, watch []match.Watch) {
	begins := func(short, long int) bool {
		return short != long && strings.HasPrefix(edges[long].Text, edges[short].Text)
	}
	for i := range edges {
		w, needless := edges[i].Watch, false
		for j := range edges {
			switch {
			case begins(j, i) && edges[i].Watch == match.Always && edges[j].Watch == match.Always:
				needless = true
			case w != match.Always && (begins(i, j) || begins(j, i)):
				w = 0
			}
		}
		if !needless {
			kept, watch = append(kept, edges[i]), append(watch, w)
		}
	}
	return kept, watch
}

// withoutTexts leaves the text out of a closure.
func (c *compiler) withoutTexts(cl closure) (out closure) {
	for _, it := range cl.items {
		if c.graph.steps[it.step].op != stepText && it.rank < rankStray {
			out.items = append(out.items, it)
		}
	}
	return out
}

func (c *compiler) textPlaces(cl closure) (out []place) {
	for _, it := range c.texts(cl) {
		out = append(out, place{it.step, 0})
	}
	return out
}

// lateClosers are the closers of a call that has ended, and of the list it was in.
func (c *compiler) lateClosers(region int) (out []string) {
	for r := region; r != outside; r = c.graph.regions[r].parent {
		role := c.graph.regions[r].role
		if role != grammar.Call && role != grammar.Block {
			break
		}
		if r != region && !c.graph.regions[r].list {
			break
		}
		for _, step := range c.graph.regions[r].closers {
			if literal := c.fill(c.graph.steps[step].literal); hasLetter(literal) {
				out = append(out, literal)
			}
		}
	}
	return out
}

// fromText makes the edge for a marker found in text.
func (c *compiler) fromText(n *Node, literal string, sources []source, m Mode) Edge {
	lone := slices.ContainsFunc(sources, func(s source) bool { return c.graph.steps[s.step].act == actLoneCloser })
	sources = c.prune(sources, reach{mode: m, begun: true})
	src := sources[0]
	s := &c.graph.steps[src.step]
	h := head{phase: Candidate, mode: m, marked: hasLetter(literal), inBlock: n.Block != outside}
	if s.op == stepJSON || s.op == stepEnvelope {
		return Edge{To: c.codec(sources, head{phase: Candidate, mode: m}), Do: Again, Capture: outside, Text: literal}
	}
	if role := c.roleOf(s.region); s.opening && (role == grammar.Block || role == grammar.Call || role == grammar.Message) {
		h.again = literal
	}
	e := c.arrive(targets(sources), h, src, true)
	e.Text = literal
	e.Do |= echoes(sources)
	if e.To != nil && e.To.Kind == Text && e.Branches == nil {
		switch s.act {
		case actLoneCloser:
			e.Do, e.To = LoneCloser, n
			if m == Prompt {
				e.Do, e.To = Resolve|ThoughtOver, c.text(places(c.graph.over), m, outside)
			}
		case actPairOpener:
			e.Do, e.To = AsText|PairOpener, n
			if m == Prompt {
				e.Do, e.To = Resolve, c.text(places(c.graph.thoughts), m, outside)
			}
		case actContent:
			e.Do = AsText
			if lone { // the reasoning half knows it
				e.Do = LoneCloser
			}
		case actStray:
			if !c.begins[e.To] { // else a part of the marker may still come
				e.To = n
			}
		}
		if n.Block != outside && s.region == n.Block && !s.opening && !s.stray {
			e.Do |= BlockCloser
		}
		e.Watch = watch(e.Do)
	}
	if src.blank {
		e.Do |= Blank
	}
	return e
}

// watch says when a marker in text is text itself.
func watch(do Do) match.Watch {
	switch {
	case do&(Resolve|AsText) == AsText:
		return match.Always
	case do&LoneCloser != 0:
		return Paired
	case do&BlockCloser != 0:
		return NoCalls
	}
	return 0
}
