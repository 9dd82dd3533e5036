package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// call is a call of any of the tools, or of the one whose name has been written.
func (w *walker) call(rule *grammar.Rule, s scene) language.Node {
	if s.tool != nil {
		return w.callOf(rule, s.tool, s)
	}
	var options []language.Node
	for i := range w.Tools {
		options = append(options, w.callOf(rule, &w.Tools[i], s))
	}
	return language.Any(options...)
}

func (w *walker) callOf(rule *grammar.Rule, tool *Tool, s scene) language.Node {
	key := callKey{rule, tool}
	if made, ok := w.calls[key]; ok {
		return made
	}
	made := &language.Rule{Name: "call-" + tool.Name}
	w.calls[key] = made
	s.tool = tool
	s.target = nothing
	w.Builder.Name = tool.Name
	made.Body = &language.Mark{Role: language.Call, Name: tool.Name, Inner: w.choice(rule.Body, s)}
	return made
}

// arguments is the schema that the arguments of a tool are held to.
func (t *Tool) arguments() *toolschema.Node {
	if !t.Pinned {
		return toolschema.AnyObject
	}
	return t.Arguments
}

func (w *walker) capture(e *grammar.Capture, s scene) language.Node {
	switch e.Name {
	case "name":
		if s.tool == nil {
			break
		}
		return language.Text(w.bareName(s.tool, e))
	case "arguments":
		return w.argumentText(e, s)
	case "value":
		if s.parameter != nil {
			return s.parameter.value.Node
		}
	case "key":
		if s.parameter != nil {
			return s.parameter.bareKey(w, s)
		}
	case "index":
		return language.Join(&language.Repeat{Inner: digit, Min: 1, Max: 6})
	case "reasoning", "content", "drop":
		return language.Text("")
	case "type":
		if s.parameter != nil {
			return anyOf(s.parameter.kind)
		}
		return language.Text("json") // the type of arguments that are JSON text
	}
	switch shape := e.Shape.(type) {
	case *grammar.Literal:
		return language.Text(w.fill(shape.Text))
	case *grammar.Run:
		return w.run(shape)
	case *grammar.Choice:
		s.pattern = true
		return w.choice(shape, s)
	}
	if value, ok := s.captures.get(e.Name); ok {
		return anyOf(value)
	}
	if e.Name == "id" {
		return &language.Repeat{Inner: word, Min: 1, Max: 40}
	}
	return language.Text("")
}

// anyOf is any of the values of a capture.
func anyOf(value string) language.Node {
	var options []language.Node
	for _, one := range strings.Split(value, or) {
		options = append(options, language.Text(one))
	}
	return language.Any(options...)
}

var digit = &language.Class{Ranges: []regular.Range{{First: '0', Last: '9'}}}

var word = &language.Class{Ranges: []regular.Range{{First: '-', Last: '-'}, {First: '0', Last: '9'}, {First: 'A', Last: 'Z'}, {First: '_', Last: '_'}, {First: 'a', Last: 'z'}}}

// run is a run of characters of a class.
func (w *walker) run(r *grammar.Run) language.Node {
	class := &language.Class{}
	for b := byte(0); b < 128; b++ {
		if !r.Class.Has(b) {
			continue
		}
		if n := len(class.Ranges); n > 0 && class.Ranges[n-1].Last == rune(b)-1 {
			class.Ranges[n-1].Last = rune(b)
			continue
		}
		class.Ranges = append(class.Ranges, regular.Range{First: rune(b), Last: rune(b)})
	}
	if r.Count > 0 {
		return &language.Repeat{Inner: class, Min: r.Count, Max: r.Count}
	}
	return &language.Repeat{Inner: class, Min: 1, Max: 12}
}

