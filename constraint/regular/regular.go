// Package regular builds deterministic automata over characters: the texts that a value may be, such as every text
// without a closing tag, or every string that a pattern matches.
//
// An automaton is made from regular expressions (Match, Search) and put together with And, Or and Not. It reads one
// character at a time and never goes back, so it can be written down as the rules of any grammar.
package regular

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

// MaxRune is the last character. Halves of surrogate pairs are no characters.
const MaxRune = unicode.MaxRune

// Range is a span of characters, both ends included.
type Range struct{ First, Last rune }

// Edge leads to a state on the characters of a range.
type Edge struct {
	Range
	To int
}

// State is one state of an automaton. Its edges do not overlap and are in the order of their characters.
type State struct {
	Accept bool
	Edges  []Edge
}

// Automaton is a deterministic automaton; it starts in state 0. Every state leads to one that accepts, unless nothing at
// all is accepted: then there is only state 0. It is immutable.
type Automaton struct{ States []State }

// TooLarge says that an automaton would have more states than the limit.
type TooLarge struct{ Limit int }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the pattern needs more than %d states", e.Limit)
}

// mostStates bounds an automaton. Grammars grow with it, and engines compile them for every request.
const mostStates = 1500

func nothing() *Automaton { return &Automaton{States: []State{{}}} }

// Empty tells whether nothing is accepted.
func (a *Automaton) Empty() bool {
	return len(a.States) == 1 && !a.States[0].Accept && len(a.States[0].Edges) == 0
}

// Accepts tells whether a text is accepted.
func (a *Automaton) Accepts(text string) bool {
	at := 0
	for _, r := range text {
		if at = a.Step(at, r); at < 0 {
			return false
		}
	}
	return a.States[at].Accept
}

// Step is the state that a character leads to, or -1.
func (a *Automaton) Step(state int, r rune) int {
	edges := a.States[state].Edges
	i := sort.Search(len(edges), func(i int) bool { return edges[i].Last >= r })
	if i < len(edges) && edges[i].First <= r {
		return edges[i].To
	}
	return -1
}

// String shows the automaton, one state a line.
func (a *Automaton) String() string {
	var out strings.Builder
	for i, s := range a.States {
		fmt.Fprintf(&out, "%d", i)
		if s.Accept {
			out.WriteString(" accepts")
		}
		for _, e := range s.Edges {
			fmt.Fprintf(&out, " %q-%q>%d", e.First, e.Last, e.To)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
