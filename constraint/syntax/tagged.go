package syntax

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Tagged is how the text between two tags is read.
type Tagged struct {
	// Ends are regular expressions of what may not occur in the text, because it would end there.
	Ends []string
	// Literal are those of them that are plain texts, or would be without the white space that may stand in them.
	Literal []string
	// Openers are expressions of the beginnings of calls. No string of JSON between tags may hold one.
	Openers []string
	// Entities: the five entities of XML are decoded; Layout: one line break at each end is no part of the text.
	Entities, Layout bool
	// JSON: where the schema is silent the text is JSON, else a string.
	JSON bool
}

// Value is a value between tags: what is written, and whether a string stands there as it is.
type Value struct {
	Kind string // string, number, boolean, null, array or object: the JSON kind; or AnyKind
	Raw  bool
	Node language.Node
}

// AnyKind is the kind of a value that is any JSON but a string.
const AnyKind = "any JSON"

// Tagged are the ways to write a value of a schema between tags. read is the schema as the reader of values has it.
func (b *Builder) Tagged(n *toolschema.Node, read *schema.Schema, t *Tagged) (out []Value) {
	known := b.between(t)
	free, json := known.free, known.json
	raw := func(a *regular.Automaton) Value {
		plain := a == nil
		if plain {
			a = free
		} else if both, err := a.And(free); err == nil {
			a = both
		}
		all := a
		a = b.readAsString(a, read, t)
		if t.Entities {
			a = a.Spelled(entityForms)
		}
		return Value{"string", true, b.layout(a, t, plain && a == all)}
	}
	kinds := read.Kinds()
	if kinds == schema.String || kinds == 0 && !t.JSON {
		// Whatever stands there is a string.
		if n.Free || kinds == 0 {
			return []Value{raw(nil)}
		}
	}
	if n.Free {
		if kinds == 0 {
			return []Value{{AnyKind, false, b.jsonMark(toolschema.Any, b.any(json), t)}}
		}
		return append(out, raw(nil))
	}
	containers := map[string]*toolschema.Node{}
	group := func(kind string, node language.Node) {
		for i := range out {
			if out[i].Kind == kind && !out[i].Raw {
				out[i].Node = language.Any(out[i].Node, node)
				return
			}
		}
		out = append(out, Value{kind, false, node})
	}
	var constants []string
	for _, a := range n.Alternatives {
		switch {
		case a.Kind == toolschema.String:
			out = append(out, raw(b.texts(a)))
			// Beside containers everything that is JSON is read, so a string that looks like a container can be written as JSON.
			if t.JSON && kinds.Has(schema.Object|schema.Array) {
				group("string", b.alternative(json, n, a))
			}
		case a.IsString():
			text := unquote(a.Value)
			constants = append(constants, text)
		case a.Kind == toolschema.Constant:
			if node, ok := b.constant(json, a.Value, n); ok && b.readsAs(a.Value, a.Value, read, t) {
				group(kindOfText(a.Value), node)
			} else {
				b.note(n, "enum", "the format has no way to write "+a.Value)
			}
		default:
			kind := a.Kind.String()
			if a.Kind == toolschema.Integer {
				kind = "number"
			}
			if a.Kind == toolschema.Object || a.Kind == toolschema.Array {
				if containers[kind] == nil {
					containers[kind] = &toolschema.Node{Pointer: n.Pointer}
				}
				containers[kind].Alternatives = append(containers[kind].Alternatives, a)
			}
			group(kind, b.alternative(json, n, a))
		}
	}
	for i := range out {
		if !out[i].Raw {
			written := out[i].Node
			inner := language.Node(&language.Mark{Role: jsonRole(t), Inner: written})
			if container := containers[out[i].Kind]; container != nil {
				inner = b.jsonMark(container, asRule(written, b.Name+n.Pointer), t)
			}
			if t.Layout || out[i].Kind != "null" || !kinds.Has(schema.String) { // beside strings null is read only as it stands
				inner = language.Join(newline, inner, newline)
			}
			out[i].Node = inner
		}
	}
	if len(constants) > 0 {
		var fit []string
		for _, text := range constants {
			if (t.Entities || free != nil && free.Accepts(text)) && b.readsAs(text, toolschema.Quote(text), read, t) {
				fit = append(fit, text)
			} else {
				b.note(n, "enum", "the format has no way to write "+toolschema.Quote(text))
			}
		}
		if len(fit) > 0 {
			var options []language.Node
			for _, text := range fit {
				options = append(options, b.layoutText(text, t))
			}
			out = append([]Value{{"string", true, language.Any(options...)}}, out...)
		}
	}
	return out
}