// bareName is a name as it stands without quotes: every character must be one that a name is made of.
func (w *walker) bareName(tool *Tool, e *grammar.Capture) string {
	class := &grammar.WordClass
	if run, ok := e.Shape.(*grammar.Run); ok {
		class = &run.Class
		if run.Automaton != nil { // of a template that a checkpoint brings
			if !run.Automaton.Matches(tool.Name) {
				w.fail(tool, "", fmt.Sprintf("expected a name that the format %s can write, found one that the pattern of its template does not match", w.d.Format))
			}
			return tool.Name
		}
	}
	for _, r := range tool.Name {
		if r < 128 && !class.Has(byte(r)) || r >= 128 && !class.HasWide(r) {
			w.fail(tool, "", fmt.Sprintf("expected a name that the format %s can write, found %q in it", w.d.Format, r))
		}
	}
	if tool.Name == "" {
		w.fail(tool, "", "expected a name, found none")
	}
	return tool.Name
}

// quotedText is a text as the value of an attribute.
func quotedText(text string) string {
	return `"` + quoting.Replace(text) + `"`
}

var quoting = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

// argumentText is the whole argument object.
func (w *walker) argumentText(e *grammar.Capture, s scene) language.Node {
	codec, _ := e.Shape.(*grammar.Codec)
	node := s.tool.arguments()
	switch {
	case codec == nil || codec.Kind == "json":
		return w.json(node)
	case codec.Kind == "python":
		return &language.Mark{Role: language.Python, Inner: w.Builder.PythonArguments(node)}
	}
	return &language.Mark{Role: language.Delimited, Inner: w.Builder.DelimitedArguments(node, w.fill(codec.Delimiter))}
}

func (w *walker) json(node *toolschema.Node) language.Node {
	return &language.Mark{Role: language.Arguments, Inner: &language.Schema{Schema: node, Body: w.Builder.JSON(node), Spelled: w.Builder.Sorted && node != toolschema.AnyObject}}
}

// envelope is a JSON object that carries a call, its members in the order of the definition.
func (w *walker) envelope(e *grammar.Envelope, s scene) language.Node {
	colon, comma := language.Text(": "), language.Text(", ")
	if w.d.Written.JSON == "compact" {
		colon = language.Join(language.Text(":"), language.Maybe(language.Text(" ")))
		comma = language.Join(language.Text(","), language.Maybe(language.Text(" ")))
	}
	items := []language.Node{language.Text("{")}
	first := true
	for _, member := range e.Members {
		var value language.Node
		switch member.Capture {
		case "name":
			value = language.Text(toolschema.Quote(s.tool.Name))
		case "arguments":
			value = w.json(s.tool.arguments())
		case "id":
			value = w.memberID()
		default:
			if member.Fixed == "" {
				continue
			}
			value = language.Text(toolschema.Quote(member.Fixed))
		}
		key := s.tool.Name
		if member.KeyCapture == "" {
			key = member.Keys[0]
		}
		one := language.Join(language.Text(toolschema.Quote(key)), colon, value)
		switch {
		case member.Optional && first:
			one = language.Maybe(language.Join(one, comma))
		case member.Optional:
			one = language.Maybe(language.Join(comma, one))
		case first:
			first = false
		default:
			one = language.Join(comma, one)
		}
		items = append(items, one)
	}
	return language.Join(append(items, language.Text("}"))...)
}

// memberID is a call id as a member of an envelope.
func (w *walker) memberID() language.Node {
	id := &language.Repeat{Inner: word, Min: 1, Max: 40}
	if w.d.IDs == grammar.IDsNineAlphanumerics {
		id = &language.Repeat{Inner: alphanumeric, Min: 9, Max: 9}
	}
	return language.Join(language.Text(`"`), id, language.Text(`"`))
}

var alphanumeric = &language.Class{Ranges: []regular.Range{{First: '0', Last: '9'}, {First: 'A', Last: 'Z'}, {First: 'a', Last: 'z'}}}

