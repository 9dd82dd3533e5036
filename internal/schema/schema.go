// Package schema reads the JSON schema of a tool's parameters and reads text by it.
//
// Many model families write the arguments of a call without saying of what type they are: <parameter=days>3</parameter>
// may be the number 3 or the text "3". Only the tool's schema knows. This package answers two questions about it: what
// kinds of value are allowed at a place (Kinds), and where the schema goes on for a member or an element (Property,
// Item). With these answers AppendValue turns the text of one value into JSON, the only way the rest of the program
// turns text into a typed value.
//
// The words used here:
//
//   - A node is one place of a schema: the schema of the parameters, of one parameter, of the elements of a list.
//   - A kind is one of the seven types of JSON schema. A node allows a set of kinds; the set says how text is read,
//     and nothing else of a schema does: enum membership, ranges, patterns and required keys are not checked.
//   - A node that allows no kind in particular is silent. A nil *Schema is silent too, and so are its members.
//   - A node looks through to the members of its anyOf, oneOf and allOf and to the target of its $ref: whatever they
//     say, it says too.
//
// The set of kinds is the union of everything that a node says about its type (rulings 27 and 28, the sheet of
// qwen3_coder, rules 2 and 3). Unlike there, local references, const and nullable count as well: what a constraint made
// from the schema lets a model write must be read back as the value that was meant (contract 7 of the parser).
package schema

import (
	"regexp"
	"strings"
)

// Schema is one node of a tool's JSON schema. It never changes after Parse has returned it, so any number of goroutines
// may use it. All methods may be called on nil, the silent schema.
type Schema struct {
	kinds      Kinds
	properties map[string]*Schema // a member whose schema is silent is here as nil
	patterns   []pattern
	additional *Schema
	items      *Schema
	prefix     []*Schema // schemas of the first elements, by position
	through    []*Schema // the nodes this one looks through to, if they can describe a member or an element
}

// pattern is one entry of patternProperties.
type pattern struct {
	expression *regexp.Regexp
	schema     *Schema
}

// Kinds returns the kinds of value that the node allows, 0 if it is silent.
func (s *Schema) Kinds() Kinds {
	if s == nil {
		return 0
	}
	return s.kinds
}

// Property returns the schema of the member called name: from properties, else from the matching patternProperties,
// else additionalProperties. Where several nodes that s looks through to know the member, the result says what all of
// them say. It is nil if nothing is known.
func (s *Schema) Property(name string) *Schema {
	var found union
	s.each(func(node *Schema) {
		if property, ok := node.properties[name]; ok {
			found.add(property)
			return
		}
		matched := false
		for _, pattern := range node.patterns {
			if pattern.matches(name) {
				found.add(pattern.schema)
				matched = true
			}
		}
		if !matched {
			found.add(node.additional)
		}
	})
	return found.schema()
}

// Declares reports whether a member called name is listed under properties, here or in a node that s looks through to.
func (s *Schema) Declares(name string) bool {
	declared := false
	s.each(func(node *Schema) {
		if _, ok := node.properties[name]; ok {
			declared = true
		}
	})
	return declared
}

// Items returns the schema of those elements of a list that have none by position. It is nil if nothing is known.
func (s *Schema) Items() *Schema {
	var found union
	s.each(func(node *Schema) { found.add(node.items) })
	return found.schema()
}

// Item returns the schema of the element at a position, counted from 0: the one given for that position, else that of
// Items. It is nil if nothing is known.
func (s *Schema) Item(position int) *Schema {
	var found union
	s.each(func(node *Schema) {
		if position < len(node.prefix) {
			found.add(node.prefix[position])
		} else {
			found.add(node.items)
		}
	})
	return found.schema()
}

// mostSeen bounds how many nodes one node looks through to. References may run in circles and meet again in many
// places, so a look-up remembers where it has been; with this bound it can do so on the stack.
const mostSeen = 256

// each calls visit once for s and once for every node that s looks through to, s first and the nearest next.
func (s *Schema) each(visit func(*Schema)) {
	if s == nil {
		return
	}
	if len(s.through) == 0 {
		visit(s)
		return
	}
	var seen [mostSeen]*Schema
	seen[0] = s
	count := 1
	for at := 0; at < count; at++ {
		visit(seen[at])
		for _, next := range seen[at].through {
			if count < mostSeen && !contains(seen[:count], next) {
				seen[count] = next
				count++
			}
		}
	}
}

func contains(nodes []*Schema, node *Schema) bool {
	for _, other := range nodes {
		if other == node {
			return true
		}
	}
	return false
}

// isLeaf reports whether a node says nothing but kinds, so that nobody needs to look through to it.
func (s *Schema) isLeaf() bool { return !s.hasParts() && len(s.through) == 0 }

// hasParts reports whether the node itself describes members or elements.
func (s *Schema) hasParts() bool {
	return s.properties != nil || s.patterns != nil || s.additional != nil || s.items != nil || s.prefix != nil
}

// target returns the node that tells all that s does about members and elements: the one that s refers to, if s does
// nothing else. References may run in circles, so it does not follow them for ever.
func (s *Schema) target() *Schema {
	for range mostSeen {
		if s.hasParts() || len(s.through) != 1 {
			break
		}
		s = s.through[0]
	}
	return s
}

// matches reports whether the pattern describes the member called name. The name is copied for the regular expression,
// which keeps what it is given for a while: without the copy every look-up of a member would have to allocate its name.
func (p pattern) matches(name string) bool { return p.expression.MatchString(strings.Clone(name)) }

// union collects what several nodes say about one place. As long as they all name the same node, nothing is allocated.
type union struct {
	first  *Schema
	merged *Schema
}

func (u *union) add(s *Schema) {
	switch {
	case s == nil || s == u.first:
		return
	case u.first == nil:
		u.first = s
		return
	case u.merged == nil:
		u.merged = new(Schema)
		u.merge(u.first)
	}
	u.merge(s)
}

func (u *union) merge(s *Schema) {
	u.merged.kinds |= s.kinds
	if s = s.target(); !s.isLeaf() && len(u.merged.through) < mostSeen && !contains(u.merged.through, s) {
		u.merged.through = append(u.merged.through, s)
	}
}

func (u *union) schema() *Schema {
	if u.merged != nil {
		return u.merged
	}
	return u.first
}
