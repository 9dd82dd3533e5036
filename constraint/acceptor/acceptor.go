// Package acceptor tells whether a text satisfies a language, and whether the beginning of one still could. It reads
// each character once and keeps all readings that are possible, so it is right for every language, and takes time and
// memory in proportion to the text as long as few readings are possible at a time.
package acceptor

import (
	"fmt"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

// Acceptor is a compiled language. It is immutable and shared by goroutines.
type Acceptor struct {
	states []state
	start  int32
}

// state is a place in a rule.
type state struct {
	edges []edge
	empty []int32
	// call is where the rule begins that is entered here, and then where it goes on; -1 if none is.
	call, then int32
	// final: the rule is over here.
	final bool
}

type edge struct {
	first, last rune
	to          int32
}

// New compiles a language.
func New(n language.Node) *Acceptor {
	c := &compiler{a: &Acceptor{}, rules: map[*language.Rule]int32{}}
	c.a.start = c.state()
	end := c.state()
	c.add(n, c.a.start, end)
	c.a.states[end].final = true
	for len(c.todo) > 0 {
		rule := c.todo[0]
		c.todo = c.todo[1:]
		end := c.state()
		c.add(rule.Body, c.rules[rule], end)
		c.a.states[end].final = true
	}
	return c.a
}

type compiler struct {
	a     *Acceptor
	rules map[*language.Rule]int32
	todo  []*language.Rule
}

func (c *compiler) state() int32 {
	c.a.states = append(c.a.states, state{call: -1, then: -1})
	return int32(len(c.a.states) - 1)
}

func (c *compiler) link(from, to int32) {
	c.a.states[from].empty = append(c.a.states[from].empty, to)
}

func (c *compiler) edge(from int32, first, last rune, to int32) {
	c.a.states[from].edges = append(c.a.states[from].edges, edge{first, last, to})
}

// mostCounted bounds how often a counted part is written out; beyond it, it may come any number of times.
const mostCounted = 4096

func (c *compiler) add(n language.Node, from, to int32) {
	switch n := n.(type) {
	case *language.Literal:
		at := from
		for _, r := range n.Text {
			next := c.state()
			c.edge(at, r, r, next)
			at = next
		}
		c.link(at, to)
	case *language.Class:
		for _, r := range n.Ranges {
			c.edge(from, r.First, r.Last, to)
		}
	case *language.Sequence:
		at := from
		for _, item := range n.Items {
			next := c.state()
			c.add(item, at, next)
			at = next
		}
		c.link(at, to)
	case *language.Choice:
		for _, option := range n.Options {
			c.add(option, from, to)
		}
	case *language.Repeat:
		c.repeat(n, from, to)
	case *language.Rule:
		start, ok := c.rules[n]
		if !ok {
			start = c.state()
			c.rules[n] = start
			c.todo = append(c.todo, n)
		}
		at := c.state()
		c.link(from, at)
		c.a.states[at].call, c.a.states[at].then = start, to
	case *language.Regular:
		c.automaton(n.Automaton, from, to)
	case *language.Schema:
		c.add(n.Body, from, to)
	case *language.Mark:
		c.add(n.Inner, from, to)
	case *language.Free:
		c.free(n, from, to)
	default:
		panic(fmt.Sprintf("acceptor: %T is no node", n))
	}
}

func (c *compiler) repeat(n *language.Repeat, from, to int32) {
	inner := n.Inner
	if n.Min+n.Max > 8 { // written out many times: let it be a rule
		if _, ok := inner.(*language.Class); !ok {
			inner = &language.Rule{Body: inner}
		}
	}
	at := from
	for range min(n.Min, mostCounted) {
		next := c.state()
		c.add(inner, at, next)
		at = next
	}
	if n.Max < 0 || n.Max > mostCounted {
		loop := c.state()
		c.link(at, loop)
		again := c.state()
		c.add(inner, loop, again)
		c.link(again, loop)
		c.link(loop, to)
		return
	}
	for range n.Max - n.Min {
		c.link(at, to)
		next := c.state()
		c.add(inner, at, next)
		at = next
	}
	c.link(at, to)
}

func (c *compiler) automaton(a *regular.Automaton, from, to int32) {
	numbers := make([]int32, len(a.States))
	for i := range numbers {
		numbers[i] = c.state()
	}
	c.link(from, numbers[0])
	for i, s := range a.States {
		for _, e := range s.Edges {
			c.edge(numbers[i], e.First, e.Last, numbers[e.To])
		}
		if s.Accept {
			c.link(numbers[i], to)
		}
	}
}

func (c *compiler) free(n *language.Free, from, to int32) {
	first := n.First
	if first == nil {
		first = n.Text
	}
	var tags []language.Node
	for _, tag := range n.Tags {
		tags = append(tags, language.Join(language.Text(tag.Begin), tag.Rest))
	}
	tag := language.Any(tags...)
	at := c.state()
	c.add(first, from, at)
	if n.Once {
		c.add(language.Maybe(tag), at, to)
		return
	}
	c.add(language.Many(language.Join(tag, n.Text)), at, to)
}

// frame is a rule that has been entered at one place of the text, with all the places it goes back to.
type frame struct {
	returns []item
	// done: the rule can be over at the position where it was entered, so whoever enters it goes on at once.
	done bool
	// position is how many characters had been read.
	position int
}

// item is a place in a rule, and the frame of the rule.
type item struct {
	state int32
	frame *frame
}

// Reader reads one text. It belongs to one goroutine.
type Reader struct {
	a        *Acceptor
	items    []item
	next     []item
	seen     map[item]bool
	entered  map[int32]*frame
	whole    bool // the text so far satisfies the language
	position int
	partial  [utf8.UTFMax]byte
	held     int
}

// Reader starts at the beginning of a text.
func (a *Acceptor) Reader() *Reader {
	r := &Reader{a: a, seen: map[item]bool{}, entered: map[int32]*frame{}}
	r.close([]item{{a.start, nil}})
	return r
}

// close follows everything that needs no character.
func (r *Reader) close(from []item) {
	clear(r.seen)
	clear(r.entered)
	r.items = r.items[:0]
	r.whole = false
	stack := append([]item(nil), from...)
	push := func(i item) {
		if !r.seen[i] {
			r.seen[i] = true
			stack = append(stack, i)
		}
	}
	for _, i := range from {
		r.seen[i] = true
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s := &r.a.states[at.state]
		if len(s.edges) > 0 {
			r.items = append(r.items, at)
		}
		for _, to := range s.empty {
			push(item{to, at.frame})
		}
		if s.call >= 0 {
			f := r.entered[s.call]
			back := item{s.then, at.frame}
			if f == nil {
				f = &frame{position: r.position}
				r.entered[s.call] = f
			}
			f.returns = append(f.returns, back)
			push(item{s.call, f})
			if f.done {
				push(back)
			}
		}
		if s.final {
			if at.frame == nil {
				r.whole = true
				continue
			}
			if at.frame.position == r.position {
				at.frame.done = true
			}
			for _, back := range at.frame.returns {
				push(back)
			}
		}
	}
}

// Write reads more of the text. It answers false once no text that begins so satisfies the language.
func (r *Reader) Write(text string) bool {
	for len(text) > 0 {
		c, size := rune(text[0]), 1
		if r.held > 0 || c >= utf8.RuneSelf {
			r.partial[r.held] = text[0]
			r.held++
			if !utf8.FullRune(r.partial[:r.held]) {
				text = text[1:]
				continue
			}
			var used int
			c, used = utf8.DecodeRune(r.partial[:r.held])
			if c == utf8.RuneError && used <= 1 {
				r.items, r.whole, r.held = r.items[:0], false, 0 // no character: no language has it
				return false
			}
			r.held = 0
		}
		text = text[size:]
		r.step(c)
		if len(r.items) == 0 && !r.whole {
			return false
		}
	}
	return len(r.items) > 0 || r.whole
}

func (r *Reader) step(c rune) {
	r.next = r.next[:0]
	for _, at := range r.items {
		for _, e := range r.a.states[at.state].edges {
			if e.first <= c && c <= e.last {
				r.next = append(r.next, item{e.to, at.frame})
			}
		}
	}
	r.position++
	r.close(r.next)
}

// Whole tells whether what has been read satisfies the language as it stands.
func (r *Reader) Whole() bool { return r.whole && r.held == 0 }

// Accepts tells whether a text satisfies the language.
func (a *Acceptor) Accepts(text string) bool {
	r := a.Reader()
	return r.Write(text) && r.Whole() || text == "" && r.Whole()
}

// Begins tells whether some text that begins so satisfies the language.
func (a *Acceptor) Begins(text string) bool { return a.Reader().Write(text) || text == "" }
