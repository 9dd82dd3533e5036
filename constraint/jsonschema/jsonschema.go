// Package jsonschema writes a schema that has been read for a constraint back as JSON schema, in few words that every
// engine knows: no references but to its own $defs, nothing said in two places, and additionalProperties always said.
package jsonschema

import (
	"slices"
	"strconv"

	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Write writes a schema.
func Write(n *toolschema.Node) string { return string(Append(nil, n)) }

// Append appends a schema.
func Append(dst []byte, n *toolschema.Node) []byte {
	w := writer{out: dst}
	w.schema(n)
	return w.finished(len(dst))
}

// writer writes several schemas into one text, with their definitions side by side.
type writer struct {
	out []byte
	// names are those of the definitions, defs what they say, with commas between them.
	names map[*toolschema.Node]string
	defs  []byte
	// inline is how many objects and arrays stand where they are used; again are those met since there are many.
	inline int
	again  map[*toolschema.Node]bool
}

// mostInline is how many objects and arrays are written where they are used, however often that is. Each reference of a
// schema may lead to two more: a small schema would be a text without end.
const mostInline = 1000

func (w *writer) text(text string) { w.out = append(w.out, text...) }

func (w *writer) quoted(text string) { w.out = toolschema.AppendQuote(w.out, text) }

// schema writes a node. Nodes that refer to themselves go to the definitions, and where there are many those that are
// met again.
func (w *writer) schema(n *toolschema.Node) {
	if n.Free {
		w.text("{}")
		return
	}
	if !n.Recursive && !w.often(n) {
		w.body(n)
		return
	}
	name, ok := w.names[n]
	if !ok {
		if w.names == nil {
			w.names = map[*toolschema.Node]string{}
		}
		name = "d" + strconv.Itoa(len(w.names)+1)
		w.names[n] = name
		outer := w.out
		w.out = nil
		w.body(n)
		if len(w.defs) > 0 {
			w.defs = append(w.defs, ", "...)
		}
		w.defs = append(toolschema.AppendQuote(w.defs, name), ": "...)
		w.defs = append(w.defs, w.out...)
		w.out = outer
	}
	w.text(`{"$ref": `)
	w.quoted("#/$defs/" + name)
	w.text("}")
}

// often tells whether a node that does not refer to itself has been written before, and so much else that it should not
// be written again.
func (w *writer) often(n *toolschema.Node) bool {
	if !slices.ContainsFunc(n.Alternatives, func(a *toolschema.Alternative) bool {
		return a.Kind == toolschema.Object || a.Kind == toolschema.Array
	}) {
		return false
	}
	if w.inline++; w.inline <= mostInline {
		return false
	}
	if w.again == nil {
		w.again = map[*toolschema.Node]bool{}
	}
	met := w.again[n]
	w.again[n] = true
	return met
}

// finished is what has been written, with the definitions put into the schema that begins at an index.
func (w *writer) finished(from int) []byte {
	if len(w.defs) == 0 {
		return w.out
	}
	w.out = w.out[:len(w.out)-1]
	if len(w.out) > from+1 {
		w.text(", ")
	}
	w.text(`"$defs": {`)
	w.out = append(w.out, w.defs...)
	w.text("}}")
	return w.out
}

func (w *writer) body(n *toolschema.Node) {
	constants, others := 0, 0
	for _, a := range n.Alternatives {
		if a.Kind == toolschema.Constant {
			constants++
		} else {
			others++
		}
	}
	options := min(constants, 1) + others
	if options == 0 {
		w.text("false")
		return
	}
	if options > 1 {
		w.text(`{"anyOf": [`)
	}
	if constants > 0 {
		w.text(`{"enum": [`)
		first := true
		for _, a := range n.Alternatives {
			if a.Kind == toolschema.Constant {
				w.comma(&first)
				w.text(a.Value)
			}
		}
		w.text("]}")
	}
	first := constants == 0
	for _, a := range n.Alternatives {
		if a.Kind != toolschema.Constant {
			w.comma(&first)
			w.alternative(a)
		}
	}
	if options > 1 {
		w.text("]}")
	}
}

func (w *writer) comma(first *bool) {
	if !*first {
		w.text(", ")
	}
	*first = false
}

// number writes a member whose value is a number.
func (w *writer) number(name string, value int64) {
	w.text(`, "`)
	w.text(name)
	w.text(`": `)
	w.out = strconv.AppendInt(w.out, value, 10)
}

func (w *writer) alternative(a *toolschema.Alternative) {
	w.text(`{"type": "`)
	w.text(a.Kind.String())
	w.text(`"`)
	switch a.Kind {
	case toolschema.String:
		if len(a.Patterns) > 0 {
			w.text(`, "pattern": `)
			w.quoted(a.Patterns[0])
		}
		if a.Format != "" {
			w.text(`, "format": `)
			w.quoted(a.Format)
		}
		if a.MinLength > 0 {
			w.number("minLength", int64(a.MinLength))
		}
		if a.MaxLength >= 0 {
			w.number("maxLength", int64(a.MaxLength))
		}
	case toolschema.Integer:
		if a.Minimum != nil {
			w.number("minimum", *a.Minimum)
		}
		if a.Maximum != nil {
			w.number("maximum", *a.Maximum)
		}
	case toolschema.Array:
		w.array(a)
	case toolschema.Object:
		w.object(a)
	}
	w.text("}")
}

func (w *writer) array(a *toolschema.Alternative) {
	if len(a.Prefix) > 0 {
		w.text(`, "prefixItems": [`)
		first := true
		for _, p := range a.Prefix {
			w.comma(&first)
			w.schema(p)
		}
		w.text("]")
	}
	switch {
	case a.Items != nil: // said even where it is {}, since strict readers take items that nothing is said of as forbidden
		w.text(`, "items": `)
		w.schema(a.Items)
	case len(a.Prefix) > 0:
		w.text(`, "items": false`)
	}
	if a.MinItems > 0 {
		w.number("minItems", int64(a.MinItems))
	}
	if a.MaxItems >= 0 {
		w.number("maxItems", int64(a.MaxItems))
	}
}

func (w *writer) object(a *toolschema.Alternative) {
	w.text(`, "properties": {`)
	first := true
	required := false
	for _, p := range a.Properties {
		w.comma(&first)
		w.quoted(p.Name)
		w.text(": ")
		w.schema(p.Node)
		required = required || p.Required
	}
	w.text("}")
	if required {
		w.text(`, "required": [`)
		first = true
		for _, p := range a.Properties {
			if p.Required {
				w.comma(&first)
				w.quoted(p.Name)
			}
		}
		w.text("]")
	}
	if len(a.Patterned) > 0 {
		w.text(`, "patternProperties": {`)
		first = true
		for _, p := range a.Patterned {
			w.comma(&first)
			w.quoted(p.Pattern)
			w.text(": ")
			w.schema(p.Node)
		}
		w.text("}")
	}
	w.text(`, "additionalProperties": `)
	switch {
	case a.Additional == nil:
		w.text("false")
	case a.Additional.Free:
		w.text("true")
	default:
		w.schema(a.Additional)
	}
}

// Choice is one function of a forced call.
type Choice struct {
	Name       string
	Parameters *toolschema.Node
}

// Required writes the schema of a forced call as plain JSON: an array of {name, parameters}, of one element if once.
func Required(choices []Choice, once bool) string {
	var w writer
	w.text(`{"type": "array", "minItems": 1`)
	if once {
		w.text(`, "maxItems": 1`)
	}
	w.text(`, "items": {"anyOf": [`)
	first := true
	for _, c := range choices {
		w.comma(&first)
		w.text(`{"type": "object", "properties": {"name": {"type": "string", "enum": [`)
		w.quoted(c.Name)
		w.text(`]}, "parameters": `)
		w.schema(c.Parameters)
		w.text(`}, "required": ["name", "parameters"], "additionalProperties": false}`)
	}
	w.text("]}}")
	return string(w.finished(0))
}
