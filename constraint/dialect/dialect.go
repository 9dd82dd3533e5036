// Package dialect writes a language in the grammar languages of engines: GBNF of llama.cpp, the EBNF of xgrammar, and
// Lark as llguidance has it. They differ in how texts, characters and names are spelled; what the rules say is the same.
package dialect

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

// spelling is how a grammar language spells things.
type spelling struct {
	root    string
	defines string // between the name of a rule and its body
	name    func(string) string
	literal func(string) string
	class   func([]regular.Range, bool) string // the ranges, and whether they are those that are left out
	empty   string
	// never is a text that is never written.
	never string
	// leftward: automata are written with the recursion in front.
	leftward bool
	// mostRepeated bounds the counts of a repetition; more is written as any number. 0 is no bound.
	mostRepeated int
	// unlimited: counts are spelled out by the engine, so limits that need not be are left out.
	unlimited bool
}

// Grammar is a written language.
type Grammar struct {
	Text string
	// Widened says what more than the language the grammar lets through.
	Widened []string
}

// GBNF writes a language for llama.cpp. The start rule is root.
func GBNF(n language.Node) Grammar { return write(n, gbnf) }

// EBNF writes a language for xgrammar. The start rule is root.
func EBNF(n language.Node) Grammar { return write(n, ebnf) }

// Lark writes a language for llguidance. The start rule is start.
func Lark(n language.Node) Grammar {
	g := write(n, lark)
	return g
}

type writer struct {
	*spelling
	names    map[*language.Rule]string
	automata map[*regular.Automaton]string
	taken    map[string]bool
	lines    []string
	widened  []string
}

func write(n language.Node, s *spelling) Grammar {
	w := &writer{spelling: s, names: map[*language.Rule]string{}, automata: map[*regular.Automaton]string{}, taken: map[string]bool{s.root: true}}
	at := w.reserve()
	body := w.node(n, false)
	w.lines[at] = s.root + s.defines + body
	return Grammar{strings.Join(w.lines, "\n") + "\n", w.widened}
}

// reserve keeps a place for a line, so that rules come before what they use.
func (w *writer) reserve() int {
	w.lines = append(w.lines, "")
	return len(w.lines) - 1
}

func (w *writer) fresh(name string) string {
	name = w.name(name)
	for out, i := name, 2; ; i++ {
		if !w.taken[out] {
			w.taken[out] = true
			return out
		}
		out = fmt.Sprintf("%s-%d", name, i)
		out = w.name(out)
	}
}

// node writes a node. tight puts it in parentheses where it would not hold together beside others.
func (w *writer) node(n language.Node, tight bool) string {
	group := func(text string, loose bool) string {
		if tight && loose {
			return "( " + text + " )"
		}
		return text
	}
	switch n := n.(type) {
	case *language.Literal:
		if n.Text == "" {
			return w.empty
		}
		return group(w.literal(n.Text), w.leftward && utf8.RuneCountInString(n.Text) > 1)
	case *language.Class:
		if len(n.Ranges) == 0 {
			return w.never
		}
		return w.class(n.Ranges, false)
	case *language.Sequence:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = w.node(item, true)
		}
		return group(strings.Join(parts, " "), true)
	case *language.Choice:
		if len(n.Options) == 0 {
			return w.never
		}
		parts := make([]string, len(n.Options))
		for i, option := range n.Options {
			parts[i] = w.node(option, true)
		}
		return group(strings.Join(parts, " | "), len(parts) > 1)
	case *language.Repeat:
		return group(w.repeat(n), false)
	case *language.Rule:
		return w.rule(n)
	case *language.Regular:
		return w.automaton(n.Automaton)
	case *language.Schema:
		return w.rule(n.Body)
	case *language.Mark:
		return w.node(n.Inner, tight)
	case *language.Free:
		return group(w.free(n), true)
	}
	panic(fmt.Sprintf("dialect: %T is no node", n))
}

func (w *writer) repeat(n *language.Repeat) string {
	inner := w.node(n.Inner, true)
	if _, ok := n.Inner.(*language.Repeat); ok {
		inner = "( " + inner + " )"
	}
	least, most := n.Min, n.Max
	if w.mostRepeated > 0 && (least > w.mostRepeated || most > w.mostRepeated) {
		w.widened = append(w.widened, fmt.Sprintf("a repetition of %d to %d times is any number of times, at least %d: the engine takes counts up to %d", least, most, min(least, w.mostRepeated), w.mostRepeated))
		least, most = min(least, w.mostRepeated), -1
	}
	if w.unlimited && n.Soft {
		most = -1
	}
	switch {
	case most == 0:
		return w.empty
	case least == 0 && most == 1:
		return inner + "?"
	case least == 0 && most < 0:
		return inner + "*"
	case least == 1 && most < 0:
		return inner + "+"
	case least == 1 && most == 1:
		return inner
	case most < 0:
		return fmt.Sprintf("%s{%d,}", inner, least)
	case least == most:
		return fmt.Sprintf("%s{%d}", inner, least)
	}
	return fmt.Sprintf("%s{%d,%d}", inner, least, most)
}

