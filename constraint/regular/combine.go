package regular

import (
	"slices"
)

// Not is the automaton of all other texts. The error is a *TooLarge; so it is for And and Or.
func (a *Automaton) Not() (*Automaton, error) {
	return combined(operation{a, nil, '!'}, func(one, _ bool) bool { return !one })
}

// And is the automaton of the texts that both accept.
func (a *Automaton) And(b *Automaton) (*Automaton, error) {
	return combined(operation{a, b, '&'}, func(one, two bool) bool { return one && two })
}

// Or is the automaton of the texts that at least one accepts.
func (a *Automaton) Or(b *Automaton) (*Automaton, error) {
	return combined(operation{a, b, '|'}, func(one, two bool) bool { return one || two })
}

// operation is two automata, by their address, and how they are put together.
type operation struct {
	a, b *Automaton
	by   byte
}

// results keeps what operations came to.
var results kept[operation]

func combined(o operation, accept func(one, two bool) bool) (*Automaton, error) {
	return results.get(o, func() (*Automaton, error) { return combine(o.a, o.b, accept) })
}

// combine runs two automata side by side; b may be nil. A missing edge leads to a state -1 that never accepts.
func combine(a, b *Automaton, accept func(one, two bool) bool) (*Automaton, error) {
	type pair struct{ one, two int }
	out := &Automaton{}
	numbers := map[pair]int{}
	var queue []pair
	accepts := func(m *Automaton, state int) bool { return m != nil && state >= 0 && m.States[state].Accept }
	number := func(p pair) int {
		if n, ok := numbers[p]; ok {
			return n
		}
		numbers[p] = len(out.States)
		out.States = append(out.States, State{Accept: accept(accepts(a, p.one), accepts(b, p.two))})
		queue = append(queue, p)
		return numbers[p]
	}
	start := pair{0, -1}
	if b != nil {
		start.two = 0
	}
	number(start)
	edges := func(m *Automaton, state int) []Edge {
		if m == nil || state < 0 {
			return nil
		}
		return m.States[state].Edges
	}
	for i := 0; i < len(queue); i++ {
		if len(out.States) > mostStates {
			return nil, &TooLarge{mostStates}
		}
		p := queue[i]
		if p.one < 0 && p.two < 0 && !accept(false, false) {
			continue
		}
		one, two := edges(a, p.one), edges(b, p.two)
		var list []Edge
		for _, r := range split(one, two) {
			next := pair{target(one, r.First), target(two, r.First)}
			if next.one < 0 && next.two < 0 && !accept(false, false) {
				continue
			}
			list = append(list, Edge{r, number(next)})
		}
		out.States[i].Edges = list
	}
	return out.trim(), nil
}

// target is where a character leads, or -1.
func target(edges []Edge, r rune) int {
	for _, e := range edges {
		if e.First <= r && r <= e.Last {
			return e.To
		}
	}
	return -1
}

// split cuts all characters into ranges in which no edge begins or ends.
func split(lists ...[]Edge) (out []Range) {
	cuts := []rune{0}
	for _, list := range lists {
		for _, e := range list {
			cuts = append(cuts, e.First, e.Last+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i, first := range cuts {
		last := rune(MaxRune)
		if i+1 < len(cuts) {
			last = cuts[i+1] - 1
		}
		if first <= last {
			out = append(out, Range{first, last})
		}
	}
	return out
}
