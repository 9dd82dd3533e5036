// Package regular builds deterministic automata over characters: the texts that a value may be, such as every text
// without a closing tag, or every string that a pattern matches.
//
// An automaton is made from regular expressions (Match, Search) and put together with And, Or and Not. It reads one
// character at a time and never goes back, so it can be written down as the rules of any grammar.
package regular

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

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

// Match is the automaton of the texts that an expression matches from their first to their last character. Expressions
// are written as in Go's regexp package, with `.` for every character.
func Match(expression string) (*Automaton, error) {
	return compile("(?:" + expression + ")")
}

// Search is the automaton of the texts in which an expression matches somewhere, as JSON schema has it: the anchors ^
// and $ mean the ends of the text.
func Search(expression string) (*Automaton, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, err
	}
	parsed = parsed.Simplify()
	return build(&syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{anything(), parsed, anything()}})
}

// Without is the automaton of the texts in which none of the expressions matches anywhere. With no expressions it is
// every text.
func Without(expressions ...string) (*Automaton, error) {
	if len(expressions) == 0 {
		return Match(".*")
	}
	for i, e := range expressions {
		expressions[i] = "(?:" + e + ")"
	}
	found, err := compile(".*(?:" + strings.Join(expressions, "|") + ").*")
	if err != nil {
		return nil, err
	}
	return found.Not()
}

// compiled keeps automata by their expressions. Most of them come from the definitions of the formats and are asked for
// again and again; those of requests are bounded by mostCompiled.
var compiled struct {
	sync.Mutex
	automata map[string]*Automaton
}

const mostCompiled = 2048

func compile(expression string) (*Automaton, error) {
	compiled.Lock()
	known := compiled.automata[expression]
	compiled.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := parse(expression)
	if err != nil {
		return nil, err
	}
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.automata == nil || len(compiled.automata) >= mostCompiled {
		compiled.automata = map[string]*Automaton{}
	}
	compiled.automata[expression] = made
	return made, nil
}

func parse(expression string) (*Automaton, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, err
	}
	return build(parsed.Simplify())
}

func anything() *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}
}

// Texts is the automaton of a list of texts.
func Texts(texts ...string) (*Automaton, error) {
	if len(texts) == 0 {
		return nothing(), nil
	}
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return compile(strings.Join(quoted, "|"))
}

func quote(text string) string {
	var space [256]byte
	out := space[:0]
	for _, r := range text {
		if r < 128 && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			out = append(strconv.AppendInt(append(out, `\x{`...), int64(r), 16), '}')
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// Quote writes a text as an expression that matches just it.
func Quote(text string) string { return quote(text) }

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

// Not is the automaton of all other texts.
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

// Blanks is the expression of any white space, or none.
const Blanks = `[\s\v\x{85}\p{Z}]*`

// operation is two automata, by their address, and how they are put together.
type operation struct {
	a, b *Automaton
	by   byte
}

// results keeps what operations came to, like compiled.
var results struct {
	sync.Mutex
	automata map[operation]*Automaton
}

func combined(o operation, accept func(one, two bool) bool) (*Automaton, error) {
	results.Lock()
	known := results.automata[o]
	results.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := combine(o.a, o.b, accept)
	if err != nil {
		return nil, err
	}
	results.Lock()
	defer results.Unlock()
	if results.automata == nil || len(results.automata) >= mostCompiled {
		results.automata = map[operation]*Automaton{}
	}
	results.automata[o] = made
	return made, nil
}

// MaxRune is the last character. Halves of surrogate pairs are no characters.
const MaxRune = unicode.MaxRune

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
