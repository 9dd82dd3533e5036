package regular

import (
	"encoding/binary"
	"slices"
)

// trim takes out the states from which nothing can be accepted, joins states that accept the same texts, and ranges
// that stand side by side.
func (a *Automaton) trim() *Automaton {
	live := make([]bool, len(a.States))
	for i := range a.States {
		live[i] = a.States[i].Accept
	}
	for changed := true; changed; {
		changed = false
		for i := range a.States {
			if live[i] {
				continue
			}
			for _, e := range a.States[i].Edges {
				if live[e.To] {
					live[i], changed = true, true
					break
				}
			}
		}
	}
	if !live[0] {
		return nothing()
	}
	for i := range a.States {
		a.States[i].Edges = slices.DeleteFunc(a.States[i].Edges, func(e Edge) bool { return !live[e.To] })
	}
	return a.minimize()
}

// minimize joins states that accept the same texts, by refining a partition until it holds.
func (a *Automaton) minimize() *Automaton {
	class := make([]int, len(a.States))
	for i := range a.States {
		if a.States[i].Accept {
			class[i] = 1
		}
	}
	count := 0
	var key []byte
	for {
		numbers := map[string]int{}
		next := make([]int, len(a.States))
		for i := range a.States {
			key = binary.AppendVarint(key[:0], int64(class[i]))
			for _, e := range joined(a.States[i].Edges, class) {
				key = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(key, int64(e.First)), int64(e.Last)), int64(e.To))
			}
			n, ok := numbers[string(key)]
			if !ok {
				n = len(numbers)
				numbers[string(key)] = n
			}
			next[i] = n
		}
		class = next
		if len(numbers) == count {
			break
		}
		count = len(numbers)
	}
	out := &Automaton{States: make([]State, count)}
	order := make([]int, count) // classes in the order in which they are reached
	for i := range order {
		order[i] = -1
	}
	sample := make([]int, count)
	for i := len(a.States) - 1; i >= 0; i-- {
		sample[class[i]] = i
	}
	reached := []int{class[0]}
	order[class[0]] = 0
	for i := 0; i < len(reached); i++ {
		for _, e := range joined(a.States[sample[reached[i]]].Edges, class) {
			if order[e.To] < 0 {
				order[e.To] = len(reached)
				reached = append(reached, e.To)
			}
		}
	}
	out.States = out.States[:len(reached)]
	for i, c := range reached {
		state := a.States[sample[c]]
		edges := joined(state.Edges, class)
		for k := range edges {
			edges[k].To = order[edges[k].To]
		}
		out.States[i] = State{Accept: state.Accept, Edges: edges}
	}
	return out
}

// joined gives edges with their targets mapped, neighbours with the same target made one.
func joined(edges []Edge, class []int) (out []Edge) {
	for _, e := range edges {
		to := class[e.To]
		if n := len(out); n > 0 && out[n-1].To == to && out[n-1].Last+1 == e.First {
			out[n-1].Last = e.Last
			continue
		}
		out = append(out, Edge{e.Range, to})
	}
	return out
}
