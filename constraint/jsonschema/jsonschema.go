// Package jsonschema writes a schema that has been read for a constraint back as JSON schema, in few words that every
// engine knows: no references but to its own $defs, nothing said in two places, and additionalProperties always said.
package jsonschema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Write writes a schema.
func Write(n *toolschema.Node) string {
	w := NewWriter()
	text := w.Schema(n)
	return w.Finish(text)
}

// Writer writes several schemas into one text, with their definitions side by side.
type Writer struct {
	names map[*toolschema.Node]string
	used  map[*toolschema.Node]int
	defs  []string
	done  map[*toolschema.Node]bool
}

// NewWriter makes a Writer.
func NewWriter() *Writer {
	return &Writer{names: map[*toolschema.Node]string{}, used: map[*toolschema.Node]int{}, done: map[*toolschema.Node]bool{}}
}

// Schema writes a node. Nodes that refer to themselves go to the definitions.
func (w *Writer) Schema(n *toolschema.Node) string {
	if n.Free {
		return "{}"
	}
	if name, ok := w.names[n]; ok {
		return `{"$ref": ` + toolschema.Quote("#/$defs/"+name) + `}`
	}
	if w.recursive(n) {
		name := "d" + strconv.Itoa(len(w.names)+1)
		w.names[n] = name
		body := w.body(n)
		w.defs = append(w.defs, toolschema.Quote(name)+": "+body)
		return `{"$ref": ` + toolschema.Quote("#/$defs/"+name) + `}`
	}
	return w.body(n)
}

// Finish puts the definitions into a schema that has been written.
func (w *Writer) Finish(text string) string {
	if len(w.defs) == 0 {
		return text
	}
	defs := `"$defs": {` + strings.Join(w.defs, ", ") + "}}"
	if text == "{}" {
		return "{" + defs
	}
	return strings.TrimSuffix(text, "}") + ", " + defs
}

// recursive tells whether a node can be reached from itself.
func (w *Writer) recursive(root *toolschema.Node) bool {
	if known, ok := w.done[root]; ok {
		return known
	}
	seen := map[*toolschema.Node]bool{}
	found := false
	var visit func(n *toolschema.Node)
	visit = func(n *toolschema.Node) {
		if n == nil || found {
			return
		}
		for _, a := range n.Alternatives {
			inner := append([]*toolschema.Node{a.Additional, a.Items}, a.Prefix...)
			for _, p := range a.Properties {
				inner = append(inner, p.Node)
			}
			for _, p := range a.Patterned {
				inner = append(inner, p.Node)
			}
			for _, next := range inner {
				if next == root {
					found = true
				}
				if next != nil && !seen[next] && !found {
					seen[next] = true
					visit(next)
				}
			}
		}
	}
	visit(root)
	w.done[root] = found
	return found
}

func (w *Writer) body(n *toolschema.Node) string {
	var options []string
	var constants []string
	for _, a := range n.Alternatives {
		if a.Kind == toolschema.Constant {
			constants = append(constants, a.Value)
		}
	}
	if len(constants) > 0 {
		options = append(options, `{"enum": [`+strings.Join(constants, ", ")+`]}`)
	}
	for _, a := range n.Alternatives {
		if a.Kind != toolschema.Constant {
			options = append(options, w.alternative(a))
		}
	}
	switch len(options) {
	case 0:
		return "false"
	case 1:
		return options[0]
	}
	return `{"anyOf": [` + strings.Join(options, ", ") + "]}"
}

func (w *Writer) alternative(a *toolschema.Alternative) string {
	members := []string{`"type": ` + toolschema.Quote(a.Kind.String())}
	add := func(format string, arguments ...any) { members = append(members, fmt.Sprintf(format, arguments...)) }
	switch a.Kind {
	case toolschema.String:
		if len(a.Patterns) > 0 {
			add(`"pattern": %s`, toolschema.Quote(a.Patterns[0]))
		}
		if a.Format != "" {
			add(`"format": %s`, toolschema.Quote(a.Format))
		}
		if a.MinLength > 0 {
			add(`"minLength": %d`, a.MinLength)
		}
		if a.MaxLength >= 0 {
			add(`"maxLength": %d`, a.MaxLength)
		}
	case toolschema.Integer:
		if a.Minimum != nil {
			add(`"minimum": %d`, *a.Minimum)
		}
		if a.Maximum != nil {
			add(`"maximum": %d`, *a.Maximum)
		}
	case toolschema.Array:
		if len(a.Prefix) > 0 {
			var prefix []string
			for _, p := range a.Prefix {
				prefix = append(prefix, w.Schema(p))
			}
			add(`"prefixItems": [%s]`, strings.Join(prefix, ", "))
		}
		if a.Items != nil && !a.Items.Free {
			add(`"items": %s`, w.Schema(a.Items))
		} else if a.Items != nil {
			add(`"items": {}`) // said, since strict readers take items that nothing is said of as forbidden
		} else if a.Items == nil && len(a.Prefix) > 0 {
			add(`"items": false`)
		}
		if a.MinItems > 0 {
			add(`"minItems": %d`, a.MinItems)
		}
		if a.MaxItems >= 0 {
			add(`"maxItems": %d`, a.MaxItems)
		}
	case toolschema.Object:
		var properties, required []string
		for _, p := range a.Properties {
			properties = append(properties, toolschema.Quote(p.Name)+": "+w.Schema(p.Node))
			if p.Required {
				required = append(required, toolschema.Quote(p.Name))
			}
		}
		add(`"properties": {%s}`, strings.Join(properties, ", "))
		if len(required) > 0 {
			add(`"required": [%s]`, strings.Join(required, ", "))
		}
		if len(a.Patterned) > 0 {
			var patterned []string
			for _, p := range a.Patterned {
				patterned = append(patterned, toolschema.Quote(p.Pattern)+": "+w.Schema(p.Node))
			}
			add(`"patternProperties": {%s}`, strings.Join(patterned, ", "))
		}
		switch {
		case a.Additional == nil:
			add(`"additionalProperties": false`)
		case a.Additional.Free:
			add(`"additionalProperties": true`)
		default:
			add(`"additionalProperties": %s`, w.Schema(a.Additional))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// Choice is one function of a forced call.
type Choice struct {
	Name       string
	Parameters *toolschema.Node
}

// Required writes the schema of a forced call as plain JSON: an array of {name, parameters}, of one element if once.
func Required(choices []Choice, once bool) string {
	w := NewWriter()
	var options []string
	for _, c := range choices {
		options = append(options, fmt.Sprintf(`{"type": "object", "properties": {"name": {"type": "string", "enum": [%s]}, "parameters": %s}, "required": ["name", "parameters"], "additionalProperties": false}`,
			toolschema.Quote(c.Name), w.Schema(c.Parameters)))
	}
	most := ""
	if once {
		most = `, "maxItems": 1`
	}
	return w.Finish(fmt.Sprintf(`{"type": "array", "minItems": 1%s, "items": {"anyOf": [%s]}}`, most, strings.Join(options, ", ")))
}
