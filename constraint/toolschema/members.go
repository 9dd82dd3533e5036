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

// names are texts in their order, each once.
type names struct {
	list  []string
	index map[string]bool // of many
}

// mostSearched is how many names are looked through for one; of more an index is made.
const mostSearched = 16

func (n *names) has(name string) bool {
	if n.index != nil {
		return n.index[name]
	}
	return slices.Contains(n.list, name)
}

func (n *names) add(name string) {
	if n.has(name) {
		return
	}
	n.list = append(n.list, name)
	switch {
	case n.index != nil:
		n.index[name] = true
	case len(n.list) > mostSearched:
		n.index = make(map[string]bool, 4*mostSearched)
		for _, name := range n.list {
			n.index[name] = true
		}
	}
}

func (r *reader) object(a *Alternative, facts []fact) error {
	var requiredSpace, declaredSpace [mostSearched]string
	required, declared := names{list: requiredSpace[:0]}, names{list: declaredSpace[:0]}
	closed := false
	for _, f := range facts {
		if list := f.raw.Keyword("required"); list != nil && list.Kind == '[' {
			for _, element := range list.Elements {
				if element.Kind != '"' {
					return expected(element, "the name of a member")
				}
				required.add(element.Text)
			}
		}
		properties := f.raw.Keyword("properties")
		if properties == nil || properties.Kind == '[' && len(properties.Elements) == 0 {
			continue
		}
		if properties.Kind != '{' {
			return expected(properties, "an object of schemas")
		}
		for _, member := range properties.Members {
			declared.add(member.Name)
			// the word required in a property itself, as draft 3 and many generators have it
			if own := member.Value.Keyword("required"); own != nil && own.Kind == 't' {
				required.add(member.Name)
			}
		}
		closed = true
	}
	for _, f := range facts {
		if list := f.raw.Keyword("required"); list != nil && list.Kind == '[' {
			for _, element := range list.Elements {
				declared.add(element.Text)
			}
		}
	}
	if len(declared.list) > 0 {
		a.Properties = make([]Property, 0, len(declared.list))
	}
	for _, name := range declared.list {
		var space [4]fact
		inner := space[:0]
		for _, f := range facts {
			inner = r.member(inner, f.raw, name)
		}
		node, err := r.node(inner...)
		if err != nil {
			return err
		}
		a.Properties = append(a.Properties, Property{name, node, required.has(name)})
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
