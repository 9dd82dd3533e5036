package turn

import (
	"regexp"
	"slices"
	"strings"

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
			one := w.parameterOf(e, p.Name, nil, p.Node, read.Property(p.Name), s)
			if one == nil {
				one = language.Never()
			}
			if !p.Required {
				one = language.Maybe(one)
			}
			items = append(items, one)
		}
		if !some || !w.parameterRule().repeatsKey {
			items = append(items, w.undeclared(e, a, names, read, s)...)
		}
		if some && !slices.ContainsFunc(a.Properties, func(p toolschema.Property) bool { return p.Required }) {
			options = append(options, atLeastOne(items)...)
			continue
		}
		options = append(options, language.Join(items...))
	}
	return language.Any(options...)
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

// atLeastOne are the ways to write some of the items, none of which has to be written.
func atLeastOne(items []language.Node) (options []language.Node) {
	for i, item := range items {
		optional := item.(*language.Repeat)
		rest := language.Join(items[i+1:]...)
		if optional.Max < 0 {
			rest = language.Join(optional, rest)
		}
		options = append(options, language.Join(optional.Inner, rest))
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

// parameterRule is the rule of parameters, with what is known of it.
type parameterRule struct {
	*grammar.Rule
	lines []valueLine
	// repeatsKey: the name is written twice. nested: parameters may stand in parameters.
	repeatsKey, nested bool
	// typeOptional: the type of a value need not be written.
	typeOptional bool
}

// parameterRule is that of the definition, which must have one.
func (w *walker) parameterRule() *parameterRule {
	if w.parameter != nil {
		return w.parameter
	}
	for _, rule := range w.d.Rules {
		if rule.Role() != grammar.Parameter {
			continue
		}
		keys := 0
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if c, ok := e.(*grammar.Capture); ok && c.Name == "key" {
				keys++
			}
			return true
		})
		w.parameter = &parameterRule{rule, w.valueLines(rule), keys > 1, w.about(rule.Body).parameter, w.typeOptional(rule)}
		return w.parameter
	}
	return nil
}

// valueLine is one way in which the definition writes a value: the codec of the capture, and the types it stands for.
type valueLine struct {
	codec string
	// types are literals of the test that leads here. tested: there is a test.
	types  []string
	tested bool
	// untyped: it stands for values without a type too.
	untyped bool
}

func (w *walker) valueLines(rule *grammar.Rule) (lines []valueLine) {
	seen := map[string]bool{}
	var visit func(e grammar.Expression, line valueLine)
	visit = func(e grammar.Expression, line valueLine) {
		switch e := e.(type) {
		case *grammar.Choice:
			for _, a := range e.Alternatives {
				inner := line
				for _, test := range a.Tests {
					if test.Capture != "type" {
						continue
					}
					inner.tested = true
					for _, p := range test.Patterns {
						if p.None {
							inner.untyped = true
						} else {
							inner.types = append(inner.types, p.Text)
						}
					}
				}
				before := len(lines)
				for _, item := range a.Items {
					visit(item, inner)
				}
				if len(a.Tests) == 0 && !inner.tested && len(lines) > before && before > 0 && !lines[before-1].tested {
					lines = lines[:before] // a second way to write the same: the first is written
				}
			}
		case *grammar.Sequence:
			for _, item := range e.Items {
				visit(item, line)
			}
		case *grammar.Reference:
			if rule := w.d.Rule(e.Name); rule != nil && !seen[e.Name] {
				seen[e.Name] = true
				visit(rule.Body, line)
			}
		case *grammar.Optional:
			visit(e.Inner, line)
		case *grammar.Capture:
			if e.Name != "value" {
				return
			}
			if codec, ok := e.Shape.(*grammar.Codec); ok {
				line.codec = codec.Kind
			}
			lines = append(lines, line)
		}
	}
	seen[rule.Name] = true
	visit(rule.Body, valueLine{})
	return lines
}

