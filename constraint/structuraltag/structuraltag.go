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
	"encoding/json/jsontext"
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
	w := &writer{structured: map[language.Node]bool{}, named: map[language.Node]bool{}, busy: map[*language.Rule]bool{}, used: map[*language.Rule]int{}, ebnf: dialect.NewWriter()}
	w.count(n)
	text := `{"type": "structural_tag", "format": ` + w.node(n) + "}"
	slices.Sort(w.widened)
	return Tag{text, slices.Compact(w.widened)}
}

type writer struct {
	widened []string
	// structured are the nodes that hold something with a form of its own, named those that hold a mark with a name.
	structured, named map[language.Node]bool
	busy              map[*language.Rule]bool
	used              map[*language.Rule]int
	// loops counts the repetitions without limit that have been written as such.
	loops int
	// names are those of the marks around what is being written.
	names []string
	// ebnf writes grammars, into room.
	ebnf *dialect.Writer
	room []byte
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

func (w *writer) node(n language.Node) string { return sequence(w.elements(n)) }

// elements writes a node as elements that follow each other. Neighbours that have no form of their own are one grammar.
func (w *writer) elements(n language.Node) (out []string) {
	var run []language.Node
	flush := func() {
		if len(run) > 0 {
			if text := w.plain(language.Join(run...)); text != "" {
				out = append(out, text)
			}
			run = nil
		}
	}
	var add func(n language.Node)
	add = func(n language.Node) {
		switch n := n.(type) {
		case *language.Literal:
			if start, end, ok := w.cut(n.Text); ok {
				add(language.Text(n.Text[:start]))
				flush()
				out = append(out, constant(n.Text[start:end]))
				add(language.Text(n.Text[end:]))
				return
			}
			run = append(run, n)
		case *language.Sequence:
			for _, item := range n.Items {
				add(item)
			}
		case *language.Mark:
			if n.Name != "" {
				w.names = append(w.names, n.Name)
				defer func() { w.names = w.names[:len(w.names)-1] }()
			}
			add(n.Inner)
		case *language.Rule:
			if w.busy[n] || !w.holdsForm(n) && (w.used[n] > 1 || !w.holdsName(n)) {
				run = append(run, n)
				return
			}
			w.busy[n] = true
			defer delete(w.busy, n)
			add(n.Body)
		default:
			if !w.holdsForm(n) && !w.holdsName(n) {
				run = append(run, n)
				return
			}
			flush()
			out = append(out, w.formed(n)...)
		}
	}
	add(n)
	flush()
	return out
}

// plain writes a node that has no form of its own, as "" if it is the empty text.
func (w *writer) plain(n language.Node) string {
	if literal, ok := n.(*language.Literal); ok {
		if literal.Text == "" {
			return ""
		}
		return constant(literal.Text)
	}
	return w.grammar(n)
}

// formed writes a node that has a form of its own, or holds what has.
func (w *writer) formed(n language.Node) []string {
	switch n := n.(type) {
	case *language.Choice:
		options := make([][]string, len(n.Options))
		for i, option := range n.Options {
			options[i] = w.elements(option)
		}
		return choice(options)
	case *language.Repeat:
		if n.Max < 0 {
			w.loops++
		}
		return []string{repeated(w.node(n.Inner), n.Min, n.Max)}
	case *language.Free:
		return []string{w.free(n)}
	}
	return []string{w.form(n)}
}

func repeated(inner string, least, most int) string {
	switch {
	case least == 0 && most == 1:
		return `{"type": "optional", "content": ` + inner + "}"
	case least == 0 && most < 0:
		return `{"type": "star", "content": ` + inner + "}"
	case least == 1 && most < 0:
		return `{"type": "plus", "content": ` + inner + "}"
	}
	return `{"type": "repeat", "min": ` + strconv.Itoa(least) + `, "max": ` + strconv.Itoa(most) + `, "content": ` + inner + "}"
}

// sequence is elements one after the other.
func sequence(elements []string) string {
	switch len(elements) {
	case 0:
		return constant("")
	case 1:
		return elements[0]
	}
	return `{"type": "sequence", "elements": [` + strings.Join(elements, ", ") + "]}"
}

// choice is one of several options. What all of them begin and end with stands outside, and those that differ only in
// their first element share the others.
func choice(options [][]string) []string {
	if len(options) == 1 {
		return options[0]
	}
	begin := 0
	for ; all(options, func(o []string) bool { return begin < len(o) && o[begin] == options[0][begin] }); begin++ {
	}
	end := 0
	for ; all(options, func(o []string) bool {
		return begin+end < len(o) && begin+end < len(options[0]) && o[len(o)-1-end] == options[0][len(options[0])-1-end]
	}); end++ {
	}
	var written []string
	groups, order := map[string][]string{}, []string{}
	for _, o := range options {
		o = o[begin : len(o)-end]
		if len(o) < 2 {
			written = append(written, sequence(o))
			continue
		}
		rest := strings.Join(o[1:], ", ")
		if groups[rest] == nil {
			order = append(order, rest)
		}
		groups[rest] = append(groups[rest], o[0])
	}
	for _, rest := range order {
		written = append(written, sequence([]string{either(groups[rest]), rest}))
	}
	out := append([]string(nil), options[0][:begin]...)
	out = append(out, either(written))
	return append(out, options[0][len(options[0])-end:]...)
}

func all(options [][]string, test func([]string) bool) bool {
	for _, o := range options {
		if !test(o) {
			return false
		}
	}
	return true
}

func either(options []string) string {
	if len(options) == 1 {
		return options[0]
	}
	return `{"type": "or", "elements": [` + strings.Join(options, ", ") + "]}"
}

// form writes a node that has a form of its own.
func (w *writer) form(n language.Node) string {
	switch n := n.(type) {
	case *language.Schema:
		if n.Spelled || !w.understood(n.Schema) {
			return w.grammar(n)
		}
		const begin = `{"type": "json_schema", "json_schema": `
		w.room = jsonschema.Append(append(w.room[:0], begin...), n.Schema)
		if slices.ContainsFunc(n.Excludes, func(text string) bool {
			var space [64]byte
			quoted := toolschema.AppendQuote(space[:0], text)
			return bytes.Contains(w.room[len(begin):], quoted[1:len(quoted)-1])
		}) {
			return w.grammar(n)
		}
		// Every character of what a string may not hold is a state of its own in the engine, tried against its whole
		// vocabulary: a closing tag makes a schema take fifty times as long.
		excludes := slices.DeleteFunc(slices.Clone(n.Excludes), func(text string) bool { return len(text) > 2 })
		if len(excludes) < len(n.Excludes) {
			w.widened = append(w.widened, "a string in a JSON value that holds what ends the value is let through")
		}
		return string(w.room) + texts("excludes", excludes) + "}"
	case *language.Regular:
		if n.Looser {
			w.widened = append(w.widened, "text that holds a marker which is laid out otherwise, or the closers of a call and another call, is let through")
		}
		return `{"type": "any_text"` + texts("excludes", n.Without) + "}"
	}
	return w.grammar(n)
}

// understood tells whether xgrammar reads a schema as it is meant. With lengths, patterns and formats it lets no escapes into
// strings, and some arrays it refuses; such a schema is written as a grammar.
func (w *writer) understood(root *toolschema.Node) bool {
	seen := map[*toolschema.Node]bool{}
	var visit func(n *toolschema.Node) bool
	visit = func(n *toolschema.Node) bool {
		if n == nil || seen[n] {
			return true
		}
		seen[n] = true
		for _, a := range n.Alternatives {
			if a.MinLength > 0 || a.Kind == toolschema.String && a.MaxLength >= 0 || len(a.Patterns) > 0 || a.Format != "" || len(a.Patterned) > 0 ||
				a.Kind == toolschema.Array && a.Items == nil || a.Minimum != nil || a.Maximum != nil {
				return false
			}
			inner := append([]*toolschema.Node{a.Additional, a.Items}, a.Prefix...)
			for _, p := range a.Properties {
				inner = append(inner, p.Node)
			}
			for _, next := range inner {
				if !visit(next) {
					return false
				}
			}
		}
		return true
	}
	return visit(root)
}

func (w *writer) free(n *language.Free) string {
	if n.First != nil {
		w.widened = append(w.widened, "text at the beginning that looks like calls is let through")
	}
	if len(n.Tags) == 0 {
		return `{"type": "any_text"` + texts("excludes", n.Excludes) + "}"
	}
	loops := w.loops
	options := make([][]string, len(n.Tags))
	var triggers []string
	for i, tag := range n.Tags {
		options[i] = w.elements(tag.Rest)
		triggers = append(triggers, tag.Begin)
	}
	if w.loops > loops { // what goes on without limit must have an end of its own to be a tag
		return spelled(n, options)
	}
	var tags []string
	for i, tag := range n.Tags {
		tags = append(tags, `{"type": "tag", "begin": `+toolschema.Quote(tag.Begin)+`, "content": `+sequence(options[i])+`, "end": ""}`)
	}
	once := "false"
	if n.Once {
		once = "true"
	}
	return `{"type": "triggered_tags"` + texts("triggers", triggers) + `, "tags": [` + strings.Join(tags, ", ") + `], "at_least_one": false, "stop_after_first": ` + once + texts("excludes", n.Excludes) + "}"
}

// spelled writes free text with tags, of which the rests are written, as text, and tags with text behind them.
func spelled(n *language.Free, rests [][]string) string {
	excludes := slices.Clone(n.Excludes)
	options := make([][]string, len(rests))
	for i, tag := range n.Tags {
		excludes = append(excludes, tag.Begin)
		options[i] = append([]string{constant(tag.Begin)}, rests[i]...)
	}
	text := `{"type": "any_text"` + texts("excludes", excludes) + "}"
	tag := choice(options)
	if n.Once {
		return sequence([]string{text, repeated(sequence(tag), 0, 1)})
	}
	return sequence([]string{text, repeated(sequence(append(tag, text)), 0, -1)})
}

func texts(name string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = toolschema.Quote(text)
	}
	return `, "` + name + `": [` + strings.Join(quoted, ", ") + "]"
}

func constant(text string) string {
	var space [256]byte
	out := append(space[:0], `{"type": "const_string", "value": `...)
	return string(append(toolschema.AppendQuote(out, text), '}'))
}

func (w *writer) grammar(n language.Node) string {
	w.room = w.ebnf.Append(w.room[:0], n)
	from := len(w.room)
	w.room = append(w.room, `{"type": "grammar", "grammar": `...)
	w.room, _ = jsontext.AppendQuote(w.room, w.room[:from]) // the grammar is valid UTF-8
	w.room = append(w.room, '}')
	return string(w.room[from:])
}
