// Package structuraltag writes a language as a structural tag, the JSON form in which xgrammar, and with it vLLM and
// SGLang, takes constraints. JSON arguments stay JSON schemas there, free text with tags stays such; what has no form of
// its own is written as a grammar.
package structuraltag

import (
	"bytes"
	"encoding/json/jsontext"
	"slices"
	"strconv"

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
	w := &writer{structured: map[*language.Rule]bool{}, busy: map[*language.Rule]bool{}, ebnf: dialect.NewWriter()}
	w.text(`{"type": "structural_tag", "format": `)
	w.node(n)
	w.text("}")
	slices.Sort(w.widened)
	return Tag{string(w.out), slices.Compact(w.widened)}
}

type writer struct {
	out     []byte
	widened []string
	// structured tells of the rules that have been looked into whether they hold a form of its own.
	structured map[*language.Rule]bool
	busy       map[*language.Rule]bool
	ebnf       *dialect.Writer
	grammars   []byte // room for a grammar
}

func (w *writer) text(text string) { w.out = append(w.out, text...) }

func (w *writer) quoted(text string) { w.out = toolschema.AppendQuote(w.out, text) }

func (w *writer) widen(reason string) {
	if !slices.Contains(w.widened, reason) {
		w.widened = append(w.widened, reason)
	}
}

// holdsForm tells whether a node holds something that has a form of its own: a schema, or free text. A rule that is being
// written has none in itself: what refers back to it can only be a grammar.
func (w *writer) holdsForm(n language.Node) bool {
	switch n := n.(type) {
	case *language.Schema, *language.Free:
		return true
	case *language.Regular:
		return n.Without != nil
	case *language.Literal, *language.Class:
		return false
	case *language.Rule:
		if known, ok := w.structured[n]; ok {
			return known && !w.busy[n]
		}
		w.structured[n] = false // until it is known: rules may refer to themselves
		found := w.holdsForm(n.Body)
		w.structured[n] = found
		return found
	}
	found := false
	language.Children(n, func(inner language.Node) { found = found || w.holdsForm(inner) })
	return found
}

func (w *writer) node(n language.Node) {
	if literal, ok := n.(*language.Literal); ok {
		w.text(`{"type": "const_string", "value": `)
		w.quoted(literal.Text)
		w.text("}")
		return
	}
	if !w.holdsForm(n) {
		w.grammar(n)
		return
	}
	switch n := n.(type) {
	case *language.Sequence:
		w.sequence(n.Items)
	case *language.Choice:
		w.choice(n.Options)
	case *language.Repeat:
		switch {
		case n.Min == 0 && n.Max == 1:
			w.text(`{"type": "optional", "content": `)
		case n.Min == 0 && n.Max < 0:
			w.text(`{"type": "star", "content": `)
		case n.Min == 1 && n.Max < 0:
			w.text(`{"type": "plus", "content": `)
		default:
			w.text(`{"type": "repeat", "min": ` + strconv.Itoa(n.Min) + `, "max": ` + strconv.Itoa(n.Max) + `, "content": `)
		}
		w.node(n.Inner)
		w.text("}")
	case *language.Rule:
		w.busy[n] = true
		w.node(n.Body)
		delete(w.busy, n)
	case *language.Mark:
		w.node(n.Inner)
	case *language.Schema:
		w.schema(n)
	case *language.Regular:
		if n.Looser {
			w.widen("text that holds a marker which is laid out otherwise, or the closers of a call and another call, is let through")
		}
		w.anyText(n.Without)
	case *language.Free:
		w.free(n)
	default:
		w.grammar(n)
	}
}

