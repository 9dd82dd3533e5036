package program

import "github.com/parlance-llm/parlance/internal/grammar"

// compose puts the halves together (notation §1.5) and builds the graph.
func (c *compiler) compose() {
	o, g := c.options, c.graph
	thoughts := o.Reasoning != nil && c.thoughtsKey() != "content"
	var root *half
	switch {
	case o.Tool == nil:
		root = &half{definition: o.Reasoning, thoughts: thoughts}
	case o.Reasoning == nil:
		root = &half{definition: o.Tool, calls: !o.NoCalls}
	case o.Reasoning.Format == o.Tool.Format:
		root = &half{definition: o.Tool, thoughts: thoughts, calls: !o.NoCalls}
	default:
		tool := &half{definition: o.Tool, calls: !o.NoCalls}
		root = &half{definition: o.Reasoning, thoughts: thoughts, content: tool}
		g.halves = append(g.halves, tool)
	}
	g.halves = append(g.halves, root)
	f, ok := g.build(root.definition.Output(), context{half: root, region: outside})
	if !ok {
		g.fail(root, grammar.Position{}, "nothing of the output can be read with these halves")
	}
	g.start = f.in
	var beginnings []int
	if o.Forced != NotForced && o.Plain != nil {
		beginnings = []int{c.plain()}
	}
	if o.Reasoning != nil && !thoughts {
		g.keptThoughts(root, beginnings)
	}
	g.strays()
	c.findCopies()
}

func (c *compiler) thoughtsKey() string {
	if c.options.Name != nil && c.options.Name.Thoughts != "" {
		return c.options.Name.Thoughts
	}
	return c.options.Reasoning.Thoughts
}

// plain puts the plain JSON in front of what is left after the thought. It answers where it begins.
func (c *compiler) plain() int {
	g := c.graph
	name := "required"
	if c.options.Forced == Named {
		name = "named"
	}
	h := &half{definition: c.options.Plain, calls: true}
	f, ok := g.build(c.options.Plain.Rule(name).Body, context{half: h, region: outside})
	if !ok {
		panic("program: the plain definition cannot be read")
	}
	g.link(g.start, f.in)
	for _, over := range g.over {
		g.link(over, f.in)
	}
	for at := range g.steps { // thoughts that are messages
		s := &g.steps[at]
		if s.op != stepText || s.tray != Reasoning {
			continue
		}
		if message := c.around(s.region, grammar.Message); message != outside {
			g.link(g.regions[message].exit, f.in)
		}
	}
	return f.in
}