func (w *writer) rule(r *language.Rule) string {
	if name, ok := w.names[r]; ok {
		return name
	}
	name := w.fresh(r.Name)
	w.names[r] = name
	at := w.reserve()
	w.lines[at] = name + w.defines + w.node(r.Body, false)
	return name
}

func (w *writer) free(n *language.Free) string {
	var tags []language.Node
	for _, tag := range n.Tags {
		tags = append(tags, language.Join(language.Text(tag.Begin), tag.Rest))
	}
	first := n.First
	if first == nil {
		first = n.Text
	}
	text := w.automaton(n.Text.Automaton)
	if len(tags) == 0 {
		return w.automaton(first.Automaton)
	}
	tag := w.rule(&language.Rule{Name: "tag", Body: language.Any(tags...)})
	if n.Once {
		return fmt.Sprintf("%s %s?", w.automaton(first.Automaton), tag)
	}
	return fmt.Sprintf("%s ( %s %s )*", w.automaton(first.Automaton), tag, text)
}

// automaton writes an automaton as rules, one a state.
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

// targets are the edges of a state by where they lead.
func targets(s *regular.State) (order []int, ranges map[int][]regular.Range) {
	ranges = map[int][]regular.Range{}
	for _, e := range s.Edges {
		if ranges[e.To] == nil {
			order = append(order, e.To)
		}
		ranges[e.To] = append(ranges[e.To], e.Range)
	}
	return order, ranges
}

// right writes a rule a state: what may follow.
func (w *writer) right(a *regular.Automaton, name string) {
	names := make([]string, len(a.States))
	names[0] = name
	for i := 1; i < len(names); i++ {
		names[i] = w.fresh(fmt.Sprintf("%s-%d", name, i))
	}
	for i := range a.States {
		s := &a.States[i]
		var options []string
		if s.Accept {
			options = append(options, w.empty)
		}
		order, ranges := targets(s)
		loop := ""
		for _, to := range order {
			class := w.short(ranges[to])
			if to == i {
				loop = class + "*"
				continue
			}
			if target := &a.States[to]; len(target.Edges) == 0 {
				options = append(options, class)
				continue
			}
			options = append(options, class+" "+names[to])
		}
		body := strings.Join(options, " | ")
		if loop != "" {
			body = loop
			if !(len(options) == 1 && s.Accept) {
				body += " ( " + strings.Join(options, " | ") + " )"
			}
		}
		if i > 0 && len(s.Edges) == 0 {
			continue // never referred to
		}
		w.lines = append(w.lines, names[i]+w.defines+body)
	}
}

// left writes a rule a state: what leads to it.
func (w *writer) left(a *regular.Automaton, name string) {
	names := make([]string, len(a.States))
	for i := range names {
		names[i] = w.fresh(fmt.Sprintf("%s-%d", name, i))
	}
	into := make([][]string, len(a.States))
	into[0] = append(into[0], w.empty)
	var accepting []string
	for i := range a.States {
		if a.States[i].Accept {
			accepting = append(accepting, names[i])
		}
		order, ranges := targets(&a.States[i])
		for _, to := range order {
			into[to] = append(into[to], names[i]+" "+w.short(ranges[to]))
		}
	}
	w.lines = append(w.lines, name+w.defines+strings.Join(accepting, " | "))
	for i := range names {
		w.lines = append(w.lines, names[i]+w.defines+strings.Join(into[i], " | "))
	}
}

// short writes a class as what it leaves out, where that is shorter.
func (w *writer) short(ranges []regular.Range) string {
	sort.Slice(ranges, func(i, k int) bool { return ranges[i].First < ranges[k].First })
	var rest []regular.Range
	from := rune(0)
	for _, r := range ranges {
		if r.First > from {
			rest = append(rest, regular.Range{First: from, Last: r.First - 1})
		}
		from = r.Last + 1
	}
	if from <= regular.MaxRune {
		rest = append(rest, regular.Range{First: from, Last: regular.MaxRune})
	}
	if len(rest) > 0 && len(rest) < len(ranges) || len(rest) == 1 && ranges[len(ranges)-1].Last == regular.MaxRune {
		return w.class(rest, true)
	}
	return w.class(ranges, false)
}
