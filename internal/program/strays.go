package program

import (
	"github.com/parlance-llm/parlance/internal/grammar"
)

// This file adds what the law reads beside text and no definition writes down: markers that mean nothing where they
// stand (rulings 7, 9, 10, 17 and notation §2, L4 and L5).

// strays gives every text of the graph its strays.
func (g *graph) strays() {
	texts := len(g.steps)
	for at := range texts {
		if g.steps[at].op == stepText {
			g.straysBeside(at)
		}
	}
	for at := range texts {
		if g.steps[at].op != stepText {
			continue
		}
		for _, h := range g.halves {
			for _, rule := range h.definition.Rules {
				if rule.Role() == grammar.Citation && (h.thoughts || h.calls) {
					g.citation(at, h, rule)
				}
			}
		}
	}
}

// straysBeside adds, beside the text of a step, the markers that may turn up there without belonging there.
func (g *graph) straysBeside(at int) {
	thought := g.within(at, grammar.Thought)
	message := g.within(at, grammar.Message)
	for _, h := range g.halves {
		closed := h.definition.Regions == "closed"
		if closed && message {
			continue
		}
		for _, rule := range h.definition.Rules {
			switch role := rule.Role(); {
			case closed && (role == grammar.Message || thought && role != grammar.Thought):
				// A region knows nothing but its own markers.
			case role == grammar.Skip:
				g.stray(at, h, &grammar.Sequence{Items: []grammar.Expression{rule.Body}}, actStray)
			case role == grammar.Thought:
				if h.thoughts {
					g.thoughtStrays(at, h, rule, thought)
				}
			case role == grammar.Frame:
				if !thought && !message {
					g.frameStrays(at, h, rule)
				}
			case role == grammar.Message:
				if !message {
					for _, sequence := range rule.Body.Alternatives {
						g.stray(at, h, &grammar.Sequence{Items: sequence.Items[closingFrom(sequence, h.definition):]}, actStray)
					}
				}
			}
		}
	}
}

func (g *graph) thoughtStrays(at int, h *half, rule *grammar.Rule, inside bool) {
	for _, sequence := range rule.Body.Alternatives {
		open := &grammar.Sequence{Items: sequence.Items[:openTo(sequence, h.definition)]}
		closer := &grammar.Sequence{Items: sequence.Items[closingFrom(sequence, h.definition):]}
		if inside {
			g.stray(at, h, open, actStray)
			continue
		}
		g.stray(at, h, open, actPairOpener)
		g.stray(at, h, closer, actLoneCloser)
	}
}

// frameStrays: a frame's markers are markup wherever text stands, except a closer that looks ahead, which closes only
// its own frame.
func (g *graph) frameStrays(at int, h *half, rule *grammar.Rule) {
	for _, sequence := range rule.Body.Alternatives {
		closer := sequence.Items[closingFrom(sequence, h.definition):]
		for i, item := range closer {
			if _, ok := item.(*grammar.Look); ok {
				closer = closer[:i:i]
				if i > 0 {
					closer = nil
				}
				break
			}
		}
		g.stray(at, h, &grammar.Sequence{Items: closer}, actStray)
		if g.within(at, grammar.Frame) {
			g.stray(at, h, &grammar.Sequence{Items: sequence.Items[:openTo(sequence, h.definition)]}, actStray)
		}
	}
}

// openTo gives the index behind a role's opener: the markers before everything it holds.
func openTo(sequence *grammar.Sequence, d *grammar.Definition) int {
	for i, item := range sequence.Items {
		if holds(item, d) {
			return i
		}
	}
	return len(sequence.Items)
}

// stray adds a marker that leads from a text back to it.
func (g *graph) stray(at int, h *half, marker *grammar.Sequence, what act) {
	if len(marker.Items) == 0 {
		return
	}
	first := len(g.steps)
	c := context{half: &half{definition: h.definition, thoughts: true}, region: g.steps[at].region, noLook: true}
	f, ok := g.sequence(marker, c)
	if !ok {
		g.steps = g.steps[:first]
		return
	}
	marks, words := false, true
	for i := first; i < len(g.steps); i++ {
		s := &g.steps[i]
		if s.op == stepLiteral {
			marks, words = true, words && plainWords(s.literal)
			s.act, s.stray = what, true
		}
	}
	if what == actLoneCloser && words {
		// Words of a language are no tags: outside their place they are text (ruling 10).
		g.steps = g.steps[:first]
		return
	}
	if !marks {
		g.steps = g.steps[:first]
		return
	}
	g.link(f.out, at)
	g.steps[at].strays = append(g.steps[at].strays, f.in)
}

// plainWords tells whether a marker is written in words of a language rather than as a tag.
func plainWords(literal string) bool {
	c := literal[0]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// within tells whether a step stands in a role.
func (g *graph) within(at int, role grammar.Role) bool {
	return g.around(g.steps[at].region, role) != outside
}

// citation adds a citation inside a text: its tags vanish, its text stays in the tray. Whatever may follow the text
// may follow it inside the citation too, so that one that is never closed loses nothing.
func (g *graph) citation(at int, h *half, rule *grammar.Rule) {
	first := len(g.steps)
	tray := g.steps[at].tray
	f, ok := g.role(rule, context{half: &half{definition: h.definition, thoughts: h.thoughts, calls: h.calls}, region: g.steps[at].region})
	if !ok {
		return
	}
	for i := first; i < len(g.steps); i++ {
		s := &g.steps[i]
		s.stray = s.stray || s.op == stepLiteral
		if s.op == stepText {
			s.tray = tray
			s.next = append(s.next, g.steps[at].next...)
			s.strays = append(s.strays, g.steps[at].strays...)
		}
	}
	g.link(f.out, at)
	g.steps[at].strays = append(g.steps[at].strays, f.in)
}
