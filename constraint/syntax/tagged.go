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
