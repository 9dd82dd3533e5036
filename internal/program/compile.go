package program

import (
	"fmt"
	"slices"

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

func places(steps []int) (out []place) {
	for _, step := range steps {
		out = append(out, place{step, 0})
	}
	return out
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
