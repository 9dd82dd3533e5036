package regular

import (
	"cmp"
	"maps"
	"slices"
)

// Escaped is the automaton of the same texts with some characters written as an escape: mark and then the letter given.
// Characters below first that have no escape are left out.
func (a *Automaton) Escaped(mark rune, letters map[rune]rune, first rune) *Automaton {
	out := &Automaton{States: make([]State, len(a.States))}
	var special []rune
	for r := range letters {
		special = append(special, r)
	}
	slices.Sort(special)
	for i, s := range a.States {
		var plain, escaped []Edge
		for _, e := range s.Edges {
			from := max(e.First, first)
			for _, r := range special {
				if r < e.First || r > e.Last {
					continue
				}
				escaped = append(escaped, Edge{Range{letters[r], letters[r]}, e.To})
				if r >= from {
					if from < r {
						plain = append(plain, Edge{Range{from, r - 1}, e.To})
					}
					from = r + 1
				}
			}
			if from <= e.Last {
				plain = append(plain, Edge{Range{from, e.Last}, e.To})
			}
		}
		if len(escaped) > 0 {
			slices.SortFunc(escaped, func(x, y Edge) int { return int(x.First - y.First) })
			plain = append(plain, Edge{Range{mark, mark}, len(out.States)})
			out.States = append(out.States, State{Edges: escaped})
		}
		slices.SortFunc(plain, func(x, y Edge) int { return int(x.First - y.First) })
		out.States[i] = State{Accept: s.Accept, Edges: plain}
	}
	return out.trim()
}

// Spelled is the automaton of the same texts with some characters written as one of several texts each. No two of the
// texts of all may begin alike and end differently: none is the beginning of another.
func (a *Automaton) Spelled(spellings map[rune][]string) *Automaton {
	out := &Automaton{States: make([]State, len(a.States))}
	special := slices.Sorted(maps.Keys(spellings))
	// write adds a way to write a text from one state to another.
	write := func(from int, text []rune, to int) {
		for i, r := range text {
			next := to
			if i+1 < len(text) {
				if next = target(out.States[from].Edges, r); next < 0 {
					next = len(out.States)
					out.States = append(out.States, State{})
				} else {
					from = next
					continue
				}
			}
			at, _ := slices.BinarySearchFunc(out.States[from].Edges, r, func(e Edge, r rune) int { return cmp.Compare(e.First, r) })
			out.States[from].Edges = slices.Insert(out.States[from].Edges, at, Edge{Range{r, r}, next})
			from = next
		}
	}
	for i, s := range a.States {
		out.States[i].Accept = s.Accept
		for _, e := range s.Edges {
			from := e.First
			for _, r := range special {
				if r < e.First || r > e.Last {
					continue
				}
				if from < r {
					out.States[i].Edges = append(out.States[i].Edges, Edge{Range{from, r - 1}, e.To})
				}
				from = r + 1
			}
			if from <= e.Last {
				out.States[i].Edges = append(out.States[i].Edges, Edge{Range{from, e.Last}, e.To})
			}
		}
		for _, e := range s.Edges {
			for _, r := range special {
				for _, text := range spellings[r] {
					if r >= e.First && r <= e.Last {
						write(i, []rune(text), e.To)
					}
				}
			}
		}
	}
	return out.trim()
}
