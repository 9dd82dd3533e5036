// Package dialect writes a language in the grammar languages of engines: GBNF of llama.cpp, the EBNF of xgrammar, and
// Lark as llguidance has it. They differ in how texts, characters and names are spelled; what the rules say is the same.
package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

// spelling is how a grammar language spells things. What writes something appends it.
type spelling struct {
	root    string
	defines string // between the name of a rule and its body
	// dash is what names have for all that is no letter and no digit; lower: names have small letters only.
	dash    byte
	lower   bool
	literal func(dst []byte, text string) []byte
	class   func(dst []byte, ranges []regular.Range, negated bool) []byte // negated: the ranges are those that are left out
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
func GBNF(n language.Node) Grammar { return grammar(n, gbnf) }

// EBNF writes a language for xgrammar. The start rule is root.
func EBNF(n language.Node) Grammar { return grammar(n, ebnf) }

// Lark writes a language for llguidance. The start rule is start.
func Lark(n language.Node) Grammar { return grammar(n, lark) }

// writers are writers that are not in use: what room they have got serves the next language.
var writers = sync.Pool{New: func() any { return new(writer) }}

func grammar(n language.Node, s *spelling) Grammar {
	w := writers.Get().(*writer)
	w.spelling = s
	w.write(n)
	var text strings.Builder
	text.Grow(w.size())
	for _, line := range w.lines {
		text.Write(w.done[line.from:line.to])
		text.WriteByte('\n')
	}
	g := Grammar{text.String(), w.widened}
	if w.reset(); cap(w.done) <= mostRoom {
		writers.Put(w)
	}
	return g
}

// Writer writes one language after the other for xgrammar, each as a grammar by itself.
type Writer struct{ w *writer }

// NewWriter makes a Writer.
func NewWriter() *Writer {
	w := writers.Get().(*writer)
	w.spelling = ebnf
	return &Writer{w}
}

// Append appends a language as EBNF. What the grammar lets through besides is not told.
func (w *Writer) Append(dst []byte, n language.Node) []byte {
	w.w.write(n)
	dst = slices.Grow(dst, w.w.size())
	for _, line := range w.w.lines {
		dst = append(append(dst, w.w.done[line.from:line.to]...), '\n')
	}
	w.w.reset()
	return dst
}

// Done ends the use of a Writer.
func (w *Writer) Done() {
	if cap(w.w.done) <= mostRoom {
		writers.Put(w.w)
	}
	w.w = nil
}

// writer writes a language. A rule is met while another is being written: each has a line of its own, the lines stand in
// the order in which their rules were met.
type writer struct {
	*spelling
	names    map[*language.Rule]string
	automata map[*regular.Automaton]string
	// taken are the names that have been given, each with the number that comes next where it is asked for again; most is
	// how many there have been at a time.
	taken map[string]int
	most  int
	// out is the line being written, spare are buffers for lines, done is the text of those that are complete.
	out   []byte
	spare [][]byte
	done  []byte
	lines []line
	// name is room for a name, ranges and rest for the ranges of a class.
	name         []byte
	ranges, rest []regular.Range
	widened      []string
}

// line is a complete line: a part of done.
type line struct{ from, to int }

// mostRoom is how many bytes of a text there may be for the room they take to be used again, mostKept how many names.
const (
	mostRoom = 1 << 20
	mostKept = 1 << 13
)

// write writes a language as lines.
func (w *writer) write(n language.Node) {
	if w.taken == nil {
		w.names, w.automata, w.taken = map[*language.Rule]string{}, map[*regular.Automaton]string{}, map[string]int{}
	}
	w.taken[w.root] = 2
	w.line(w.root, n)
}

// size is that of the text.
func (w *writer) size() int { return len(w.done) + len(w.lines) }

// reset makes a writer ready for another language. It holds on to nothing of this one.
func (w *writer) reset() {
	// Clearing takes time by what there has been most of.
	if w.most = max(w.most, len(w.taken)); w.most > mostKept || w.most > 64 && len(w.taken) < w.most/16 {
		w.names, w.automata, w.taken, w.most = nil, nil, nil, 0
	}
	clear(w.names)
	clear(w.automata)
	clear(w.taken)
	w.done, w.lines, w.widened = w.done[:0], w.lines[:0], nil
}

// line writes a line: the name of a rule and its body.
func (w *writer) line(name string, body language.Node) {
	at, outer := w.begin(name)
	w.node(body, false)
	w.end(at, outer)
}

// begin begins a line and keeps its place, so that rules come before what they use. end completes it and goes on with
// the line outer.
func (w *writer) begin(name string) (at int, outer []byte) {
	outer = w.out
	w.out = nil
	if last := len(w.spare) - 1; last >= 0 {
		w.out, w.spare = w.spare[last][:0], w.spare[:last]
	}
	w.out = append(append(w.out, name...), w.defines...)
	w.lines = append(w.lines, line{})
	return len(w.lines) - 1, outer
}

func (w *writer) end(at int, outer []byte) {
	w.lines[at] = line{len(w.done), len(w.done) + len(w.out)}
	w.done = append(w.done, w.out...)
	w.out, w.spare = outer, append(w.spare, w.out)
}

func (w *writer) text(text string) { w.out = append(w.out, text...) }

// fresh is a name that no rule has, as much like the one that is asked for as can be.
func (w *writer) fresh(name string) string {
	w.name = w.named(w.name[:0], name)
	return w.take()
}

// take gives the name in w.name, with a number behind it if it has been given.
func (w *writer) take() string {
	next, taken := w.taken[string(w.name)]
	if !taken {
		return w.give()
	}
	length := len(w.name)
	for ; taken; next++ {
		w.name = strconv.AppendInt(append(w.name[:length], w.dash), int64(next), 10)
		_, taken = w.taken[string(w.name)]
	}
	w.taken[string(w.name[:length])] = next
	return w.give()
}

func (w *writer) give() string {
	name := string(w.name)
	w.taken[name] = 2
	return name
}

// node writes a node. tight puts it in parentheses where it would not hold together beside others.
func (w *writer) node(n language.Node, tight bool) {
	if tight && w.loose(n) {
		w.text("( ")
		w.node(n, false)
		w.text(" )")
		return
	}
	switch n := n.(type) {
	case *language.Literal:
		if n.Text == "" {
			w.text(w.empty)
			return
		}
		w.out = w.literal(w.out, n.Text)
	case *language.Class:
		if len(n.Ranges) == 0 {
			w.text(w.never)
			return
		}
		w.out = w.class(w.out, n.Ranges, false)
	case *language.Sequence:
		w.list(n.Items, " ")
	case *language.Choice:
		if len(n.Options) == 0 {
			w.text(w.never)
			return
		}
		w.list(n.Options, " | ")
	case *language.Repeat:
		w.repeat(n)
	case *language.Rule:
		w.text(w.rule(n))
	case *language.Regular:
		w.text(w.automaton(n.Automaton))
	case *language.Schema:
		w.text(w.rule(n.Body))
	case *language.Mark:
		w.node(n.Inner, tight)
	case *language.Free:
		w.free(n)
	default:
		panic(fmt.Sprintf("dialect: %T is no node", n))
	}
}

// loose tells whether a node falls apart beside others.
func (w *writer) loose(n language.Node) bool {
	switch n := n.(type) {
	case *language.Literal:
		return w.leftward && utf8.RuneCountInString(n.Text) > 1
	case *language.Choice:
		return len(n.Options) > 1
	case *language.Sequence, *language.Free:
		return true
	}
	return false
}

func (w *writer) list(nodes []language.Node, separator string) {
	for i, n := range nodes {
		if i > 0 {
			w.text(separator)
		}
		w.node(n, true)
	}
}

func (w *writer) repeat(n *language.Repeat) {
	from := len(w.out)
	if _, ok := n.Inner.(*language.Repeat); ok {
		w.text("( ")
		w.node(n.Inner, true)
		w.text(" )")
	} else {
		w.node(n.Inner, true)
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
		w.out = w.out[:from]
		w.text(w.empty)
	case least == 0 && most == 1:
		w.text("?")
	case least == 0 && most < 0:
		w.text("*")
	case least == 1 && most < 0:
		w.text("+")
	case least == 1 && most == 1:
	default:
		w.text("{")
		w.out = strconv.AppendInt(w.out, int64(least), 10)
		if least != most {
			w.text(",")
		}
		if most >= 0 && least != most {
			w.out = strconv.AppendInt(w.out, int64(most), 10)
		}
		w.text("}")
	}
}

// rule is the name of a rule, which is written if it has not been.
func (w *writer) rule(r *language.Rule) string {
	if name, ok := w.names[r]; ok {
		return name
	}
	name := w.fresh(r.Name)
	w.names[r] = name
	w.line(name, r.Body)
	return name
}

func (w *writer) free(n *language.Free) {
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
		w.text(w.automaton(first.Automaton))
		return
	}
	tag := w.rule(&language.Rule{Name: "tag", Body: language.Any(tags...)})
	w.text(w.automaton(first.Automaton))
	if n.Once {
		w.text(" " + tag + "?")
		return
	}
	w.text(" ( " + tag + " " + text + " )*")
}