// kinds are the types that the markup says for a value on a line of the definition, "" where it says none; none if the
// value is not written on that line.
func (w *walker) kinds(line *valueLine, value *syntax.Value) []string {
	rule := w.parameterRule()
	if len(rule.lines) < 2 {
		return untyped
	}
	// Where the type may be left out, whatever is written is read by the schema.
	var kinds []string
	if line.untyped && rule.typeOptional {
		kinds = untyped
	}
	// What is a string stands on a line for text, all else on one for JSON.
	if value.Raw == (line.codec == "json") {
		return kinds
	}
	if line.tested {
		if len(line.types) == 0 {
			return kinds
		}
		return slices.Concat(kinds, line.types[:1])
	}
	for i := range rule.lines {
		if rule.lines[i].tested && rule.lines[i].codec == line.codec {
			return nil // said there already
		}
	}
	for i := range rule.lines {
		switch types := rule.lines[i].types; {
		case slices.Contains(types, "true"):
			return []string{"false"} // the type says whether it is a string
		case slices.Contains(types, value.Kind):
			return kinds // what is said to be of that type is read otherwise
		}
	}
	if value.Kind == syntax.AnyKind {
		return slices.Concat(kinds, []string{anyType})
	}
	return slices.Concat(kinds, []string{value.Kind})
}

var untyped = []string{""}

// anyType is any of the types that JSON has besides strings.
var anyType = strings.Join([]string{"object", "array", "number", "boolean", "null"}, or)

