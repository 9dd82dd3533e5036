package toolschema

import (
	"fmt"
	"slices"
	"strings"
)

// kindNames are the names of the types, and other names that schemas in the field use for them: the same that the
// reader of values knows.
var kindNames = map[string][]Kind{
	"null": {Null}, "boolean": {Boolean}, "bool": {Boolean},
	"integer": {Integer}, "int": {Integer}, "int32": {Integer}, "int64": {Integer}, "uint": {Integer}, "uint32": {Integer}, "uint64": {Integer},
	"long": {Integer}, "short": {Integer}, "unsigned": {Integer},
	"number": {Number}, "float": {Number}, "float32": {Number}, "float64": {Number}, "double": {Number},
	"object": {Object}, "dict": {Object},
	"array": {Array}, "arr": {Array}, "list": {Array}, "sequence": {Array}, "tuple": {Array},
	"string": {String}, "str": {String}, "text": {String}, "varchar": {String}, "char": {String}, "enum": {String},
	"any": everyKind,
}

var everyKind = []Kind{Null, Boolean, Integer, Number, String, Array, Object}

// held are the keywords that a constraint holds; anything else that says something is noted.
var held = map[string]bool{
	"type": true, "enum": true, "const": true, "anyOf": true, "oneOf": true, "properties": true, "required": true,
	"additionalProperties": true, "patternProperties": true, "items": true, "prefixItems": true, "additionalItems": true, "minItems": true, "maxItems": true,
	"pattern": true, "format": true, "minLength": true, "maxLength": true, "nullable": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true,
}

