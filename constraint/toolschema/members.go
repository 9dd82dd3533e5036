package toolschema

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/jsontree"
)

func (r *reader) array(a *Alternative, facts []fact) error {
	prefixes := 0
	for _, f := range facts {
		if err := count(f.raw, "minItems", func(n int) { a.MinItems = max(a.MinItems, n) }); err != nil {
			return err
		}
		if err := count(f.raw, "maxItems", func(n int) { a.MaxItems = least(a.MaxItems, n) }); err != nil {
			return err
		}
		prefixes = max(prefixes, len(prefixOf(f.raw)))
	}
	var space [4]fact
	for i := range prefixes {
		inner := space[:0]
		for _, f := range facts {
			if prefix := prefixOf(f.raw); i < len(prefix) {
				inner = append(inner, fact{raw: prefix[i]})
			} else if items := itemsOf(f.raw); items != nil {
				inner = append(inner, fact{raw: items})
			}
		}
		node, err := r.node(inner...)
		if err != nil {
			return err
		}
		a.Prefix = append(a.Prefix, node)
	}
	inner := space[:0]
	for _, f := range facts {
		if items := itemsOf(f.raw); items != nil {
			inner = append(inner, fact{raw: items})
		}
	}
	var err error
	a.Items, err = r.node(inner...)
	return err
}

// prefixOf are the schemas of the first elements, in the words of either draft.
func prefixOf(v *jsontree.Value) []*jsontree.Value {
	if prefix := v.Keyword("prefixItems"); prefix != nil && prefix.Kind == '[' {
		return prefix.Elements
	}
	if items := v.Keyword("items"); items != nil && items.Kind == '[' {
		return items.Elements
	}
	return nil
}

func itemsOf(v *jsontree.Value) *jsontree.Value {
	items := v.Keyword("items")
	if items != nil && items.Kind == '[' {
		return v.Keyword("additionalItems")
	}
	return items
}

// mostSearched is how many properties are looked through for a name; of more an index is made.
const mostSearched = 16

// properties are the members of an object that is being read.
type properties struct {
	list  []Property
	index map[string]int
}

// at is the place of a property, which is added if there is none of that name.
func (p *properties) at(name string) int {
	if p.index == nil {
		for i := range p.list {
			if p.list[i].Name == name {
				return i
			}
		}
	} else if i, ok := p.index[name]; ok {
		return i
	}
	p.list = append(p.list, Property{Name: name})
	switch {
	case p.index != nil:
		p.index[name] = len(p.list) - 1
	case len(p.list) > mostSearched:
		p.index = make(map[string]int, 4*mostSearched)
		for i := range p.list {
			p.index[p.list[i].Name] = i
		}
	}
	return len(p.list) - 1
}

func (r *reader) object(a *Alternative, facts []fact) error {
	var read properties
	closed := false
	for _, f := range facts {
		if list := f.raw.Keyword("required"); list != nil && list.Kind == '[' {
			for _, element := range list.Elements {
				if element.Kind != '"' {
					return expected(element, "the name of a member")
				}
			}
		}
		declared := f.raw.Keyword("properties")
		if declared == nil || declared.Kind == '[' && len(declared.Elements) == 0 {
			continue
		}
		if declared.Kind != '{' {
			return expected(declared, "an object of schemas")
		}
		read.list = slices.Grow(read.list, len(declared.Members))
		for _, member := range declared.Members {
			at := read.at(member.Name)
			// the word required in a property itself, as draft 3 and many generators have it
			if own := member.Value.Keyword("required"); own != nil && own.Kind == 't' {
				read.list[at].Required = true
			}
		}
		closed = true
	}
	for _, f := range facts {
		if list := f.raw.Keyword("required"); list != nil && list.Kind == '[' {
			for _, element := range list.Elements {
				at := read.at(element.Text)
				read.list[at].Required = true
			}
		}
	}
	a.Properties = read.list
	for i := range a.Properties {
		inner := r.inner[:0]
		for _, f := range facts {
			inner = r.member(inner, f.raw, a.Properties[i].Name)
		}
		r.inner = inner[:0]
		node, err := r.node(inner...)
		if err != nil {
			return err
		}
		a.Properties[i].Node = node
	}
	return r.others(a, facts, closed)
}

// member appends what a schema says of a member.
func (r *reader) member(out []fact, v *jsontree.Value, name string) []fact {
	before := len(out)
	if properties := v.Keyword("properties"); properties != nil {
		if property := properties.Member(name); property != nil {
			out = append(out, fact{raw: property})
		}
	}
	if patterns := v.Keyword("patternProperties"); patterns != nil && patterns.Kind == '{' {
		for _, member := range patterns.Members {
			if found := r.pattern(member.Name); found.err == nil && found.automaton.Accepts(name) {
				out = append(out, fact{raw: member.Value})
			}
		}
	}
	if additional := v.Keyword("additionalProperties"); additional != nil && len(out) == before {
		out = append(out, fact{raw: additional})
	}
	return out
}

// others reads what may stand in an object beside its declared members. Where a schema declares members and does not
// say, others may not: a model that may invent parameters does.
func (r *reader) others(a *Alternative, facts []fact, closed bool) error {
	var space [4]fact
	additional := space[:0]
	said := false
	for _, f := range facts {
		if patterns := f.raw.Keyword("patternProperties"); patterns != nil && patterns.Kind == '{' {
			for _, member := range patterns.Members {
				if reason := r.unheld(member.Name); reason != "" {
					r.note(f.raw, "patternProperties", reason)
					a.Additional = Any
					continue
				}
				node, err := r.node(fact{raw: member.Value})
				if err != nil {
					return err
				}
				a.Patterned = append(a.Patterned, Patterned{Expression(member.Name), node})
				closed = true
			}
		}
		if more := f.raw.Keyword("additionalProperties"); more != nil {
			said = true
			additional = append(additional, fact{raw: more})
		}
	}
	if a.Additional != nil {
		return nil
	}
	if said || !closed {
		if slices.ContainsFunc(additional, func(f fact) bool { return f.raw.Kind == 'f' }) {
			return nil
		}
		var err error
		a.Additional, err = r.node(additional...)
		return err
	}
	return nil
}
