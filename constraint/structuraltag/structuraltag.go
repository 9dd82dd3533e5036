// Package structuraltag writes a language as a structural tag, the JSON form in which xgrammar, and with it vLLM and
// SGLang, takes constraints. JSON arguments stay JSON schemas there, free text with tags stays such; what has no form of
// its own is written as a grammar.
//
// What xgrammar compiles takes time by the rules and characters it has, and it compiles elements that are written alike
// once. So what differs between tools and parameters, their names, stands apart from what does not, and what options
// have in common stands outside them.
package structuraltag

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/dialect"
	"github.com/parlance-llm/parlance/constraint/jsonschema"
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Tag is a written language.
type Tag struct {
	Text string
	// Widened says what more than the language the tag lets through.
	Widened []string
}

// Write writes a language: {"type": "structural_tag", "format": …}.
func Write(n language.Node) Tag {
	w := &writer{structured: map[language.Node]bool{}, named: map[language.Node]bool{}, busy: map[*language.Rule]bool{}, used: map[*language.Rule]int{}, parameters: map[*language.Rule]parameterPieces{}, alike: map[string]*element{}, constants: map[string]*element{}, ebnf: dialect.NewWriter()}
	defer w.ebnf.Done()
	w.count(n)
	format := w.node(n)
	if format.size > mostWritten || w.leaves > mostLeaves { // a grammar has rules, which are written once
		w.leaves = 0
		format, w.widened = w.grammar(n), nil
	}
	var text strings.Builder
	text.WriteString(`{"type": "structural_tag", "format": `)
	text.Grow(format.size + 1)
	format.write(&text)
	text.WriteString("}")
	slices.Sort(w.widened)
	return Tag{text.String(), w.widened}
}

// mostWritten is how many bytes a tag may have: what is used often stands in it as often, so that parameters in
// parameters, each referred to from two places, would be a text without end. mostLeaves is how many bytes are written to
// find that out.
const (
	mostWritten = 1 << 22
	mostLeaves  = 1 << 24
)

type writer struct {
	widened []string
	// structured are the nodes that hold something with a form of its own, named those that hold a mark with a name.
	structured, named map[language.Node]bool
	busy              map[*language.Rule]bool
	used              map[*language.Rule]int
	// parameters are those that several tools have, as they have been written.
	parameters map[*language.Rule]parameterPieces
	// loops counts the repetitions without limit that have been written as such.
	loops int
	// stack is the pieces that are being written, line the elements that they are, run is room for a piece of the stack.
	stack []piece
	line  []*element
	run   []language.Node
	// names are those of the marks around what is being written.
	names []string
	// alike are the elements by what they say, constants those that are one text by the text.
	alike, constants map[string]*element
	// ebnf writes grammars, into room.
	ebnf *dialect.Writer
	room []byte
	// leaves is how many bytes of elements without others inside have been written.
	leaves int
}

func (w *writer) widen(reason string) {
	if !slices.Contains(w.widened, reason) {
		w.widened = append(w.widened, reason)
	}
}

// count counts how often rules are referred to.
func (w *writer) count(n language.Node) {
	switch n := n.(type) {
	case *language.Schema:
		return
	case *language.Rule:
		if w.used[n]++; w.used[n] > 1 {
			return
		}
	}
	language.Children(n, w.count)
}

// holdsName tells whether a node in a mark with a name holds that name, or another mark with one. Outside of such marks it
// does not matter: options that all have no form of their own are best one grammar.
func (w *writer) holdsName(n language.Node) bool {
	if len(w.names) == 0 {
		return false
	}
	switch n := n.(type) {
	case *language.Literal:
		_, _, found := w.cut(n.Text)
		return found
	case *language.Schema, *language.Class, *language.Regular:
		return false
	case *language.Mark:
		return n.Name != "" || w.holdsName(n.Inner)
	}
	if known, ok := w.named[n]; ok {
		return known
	}
	w.named[n] = false
	found := false
	language.Children(n, func(inner language.Node) { found = found || w.holdsName(inner) })
	w.named[n] = found
	return found
}

