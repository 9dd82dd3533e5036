package schema

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/parlance-llm/parlance/internal/jsontree"
)

// Parse reads the schema of a tool's parameters, a JSON object. Nothing, blanks or null give the silent schema: nil
// and no error. A local $ref is followed wherever it points in the object, in circles too; one that points nowhere or
// to another document is silent, and so is a subschema that is not an object (true, false), an unknown type name and a
// patternProperties entry whose expression Go cannot read. The error says at which JSON pointer something else was
// expected than was found.
func Parse(parameters []byte) (*Schema, error) {
	if len(bytes.TrimSpace(parameters)) == 0 {
		return nil, nil
	}
	tree, err := jsontree.Read(parameters)
	if err != nil {
		return nil, fmt.Errorf("tool schema: %w", err)
	}
	return ParseTree(tree)
}

// ParseTree is Parse for a text that has been read.
func ParseTree(tree *jsontree.Value) (*Schema, error) {
	switch tree.Kind {
	case 'n':
		return nil, nil
	case '{':
	default:
		return nil, expected(tree, "an object")
	}
	c := compiler{tree: tree, nodes: make([]*Schema, tree.Count()), toldBy: make(map[*Schema][]*Schema)}
	root := c.node(tree)
	for len(c.waiting) > 0 {
		v := c.waiting[len(c.waiting)-1]
		c.waiting = c.waiting[:len(c.waiting)-1]
		if err := c.fill(c.nodes[v.Number], v); err != nil {
			return nil, err
		}
	}
	c.spreadKinds()
	c.shorten()
	return root, nil
}

// compiler makes nodes of the values of a tree. A value becomes a node when somebody refers to it and is filled later,
// from the waiting list: so a circle of references ends, and no depth of nesting is a depth of calls.
type compiler struct {
	tree    *jsontree.Value
	nodes   []*Schema // by the numbers of their values, nil where there is none
	made    []*Schema // the same in the order in which they were made
	waiting []*jsontree.Value
	toldBy  map[*Schema][]*Schema // for each node those that look through to it
}

// node returns the node of a value, nil (silent) if the value is not an object.
func (c *compiler) node(v *jsontree.Value) *Schema {
	if v == nil || v.Kind != '{' {
		return nil
	}
	node := c.nodes[v.Number]
	if node == nil {
		node = new(Schema)
		c.nodes[v.Number] = node
		c.made = append(c.made, node)
		c.waiting = append(c.waiting, v)
	}
	return node
}

// fill reads the keywords of a node.
func (c *compiler) fill(s *Schema, v *jsontree.Value) error {
	if err := s.fillKinds(v); err != nil {
		return err
	}
	if err := c.fillMembers(s, v); err != nil {
		return err
	}
	if err := c.fillElements(s, v); err != nil {
		return err
	}
	return c.fillThrough(s, v)
}

// fillKinds reads what the node itself says about its type. Where it says nothing, its shape does: properties make an
// object, items an array.
func (s *Schema) fillKinds(v *jsontree.Value) error {
	if names := v.Keyword("type"); names != nil {
		switch names.Kind {
		case '"':
			s.kinds |= KindNamed(names.Text)
		case '[':
			for _, name := range names.Elements {
				if name.Kind != '"' {
					return expected(name, "the name of a type")
				}
				s.kinds |= KindNamed(name.Text)
			}
		default:
			return expected(names, "the name of a type or an array of them")
		}
	}
	if values := v.Keyword("enum"); values != nil {
		if values.Kind != '[' {
			return expected(values, "an array of values")
		}
		for _, value := range values.Elements {
			s.kinds |= KindOf(value)
		}
	}
	if value := v.Member("const"); value != nil { // null is a value here
		s.kinds |= KindOf(value)
	}
	if s.kinds == 0 {
		if v.Keyword("properties") != nil || v.Keyword("patternProperties") != nil {
			s.kinds |= Object
		}
		if v.Keyword("items") != nil || v.Keyword("prefixItems") != nil {
			s.kinds |= Array
		}
	}
	if nullable := v.Keyword("nullable"); nullable != nil && nullable.Kind == 't' {
		s.kinds |= Null
	}
	return nil
}

func (c *compiler) fillMembers(s *Schema, v *jsontree.Value) error {
	properties, err := objectKeyword(v, "properties")
	if err != nil {
		return err
	}
	if len(properties) > 0 {
		s.properties = make(map[string]*Schema, len(properties))
		for _, member := range properties {
			s.properties[member.Name] = c.node(member.Value)
		}
	}
	patterns, err := objectKeyword(v, "patternProperties")
	if err != nil {
		return err
	}
	for _, member := range patterns {
		// JavaScript knows expressions that Go does not. Such an entry tells us nothing; it makes no schema wrong.
		if expression, err := regexp.Compile(member.Name); err == nil {
			s.patterns = append(s.patterns, pattern{expression, c.node(member.Value)})
		}
	}
	s.additional = c.node(v.Keyword("additionalProperties"))
	return nil
}

// fillElements reads what is said about the elements of a list. The older spelling, an array under items and the rest
// under additionalItems, is still in use.
func (c *compiler) fillElements(s *Schema, v *jsontree.Value) error {
	byPosition, err := arrayKeyword(v, "prefixItems")
	if err != nil {
		return err
	}
	items := v.Keyword("items")
	if items != nil && items.Kind == '[' {
		byPosition, items = items.Elements, v.Keyword("additionalItems")
	}
	for _, element := range byPosition {
		s.prefix = append(s.prefix, c.node(element))
	}
	s.items = c.node(items)
	return nil
}

func (c *compiler) fillThrough(s *Schema, v *jsontree.Value) error {
	look := func(target *jsontree.Value) {
		if node := c.node(target); node != nil {
			s.through = append(s.through, node)
			c.toldBy[node] = append(c.toldBy[node], s)
		}
	}
	if reference := v.Keyword("$ref"); reference != nil {
		if reference.Kind != '"' {
			return expected(reference, "a reference as a string")
		}
		look(c.tree.Find(reference.Text))
	}
	for _, name := range [...]string{"anyOf", "oneOf", "allOf"} {
		members, err := arrayKeyword(v, name)
		if err != nil {
			return err
		}
		for _, member := range members {
			look(member)
		}
	}
	return nil
}

// spreadKinds gives every node the kinds of the nodes it looks through to. A node is visited again only when it has
// learned a kind, at most seven times, so circles end and long chains are no trouble.
func (c *compiler) spreadKinds() {
	if len(c.toldBy) == 0 {
		return
	}
	waiting := slices.Clone(c.made)
	for len(waiting) > 0 {
		node := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, other := range c.toldBy[node] {
			if other.kinds|node.kinds != other.kinds {
				other.kinds |= node.kinds
				waiting = append(waiting, other)
			}
		}
	}
}

// shorten makes the lists of nodes to look through as short as they can be. Nodes that say only kinds, which have
// spread already, are left out: a oneOf of three hundred constants costs a look-up nothing. Nodes that only refer to
// another make room for it.
func (c *compiler) shorten() {
	shortened := make(map[*Schema][]*Schema)
	for _, node := range c.made {
		if node.through == nil {
			continue
		}
		var kept []*Schema
		for _, other := range node.through {
			other = other.target()
			if other != node && !other.isLeaf() && !contains(kept, other) && len(kept) < mostSeen {
				kept = append(kept, other)
			}
		}
		shortened[node] = kept
	}
	for node, kept := range shortened {
		node.through = kept
	}
}