// jsonMark is JSON text of a schema between tags.
func (b *Builder) jsonMark(n *toolschema.Node, body *language.Rule, t *Tagged) language.Node {
	return &language.Mark{Role: jsonRole(t), Inner: &language.Schema{Schema: n, Body: body, Excludes: t.Literal, Spelled: t.Entities}}
}

func jsonRole(t *Tagged) language.Role {
	if t.Entities {
		return language.XMLJSON
	}
	return language.JSON
}

var newline = language.Maybe(language.Text("\n"))

func unquote(value string) string {
	text, _ := jsontextUnquote(value)
	return text
}

func kindOfText(value string) string {
	switch value[0] {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '[':
		return "array"
	case '{':
		return "object"
	case '"':
		return "string"
	}
	return "number"
}

// readsAs tells whether a text between tags is read as the value that is meant.
func (b *Builder) readsAs(text, value string, read *schema.Schema, t *Tagged) bool {
	silent := schema.SilentString
	if t.JSON {
		silent = schema.SilentJSON
	}
	got := string(schema.AppendValue(nil, []byte(text), read, silent))
	if got == value {
		return true
	}
	one, err := toolschema.Canonical(got)
	two, wrong := toolschema.Canonical(value)
	return err == nil && wrong == nil && one == two
}

// between is what is known of the text between two tags.
type between struct {
	free *regular.Automaton
	json *style
}

// between is found by what ends the text. A Tagged is mostly met again as it is.
func (b *Builder) between(t *Tagged) *between {
	if known, ok := b.tagged[t]; ok {
		return known
	}
	key := strings.Join(t.Ends, "\x00")
	known, ok := b.byEnds[key]
	if !ok {
		known = &between{free: freeText(t)}
		known.json = b.jsonIn(t, known.free)
		b.byEnds[key] = known
	}
	b.tagged[t] = known
	return known
}

// freeText is the automaton of text that does not end before its end.
func freeText(t *Tagged) *regular.Automaton {
	ends := slices.Clone(t.Ends)
	if t.Entities { // what would end it is written as an entity
		ends = nil
	}
	out, err := regular.Without(ends...)
	if err != nil { // the plain texts alone always can be held
		var quoted []string
		for _, text := range t.Literal {
			quoted = append(quoted, regular.Quote(text))
		}
		if out, err = regular.Without(quoted...); err != nil {
			panic("syntax: " + err.Error())
		}
	}
	return out
}

// readAsString takes out the strings that would be read as something else, where the schema allows other kinds too.
func (b *Builder) readAsString(a *regular.Automaton, read *schema.Schema, t *Tagged) *regular.Automaton {
	kinds := read.Kinds()
	if t.JSON && kinds == 0 {
		return a
	}
	return b.stringsBeside(a, kinds)
}