// cut finds the name of a mark around a text in it, as a whole word: where it begins and ends.
func (w *writer) cut(text string) (start, end int, ok bool) {
	for _, name := range slices.Backward(w.names) {
		at := strings.Index(text, name)
		if at < 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !inWord(before) && !inWord(after) {
			return at, at + len(name), true
		}
	}
	return 0, 0, false
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// holdsForm tells whether a node holds something that has a form of its own: a schema, or free text.
func (w *writer) holdsForm(n language.Node) bool {
	switch n := n.(type) {
	case *language.Schema, *language.Free:
		return true
	case *language.Regular:
		return n.Without != nil
	case *language.Literal, *language.Class:
		return false
	case *language.Mark:
		return w.holdsForm(n.Inner)
	}
	if known, ok := w.structured[n]; ok {
		return known
	}
	w.structured[n] = false // until it is known: rules may refer to themselves
	found := false
	language.Children(n, func(inner language.Node) { found = found || w.holdsForm(inner) })
	w.structured[n] = found
	return found
}

func (w *writer) schema(n *language.Schema) *element {
	if n.Spelled || !understood(n.Schema) {
		return w.grammar(n)
	}
	const begin = `{"type": "json_schema", "json_schema": `
	w.room = jsonschema.Append(append(w.room[:0], begin...), n.Schema)
	var short []string
	for _, text := range n.Excludes {
		var space [64]byte
		quoted := toolschema.AppendQuote(space[:0], text)
		if bytes.Contains(w.room[len(begin):], quoted[1:len(quoted)-1]) {
			return w.grammar(n)
		}
		// Every character of what a string may not hold is a state of its own in the engine, tried against its whole
		// vocabulary: a closing tag makes a schema take fifty times as long.
		if len(text) <= 2 {
			short = append(short, text)
		}
	}
	if len(short) < len(n.Excludes) {
		w.widen("a string in a JSON value that holds what ends the value is let through")
	}
	w.room = append(appendTexts(w.room, "excludes", short), '}')
	return w.leaf(w.room)
}

// understood tells whether xgrammar reads a schema as it is meant. With lengths, patterns and formats it lets no escapes into
// strings, and some arrays it refuses; such a schema is written as a grammar.
func understood(root *toolschema.Node) bool {
	seen := map[*toolschema.Node]bool{}
	var visit func(n *toolschema.Node) bool
	alternative := func(a *toolschema.Alternative) bool {
		if a.MinLength > 0 || a.Kind == toolschema.String && a.MaxLength >= 0 || len(a.Patterns) > 0 || a.Format != "" || len(a.Patterned) > 0 ||
			a.Kind == toolschema.Array && a.Items == nil || a.Minimum != nil || a.Maximum != nil {
			return false
		}
		for _, p := range a.Properties {
			if !visit(p.Node) {
				return false
			}
		}
		return visit(a.Additional) && visit(a.Items) && !slices.ContainsFunc(a.Prefix, func(n *toolschema.Node) bool { return !visit(n) })
	}
	visit = func(n *toolschema.Node) bool {
		if n == nil || n.Free {
			return true
		}
		if slices.ContainsFunc(n.Alternatives, func(a *toolschema.Alternative) bool { return a.Kind == toolschema.Array || a.Kind == toolschema.Object }) {
			if seen[n] {
				return true
			}
			seen[n] = true
		}
		return !slices.ContainsFunc(n.Alternatives, func(a *toolschema.Alternative) bool { return !alternative(a) })
	}
	return visit(root)
}

func (w *writer) free(n *language.Free) *element {
	if n.First != nil {
		w.widen("text at the beginning that looks like calls is let through")
	}
	if len(n.Tags) == 0 {
		return w.anyText(n.Excludes)
	}
	loops := w.loops
	rests := make([][]*element, len(n.Tags))
	triggers := make([]string, len(n.Tags))
	for i, tag := range n.Tags {
		rests[i], triggers[i] = w.elements(tag.Rest), tag.Begin
	}
	if w.loops > loops { // what goes on without limit must have an end of its own to be a tag
		return w.spelled(n, rests)
	}
	tags := make([]*element, len(n.Tags))
	for i, tag := range n.Tags {
		begin := append(toolschema.AppendQuote([]byte(`{"type": "tag", "begin": `), tag.Begin), `, "content": `...)
		tags[i] = w.holding(string(begin), `, "end": ""}`, w.sequence(rests[i]))
	}
	begin := append(appendTexts([]byte(`{"type": "triggered_tags"`), "triggers", triggers), `, "tags": [`...)
	end := strconv.AppendBool([]byte(`], "at_least_one": false, "stop_after_first": `), n.Once)
	return w.holding(string(begin), string(append(appendTexts(end, "excludes", n.Excludes), '}')), tags...)
}

// spelled writes free text with tags, of which the rests are written, as text, and tags with text behind them.
func (w *writer) spelled(n *language.Free, rests [][]*element) *element {
	excludes := slices.Clone(n.Excludes)
	options := make([][]*element, len(rests))
	for i, tag := range n.Tags {
		excludes = append(excludes, tag.Begin)
		options[i] = append([]*element{w.constant(tag.Begin)}, rests[i]...)
	}
	text := w.anyText(excludes)
	tag := w.choice(nil, options)
	if n.Once {
		return w.sequence([]*element{text, w.repeated(w.sequence(tag), 0, 1)})
	}
	return w.sequence([]*element{text, w.repeated(w.sequence(append(tag, text)), 0, -1)})
}
