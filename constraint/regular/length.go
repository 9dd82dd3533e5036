package regular

import "slices"

// Length is the automaton of the texts of so many characters; most is -1 where there is no limit.
func Length(least, most int) (*Automaton, error) {
	if max(least, most) >= mostStates {
		return nil, &TooLarge{mostStates}
	}
	out := &Automaton{}
	for i := range max(least, most) + 1 {
		out.States = append(out.States, State{Accept: i >= least, Edges: []Edge{{Range{0, MaxRune}, i + 1}}})
	}
	last := len(out.States) - 1
	if most < 0 {
		out.States[last].Edges[0].To = last
	} else {
		out.States[last].Edges = nil
	}
	return out.trim(), nil
}

// Shortest is a shortest text that is accepted.
func (a *Automaton) Shortest() (string, bool) {
	if a.Empty() {
		return "", false
	}
	type step struct {
		from int
		r    rune
	}
	came := map[int]step{0: {-1, 0}}
	queue := []int{0}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		if a.States[at].Accept {
			var text []rune
			for at != 0 {
				text = append(text, came[at].r)
				at = came[at].from
			}
			slices.Reverse(text)
			return string(text), true
		}
		for _, e := range a.States[at].Edges {
			if _, ok := came[e.To]; !ok {
				came[e.To] = step{at, readable(e.Range)}
				queue = append(queue, e.To)
			}
		}
	}
	return "", false
}

// readable is a character of a range, a letter if there is one.
func readable(r Range) rune {
	for _, c := range "ax_A0 " {
		if r.First <= c && c <= r.Last {
			return c
		}
	}
	return r.First
}

// Distances are how many characters are missing, at least, from each state to one that accepts.
func (a *Automaton) Distances() []int {
	out := make([]int, len(a.States))
	for i := range out {
		out[i] = len(a.States)
		if a.States[i].Accept {
			out[i] = 0
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range a.States {
			for _, e := range a.States[i].Edges {
				if out[e.To]+1 < out[i] {
					out[i], changed = out[e.To]+1, true
				}
			}
		}
	}
	return out
}