// stringsBeside takes out the strings that would be read as a value of another of the kinds.
func (b *Builder) stringsBeside(a *regular.Automaton, kinds schema.Kinds) *regular.Automaton {
	var others []string
	for _, of := range []struct {
		kind       schema.Kinds
		expression string
	}{
		{schema.Null, `(?i:null)`},
		{schema.Integer | schema.Number, regular.Blanks + `[-+]?(?:\p{Nd}[\p{Nd}_]*\.?[\p{Nd}_]*|\.\p{Nd}[\p{Nd}_]*)(?:[eE][-+]?[\p{Nd}_]+)?` + regular.Blanks},
		{schema.Boolean, regular.Blanks + `(?:(?i:true|false)|[01])` + regular.Blanks},
		// Beside containers everything that is JSON is read as such.
		{schema.Object | schema.Array, regular.Blanks + `(?:[\[{(].*|(?:null|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|"(?:[^"\\]|\\.)*")` + regular.Blanks + `)`},
	} {
		if kinds.Has(of.kind) && kinds.Has(schema.String) {
			others = append(others, of.expression)
		}
	}
	if len(others) == 0 {
		return a
	}
	other, err := regular.Match(strings.Join(others, "|"))
	if err == nil {
		if other, err = other.Not(); err == nil {
			if both, err := a.And(other); err == nil {
				return both
			}
		}
	}
	b.Notes = append(b.Notes, toolschema.Note{Pointer: b.Name, Keyword: "type", Reason: "strings that read like another type cannot be kept apart"})
	return a
}

// layout puts the optional line breaks around a string. What begins or ends with one itself needs one more, or it would
// be taken for layout.
func (b *Builder) layout(a *regular.Automaton, t *Tagged, plain bool) language.Node {
	if !t.Layout {
		return &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, plain)}
	}
	if plain {
		// Any text is right, so it does not matter which of its line breaks are layout.
		return &language.Mark{Role: language.Laid, Inner: b.regular(a, t, true)}
	}
	part := func(expression string) *regular.Automaton {
		found, err := regular.Match(expression)
		if err == nil {
			if found, err = found.And(a); err == nil {
				return found
			}
		}
		return a
	}
	raw := func(a *regular.Automaton) language.Node {
		return &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, false)}
	}
	line := language.Text("\n")
	return language.Any(
		language.Join(line, &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, false)}, line),
		raw(part(`(?:[^\n](?:.*[^\n])?)?`)),
		language.Join(line, raw(part(`.*[^\n]`))),
		language.Join(raw(part(`[^\n].*`)), line))
}

func (b *Builder) layoutText(text string, t *Tagged) language.Node {
	written := &language.Mark{Role: b.rawRole(t), Inner: language.Text(text)}
	if t.Entities {
		written.Inner = withEntities(text, entityForms)
	}
	if !t.Layout {
		return written
	}
	before, after := newline, newline
	if strings.HasPrefix(text, "\n") {
		before = language.Text("\n")
	}
	if strings.HasSuffix(text, "\n") {
		after = language.Text("\n")
	}
	if text == "" {
		return language.Any(written, language.Join(language.Text("\n"), written, language.Text("\n")))
	}
	return language.Join(before, written, after)
}

func (b *Builder) rawRole(t *Tagged) language.Role {
	if t.Entities {
		return language.XML
	}
	return language.Raw
}

func (b *Builder) regular(a *regular.Automaton, t *Tagged, plain bool) language.Node {
	out := &language.Regular{Automaton: a}
	if plain && !t.Entities && a == b.between(t).free {
		out.Without = t.Literal
		out.Looser = len(t.Literal) < len(t.Ends) || slices.ContainsFunc(t.Ends, func(e string) bool { return strings.Contains(e, `\s*`) })
	}
	return out
}

// entityForms are the ways to write the characters that have entities.
var entityForms = map[rune][]string{
	'&': {"&amp;"}, '<': {"&lt;"}, '>': {">", "&gt;"}, '"': {`"`, "&quot;"}, '\'': {"'", "&apos;"},
}

// markupForms are the same without those of quotation marks, which bound the strings of JSON.
var markupForms = map[rune][]string{'&': {"&amp;"}, '<': {"&lt;"}, '>': {">", "&gt;"}}

// withEntities is one text with its entities.
func withEntities(text string, forms map[rune][]string) language.Node {
	only, err := regular.Texts(text)
	if err != nil {
		return language.Never()
	}
	return &language.Regular{Automaton: only.Spelled(forms)}
}
