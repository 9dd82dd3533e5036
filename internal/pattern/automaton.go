package pattern

import (
	"fmt"
	"slices"
)

// Automaton recognises a run character by character. Its first state is 0. It is immutable.
type Automaton struct {
	ascii   [128]uint8
	wide    []classed // the classes of the other characters
	width   int
	next    []int16 // by state and class; -1 where nothing follows
	accepts []bool
}

type classed struct {
	Range
	class uint8
}

// Next gives the state behind a character, or false if the character cannot follow.
func (a *Automaton) Next(state int, r rune) (int, bool) {
	class := uint8(0)
	if r < 128 {
		class = a.ascii[r]
	} else if k, found := slices.BinarySearchFunc(a.wide, r, func(in classed, r rune) int {
		switch {
		case in.Last < r:
			return -1
		case in.First > r:
			return 1
		}
		return 0
	}); found {
		class = a.wide[k].class
	}
	to := a.next[state*a.width+int(class)]
	return int(to), to >= 0
}

// Accepts tells whether a run may end in a state.
func (a *Automaton) Accepts(state int) bool { return a.accepts[state] }

// Matches tells whether a text is a run from its beginning to its end.
func (a *Automaton) Matches(text string) bool {
	state, ok := 0, true
	for _, r := range text {
		if state, ok = a.Next(state, r); !ok {
			return false
		}
	}
	return a.accepts[state]
}

const (
	mostSteps  = 20_000 // of the non-deterministic automaton
	mostStates = 2_000
)

// steps are a non-deterministic automaton: a step either leads on for nothing (out) or takes a character of a set.
type steps struct {
	set []Set
	out [][]int
	e   *Expression
	at  int
}

func (s *steps) add(set Set) int {
	if len(s.out) > mostSteps {
		panic(s.e.fail(s.at, "the repetitions make the pattern too large"))
	}
	s.set = append(s.set, set)
	s.out = append(s.out, nil)
	return len(s.out) - 1
}

// build writes a node out between two steps.
func (s *steps) build(n *node, from, to int) {
	switch n.op {
	case opEmpty:
		s.out[from] = append(s.out[from], to)
	case opSet:
		step := s.add(n.set)
		s.out[from] = append(s.out[from], step)
		s.out[step] = append(s.out[step], to)
	case opCat:
		for _, sub := range n.subs {
			next := s.add(nil)
			s.build(sub, from, next)
			from = next
		}
		s.out[from] = append(s.out[from], to)
	case opAlt:
		for _, sub := range n.subs {
			s.build(sub, from, to)
		}
	case opGroup:
		s.build(n.subs[0], from, to)
	case opRepeat:
		for range n.min {
			next := s.add(nil)
			s.build(n.subs[0], from, next)
			from = next
		}
		if n.max == unbounded {
			loop, end := s.add(nil), s.add(nil)
			s.out[from] = append(s.out[from], loop)
			s.build(n.subs[0], loop, end)
			s.out[end] = append(s.out[end], loop, to)
			s.out[loop] = append(s.out[loop], to)
			return
		}
		for k := n.min; k < n.max; k++ {
			next := s.add(nil)
			s.out[from] = append(s.out[from], to)
			s.build(n.subs[0], from, next)
			from = next
		}
		s.out[from] = append(s.out[from], to)
	default:
		panic(s.e.fail(n.at, "an assertion inside a run cannot be matched while the text arrives"))
	}
}

// closure gives the steps that read a character, or are the end, that can be reached from some steps; sorted.
func (s *steps) closure(from []int) []int {
	seen := map[int]bool{}
	var out []int
	var walk func(step int)
	walk = func(step int) {
		if seen[step] {
			return
		}
		seen[step] = true
		if s.set[step] != nil {
			out = append(out, step)
			return
		}
		if len(s.out[step]) == 0 { // the end
			out = append(out, step)
		}
		for _, next := range s.out[step] {
			walk(next)
		}
	}
	for _, step := range from {
		walk(step)
	}
	slices.Sort(out)
	return out
}

