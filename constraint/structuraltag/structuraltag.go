// Package structuraltag writes a language as a structural tag, the JSON form in which xgrammar, and with it vLLM and
// SGLang, takes constraints. JSON arguments stay JSON schemas there, free text with tags stays such; what has no form of
// its own is written as a grammar.
package structuraltag

import (
	"slices"
	"strconv"
	"strings"

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
	w := &writer{structured: map[language.Node]bool{}, busy: map[*language.Rule]bool{}}
	text := `{"type": "structural_tag", "format": ` + w.node(n) + "}"
	slices.Sort(w.widened)
	return Tag{text, slices.Compact(w.widened)}
}

type writer struct {
	widened    []string
	structured map[language.Node]bool
	busy       map[*language.Rule]bool
}

// holdsForm tells whether a node holds something that has a form of its own: a schema, or free text.
func (w *writer) holdsForm(n language.Node) bool {
	if known, ok := w.structured[n]; ok {
		return known
	}
	w.structured[n] = false // until it is known: rules may refer to themselves
	found := false
	switch n := n.(type) {
	case *language.Schema, *language.Free:
		found = true
	case *language.Regular:
		found = n.Without != nil
	default:
		language.Children(n, func(inner language.Node) { found = found || w.holdsForm(inner) })
	}
	w.structured[n] = found
	return found
}

func (w *writer) node(n language.Node) string {
	if literal, ok := n.(*language.Literal); ok {
		return constant(literal.Text)
	}
	if !w.holdsForm(n) {
		return grammar(n)
	}
	switch n := n.(type) {
	case *language.Sequence:
		return w.list("sequence", n.Items)
	case *language.Choice:
		return w.list("or", n.Options)
	case *language.Repeat:
		inner := w.node(n.Inner)
		switch {
		case n.Min == 0 && n.Max == 1:
			return `{"type": "optional", "content": ` + inner + "}"
		case n.Min == 0 && n.Max < 0:
			return `{"type": "star", "content": ` + inner + "}"
		case n.Min == 1 && n.Max < 0:
			return `{"type": "plus", "content": ` + inner + "}"
		}
		return `{"type": "repeat", "min": ` + strconv.Itoa(n.Min) + `, "max": ` + strconv.Itoa(n.Max) + `, "content": ` + inner + "}"
	case *language.Rule:
		if w.busy[n] {
			return grammar(n)
		}
		w.busy[n] = true
		defer delete(w.busy, n)
		return w.node(n.Body)
	case *language.Mark:
		return w.node(n.Inner)
	case *language.Schema:
		schema := jsonschema.Write(n.Schema)
		if !w.plain(n.Schema) || slices.ContainsFunc(n.Excludes, func(text string) bool {
			return strings.Contains(schema, toolschema.Quote(text)[1:len(toolschema.Quote(text))-1])
		}) {
			return grammar(n)
		}
		// Every character of what a string may not hold is a state of its own in the engine, tried against its whole
		// vocabulary: a closing tag makes a schema take fifty times as long.
		excludes := slices.DeleteFunc(slices.Clone(n.Excludes), func(text string) bool { return len(text) > 2 })
		if len(excludes) < len(n.Excludes) {
			w.widened = append(w.widened, "a string in a JSON value that holds what ends the value is let through")
		}
		return `{"type": "json_schema", "json_schema": ` + schema + texts("excludes", excludes) + "}"
	case *language.Regular:
		if n.Looser {
			w.widened = append(w.widened, "text that holds a marker which is laid out otherwise, or the closers of a call and another call, is let through")
		}
		return `{"type": "any_text"` + texts("excludes", n.Without) + "}"
	case *language.Free:
		return w.free(n)
	}
	return grammar(n)
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

// list writes several nodes. Neighbours in a sequence that have no form of their own become one grammar.
func (w *writer) list(kind string, nodes []language.Node) string {
	var parts []string
	var run []language.Node
	flush := func() {
		if len(run) > 0 {
			parts = append(parts, w.node(language.Join(run...)))
			run = nil
		}
	}
	for _, n := range nodes {
		if kind == "sequence" && !w.holdsForm(n) {
			run = append(run, n)
			continue
		}
		flush()
		parts = append(parts, w.node(n))
	}
	flush()
	if len(parts) == 1 {
		return parts[0]
	}
	return `{"type": "` + kind + `", "elements": [` + strings.Join(parts, ", ") + "]}"
}

func (w *writer) free(n *language.Free) string {
	if n.First != nil {
		w.widened = append(w.widened, "text at the beginning that looks like calls is let through")
	}
	if len(n.Tags) == 0 {
		return `{"type": "any_text"` + texts("excludes", n.Excludes) + "}"
	}
	if slices.ContainsFunc(n.Tags, func(tag language.Tag) bool { return w.unlimited(tag.Rest) }) {
		return w.spelled(n)
	}
	var tags, triggers []string
	for _, tag := range n.Tags {
		triggers = append(triggers, tag.Begin)
		tags = append(tags, `{"type": "tag", "begin": `+toolschema.Quote(tag.Begin)+`, "content": `+w.node(tag.Rest)+`, "end": ""}`)
	}
	once := "false"
	if n.Once {
		once = "true"
	}
	return `{"type": "triggered_tags"` + texts("triggers", triggers) + `, "tags": [` + strings.Join(tags, ", ") + `], "at_least_one": false, "stop_after_first": ` + once + texts("excludes", n.Excludes) + "}"
}

// unlimited tells whether a node holds repetitions: what they are in must have an end of its own to be a tag. A rule that
// refers to itself is looked into once.
func (w *writer) unlimited(n language.Node) bool {
	seen := map[*language.Rule]bool{}
	var visit func(n language.Node) bool
	visit = func(n language.Node) bool {
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
			seen[n] = true
		}
		found := false
		language.Children(n, func(inner language.Node) { found = found || visit(inner) })
		return found
	}
	return visit(n)
}

// spelled writes free text with tags as text, and tags with text behind them.
func (w *writer) spelled(n *language.Free) string {
	excludes := slices.Clone(n.Excludes)
	var tags []language.Node
	for _, tag := range n.Tags {
		excludes = append(excludes, tag.Begin)
		tags = append(tags, language.Join(language.Text(tag.Begin), tag.Rest))
	}
	text := `{"type": "any_text"` + texts("excludes", excludes) + "}"
	tag := w.node(language.Any(tags...))
	if n.Once {
		return `{"type": "sequence", "elements": [` + text + `, {"type": "optional", "content": ` + tag + "}]}"
	}
	return `{"type": "sequence", "elements": [` + text + `, {"type": "star", "content": {"type": "sequence", "elements": [` + tag + ", " + text + "]}}]}"
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
	return `{"type": "const_string", "value": ` + toolschema.Quote(text) + "}"
}

func grammar(n language.Node) string {
	return `{"type": "grammar", "grammar": ` + toolschema.Quote(dialect.EBNF(n).Text) + "}"
}
