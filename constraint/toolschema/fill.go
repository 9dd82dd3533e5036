package toolschema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/internal/jsontree"
	"github.com/parlance-llm/parlance/internal/schema"
)

// kinds are the kinds of value, in the order in which alternatives are written, with the sets that hold one of them.
var kinds = [...]struct {
	kind Kind
	set  schema.Kinds
}{{Null, schema.Null}, {Boolean, schema.Boolean}, {Integer, schema.Integer}, {Number, schema.Number}, {String, schema.String}, {Array, schema.Array}, {Object, schema.Object}}

const everyKind = schema.Null | schema.Boolean | schema.Integer | schema.Number | schema.String | schema.Array | schema.Object

// kindsNamed are the kinds of a type name. The names are those that the reader of values knows, and two more: of a tuple
// it reads nothing else, and of any value neither.
func kindsNamed(name string) schema.Kinds {
	if kinds := schema.KindNamed(name); kinds != 0 {
		return kinds
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "tuple":
		return schema.Array
	case "any":
		return everyKind
	}
	return 0
}

// keyword is what a member of a schema is to a constraint.
type keyword uint8

const (
	unknown    keyword = iota // says something that a constraint does not hold
	held                      // says something that it does
	annotation                // says nothing about what is right, or is looked for elsewhere
)

func keywordOf(name string) keyword {
	switch name {
	case "type", "enum", "const", "anyOf", "oneOf", "properties", "required",
		"additionalProperties", "patternProperties", "items", "prefixItems", "additionalItems", "minItems", "maxItems",
		"pattern", "format", "minLength", "maxLength",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return held
	case "$ref", "allOf", "$defs", "definitions", "$id", "$schema", "$comment", "$anchor", "id",
		"title", "description", "default", "examples", "example", "deprecated", "readOnly",
		"writeOnly", "optional", "strict", "nullable":
		return annotation
	}
	return unknown
}

