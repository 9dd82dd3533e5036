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
	// NoRaw: strings as they stand are not written so. NoJSON: nothing else is.
	NoRaw, NoJSON bool
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
func (b *Builder) Tagged(n *toolschema.Node, read *schema.Schema, t *Tagged) []Value {
	known := b.between(t)
	kinds := read.Kinds()
	switch {
	case kinds == 0 && t.JSON && n.Free:
		if t.NoJSON {
			return nil
		}
		return []Value{{AnyKind, false, jsonMark(jsonSchema(toolschema.Any, b.any(known.json), t), t)}}
	case n.Free || kinds == 0 && !t.JSON: // whatever stands there is a string
		if t.NoRaw {
			return nil
		}
		return []Value{b.rawValue(nil, read, t)}
	}
	out := make([]Value, 0, len(n.Alternatives))
	if !t.NoRaw {
		if value, ok := b.constantTexts(n, read, t); ok {
			out = append(out, value)
		}
	}
	group := func(kind string, node language.Node) {
		for i := range out {
			if out[i].Kind == kind && !out[i].Raw {
				out[i].Node = language.Any(out[i].Node, node)
				return
			}
		}
		out = append(out, Value{kind, false, node})
	}
	var objects, arrays *toolschema.Node
	for _, a := range n.Alternatives {
		switch {
		case a.IsString():
			if a.Kind == toolschema.String && !t.NoRaw {
				out = append(out, b.rawValue(b.texts(a), read, t))
			}
			// Beside containers everything that is JSON is read, so a string that looks like a container can be written as JSON.
			if a.Kind == toolschema.String && t.JSON && !t.NoJSON && kinds.Has(schema.Object|schema.Array) {
				group("string", b.alternative(known.json, n, a))
			}
		case t.NoJSON:
		case a.Kind == toolschema.Constant:
			if node, ok := b.constant(known.json, a.Value, n); ok && b.readsAs(a.Value, a.Value, read, t) {
				group(kindOfText(a.Value), b.word(node, a, kinds))
			} else {
				b.note(n, "enum", "the format has no way to write "+a.Value)
			}
		default:
			kind := a.Kind.String()
			switch a.Kind {
			case toolschema.Integer:
				kind = "number"
			case toolschema.Object:
				objects = with(objects, n, a)
			case toolschema.Array:
				arrays = with(arrays, n, a)
			}
			group(kind, b.word(b.alternative(known.json, n, a), a, kinds))
		}
	}
	for i := range out {
		if out[i].Raw {
			continue
		}
		var container *toolschema.Node
		switch out[i].Kind {
		case "object":
			container = objects
		case "array":
			container = arrays
		}
		written := out[i].Node
		if container != nil {
			written = jsonSchema(container, asRule(written, b.Name+n.Pointer), t)
		}
		// beside strings null is read only as it stands
		lines := t.Layout || out[i].Kind != "null" || !kinds.Has(schema.String)
		out[i].Node = known.value(written, lines, t)
	}
	return out
}

// word is a value between tags, spelled as Python does too where the format writes words so.
func (b *Builder) word(written language.Node, a *toolschema.Alternative, kinds schema.Kinds) language.Node {
	if !b.Spelling.PythonWords || written == nil {
		return written
	}
	return spelledWord(written, a, kinds.Has(schema.String))
}

// with is a node with one alternative more.
func with(container, n *toolschema.Node, a *toolschema.Alternative) *toolschema.Node {
	if container == nil {
		container = &toolschema.Node{Pointer: n.Pointer}
	}
	container.Alternatives = append(container.Alternatives, a)
	return container
}

// rawValue is a string as it stands, out of the texts of an automaton; nil is any.
func (b *Builder) rawValue(texts *regular.Automaton, read *schema.Schema, t *Tagged) Value {
	known := b.between(t)
	a := known.free
	if texts != nil {
		a = texts
		if both, err := texts.And(known.free); err == nil {
			a = both
		}
	}
	all := a
	a = b.readAsString(a, read, t)
	plain := texts == nil && a == all
	if plain && known.text != nil {
		return Value{"string", true, known.text}
	}
	if t.Entities {
		a = a.Spelled(entityForms)
	}
	if !plain {
		return Value{"string", true, b.layout(a, t, false)}
	}
	known.text = b.layout(a, t, true)
	return Value{"string", true, known.text}
}

// constantTexts is one of the strings that are listed, false if none of them can be written.
func (b *Builder) constantTexts(n *toolschema.Node, read *schema.Schema, t *Tagged) (Value, bool) {
	free := b.between(t).free
	var options []language.Node
	for _, a := range n.Alternatives {
		if a.Kind != toolschema.Constant || !a.IsString() {
			continue
		}
		text := unquote(a.Value)
		if (t.Entities || free != nil && free.Accepts(text)) && b.readsAs(text, a.Value, read, t) {
			options = append(options, b.layoutText(text, t))
		} else {
			b.note(n, "enum", "the format has no way to write "+a.Value)
		}
	}
	return Value{"string", true, language.Any(options...)}, len(options) > 0
}

// jsonSchema is JSON text of a schema between tags.
func jsonSchema(n *toolschema.Node, body *language.Rule, t *Tagged) language.Node {
	return &language.Schema{Schema: n, Body: body, Excludes: t.Literal, Spelled: t.Entities}
}

func jsonMark(n language.Node, t *Tagged) language.Node {
	if t.Entities {
		return &language.Mark{Role: language.XMLJSON, Inner: n}
	}
	return &language.Mark{Role: language.JSON, Inner: n}
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
	// text is any string as it stands, values are JSON values that have been written.
	text   language.Node
	values map[jsonValue]language.Node
}

type jsonValue struct {
	written language.Node
	lines   bool
}

// value is a JSON value between tags; lines: one line break at each end is no part of it.
func (k *between) value(written language.Node, lines bool, t *Tagged) language.Node {
	key := jsonValue{written, lines}
	if node, ok := k.values[key]; ok {
		return node
	}
	node := jsonMark(written, t)
	if lines {
		node = language.Join(newline, node, newline)
	}
	k.values[key] = node
	return node
}

// between is found by what ends the text. A Tagged is mostly met again as it is.
func (b *Builder) between(t *Tagged) *between {
	if known, ok := b.tagged[t]; ok {
		return known
	}
	key := strings.Join(t.Ends, "\x00")
	alike, ok := b.byEnds[key]
	if !ok {
		alike = between{free: freeText(t)}
		alike.json = b.jsonIn(t, alike.free)
		b.byEnds[key] = alike
	}
	alike.values = map[jsonValue]language.Node{}
	b.tagged[t] = &alike
	return &alike
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
	if !strings.ContainsAny(text, `&<>"'`) {
		return language.Text(text)
	}
	only, err := regular.Texts(text)
	if err != nil {
		return language.Never()
	}
	return &language.Regular{Automaton: only.Spelled(forms)}
}
