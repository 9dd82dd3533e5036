package dialect

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/parlance-llm/parlance/constraint/regular"
)

// automaton is the name of the rule of an automaton, which is written as rules, one a state, if it has not been.
func (w *writer) automaton(a *regular.Automaton) string {
	if name, ok := w.automata[a]; ok {
		return name
	}
	if a.Empty() {
		return w.never
	}
	name := w.fresh("text")
	w.automata[a] = name
	if w.leftward {
		w.left(a, name)
	} else {
		w.right(a, name)
	}
	return name
}

// targets are the states that the edges of one lead to, each once.
func targets(s *regular.State) (order []int) {
	var met map[int]bool
	for _, e := range s.Edges {
		if met == nil && len(order) > 16 {
			met = make(map[int]bool, len(s.Edges))
			for _, to := range order {
				met[to] = true
			}
		}
		if met == nil && slices.Contains(order, e.To) || met[e.To] {
			continue
		}
		if met != nil {
			met[e.To] = true
		}
		order = append(order, e.To)
	}
	return order
}

// edge appends the class of the characters that lead from a state to another.
func (w *writer) edge(dst []byte, s *regular.State, to int) []byte {
	w.ranges = w.ranges[:0]
	for _, e := range s.Edges {
		if e.To == to {
			w.ranges = append(w.ranges, e.Range)
		}
	}
	return w.short(dst, w.ranges)
}

// states are the names of the states of an automaton, from one on.
func (w *writer) states(a *regular.Automaton, name string, from int) []string {
	names := make([]string, len(a.States))
	for i := from; i < len(names); i++ {
		w.name = append(append(w.name[:0], name...), w.dash)
		w.name = strconv.AppendInt(w.name, int64(i), 10)
		names[i] = w.take()
	}
	return names
}

// right writes a rule a state: what may follow.
func (w *writer) right(a *regular.Automaton, name string) {
	names := w.states(a, name, 1)
	names[0] = name
	for i := range a.States {
		s := &a.States[i]
		if i > 0 && len(s.Edges) == 0 {
			continue // never referred to
		}
		at, outer := w.begin(names[i])
		order := targets(s)
		loop := slices.Contains(order, i)
		if loop {
			w.out = append(w.edge(w.out, s, i), '*')
		}
		if !loop || len(order) > 1 || !s.Accept {
			if loop {
				w.text(" ( ")
			}
			w.onward(a, i, order, names)
			if loop {
				w.text(" )")
			}
		}
		w.end(at, outer)
	}
}

// onward writes what may follow in a state: nothing, or what leads to another.
func (w *writer) onward(a *regular.Automaton, i int, order []int, names []string) {
	s := &a.States[i]
	first := true
	separate := func() {
		if !first {
			w.text(" | ")
		}
		first = false
	}
	if s.Accept {
		separate()
		w.text(w.empty)
	}
	for _, to := range order {
		if to == i {
			continue
		}
		separate()
		w.out = w.edge(w.out, s, to)
		if len(a.States[to].Edges) > 0 {
			w.text(" ")
			w.text(names[to])
		}
	}
}

// left writes a rule a state: what leads to it.
func (w *writer) left(a *regular.Automaton, name string) {
	names := w.states(a, name, 0)
	into := make([][]byte, len(a.States))
	into[0] = append(into[0], w.empty...)
	at, outer := w.begin(name)
	first := true
	for i := range a.States {
		s := &a.States[i]
		if s.Accept {
			if !first {
				w.text(" | ")
			}
			first = false
			w.text(names[i])
		}
		for _, to := range targets(s) {
			if len(into[to]) > 0 {
				into[to] = append(into[to], " | "...)
			}
			into[to] = append(append(into[to], names[i]...), ' ')
			into[to] = w.edge(into[to], s, to)
		}
	}
	w.end(at, outer)
	for i := range names {
		at, outer := w.begin(names[i])
		w.out = append(w.out, into[i]...)
		w.end(at, outer)
	}
}

// short appends a class as what it leaves out, where that is shorter. It may reorder the ranges.
func (w *writer) short(dst []byte, ranges []regular.Range) []byte {
	slices.SortFunc(ranges, func(a, b regular.Range) int { return cmp.Compare(a.First, b.First) })
	w.rest = w.rest[:0]
	from := rune(0)
	for _, r := range ranges {
		if r.First > from {
			w.rest = append(w.rest, regular.Range{First: from, Last: r.First - 1})
		}
		from = r.Last + 1
	}
	if from <= regular.MaxRune {
		w.rest = append(w.rest, regular.Range{First: from, Last: regular.MaxRune})
	}
	if len(w.rest) > 0 && len(w.rest) < len(ranges) || len(w.rest) == 1 && ranges[len(ranges)-1].Last == regular.MaxRune {
		return w.class(dst, w.rest, true)
	}
	return w.class(dst, ranges, false)
}