// typeOptional tells whether the markup of a type in a rule is a part that may be left out. (An attribute of a tag is
// always written.)
func (w *walker) typeOptional(rule *grammar.Rule) bool {
	found := false
	grammar.Walk(rule.Body, func(e grammar.Expression) bool {
		if c, ok := e.(*grammar.Choice); ok {
			typed := 0
			for _, a := range c.Alternatives {
				if w.captures(a, "type") {
					typed++
				}
			}
			found = found || typed > 0 && typed < len(c.Alternatives)
		}
		return true
	})
	return found
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

// inner are the parameters in a parameter. Those of a schema that holds itself are a rule, which refers to itself.
func (w *walker) inner(e *grammar.Reference, s scene) language.Node {
	p := s.parameter
	s.parameter, s.inside = nil, false
	node := &toolschema.Node{Alternatives: p.deep}
	if !p.node.Recursive {
		return w.members(e, node, p.read, s, true)
	}
	if made, ok := w.inners[p.node]; ok {
		return made
	}
	made := &language.Rule{Name: s.tool.Name + p.node.Pointer + "-parameters"}
	w.inners[p.node] = made
	made.Body = w.members(e, node, p.read, s, true)
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

// tagged says how the text of a value is read, and where it would end.
func (w *walker) tagged(rule *parameterRule, line *valueLine, p *parameter) *syntax.Tagged {
	key := tagsKey{codec: line.codec, tested: line.tested}
	if rule.repeatsKey {
		key.name, key.any = p.key, p.keys != nil
	}
	if t, ok := w.tags[key]; ok {
		return t
	}
	t := w.taggedBy(rule, line, p)
	w.tags[key] = t
	return t
}

func (w *walker) taggedBy(rule *parameterRule, line *valueLine, p *parameter) *syntax.Tagged {
	t := &syntax.Tagged{Entities: line.codec == "xml", JSON: line.codec == "json"}
	if line.tested || line.codec == "json" && len(line.types) == 0 {
		t.JSON = line.codec == "json"
	}
	if len(rule.lines) > 1 { // what is a string stands on a line for text, all else on one for JSON
		t.NoRaw, t.NoJSON = line.codec == "json", line.codec != "json" && !(line.untyped && w.parameterRule().typeOptional)
	}
	end := func(expression string) {
		if expression == "" || slices.Contains(t.Ends, expression) {
			return
		}
		t.Ends = append(t.Ends, expression)
	}
	if t.Entities {
		end(regular.Quote("<"))
		end(regular.Quote("&"))
		t.Literal = []string{"<", "&"}
		return t
	}
	before, after, between := w.around(rule.Rule)
	t.Layout = isLayout(after)
	closer := w.expression(after, p)
	end(closer)
	if between == 1 {
		end(w.expression(before, nil))
	}
	if rule.nested {
		end(w.expression(rule.Body.Alternatives[0].Items[:1], p))
	}
	run, openers := w.closingRun()
	end(run)
	t.Openers = openers
	for _, e := range t.Ends {
		if text, ok := byTheBook(e); ok {
			t.Literal = append(t.Literal, text)
		}
	}
	return t
}

// around are the items of a parameter's rule before its key, and behind its value; between is the number of literals
// from the key to the value.
func (w *walker) around(rule *grammar.Rule) (before, after []grammar.Expression, between int) {
	items := rule.Body.Alternatives[0].Items
	key, value := -1, -1
	for i, item := range items {
		if key < 0 && w.captures(item, "key") {
			key = i
		}
		if value < 0 && w.captures(item, "value") {
			value = i
		}
	}
	for _, item := range items[key:value] {
		if _, ok := item.(*grammar.Literal); ok {
			between++
		}
	}
	return items[:key], items[value+1:], between
}

func isLayout(after []grammar.Expression) bool {
	if len(after) == 0 {
		return false
	}
	switch e := after[0].(type) {
	case *grammar.Optional:
		literal, ok := e.Inner.(*grammar.Literal)
		return ok && literal.Text == "\n"
	case *grammar.Choice:
		return len(e.Alternatives) == 2 && len(e.Alternatives[0].Items) == 0
	}
	return false
}

// expression is the regular expression of the markers that items are, white space between them as it may be.
func (w *walker) expression(items []grammar.Expression, p *parameter) string {
	var out strings.Builder
	for _, item := range items {
		switch e := item.(type) {
		case *grammar.Literal:
			out.WriteString(regular.Quote(w.fill(e.Text)))
		case *grammar.Blank:
			out.WriteString(`\s*`)
		case *grammar.Capture:
			if e.Name == "key" && p != nil && p.keys == nil {
				out.WriteString(regular.Quote(p.key))
				continue
			}
			return out.String()
		}
	}
	return strings.TrimSuffix(out.String(), `\s*`)
}

// closingRun is the expression of the closers of calls and blocks with a new call behind them: inside a value they end
// it (ruling 31). "" where the definition has no such closers.
func (w *walker) closingRun() (expression string, openers []string) {
	var closers []string
	for _, rule := range w.d.Rules {
		if role := rule.Role(); role != grammar.Call && role != grammar.Block {
			continue
		}
		for _, a := range rule.Body.Alternatives {
			last := -1
			for i, item := range a.Items {
				if w.captures(item, "name", "value", "arguments") || w.leads(item, toCall) {
					last = i
				}
			}
			if closer := w.expression(trimBlanks(a.Items[last+1:]), nil); closer != "" {
				closers = append(closers, closer)
			}
			if opener := w.expression(a.Items, nil); opener != "" {
				openers = append(openers, opener)
			}
		}
	}
	if len(closers) == 0 || len(openers) == 0 {
		return "", nil
	}
	run := "(?:" + strings.Join(closers, "|") + ")"
	return run + `(?:\s|` + run + `)*(?:` + strings.Join(openers, "|") + ")", openers
}

func trimBlanks(items []grammar.Expression) []grammar.Expression {
	for len(items) > 0 {
		if _, ok := items[0].(*grammar.Blank); !ok {
			break
		}
		items = items[1:]
	}
	return items
}

var quotedCharacter = regexp.MustCompile(`\\x\{([0-9a-f]+)\}`)

// byTheBook is the text that an expression of markers stands for if there is no white space in them.
func byTheBook(expression string) (string, bool) {
	return unquoted(strings.ReplaceAll(expression, `\s*`, ""))
}

// unquoted is the text that an expression made by regular.Quote stands for.
func unquoted(expression string) (string, bool) {
	if strings.ContainsAny(quotedCharacter.ReplaceAllString(expression, ""), `\()[]{}*+?|.^$`) {
		return "", false
	}
	return quotedCharacter.ReplaceAllStringFunc(expression, func(code string) string {
		var r rune
		for _, c := range code[3 : len(code)-1] {
			r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c))
		}
		return string(r)
	}), true
}
