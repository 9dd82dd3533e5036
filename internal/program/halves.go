package program

import "github.com/parlance-llm/parlance/internal/grammar"

// otherHalf puts the output of the tool half in the place of a @content of the reasoning half (notation §1.5). What may
// stand at its beginning may stand behind a marker of the half around it, but not behind mere text.
func (g *graph) otherHalf(c context) fragment {
	f, _ := g.build(c.half.content.definition.Output(), context{half: c.half.content, region: c.region})
	enter := g.add(step{op: stepEnter, region: c.region, capture: -1})
	leave := g.add(step{op: stepLeave, region: c.region, capture: -1})
	g.link(enter, f.in)
	g.link(f.out, leave)
	g.enters = append(g.enters, enter)
	return fragment{enter, leave}
}

// keptThoughts treats thoughts that stay in the content: what may stand behind a thought, which are the beginnings of the
// tool half's output and other beginnings, may stand behind their closers in the content.
func (g *graph) keptThoughts(h *half, beginnings []int) {
	for at := range g.steps {
		s := &g.steps[at]
		if s.op != stepText || s.tray != Content || s.between {
			continue
		}
		behind := beginnings
		for _, enter := range g.enters {
			if g.steps[enter].region == s.region {
				behind = append(behind[:len(behind):len(behind)], enter)
			}
		}
		for _, rule := range h.definition.Rules {
			if rule.Role() == grammar.Thought && len(behind) > 0 {
				g.keptClosers(h, rule, at, behind)
			}
		}
	}
}

// keptClosers makes content of the closers of a thought, in a text (the step at) that thoughts are kept in.
func (g *graph) keptClosers(h *half, rule *grammar.Rule, at int, behind []int) {
	for _, sequence := range rule.Body.Alternatives {
		closer := &grammar.Sequence{Items: sequence.Items[closingFrom(sequence, h.definition):]}
		first := len(g.steps)
		f, ok := g.sequence(closer, context{half: &half{definition: h.definition}, region: g.steps[at].region, noLook: true})
		if !ok || len(closer.Items) == 0 {
			continue
		}
		for i := first; i < len(g.steps); i++ {
			if s := &g.steps[i]; s.op == stepLiteral {
				s.act, s.tray = actContent, Content
			}
		}
		g.link(at, f.in)
		for _, step := range behind {
			g.link(f.out, step)
		}
		g.link(f.out, at)
	}
}
