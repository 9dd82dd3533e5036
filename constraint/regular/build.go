package regular

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
)

// nfa is the automaton that a regular expression is written down as first: every state has edges on characters and
// edges on nothing. Some of those count only at the beginning or at the end of the text.
type nfa struct {
	edges [][]Edge
	empty [][]link
}

type link struct {
	to   int
	when anchor
}

type anchor uint8

const (
	always anchor = iota
	atBegin
	atEnd
)

func (n *nfa) state() int {
	n.edges = append(n.edges, nil)
	n.empty = append(n.empty, nil)
	return len(n.edges) - 1
}

func (n *nfa) link(from, to int, when anchor) { n.empty[from] = append(n.empty[from], link{to, when}) }

// add writes an expression between two states.
func (n *nfa) add(e *syntax.Regexp, from, to int) error {
	if len(n.edges) > 40*mostStates {
		return &TooLarge{mostStates}
	}
	switch e.Op {
	case syntax.OpNoMatch:
	case syntax.OpEmptyMatch:
		n.link(from, to, always)
	case syntax.OpLiteral:
		at := from
		for i, r := range e.Rune {
			next := to
			if i < len(e.Rune)-1 {
				next = n.state()
			}
			for _, r := range folded(r, e.Flags&syntax.FoldCase != 0) {
				n.edges[at] = append(n.edges[at], Edge{Range{r, r}, next})
			}
			at = next
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(e.Rune); i += 2 {
			n.edges[from] = append(n.edges[from], Edge{Range{e.Rune[i], e.Rune[i+1]}, to})
		}
	case syntax.OpAnyChar:
		n.edges[from] = append(n.edges[from], Edge{Range{0, MaxRune}, to})
	case syntax.OpAnyCharNotNL:
		n.edges[from] = append(n.edges[from], Edge{Range{0, '\n' - 1}, to}, Edge{Range{'\n' + 1, MaxRune}, to})
	case syntax.OpBeginText, syntax.OpBeginLine:
		n.link(from, to, atBegin)
	case syntax.OpEndText, syntax.OpEndLine:
		n.link(from, to, atEnd)
	case syntax.OpCapture:
		return n.add(e.Sub[0], from, to)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		in, out := n.state(), n.state()
		n.link(from, in, always)
		n.link(out, to, always)
		if e.Op != syntax.OpPlus {
			n.link(in, out, always)
		}
		if e.Op != syntax.OpQuest {
			n.link(out, in, always)
		}
		return n.add(e.Sub[0], in, out)
	case syntax.OpConcat:
		at := from
		for i, sub := range e.Sub {
			next := to
			if i < len(e.Sub)-1 {
				next = n.state()
			}
			if err := n.add(sub, at, next); err != nil {
				return err
			}
			at = next
		}
		if len(e.Sub) == 0 {
			n.link(from, to, always)
		}
	case syntax.OpAlternate:
		for _, sub := range e.Sub {
			if err := n.add(sub, from, to); err != nil {
				return err
			}
		}
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return errors.New(`word boundaries (\b) are not supported`)
	default:
		return fmt.Errorf("the construct %v is not supported", e)
	}
	return nil
}

// folded are the characters that a character of an expression stands for: with fold, all that differ in case only.
func folded(r rune, fold bool) []rune {
	out := []rune{r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			out = append(out, f)
		}
	}
	return out
}

// set is a set of states of an nfa, and whether the text has not begun yet.
type set struct {
	states []int
	begin  bool
}

func (s set) key() string { return fmt.Sprint(s.states, s.begin) }

// close adds what is reached on nothing. With end the edges that count at the end are followed too.
func (n *nfa) close(states []int, begin, end bool) []int {
	seen := map[int]bool{}
	var out []int
	var visit func(int)
	visit = func(state int) {
		if seen[state] {
			return
		}
		seen[state] = true
		out = append(out, state)
		for _, l := range n.empty[state] {
			if l.when == always || l.when == atBegin && begin || l.when == atEnd && end {
				visit(l.to)
			}
		}
	}
	for _, state := range states {
		visit(state)
	}
	slices.Sort(out)
	return out
}

// build makes the deterministic automaton of an expression.
func build(e *syntax.Regexp) (*Automaton, error) {
	n := &nfa{}
	start, final := n.state(), n.state()
	if err := n.add(e, start, final); err != nil {
		return nil, err
	}
	out := &Automaton{}
	numbers := map[string]int{}
	var queue []set
	number := func(states []int, begin bool) int {
		s := set{n.close(states, begin, false), begin}
		if i, ok := numbers[s.key()]; ok {
			return i
		}
		numbers[s.key()] = len(out.States)
		accept := slices.Contains(n.close(s.states, begin, true), final)
		out.States = append(out.States, State{Accept: accept})
		queue = append(queue, s)
		return len(out.States) - 1
	}
	number([]int{start}, true)
	for i := 0; i < len(queue); i++ {
		if len(out.States) > 4*mostStates {
			return nil, &TooLarge{mostStates}
		}
		var all []Edge
		for _, state := range queue[i].states {
			all = append(all, n.edges[state]...)
		}
		var edges []Edge
		for _, r := range split(all) {
			var next []int
			for _, e := range all {
				if e.First <= r.First && r.First <= e.Last {
					next = append(next, e.To)
				}
			}
			if len(next) > 0 {
				edges = append(edges, Edge{r, number(next, false)})
			}
		}
		out.States[i].Edges = edges
	}
	if out = out.trim(); len(out.States) > mostStates {
		return nil, &TooLarge{mostStates}
	}
	return out, nil
}