// automaton makes the automaton of nodes that stand one behind the other.
func (e *Expression) automaton(nodes []*node) *Automaton {
	s := &steps{e: e, at: nodes[0].at}
	start := s.add(nil)
	end := s.add(nil)
	s.build(&node{op: opCat, subs: nodes}, start, end)

	a := &Automaton{}
	classes := a.classify(s)
	numbers := map[string]int{}
	var states [][]int
	state := func(set []int) int {
		key := fmt.Sprint(set)
		if number, ok := numbers[key]; ok {
			return number
		}
		if len(states) >= mostStates {
			panic(e.fail(s.at, "the pattern needs an automaton of more than %d states", mostStates))
		}
		numbers[key] = len(states)
		states = append(states, set)
		a.accepts = append(a.accepts, slices.Contains(set, end))
		return len(states) - 1
	}
	state(s.closure([]int{start}))
	for i := 0; i < len(states); i++ {
		for _, r := range classes {
			var to []int
			for _, step := range states[i] {
				if s.set[step] != nil && r >= 0 && s.set[step].Has(r) {
					to = append(to, s.out[step]...)
				}
			}
			if len(to) == 0 {
				a.next = append(a.next, -1)
				continue
			}
			a.next = append(a.next, int16(state(s.closure(to))))
		}
	}
	return a
}

// classify divides the characters into classes that all sets treat alike, and gives a character of each; class 0 holds
// the characters of no set.
func (a *Automaton) classify(s *steps) (members []rune) {
	borders := []rune{0, 128}
	var sets []Set
	for _, set := range s.set {
		if set == nil || slices.ContainsFunc(sets, func(other Set) bool { return equal(other, set) }) {
			continue
		}
		sets = append(sets, set)
		for _, r := range set {
			borders = append(borders, r.First, r.Last+1)
		}
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	members = []rune{-1}
	numbers := map[string]uint8{}
	key := make([]byte, len(sets))
	for i, first := range borders {
		last := lastRune
		if i+1 < len(borders) {
			last = borders[i+1] - 1
		}
		if first > lastRune {
			break
		}
		some := false
		for k, set := range sets {
			key[k] = 0
			if set.Has(first) {
				key[k], some = 1, true
			}
		}
		class := uint8(0)
		if some {
			number, ok := numbers[string(key)]
			if !ok {
				if len(members) > 250 {
					panic(s.e.fail(s.at, "the pattern tells more than 250 classes of characters apart"))
				}
				number = uint8(len(members))
				numbers[string(key)] = number
				members = append(members, first)
			}
			class = number
		}
		for r := first; r <= last && r < 128; r++ {
			a.ascii[r] = class
		}
		if last >= 128 && class != 0 {
			a.wide = append(a.wide, classed{Range{max(first, 128), last}, class})
		}
	}
	a.width = len(members)
	return members
}

// ranges are the characters of a class.
func (a *Automaton) ranges(class uint8) (out []Range) {
	for r := range rune(128) {
		if a.ascii[r] == class {
			out = append(out, Range{r, r})
		}
	}
	for _, w := range a.wide {
		if w.class == class {
			out = append(out, w.Range)
		}
	}
	return out
}

// leaving are the characters that lead on from the states that keep chooses.
func (a *Automaton) leaving(keep func(state int) bool) Set {
	var out []Range
	for class := 1; class < a.width; class++ {
		for state := range a.accepts {
			if keep(state) && a.next[state*a.width+class] >= 0 {
				out = append(out, a.ranges(uint8(class))...)
				break
			}
		}
	}
	return setOf(out)
}

// first are the characters a run begins with, going those by which a run goes on that could end.
func (a *Automaton) first() Set { return a.leaving(func(state int) bool { return state == 0 }) }
func (a *Automaton) going() Set { return a.leaving(a.Accepts) }
