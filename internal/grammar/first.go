package grammar

import "slices"

// First gives the literals with which an expression of a definition can begin, each once, in the order of the grammar.
// White space before them is left out. bare tells that it can also begin with something that is no literal: a capture,
// or a JSON object.
func First(e Expression, d *Definition) (literals []string, bare bool) {
	f := first{definition: d, seen: map[string]bool{}}
	f.empty(e)
	return f.literals, f.bare
}

type first struct {
	definition *Definition
	seen       map[string]bool // references on the way
	literals   []string
	bare       bool
}

// empty collects, and tells whether the expression can be empty, so that what follows it can begin too.
func (f *first) empty(e Expression) bool {
	switch e := e.(type) {
	case *Literal:
		if !slices.Contains(f.literals, e.Text) {
			f.literals = append(f.literals, e.Text)
		}
		return e.Text == ""
	case *Blank, *Layout, *Look:
		return true
	case *Capture:
		if e.Shape != nil {
			return f.empty(e.Shape)
		}
		f.bare = true
		return false
	case *Set:
		for _, element := range e.Elements {
			f.empty(element)
		}
		return true
	case *Attribute:
		f.bare = true
		return false
	case *Reference:
		rule := f.definition.Rule(e.Name)
		if rule == nil || f.seen[e.Name] {
			return false
		}
		f.seen[e.Name] = true
		defer delete(f.seen, e.Name)
		return f.empty(rule.Body)
	case *Choice:
		empty := len(e.Alternatives) == 0
		for _, alternative := range e.Alternatives {
			empty = f.empty(alternative) || empty
		}
		return empty
	case *Sequence:
		for _, item := range e.Items {
			if !f.empty(item) {
				return false
			}
		}
		return true
	case *Optional:
		f.empty(e.Inner)
		return true
	case *Repeat:
		f.empty(e.Inner)
		return true
	case *List:
		return f.empty(e.Inner)
	case *Codec, *Run, *Envelope:
		f.bare = true
		return false
	}
	return true // the end of the output
}
