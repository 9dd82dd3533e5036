package turn

import (
	"slices"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// parameter is a parameter that is being written: its key, one way to write its value, and the type that the markup
// says, "" where it says none.
type parameter struct {
	key string
	// keys is what the key may be where it is not declared.
	keys  language.Node
	value syntax.Value
	kind  string
	// node and read are its schema; deep tells that its members are parameters themselves.
	node *toolschema.Node
	read *schema.Schema
	deep []*toolschema.Alternative
}

func (p *parameter) bareKey(w *walker, s scene) language.Node {
	if p.keys != nil {
		return p.keys
	}
	return language.Text(p.key)
}

func (p *parameter) quotedKey(*walker) language.Node {
	if p.keys != nil {
		return language.Join(language.Text(`"`), p.keys, language.Text(`"`))
	}
	return language.Text(quotedText(p.key))
}

// parameters are the parameters of a call, in the order of the schema.
func (w *walker) parameters(e grammar.Expression, s scene) language.Node {
	read, ok := w.read[s.tool]
	if !ok {
		var err error
		if read, err = s.tool.Read(); err != nil {
			panic(stop{err})
		}
		w.read[s.tool] = read
	}
	return w.members(e, s.tool.arguments(), read, s, false)
}

// members are the parameters that the members of an object are. some: there must be one at least, because without any
// nothing would tell an object.
func (w *walker) members(e grammar.Expression, node *toolschema.Node, read *schema.Schema, s scene, some bool) language.Node {
	var options []language.Node
	for _, a := range node.Alternatives {
		if a.Kind == toolschema.Array {
			options = append(options, w.listed(e, a, read, s))
		}
		if a.Kind != toolschema.Object {
			continue
		}
		var items []language.Node
		var names []string
		for _, p := range a.Properties {
			names = append(names, p.Name)
			one := w.declared(e, p, read.Property(p.Name), s)
			if !p.Required {
				one = language.Maybe(one)
			}
			items = append(items, one)
		}
		if !some || !w.parameterRule().repeatsKey {
			items = append(items, w.undeclared(e, a, names, read, s)...)
		}
		if some && !slices.ContainsFunc(a.Properties, func(p toolschema.Property) bool { return p.Required }) {
			options = append(options, atLeastOne(w.Builder.Name+"-rest", items)...)
			continue
		}
		options = append(options, language.Join(items...))
	}
	return language.Any(options...)
}

// declaredKey is what a parameter is written by besides its schema as the reader of values has it: where it is walked, its
// name and what it must be, and whether others may stand in it.
type declaredKey struct {
	e      grammar.Expression
	place  place
	name   string
	node   *toolschema.Node
	pinned bool
}

// declaredParameter is a parameter that has been walked, and its schema as the reader of values has it. The first tool
// has the node itself, all others share a rule, nil before there is a second.
type declaredParameter struct {
	read *schema.Schema
	node language.Node
	rule *language.Rule
}

// declared is a parameter that is declared. It is walked once for all tools that have it, unless it names the tool.
func (w *walker) declared(e grammar.Expression, p toolschema.Property, read *schema.Schema, s scene) language.Node {
	key := declaredKey{e, s.place, p.Name, p.Node, s.tool.Pinned}
	if made := w.declaredBefore[key]; made != nil && made.read.Equal(read) {
		if made.rule == nil {
			made.rule = &language.Rule{Name: w.Builder.Name + p.Node.Pointer + "-parameter", Body: made.node}
		}
		return made.rule
	}
	made := &declaredParameter{read: read, node: w.parameterOf(e, p.Name, nil, p.Node, read, s)}
	if made.node == nil {
		made.node = language.Never()
	}
	if !w.captures(e, "name") {
		w.declaredBefore[key] = made
	}
	return made.node
}

// listed are the parameters that the elements of a list are, all of the one name that the format has for them. There is
// one at least, because without any nothing would tell a list.
func (w *walker) listed(e grammar.Expression, a *toolschema.Alternative, read *schema.Schema, s scene) language.Node {
	element := func(node *toolschema.Node, read *schema.Schema) language.Node {
		one := w.parameterOf(e, w.d.Written.Items, nil, node, read, s)
		if one == nil {
			return language.Never()
		}
		return one
	}
	var rest language.Node = language.Text("")
	if a.Items != nil && (a.MaxItems < 0 || a.MaxItems > len(a.Prefix)) {
		repeat := &language.Repeat{Inner: element(a.Items, read.Item(len(a.Prefix))), Min: max(a.MinItems-len(a.Prefix), 0), Max: -1}
		if len(a.Prefix) == 0 {
			repeat.Min = max(repeat.Min, 1)
		}
		if a.MaxItems >= 0 {
			repeat.Max = a.MaxItems - len(a.Prefix)
		}
		rest = repeat
	}
	for i, prefix := range slices.Backward(a.Prefix) {
		rest = language.Join(element(prefix, read.Item(i)), rest)
		if i > 0 && i >= a.MinItems {
			rest = language.Maybe(rest)
		}
	}
	return rest
}

// mostSpelledOut is how many items are written again for each of them that may be the first; what is behind them is a rule.
const mostSpelledOut = 32

// atLeastOne are the ways to write some of the items, none of which has to be written. name is that of the rules that
// many items take.
func atLeastOne(name string, items []language.Node) []language.Node {
	options := make([]language.Node, len(items))
	behind := language.Text("")
	for i, item := range slices.Backward(items) {
		optional := item.(*language.Repeat)
		rest := behind
		if optional.Max < 0 {
			rest = language.Join(optional, rest)
		}
		options[i] = language.Join(optional.Inner, rest)
		if behind = language.Join(item, behind); len(items) > mostSpelledOut {
			behind = &language.Rule{Name: name, Body: behind}
		}
	}
	return options
}

// undeclared are the parameters that may come besides the declared ones.
func (w *walker) undeclared(e grammar.Expression, a *toolschema.Alternative, names []string, read *schema.Schema, s scene) (out []language.Node) {
	if s.tool.Pinned && len(a.Patterned) == 0 && a.Additional == nil {
		return nil
	}
	all, err := regular.Match("[A-Za-z_][A-Za-z0-9_-]*")
	if err != nil {
		panic("turn: " + err.Error())
	}
	taken, err := regular.Texts(names...)
	less := func(keys *regular.Automaton) *regular.Automaton {
		if err != nil {
			return keys
		}
		free, wrong := taken.Not()
		if wrong == nil {
			if both, wrong := keys.And(free); wrong == nil {
				return both
			}
		}
		return keys
	}
	if !s.tool.Pinned {
		// Nothing is held: any name, any text. What is declared is read by its type, whatever stands there.
		w.noteRepeated()
		one := w.parameterOf(e, "", &language.Regular{Automaton: all}, toolschema.Any, nil, s)
		return []language.Node{language.Many(one)}
	}
	w.noteRepeated()
	for _, p := range a.Patterned {
		keys, wrong := regular.Search(p.Pattern)
		if wrong == nil {
			keys, wrong = keys.And(all)
		}
		if wrong != nil {
			continue
		}
		keys = less(keys)
		if one := w.parameterOf(e, "", &language.Regular{Automaton: keys}, p.Node, read.Property(sample(keys)), s); one != nil {
			out = append(out, language.Many(one))
		}
		if both, wrong := taken.Or(keys); wrong == nil {
			taken = both
		}
	}
	if a.Additional != nil {
		keys := less(all)
		if one := w.parameterOf(e, "", &language.Regular{Automaton: keys}, a.Additional, read.Property(sample(keys)), s); one != nil {
			out = append(out, language.Many(one))
		}
	}
	return out
}

// noteRepeated notes that a format writes the name of a parameter twice: for a name that is not declared no grammar holds
// that both are the same.
func (w *walker) noteRepeated() {
	if w.parameterRule().repeatsKey {
		w.Builder.Notes = append(w.Builder.Notes, toolschema.Note{Keyword: "additionalProperties", Reason: "the format writes the name of a parameter twice, and whether they are the same is not held for names that are not declared"})
	}
}

// sample is a short text that an automaton accepts.
func sample(a *regular.Automaton) string {
	text, _ := a.Shortest()
	return text
}

// parameterOf writes a parameter in all the ways in which its value can be written. keys is given where it is not
// declared.
func (w *walker) parameterOf(e grammar.Expression, key string, keys language.Node, node *toolschema.Node, read *schema.Schema, s scene) language.Node {
	rule := w.parameterRule()
	base := parameter{key: key, keys: keys, node: node, read: read}
	marked := key
	if key != "" && key == w.d.Written.Items { // the element of a list has no name
		marked = ""
	}
	var space [8]language.Node
	options := space[:0]
	for i := range rule.lines {
		line := &rule.lines[i]
		for _, value := range w.Builder.Tagged(node, read, w.tagged(rule, line, &base)) {
			for _, kind := range w.kinds(line, &value) {
				p := base
				p.value, p.kind = value, kind
				inner := s
				inner.parameter, inner.inside, inner.captures = &p, false, nil
				if kind != "" {
					inner = inner.with("type", kind)
				}
				options = append(options, &language.Mark{Role: language.Parameter, Name: marked, Inner: w.item(e, inner)})
			}
		}
	}
	if rule.nested {
		if w.d.Written.Items != "" && mayBeEmpty(node, read) {
			p := base
			p.value = syntax.Value{Node: &language.Mark{Role: language.JSON, Inner: language.Text("")}}
			inner := s
			inner.parameter, inner.inside, inner.captures = &p, false, nil
			options = append(options, &language.Mark{Role: language.Parameter, Name: marked, Inner: w.item(e, inner)})
		}
		if p := w.deep(base); p != nil {
			inner := s
			inner.parameter, inner.inside = p, false
			options = append([]language.Node{&language.Mark{Role: language.Parameter, Name: marked, Inner: w.item(e, inner)}}, options...)
		}
	}
	if len(options) == 0 {
		return nil
	}
	return language.Any(options...)
}

// mayBeEmpty tells whether nothing at all is read as an empty list, or as an empty object, and is allowed.
func mayBeEmpty(node *toolschema.Node, read *schema.Schema) bool {
	kinds := read.Kinds()
	if kinds.Has(schema.String) || kinds.Has(schema.Array) == kinds.Has(schema.Object) {
		return false
	}
	return slices.ContainsFunc(node.Alternatives, func(a *toolschema.Alternative) bool {
		return a.Kind == toolschema.Array && a.MinItems == 0 ||
			a.Kind == toolschema.Object && !slices.ContainsFunc(a.Properties, func(p toolschema.Property) bool { return p.Required })
	})
}

// deep is a parameter whose members are parameters, nil if its schema has none.
func (w *walker) deep(p parameter) *parameter {
	// A name that is written twice must be the same both times, and of a name that is not declared no grammar holds that.
	declared := w.parameterRule().repeatsKey
	undeclared := p.node.Free
	objects := slices.ContainsFunc(p.node.Alternatives, func(a *toolschema.Alternative) bool { return a.Kind == toolschema.Object })
	for _, a := range p.node.Alternatives {
		if a.Kind == toolschema.Array && w.d.Written.Items != "" && !objects && a.MaxItems != 0 && (a.Items != nil || len(a.Prefix) > 0) {
			p.deep = append(p.deep, a) // beside objects they would be read as one
		}
		if a.Kind != toolschema.Object {
			continue
		}
		more := len(a.Patterned) > 0 || a.Additional != nil
		undeclared = undeclared || more
		if len(a.Properties) > 0 || more && !declared {
			p.deep = append(p.deep, a)
		}
	}
	if undeclared && declared {
		w.Builder.Notes = append(w.Builder.Notes, toolschema.Note{Pointer: p.node.Pointer, Keyword: "additionalProperties", Reason: jsonOnly})
	}
	if len(p.deep) == 0 {
		return nil
	}
	return &p
}

const jsonOnly = "members that are not declared are let through as JSON text only, because the format writes their names twice"

// inner are the parameters in a parameter, as a rule: engines bound how deeply a rule may be nested. That of a schema that
// holds itself refers to itself.
func (w *walker) inner(e *grammar.Reference, s scene) language.Node {
	p := s.parameter
	s.parameter, s.inside = nil, false
	if made, ok := w.inners[p.node]; ok {
		return made
	}
	made := &language.Rule{Name: s.tool.Name + p.node.Pointer + "-parameters"}
	if p.node.Recursive {
		w.inners[p.node] = made
	}
	made.Body = w.members(e, &toolschema.Node{Alternatives: p.deep}, p.read, s, true)
	return made
}

// parameterChoice walks a choice inside a parameter.
func (w *walker) parameterChoice(c *grammar.Choice, s scene) language.Node {
	p := s.parameter
	isNested := func(a *grammar.Sequence) bool {
		return slices.ContainsFunc(a.Items, func(e grammar.Expression) bool {
			return w.about(e).parameter
		})
	}
	if slices.ContainsFunc(c.Alternatives, isNested) {
		for _, a := range c.Alternatives {
			if isNested(a) == (p.deep != nil) {
				return w.sequence(a.Items, s)
			}
		}
	}
	for _, a := range c.Alternatives {
		hasType := w.captures(a, "type")
		switch {
		case !tests(a, s):
			continue
		case hasType && p.kind == "":
			continue
		case !hasType && p.kind != "" && slices.ContainsFunc(c.Alternatives, func(other *grammar.Sequence) bool { return w.captures(other, "type") }):
			continue
		}
		return w.sequence(a.Items, s)
	}
	return w.sequence(c.Alternatives[0].Items, s)
}