// set walks what may come in any order. Attributes are written in the order of the definition; other elements in their
// order too, with the attributes anywhere among them, each where it is known.
func (w *walker) set(e *grammar.Set, s scene) language.Node {
	var attributes []language.Node
	var others []element
	plain := !slices.ContainsFunc(e.Elements, func(inner grammar.Expression) bool { _, ok := inner.(*grammar.Attribute); return !ok })
	for _, inner := range e.Elements {
		if attribute, ok := inner.(*grammar.Attribute); ok {
			value := w.attribute(attribute, s, !plain)
			if value == nil {
				continue
			}
			others = append(others, element{capture: attribute.Capture.Name, node: language.Join(language.Text(attribute.Name+"="), value), blank: true, needed: true, free: true})
			continue
		}
		if one, ok := w.element(inner, s); ok {
			one.late = slices.ContainsFunc(others, func(other element) bool { return !other.free && other.capture != one.capture })
			others = append(others, one)
		}
	}
	if plain {
		for i, one := range others {
			if i > 0 {
				attributes = append(attributes, language.Text(" "))
			}
			attributes = append(attributes, one.node)
		}
		return language.Join(attributes...)
	}
	return orders(others)
}

// element is a part of a set.
type element struct {
	capture string
	node    language.Node
	// blank: white space must stand before it, where something does. needed: it must be written.
	blank, needed bool
	// free: it may stand first, or behind the first of the others, which keep their order. late: it is not the first of
	// those.
	free, late bool
}

// element walks a part of a set that is no attribute. It is written only if what it captures is known.
func (w *walker) element(e grammar.Expression, s scene) (element, bool) {
	f := w.about(e)
	_, known := s.captures.get(f.last)
	if !known && (f.last != "type" || s.tool == nil) {
		return element{}, false
	}
	return element{capture: f.last, node: w.item(e, s), blank: !f.literal, needed: known && s.target == toReasoning}, true
}

var (
	aBlank     = language.Text(" ")
	maybeBlank = language.Maybe(aBlank)
)

// orders writes elements in every order that is allowed, those that are not needed or not. No two that capture the same come together.
func orders(list []element) language.Node {
	left := make([]int, len(list), len(list)*(len(list)+1))
	for i := range list {
		left[i] = i
	}
	return ordersOf(list, left)
}

// ordersOf writes those of the elements that are left. What is left behind one of them is kept in the room behind left.
func ordersOf(list []element, left []int) language.Node {
	var space [8]language.Node
	options := space[:0]
	done := true
	for at, i := range left {
		one := &list[i]
		if one.late && slices.ContainsFunc(left[:at], func(before int) bool { return list[before].free && list[before].needed }) {
			continue // what has to stand before it is still to come
		}
		rest := left[len(left):]
		for behind, k := range left {
			if other := &list[k]; k != i && other.capture != one.capture && (behind > at || other.free || one.free) {
				rest = append(rest, k)
			}
		}
		blank := maybeBlank
		if one.blank {
			blank = aBlank
		}
		options = append(options, language.Join(blank, one.node, ordersOf(list, rest)))
		done = done && !one.needed
	}
	if done {
		options = append(options, language.Text(""))
	}
	return language.Any(options...)
}

// attribute is the value of an attribute, nil if nothing is known to be written there. In a set of nothing but attributes
// it is quoted; beside other elements, as in a header, it stands bare.
func (w *walker) attribute(a *grammar.Attribute, s scene, bare bool) language.Node {
	switch capture := a.Capture; capture.Name {
	case "key":
		return s.parameter.quotedKey(w)
	case "type":
		if s.parameter == nil {
			return language.Text(quotedText("object"))
		}
		return language.Join(language.Text(`"`), anyOf(s.parameter.kind), language.Text(`"`))
	case "index":
		return language.Join(language.Text(`"`), &language.Repeat{Inner: digit, Min: 1, Max: 6}, language.Text(`"`))
	case "name":
		return language.Text(quotedText(s.tool.Name))
	default:
		if pattern, ok := capture.Shape.(*grammar.Choice); ok && s.tool != nil && w.captures(pattern, "name") {
			if bare {
				s.pattern = true
				return w.choice(pattern, s)
			}
			return language.Text(quotedText(s.tool.Name))
		}
		if value, ok := s.captures.get(capture.Name); ok {
			return anyOf(value)
		}
	}
	return nil
}