// fill reads what facts without anyOf and oneOf say.
func (r *reader) fill(n *Node, facts []fact) error {
	kinds := slices.Clone(everyKind)
	said, nullable := false, false
	for _, f := range facts {
		for _, name := range f.raw.names {
			if !held[name] && !annotations[name] && f.raw.members[name].kind != 'n' && !strings.HasPrefix(name, "x-") {
				r.note(f.raw, name, "")
			}
		}
		if null := f.raw.keyword("nullable"); null != nil && null.kind == 't' {
			nullable = true
		}
		allowed, err := r.types(f.raw)
		if err != nil {
			return err
		}
		if allowed != nil {
			said = true
			kinds = meet(kinds, allowed)
		}
	}
	if nullable && !slices.Contains(kinds, Null) {
		kinds = append(kinds, Null)
	}
	constants, any, err := r.constants(facts)
	if err != nil {
		return err
	}
	fits := func(c *value) bool {
		return !said || slices.ContainsFunc(kinds, func(k Kind) bool { return k == c.kindOf() || k == Number && c.kindOf() == Integer })
	}
	if any && len(constants) > 0 && !slices.ContainsFunc(constants, fits) {
		// Schemas in the field list the elements of an array so, or write numbers as strings.
		r.note(facts[0].raw, "enum", "none of its values is of the type that the schema asks for")
		any = false
	}
	if any {
		for _, c := range constants {
			if !fits(c) {
				continue
			}
			n.Alternatives = append(n.Alternatives, &Alternative{Kind: Constant, Value: c.json()})
		}
		n.Alternatives = distinct(n.Alternatives)
		return nil
	}
	if !said {
		kinds = r.guess(facts, kinds)
	}
	if slices.Contains(kinds, Number) { // a number may be whole
		kinds = slices.DeleteFunc(kinds, func(k Kind) bool { return k == Integer })
	}
	for _, kind := range kinds {
		a := &Alternative{Kind: kind, MaxLength: -1, MaxItems: -1}
		n.Alternatives = append(n.Alternatives, a)
		switch kind {
		case String:
			err = r.text(a, facts)
		case Integer, Number:
			err = r.number(a, facts)
		case Array:
			err = r.array(a, facts)
		case Object:
			err = r.object(a, facts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// types are the kinds that the type keyword allows, nil if it says nothing.
func (r *reader) types(v *value) ([]Kind, error) {
	list := v.keyword("type")
	switch {
	case list == nil:
		return nil, nil
	case list.kind == '"':
		return r.typeNamed(v, list.text)
	case list.kind != '[':
		return nil, list.expected("the name of a type, or a list of names")
	}
	out := []Kind{}
	for _, element := range list.elements {
		if element.kind != '"' {
			return nil, element.expected("the name of a type")
		}
		kinds, err := r.typeNamed(v, element.text)
		if err != nil || kinds == nil {
			return nil, err
		}
		out = append(out, kinds...)
	}
	return out, nil
}

func (r *reader) typeNamed(v *value, name string) ([]Kind, error) {
	kinds, ok := kindNames[strings.ToLower(strings.TrimSpace(name))]
	if !ok {
		r.note(v, "type", fmt.Sprintf("no type is called %q", name))
		return nil, nil
	}
	return kinds, nil
}

// meet are the kinds in both lists. A whole number is a number too.
func meet(a, b []Kind) []Kind {
	out := []Kind{}
	for _, k := range a {
		if slices.Contains(b, k) || k == Integer && slices.Contains(b, Number) {
			out = append(out, k)
		}
	}
	return out
}

// constants are the values that enum and const leave.
func (r *reader) constants(facts []fact) (out []*value, any bool, err error) {
	narrow := func(list []*value) {
		if !any {
			out, any = list, true
			return
		}
		out = slices.DeleteFunc(slices.Clone(out), func(v *value) bool {
			return !slices.ContainsFunc(list, func(other *value) bool { return other.json() == v.json() })
		})
	}
	for _, f := range facts {
		if enum := f.raw.keyword("enum"); enum != nil {
			if enum.kind != '[' {
				return nil, false, enum.expected("an array of values")
			}
			narrow(enum.elements)
		}
		if constant, ok := f.raw.members["const"]; ok {
			narrow([]*value{constant})
		}
	}
	return out, any, nil
}

func (v *value) kindOf() Kind {
	switch v.kind {
	case 'n':
		return Null
	case 't', 'f':
		return Boolean
	case '0':
		if strings.ContainsAny(v.text, ".eE") {
			return Number
		}
		return Integer
	case '"':
		return String
	case '[':
		return Array
	}
	return Object
}

// guess takes the kind from the other keywords, where no type is given: schemas in the field that have properties mean
// objects.
func (r *reader) guess(facts []fact, kinds []Kind) []Kind {
	for _, of := range []struct {
		kind     Kind
		keywords []string
	}{
		{Object, []string{"properties", "additionalProperties", "required", "patternProperties"}},
		{Array, []string{"items", "prefixItems", "minItems", "maxItems"}},
		{String, []string{"pattern", "minLength", "maxLength", "format"}},
		{Number, []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
	} {
		for _, f := range facts {
			for _, keyword := range of.keywords {
				if f.raw.keyword(keyword) != nil {
					return []Kind{of.kind}
				}
			}
		}
	}
	return kinds
}

func (r *reader) text(a *Alternative, facts []fact) error {
	for _, f := range facts {
		if pattern := f.raw.keyword("pattern"); pattern != nil {
			if pattern.kind != '"' {
				return pattern.expected("a regular expression")
			}
			if reason := checkPattern(pattern.text); reason != "" {
				r.note(f.raw, "pattern", reason)
			} else {
				a.Patterns = append(a.Patterns, Expression(pattern.text))
			}
		}
		if format := f.raw.keyword("format"); format != nil && format.kind == '"' {
			if _, ok := formats[format.text]; ok {
				a.Format = format.text
			} else {
				r.note(f.raw, "format", fmt.Sprintf("%q is not known", format.text))
			}
		}
		if err := count(f.raw, "minLength", func(n int) { a.MinLength = max(a.MinLength, n) }); err != nil {
			return err
		}
		if err := count(f.raw, "maxLength", func(n int) { a.MaxLength = least(a.MaxLength, n) }); err != nil {
			return err
		}
	}
	return nil
}

func least(a, b int) int {
	if a < 0 {
		return b
	}
	return min(a, b)
}

func count(v *value, keyword string, set func(int)) error {
	member := v.keyword(keyword)
	if member == nil {
		return nil
	}
	n, ok := number(member.text)
	if member.kind != '0' || !ok || n < 0 {
		return member.expected("a whole number, 0 or more")
	}
	set(int(min(n, 1<<30)))
	return nil
}

func (r *reader) number(a *Alternative, facts []fact) error {
	for _, f := range facts {
		for _, keyword := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
			bound := f.raw.keyword(keyword)
			if bound == nil {
				continue
			}
			n, ok := number(bound.text)
			if bound.kind != '0' || !ok || a.Kind != Integer {
				r.note(f.raw, keyword, "only bounds of whole numbers are")
				continue
			}
			if keyword == "exclusiveMinimum" {
				n++
			} else if keyword == "exclusiveMaximum" {
				n--
			}
			if strings.HasSuffix(keyword, "inimum") {
				if a.Minimum == nil || n > *a.Minimum {
					a.Minimum = &n
				}
			} else if a.Maximum == nil || n < *a.Maximum {
				a.Maximum = &n
			}
		}
	}
	return nil
}

func (r *reader) array(a *Alternative, facts []fact) error {
	prefixes := 0
	for _, f := range facts {
		if err := count(f.raw, "minItems", func(n int) { a.MinItems = max(a.MinItems, n) }); err != nil {
			return err
		}
		if err := count(f.raw, "maxItems", func(n int) { a.MaxItems = least(a.MaxItems, n) }); err != nil {
			return err
		}
		prefixes = max(prefixes, len(r.prefix(f.raw)))
	}
	for i := range prefixes {
		var inner []fact
		for _, f := range facts {
			if prefix := r.prefix(f.raw); i < len(prefix) {
				inner = append(inner, fact{raw: prefix[i]})
			} else if items := r.items(f.raw); items != nil {
				inner = append(inner, fact{raw: items})
			}
		}
		node, err := r.node(inner)
		if err != nil {
			return err
		}
		a.Prefix = append(a.Prefix, node)
	}
	var inner []fact
	for _, f := range facts {
		if items := r.items(f.raw); items != nil {
			inner = append(inner, fact{raw: items})
		}
	}
	var err error
	a.Items, err = r.node(inner)
	return err
}

// prefix are the schemas of the first elements, in the words of either draft.
func (r *reader) prefix(v *value) []*value {
	if prefix := v.keyword("prefixItems"); prefix != nil && prefix.kind == '[' {
		return prefix.elements
	}
	if items := v.keyword("items"); items != nil && items.kind == '[' {
		return items.elements
	}
	return nil
}

func (r *reader) items(v *value) *value {
	if items := v.keyword("items"); items != nil && items.kind != '[' {
		return items
	}
	if v.keyword("items") != nil {
		return v.keyword("additionalItems")
	}
	return nil
}

func (r *reader) object(a *Alternative, facts []fact) error {
	required := map[string]bool{}
	var names []string
	closed := false
	for _, f := range facts {
		if list := f.raw.keyword("required"); list != nil && list.kind == '[' {
			for _, element := range list.elements {
				if element.kind != '"' {
					return element.expected("the name of a member")
				}
				required[element.text] = true
			}
		}
		properties := f.raw.keyword("properties")
		if properties == nil || properties.kind == '[' && len(properties.elements) == 0 {
			continue
		}
		if properties.kind != '{' {
			return properties.expected("an object of schemas")
		}
		for _, name := range properties.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			// the word required in a property itself, as draft 3 and many generators have it
			if own := properties.members[name].keyword("required"); own != nil && own.kind == 't' {
				required[name] = true
			}
		}
		closed = true
	}
	for _, f := range facts {
		if list := f.raw.keyword("required"); list != nil && list.kind == '[' {
			for _, element := range list.elements {
				if !slices.Contains(names, element.text) {
					names = append(names, element.text)
				}
			}
		}
	}
	for _, name := range names {
		var inner []fact
		for _, f := range facts {
			inner = append(inner, r.member(f.raw, name)...)
		}
		node, err := r.node(inner)
		if err != nil {
			return err
		}
		a.Properties = append(a.Properties, Property{name, node, required[name]})
	}
	return r.others(a, facts, closed)
}

// member is what a schema says of a member.
func (r *reader) member(v *value, name string) (out []fact) {
	if properties := v.keyword("properties"); properties != nil && properties.members[name] != nil {
		out = append(out, fact{raw: properties.members[name]})
	}
	if patterns := v.keyword("patternProperties"); patterns != nil && patterns.kind == '{' {
		for _, pattern := range patterns.names {
			if found, err := search(pattern); err == nil && found.Accepts(name) {
				out = append(out, fact{raw: patterns.members[pattern]})
			}
		}
	}
	if additional := v.keyword("additionalProperties"); additional != nil && len(out) == 0 {
		out = append(out, fact{raw: additional})
	}
	return out
}

// others reads what may stand in an object beside its declared members. Where a schema declares members and does not
// say, others may not: a model that may invent parameters does.
func (r *reader) others(a *Alternative, facts []fact, closed bool) error {
	var additional []fact
	said := false
	for _, f := range facts {
		if patterns := f.raw.keyword("patternProperties"); patterns != nil && patterns.kind == '{' {
			for _, pattern := range patterns.names {
				if reason := checkPattern(pattern); reason != "" {
					r.note(f.raw, "patternProperties", reason)
					a.Additional = Any
					continue
				}
				node, err := r.node([]fact{{raw: patterns.members[pattern]}})
				if err != nil {
					return err
				}
				a.Patterned = append(a.Patterned, Patterned{Expression(pattern), node})
				closed = true
			}
		}
		if more := f.raw.keyword("additionalProperties"); more != nil {
			said = true
			additional = append(additional, fact{raw: more})
		}
	}
	if a.Additional != nil {
		return nil
	}
	if said || !closed {
		if slices.ContainsFunc(additional, func(f fact) bool { return f.raw.kind == 'f' }) {
			return nil
		}
		var err error
		a.Additional, err = r.node(additional)
		return err
	}
	return nil
}