func (w *writer) schema(n *language.Schema) {
	if !w.plain(n.Schema) {
		w.grammar(n)
		return
	}
	start := len(w.out)
	w.text(`{"type": "json_schema", "json_schema": `)
	from := len(w.out)
	w.out = jsonschema.Append(w.out, n.Schema)
	var short []string
	for _, text := range n.Excludes {
		var space [64]byte
		quoted := toolschema.AppendQuote(space[:0], text)
		if bytes.Contains(w.out[from:], quoted[1:len(quoted)-1]) {
			w.out = w.out[:start]
			w.grammar(n)
			return
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
	w.texts("excludes", short)
	w.text("}")
}

// plain tells whether xgrammar reads a schema as it is meant. With lengths, patterns and formats it lets no escapes into
// strings, and some arrays it refuses; such a schema is written as a grammar.
func (w *writer) plain(root *toolschema.Node) bool {
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

// sequence writes nodes one after the other. Neighbours that have no form of their own become one grammar.
func (w *writer) sequence(nodes []language.Node) {
	parts := 0
	formless := false // the node before has no form
	for _, n := range nodes {
		if form := w.holdsForm(n); form || !formless {
			parts++
			formless = !form
		}
	}
	if parts != 1 {
		w.text(`{"type": "sequence", "elements": [`)
	}
	for from := 0; from < len(nodes); {
		if from > 0 {
			w.text(", ")
		}
		to := from
		for to < len(nodes) && !w.holdsForm(nodes[to]) {
			to++
		}
		if to > from {
			w.node(language.Join(nodes[from:to]...))
			from = to
			continue
		}
		w.node(nodes[from])
		from++
	}
	if parts != 1 {
		w.text("]}")
	}
}

func (w *writer) choice(nodes []language.Node) {
	if len(nodes) == 1 {
		w.node(nodes[0])
		return
	}
	w.text(`{"type": "or", "elements": [`)
	for i, n := range nodes {
		if i > 0 {
			w.text(", ")
		}
		w.node(n)
	}
	w.text("]}")
}

func (w *writer) anyText(excludes []string) {
	w.text(`{"type": "any_text"`)
	w.texts("excludes", excludes)
	w.text("}")
}

func (w *writer) free(n *language.Free) {
	if n.First != nil {
		w.widen("text at the beginning that looks like calls is let through")
	}
	if len(n.Tags) == 0 {
		w.anyText(n.Excludes)
		return
	}
	if slices.ContainsFunc(n.Tags, func(tag language.Tag) bool { return w.unlimited(tag.Rest) }) {
		w.spelled(n)
		return
	}
	triggers := make([]string, len(n.Tags))
	for i, tag := range n.Tags {
		triggers[i] = tag.Begin
	}
	w.text(`{"type": "triggered_tags"`)
	w.texts("triggers", triggers)
	w.text(`, "tags": [`)
	for i, tag := range n.Tags {
		if i > 0 {
			w.text(", ")
		}
		w.text(`{"type": "tag", "begin": `)
		w.quoted(tag.Begin)
		w.text(`, "content": `)
		w.node(tag.Rest)
		w.text(`, "end": ""}`)
	}
	w.text(`], "at_least_one": false, "stop_after_first": `)
	w.out = strconv.AppendBool(w.out, n.Once)
	w.texts("excludes", n.Excludes)
	w.text("}")
}

// unlimited tells whether repetitions of forms are written for a node: what they are in must have an end of its own to be
// a tag.
func (w *writer) unlimited(n language.Node) bool {
	seen := map[*language.Rule]bool{}
	var visit func(n language.Node) bool
	visit = func(n language.Node) (found bool) {
		if !w.holdsForm(n) {
			return false
		}
		switch n := n.(type) {
		case *language.Repeat:
			return n.Max < 0 || visit(n.Inner)
		case *language.Schema:
			return false
		case *language.Rule:
			if seen[n] {
				return false
			}
			seen[n], w.busy[n] = true, true
			defer delete(w.busy, n)
		}
		language.Children(n, func(inner language.Node) { found = found || visit(inner) })
		return found
	}
	return visit(n)
}

// spelled writes free text with tags as text, and tags with text behind them.
func (w *writer) spelled(n *language.Free) {
	excludes := slices.Clone(n.Excludes)
	var tags []language.Node
	for _, tag := range n.Tags {
		excludes = append(excludes, tag.Begin)
		tags = append(tags, language.Join(language.Text(tag.Begin), tag.Rest))
	}
	tag := language.Any(tags...)
	w.text(`{"type": "sequence", "elements": [`)
	w.anyText(excludes)
	if n.Once {
		w.text(`, {"type": "optional", "content": `)
		w.node(tag)
		w.text("}]}")
		return
	}
	w.text(`, {"type": "star", "content": {"type": "sequence", "elements": [`)
	w.node(tag)
	w.text(", ")
	w.anyText(excludes)
	w.text("]}}]}")
}

// texts writes a member that is a list of texts, if there are any.
func (w *writer) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.text(`, "`)
	w.text(name)
	w.text(`": [`)
	for i, text := range list {
		if i > 0 {
			w.text(", ")
		}
		w.quoted(text)
	}
	w.text("]")
}

func (w *writer) grammar(n language.Node) {
	w.text(`{"type": "grammar", "grammar": `)
	w.grammars = w.ebnf.Append(w.grammars[:0], n)
	w.out, _ = jsontext.AppendQuote(w.out, w.grammars) // what a node says is valid UTF-8
	w.text("}")
}