// fill reads what facts without anyOf and oneOf say.
func (r *reader) fill(n *Node, facts []fact) error {
	allowed := everyKind
	said, nullable := false, false
	for _, f := range facts {
		for _, member := range f.raw.Members {
			if keywordOf(member.Name) == unknown && member.Value.Kind != 'n' && !strings.HasPrefix(member.Name, "x-") {
				r.note(f.raw, member.Name, "")
			}
		}
		if null := f.raw.Keyword("nullable"); null != nil && null.Kind == 't' {
			nullable = true
		}
		types, says, err := r.types(f.raw)
		if err != nil {
			return err
		}
		if says {
			said = true
			if types.Has(schema.Number) { // a whole number is a number too
				types |= schema.Integer
			}
			allowed &= types
		}
	}
	last := schema.Kinds(0) // is written behind the others
	if nullable && !allowed.Has(schema.Null) {
		last = schema.Null
	}
	constants, any, err := r.constants(facts)
	if err != nil {
		return err
	}
	fits := func(c *jsontree.Value) bool {
		kind := schema.KindOf(c)
		return !said || (allowed | last).Has(kind) || kind == schema.Integer && allowed.Has(schema.Number)
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
			a := r.alternative(Constant)
			a.MaxLength, a.MaxItems, a.Value = 0, 0, string(c.Append(nil))
			n.Alternatives = append(n.Alternatives, a)
		}
		n.Alternatives = distinct(n.Alternatives)
		return nil
	}
	if !said {
		allowed, last = r.guess(facts, allowed, last)
	}
	if allowed.Has(schema.Number) { // a number may be whole
		allowed &^= schema.Integer
	}
	for _, set := range [...]schema.Kinds{allowed, last} {
		for _, one := range kinds {
			if !set.Has(one.set) {
				continue
			}
			a := r.alternative(one.kind)
			n.Alternatives = append(n.Alternatives, a)
			switch one.kind {
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
	}
	return nil
}

// types are the kinds that the type keyword allows, and whether it says anything.
func (r *reader) types(v *jsontree.Value) (kinds schema.Kinds, says bool, err error) {
	list := v.Keyword("type")
	switch {
	case list == nil:
		return 0, false, nil
	case list.Kind == '"':
		kinds = r.typeNamed(v, list.Text)
		return kinds, kinds != 0, nil
	case list.Kind != '[':
		return 0, false, expected(list, "the name of a type, or a list of names")
	}
	for _, element := range list.Elements {
		if element.Kind != '"' {
			return 0, false, expected(element, "the name of a type")
		}
		one := r.typeNamed(v, element.Text)
		if one == 0 {
			return 0, false, nil
		}
		kinds |= one
	}
	return kinds, true, nil
}

func (r *reader) typeNamed(v *jsontree.Value, name string) schema.Kinds {
	kinds := kindsNamed(name)
	if kinds == 0 {
		r.note(v, "type", fmt.Sprintf("no type is called %q", name))
	}
	return kinds
}

// constants are the values that enum and const leave.
func (r *reader) constants(facts []fact) (out []*jsontree.Value, any bool, err error) {
	narrow := func(list []*jsontree.Value) {
		if !any {
			out, any = list, true
			return
		}
		texts := make(map[string]bool, len(list))
		for _, v := range list {
			texts[string(v.Append(nil))] = true
		}
		out = slices.DeleteFunc(slices.Clone(out), func(v *jsontree.Value) bool { return !texts[string(v.Append(nil))] })
	}
	for _, f := range facts {
		if enum := f.raw.Keyword("enum"); enum != nil {
			if enum.Kind != '[' {
				return nil, false, expected(enum, "an array of values")
			}
			narrow(enum.Elements)
		}
		if constant := f.raw.Member("const"); constant != nil {
			narrow([]*jsontree.Value{constant})
		}
	}
	return out, any, nil
}

// guess takes the kind from the other keywords, where no type is given: schemas in the field that have properties mean
// objects.
func (r *reader) guess(facts []fact, allowed, last schema.Kinds) (schema.Kinds, schema.Kinds) {
	for _, of := range [...]struct {
		kind     schema.Kinds
		keywords []string
	}{
		{schema.Object, []string{"properties", "additionalProperties", "required", "patternProperties"}},
		{schema.Array, []string{"items", "prefixItems", "minItems", "maxItems"}},
		{schema.String, []string{"pattern", "minLength", "maxLength", "format"}},
		{schema.Number, []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
	} {
		for _, f := range facts {
			for _, keyword := range of.keywords {
				if f.raw.Keyword(keyword) != nil {
					return of.kind, 0
				}
			}
		}
	}
	return allowed, last
}

func (r *reader) text(a *Alternative, facts []fact) error {
	for _, f := range facts {
		if pattern := f.raw.Keyword("pattern"); pattern != nil {
			if pattern.Kind != '"' {
				return expected(pattern, "a regular expression")
			}
			if reason := r.unheld(pattern.Text); reason != "" {
				r.note(f.raw, "pattern", reason)
			} else {
				a.Patterns = append(a.Patterns, Expression(pattern.Text))
			}
		}
		if format := f.raw.Keyword("format"); format != nil && format.Kind == '"' {
			if _, ok := formats[format.Text]; ok {
				a.Format = format.Text
			} else {
				r.note(f.raw, "format", fmt.Sprintf("%q is not known", format.Text))
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

func count(v *jsontree.Value, keyword string, set func(int)) error {
	member := v.Keyword(keyword)
	if member == nil {
		return nil
	}
	n, ok := number(member.Text)
	if member.Kind != '0' || !ok || n < 0 {
		return expected(member, "a whole number, 0 or more")
	}
	set(int(min(n, 1<<30)))
	return nil
}

func (r *reader) number(a *Alternative, facts []fact) error {
	for _, f := range facts {
		for _, keyword := range [...]string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
			bound := f.raw.Keyword(keyword)
			if bound == nil {
				continue
			}
			n, ok := number(bound.Text)
			if bound.Kind != '0' || !ok || a.Kind != Integer {
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

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}
