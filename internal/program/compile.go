package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
)

// Forced says which plain JSON is read in front of the format's own calls (ruling 16).
type Forced uint8

const (
	// NotForced: none.
	NotForced Forced = iota
	// Required: an array of {name, parameters}.
	Required
	// Named: the bare argument object of the named tool.
	Named
)

// Options say what to compile: which halves of which definitions, and for which vocabulary.
type Options struct {
	// Tool and Reasoning are the definitions of the halves; nil if a half is not chosen. They may be the same.
	Tool, Reasoning *grammar.Definition
	// Name is the reasoning-parser name, whose keys may differ; nil with no reasoning half.
	Name *grammar.ReasoningName
	// NoCalls: the tool half is not read although it is chosen (tool_choice none).
	NoCalls bool
	Forced  Forced
	// Plain is the definition of the plain JSON; needed where Forced is set.
	Plain *grammar.Definition
	// Tokens are the literals (or parts) that count only as whole tokens, in the order of their numbers.
	Tokens []string
	// Holes fills the holes in literals.
	Holes map[string]string
}

// Program is a compiled combination. It is immutable and shared by any number of streams.
type Program struct {
	Nodes []*Node
	// Start are the nodes a turn can begin in, by mode.
	Start [modes]Starts
	// Captures are the names of the captures; Patterns split some of them.
	Captures []string
	Patterns map[int]*grammar.Choice
	// Tokens are the texts of the whole tokens.
	Tokens [][]byte
	// Opener is the first marker of a thought, or "": what append_think puts back.
	Opener string
	// MessageOpeners are the first markers of the messages of each half that has any.
	MessageOpeners []string
	Options        Options
	Join           string
}

// Starts are the nodes a turn can begin in.
type Starts struct {
	// Outside: nothing is open. Inside: in a thought, nil if there is none. After: behind the thought.
	Outside, Inside, After *Node
}

// Compile compiles a combination. Errors are of type *grammar.Error: a text that can be read in two ways is refused,
// with both.
func Compile(o Options) (p *Program, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case unsayable:
			err = r.err
		default:
			panic(r)
		}
	}()
	c := &compiler{options: o, graph: &graph{patterns: map[int]*grammar.Choice{}}, nodes: map[string]*Node{}, again: map[*Node]func(Mode) *Node{}, tables: map[string]*match.Table{}, inRun: map[int]int{}, values: map[*Node]int{}, begins: map[*Node]bool{}, closures: map[string]closure{}, copies: map[int]bool{}, covered: map[[3]int]bool{}}
	for _, token := range o.Tokens {
		c.tokens = append(c.tokens, []byte(token))
	}
	if len(c.tokens) > 0 {
		c.graph.token = func(literal string) bool {
			return slices.ContainsFunc(c.symbols(c.fill(literal)), func(s match.Symbol) bool { return s >= match.FirstToken })
		}
	}
	c.compose()
	return c.program()
}

type compiler struct {
	options Options
	graph   *graph
	nodes   map[string]*Node
	order   []*Node
	again   map[*Node]func(Mode) *Node
	tables  map[string]*match.Table
	tokens  [][]byte
	inRun   map[int]int // by region of the call: the step of the loop of closers in a value
	values  map[*Node]int
	// begins are the texts at whose beginning something may stand that may not stand later: they have an OnText, though
	// perhaps not yet.
	begins map[*Node]bool
	// copies are steps that were made from the same place of a definition as others; covered is what is known of pairs of
	// them; see twins.go.
	copies  map[int]bool
	covered map[[3]int]bool
	// closures are the closures made so far, by their places and their reach.
	closures map[string]closure
}

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
	g.start, g.finish = f.in, f.out
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

func (c *compiler) program() (*Program, error) {
	g := c.graph
	p := &Program{Tokens: c.tokens, Options: c.options}
	for mode := On; mode < modes; mode++ {
		s := &p.Start[mode]
		s.Outside = c.text([]place{{g.start, 0}}, mode, outside)
		if len(g.thoughts) > 0 {
			s.Inside = c.text(places(g.thoughts), mode, outside)
			s.After = c.text(places(g.over), mode, outside)
		} else {
			s.After = s.Outside
		}
	}
	for i := 0; i < len(c.order); i++ {
		n := c.order[i]
		if again := c.again[n]; again != nil {
			n.Twins[On], n.Twins[Off] = again(On), again(Off)
		}
	}
	p.Nodes = c.order
	for _, n := range p.Nodes {
		if n.Kind == Envelope {
			c.closers(n)
		}
		c.finish(n)
	}
	p.Captures, p.Patterns = g.captures, g.patterns
	for _, h := range g.halves {
		if h.definition.Join != "" {
			p.Join = h.definition.Join
		}
	}
	if openers := c.openers(grammar.Thought); len(openers) > 0 {
		p.Opener = openers[0]
	}
	p.MessageOpeners = c.openers(grammar.Message)
	return p, nil
}

// openers are the first literals of a role in each half that has it, those of the reasoning half first.
func (c *compiler) openers(role grammar.Role) (out []string) {
half:
	for _, d := range []*grammar.Definition{c.options.Reasoning, c.options.Tool} {
		if d == nil {
			continue
		}
		for _, rule := range d.Rules {
			if rule.Role() != role {
				continue
			}
			if marker := opener(rule, d); marker != "" {
				if marker = c.fill(marker); !slices.Contains(out, marker) {
					out = append(out, marker)
				}
				continue half
			}
		}
	}
	return out
}

func places(steps []int) (out []place) {
	for _, step := range steps {
		out = append(out, place{step, 0})
	}
	return out
}

