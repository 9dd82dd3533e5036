// Package sample writes random texts of a language, with what they mean. Tests hold parsers and engines against them.
package sample

import (
	"math/rand/v2"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

// Span is a piece of a text that a mark speaks of, in bytes.
type Span struct {
	Role       language.Role
	Name       string
	Start, End int
	// Depth is how many marks are around it.
	Depth int
}

// Sampler writes texts. It belongs to one goroutine.
type Sampler struct {
	random *rand.Rand
	rules  map[*language.Rule]int
	out    strings.Builder
	spans  []Span
	depth  int
	budget int
}

// New makes a Sampler for a language.
func New(n language.Node, random *rand.Rand) *Sampler {
	s := &Sampler{random: random, rules: map[*language.Rule]int{}}
	rules := language.Rules(n)
	for _, r := range rules {
		s.rules[r] = never
	}
	for changed := true; changed; {
		changed = false
		for _, r := range rules {
			if c := s.least(r.Body); c < s.rules[r] {
				s.rules[r], changed = c, true
			}
		}
	}
	return s
}

const never = 1 << 30

// least is how long the shortest text of a node is, roughly.
func (s *Sampler) least(n language.Node) int {
	sum := func(a, b int) int { return min(a+b, never) }
	switch n := n.(type) {
	case *language.Literal:
		return len(n.Text)
	case *language.Class:
		return 1
	case *language.Sequence:
		total := 0
		for _, item := range n.Items {
			total = sum(total, s.least(item))
		}
		return total
	case *language.Choice:
		best := never
		for _, option := range n.Options {
			best = min(best, s.least(option))
		}
		return best
	case *language.Repeat:
		if n.Min == 0 {
			return 0
		}
		one := s.least(n.Inner)
		if one >= never/n.Min {
			return never
		}
		return n.Min * one
	case *language.Rule:
		return s.rules[n]
	case *language.Regular:
		if n.Automaton.Empty() {
			return never
		}
		text, _ := n.Automaton.Shortest()
		return len(text)
	case *language.Schema:
		return s.least(n.Body)
	case *language.Mark:
		return s.least(n.Inner)
	}
	return 0
}

// Text writes one text, of about as many characters as budget where the language allows it, with its marks in the order
// in which they begin.
func (s *Sampler) Text(n language.Node, budget int) (string, []Span) {
	s.out.Reset()
	s.spans, s.depth, s.budget = nil, 0, budget
	s.write(n)
	return s.out.String(), s.spans
}

func (s *Sampler) write(n language.Node) {
	switch n := n.(type) {
	case *language.Literal:
		s.out.WriteString(n.Text)
	case *language.Class:
		s.character(n.Ranges)
	case *language.Sequence:
		for _, item := range n.Items {
			s.write(item)
		}
	case *language.Choice:
		s.choose(n.Options)
	case *language.Repeat:
		for range n.Min {
			s.write(n.Inner)
		}
		for i := n.Min; (n.Max < 0 || i < n.Max) && s.out.Len() < s.budget && s.random.IntN(4) > 0 && s.least(n.Inner) < never; i++ {
			s.write(n.Inner)
		}
	case *language.Rule:
		s.write(n.Body)
	case *language.Schema:
		s.write(n.Body)
	case *language.Regular:
		s.regular(n.Automaton)
	case *language.Mark:
		at := len(s.spans)
		s.spans = append(s.spans, Span{Role: n.Role, Name: n.Name, Start: s.out.Len(), Depth: s.depth})
		s.depth++
		s.write(n.Inner)
		s.depth--
		s.spans[at].End = s.out.Len()
	case *language.Free:
		s.free(n)
	}
}

func (s *Sampler) choose(options []language.Node) {
	if s.out.Len() > s.budget {
		best := options[0]
		for _, option := range options {
			if s.least(option) < s.least(best) {
				best = option
			}
		}
		s.write(best)
		return
	}
	for {
		if option := options[s.random.IntN(len(options))]; s.least(option) < never {
			s.write(option)
			return
		}
	}
}

func (s *Sampler) character(ranges []regular.Range) {
	s.out.WriteRune(pick(s.random, ranges[s.random.IntN(len(ranges))]))
}

// pick is a character of a range, mostly an ordinary one.
func pick(random *rand.Rand, r regular.Range) rune {
	const ordinary = "aeinorst 0159.,-_<>/\"'\\{}[]():=|&\n\téß漢😀"
	if random.IntN(8) > 0 {
		letters := []rune(ordinary)
		for range 8 {
			if c := letters[random.IntN(len(letters))]; r.First <= c && c <= r.Last {
				return c
			}
		}
	}
	last := r.Last
	if r.First < 128 && last > 128 && random.IntN(8) > 0 {
		last = 126
	}
	for {
		c := r.First + rune(random.IntN(int(last-r.First)+1))
		if c < 0xd800 || c > 0xdfff {
			return c
		}
		if r.First >= 0xd800 && r.Last <= 0xdfff {
			return 'x'
		}
	}
}

func (s *Sampler) regular(a *regular.Automaton) {
	distance := a.Distances()
	at := 0
	for {
		state := &a.States[at]
		tired := s.out.Len() >= s.budget
		if state.Accept && (len(state.Edges) == 0 || tired || s.random.IntN(12) == 0) {
			return
		}
		e := state.Edges[s.random.IntN(len(state.Edges))]
		if tired {
			for _, other := range state.Edges {
				if distance[other.To] < distance[e.To] {
					e = other
				}
			}
		}
		s.out.WriteRune(pick(s.random, e.Range))
		at = e.To
	}
}

func (s *Sampler) free(n *language.Free) {
	first := n.First
	if first == nil {
		first = n.Text
	}
	text := func(r *language.Regular) { s.write(&language.Mark{Role: language.Content, Inner: r}) }
	text(first)
	for i := 0; len(n.Tags) > 0 && (!n.Once || i == 0) && s.out.Len() < s.budget && s.random.IntN(3) > 0; i++ {
		tag := n.Tags[s.random.IntN(len(n.Tags))]
		s.out.WriteString(tag.Begin)
		s.write(tag.Rest)
		if !n.Once {
			text(n.Text)
		}
	}
}