// fill fills the holes of a literal.
func (c *compiler) fill(literal string) string {
	for _, h := range c.graph.halves {
		for name := range h.definition.Holes {
			literal = strings.ReplaceAll(literal, "{"+name+"}", c.options.Holes[name])
		}
	}
	return literal
}

// symbols writes a literal as symbols: the parts that are whole tokens as tokens, the rest as bytes.
func (c *compiler) symbols(literal string) (out []match.Symbol) {
next:
	for i := 0; i < len(literal); {
		best := -1
		for k, token := range c.tokens {
			if strings.HasPrefix(literal[i:], string(token)) && (best < 0 || len(token) > len(c.tokens[best])) {
				best = k
			}
		}
		if best >= 0 {
			out = append(out, match.FirstToken+match.Symbol(best))
			i += len(c.tokens[best])
			continue next
		}
		out = append(out, match.Symbol(literal[i]))
		i++
	}
	return out
}

// table compiles a set of literals, or finds the same set compiled before.
func (c *compiler) table(literals []string, watch []match.Watch, search bool) *match.Table {
	key := fmt.Sprintf("%q %v %v", literals, watch, search)
	if t, ok := c.tables[key]; ok {
		return t
	}
	set := make([]match.Literal, len(literals))
	for i, literal := range literals {
		set[i] = match.Literal{Symbols: c.symbols(literal)}
		if watch != nil {
			set[i].Watch = watch[i]
		}
	}
	build := match.Anchored
	if search {
		build = match.Search
	}
	t, err := build(set, c.tokens)
	if err != nil {
		c.fail(grammar.Position{}, "the markers %q: %v", literals, err)
	}
	c.tables[key] = t
	return t
}

func (c *compiler) file() string {
	if c.options.Tool != nil {
		return c.options.Tool.File
	}
	return c.options.Reasoning.File
}

// node finds a node by its key, or makes it; made tells whether it has to be filled.
func (c *compiler) node(kind Kind, key string) (n *Node, made bool) {
	key = fmt.Sprint(kind, " ", key)
	if n, ok := c.nodes[key]; ok {
		return n, false
	}
	n = &Node{Number: len(c.order), Kind: kind, Block: outside, Body: outside, Call: outside, Capture: outside}
	c.nodes[key] = n
	c.order = append(c.order, n)
	return n, true
}

// fail refuses a definition.
func (c *compiler) fail(at grammar.Position, format string, arguments ...any) {
	panic(unsayable{&grammar.Error{File: c.file(), Position: at, Message: fmt.Sprintf(format, arguments...)}})
}

// ambiguous refuses a definition because of a text that can be read in two ways.
func (c *compiler) ambiguous(a, b item, what string) {
	one, two := &c.graph.steps[a.step], &c.graph.steps[b.step]
	line := func(at grammar.Position) string {
		if at.Line == 0 { // the rule comes from a response template
			return ""
		}
		return fmt.Sprintf(" in line %d", at.Line)
	}
	c.fail(one.at, "ambiguous: %s can be read as %s%s and as %s%s, and no rule decides",
		what, c.describe(one), line(one.at), c.describe(two), line(two.at))
}

func (c *compiler) describe(s *step) string {
	role := "the output"
	if s.region != outside {
		role = "the " + string(c.graph.regions[s.region].role)
	}
	name := ""
	if s.capture >= 0 {
		name = " @" + c.graph.captures[s.capture]
	}
	switch s.op {
	case stepLiteral, stepKeyword:
		return fmt.Sprintf("the marker %q of %s", s.literal, role)
	case stepWord:
		return "a word" + name + " of " + role
	case stepUntil, stepAttribute:
		return "the text" + name + " of " + role
	case stepText:
		return fmt.Sprintf("%s of %s", [...]string{"content", "reasoning", "dropped text", "junk"}[s.tray], role)
	case stepValue:
		return "the value of " + role
	}
	return "the arguments of " + role
}

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

// echoes are the echo marks on the way of the sources.
func echoes(sources []source) (do Do) {
	for _, s := range sources {
		do |= s.echo
	}
	return do
}

func hasLetter(literal string) bool {
	for _, r := range literal {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 128 && !strings.ContainsRune("｜▁", r) {
			return true
		}
	}
	return false
}

// call gives the call a step stands in, or outside.
func (c *compiler) call(step int) int { return c.around(c.graph.steps[step].region, grammar.Call) }

// around gives the nearest region of a role at or above a region, or outside.
func (c *compiler) around(region int, role grammar.Role) int {
	for r := region; r != outside; r = c.graph.regions[r].parent {
		if c.graph.regions[r].role == role {
			return r
		}
	}
	return outside
}

// inside tells whether a region is, or lies in, another.
func (c *compiler) inside(region, other int) bool {
	for r := region; r != outside; r = c.graph.regions[r].parent {
		if r == other {
			return true
		}
	}
	return false
}

// finish fills in what follows from the rest of a node.
func (c *compiler) finish(n *Node) {
	var edge func(e *Edge)
	edge = func(e *Edge) {
		e.Bytes, e.Symbols = []byte(e.Text), c.symbols(e.Text)
		n.SwallowsBlank = n.SwallowsBlank || e.Do&Blank != 0
		for i := range e.Branches {
			e.Branches[i].Edge.Text = e.Text
			edge(&e.Branches[i].Edge)
		}
	}
	n.Steady = n.Kind == Text && n.OnText == nil && (n.Tray == Content || n.Tray == Reasoning)
	for i := range n.Edges {
		edge(&n.Edges[i])
	}
	for word, e := range n.Keywords {
		edge(&e)
		n.Keywords[word] = e
	}
	if n.Words != nil {
		edge(&n.Words.Edge)
	}
	if n.Value != nil {
		for i := range n.Value.StartEdges {
			edge(&n.Value.StartEdges[i])
		}
	}
}
