package schema

import (
	"bytes"
	"regexp"
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
	tree, err := readTree(parameters)
	if err != nil {
		return nil, err
	}
	switch tree.kind {
	case 'n':
		return nil, nil
	case '{':
	default:
		return nil, tree.expected("an object")
	}
	c := compiler{tree: tree, nodes: make(map[*value]*Schema), toldBy: make(map[*Schema][]*Schema)}
	root := c.node(tree)
	for len(c.waiting) > 0 {
		v := c.waiting[len(c.waiting)-1]
		c.waiting = c.waiting[:len(c.waiting)-1]
		if err := c.fill(c.nodes[v], v); err != nil {
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
	tree    *value
	nodes   map[*value]*Schema
	waiting []*value
	toldBy  map[*Schema][]*Schema // for each node those that look through to it
}

// node returns the node of a value, nil (silent) if the value is not an object.
func (c *compiler) node(v *value) *Schema {
	if v == nil || v.kind != '{' {
		return nil
	}
	node, ok := c.nodes[v]
	if !ok {
		node = new(Schema)
		c.nodes[v] = node
		c.waiting = append(c.waiting, v)
	}
	return node
}

// fill reads the keywords of a node.
func (c *compiler) fill(s *Schema, v *value) error {
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
func (s *Schema) fillKinds(v *value) error {
	if names := v.keyword("type"); names != nil {
		switch names.kind {
		case '"':
			s.kinds |= kindNamed(names.text)
		case '[':
			for _, name := range names.elements {
				if name.kind != '"' {
					return name.expected("the name of a type")
				}
				s.kinds |= kindNamed(name.text)
			}
		default:
			return names.expected("the name of a type or an array of them")
		}
	}
	if values := v.keyword("enum"); values != nil {
		if values.kind != '[' {
			return values.expected("an array of values")
		}
		for _, value := range values.elements {
			s.kinds |= value.valueKind()
		}
	}
	if value := v.members["const"]; value != nil { // null is a value here
		s.kinds |= value.valueKind()
	}
	if s.kinds == 0 {
		if v.keyword("properties") != nil || v.keyword("patternProperties") != nil {
			s.kinds |= Object
		}
		if v.keyword("items") != nil || v.keyword("prefixItems") != nil {
			s.kinds |= Array
		}
	}
	if nullable := v.keyword("nullable"); nullable != nil && nullable.kind == 't' {
		s.kinds |= Null
	}
	return nil
}

func (c *compiler) fillMembers(s *Schema, v *value) error {
	properties, err := v.objectKeyword("properties")
	if err != nil {
		return err
	}
	if len(properties) > 0 {
		s.properties = make(map[string]*Schema, len(properties))
		for name, property := range properties {
			s.properties[name] = c.node(property)
		}
	}
	patterns, err := v.objectKeyword("patternProperties")
	if err != nil {
		return err
	}
	for source, property := range patterns {
		// JavaScript knows expressions that Go does not. Such an entry tells us nothing; it makes no schema wrong.
		if expression, err := regexp.Compile(source); err == nil {
			s.patterns = append(s.patterns, pattern{expression, c.node(property)})
		}
	}
	s.additional = c.node(v.keyword("additionalProperties"))
	return nil
}

// fillElements reads what is said about the elements of a list. The older spelling, an array under items and the rest
// under additionalItems, is still in use.
func (c *compiler) fillElements(s *Schema, v *value) error {
	byPosition, err := v.arrayKeyword("prefixItems")
	if err != nil {
		return err
	}
	items := v.keyword("items")
	if items != nil && items.kind == '[' {
		byPosition, items = items.elements, v.keyword("additionalItems")
	}
	for _, element := range byPosition {
		s.prefix = append(s.prefix, c.node(element))
	}
	s.items = c.node(items)
	return nil
}

func (c *compiler) fillThrough(s *Schema, v *value) error {
	look := func(target *value) {
		if node := c.node(target); node != nil {
			s.through = append(s.through, node)
			c.toldBy[node] = append(c.toldBy[node], s)
		}
	}
	if reference := v.keyword("$ref"); reference != nil {
		if reference.kind != '"' {
			return reference.expected("a reference as a string")
		}
		look(c.tree.find(reference.text))
	}
	for _, name := range [...]string{"anyOf", "oneOf", "allOf"} {
		members, err := v.arrayKeyword(name)
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
	waiting := make([]*Schema, 0, len(c.nodes))
	for _, node := range c.nodes {
		waiting = append(waiting, node)
	}
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
	for _, node := range c.nodes {
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

// objectKeyword returns the members of a keyword that must be an object. An empty array is taken for an empty object:
// that is how PHP writes one.
func (v *value) objectKeyword(name string) (map[string]*value, error) {
	switch object := v.keyword(name); {
	case object == nil, object.kind == '[' && len(object.elements) == 0:
		return nil, nil
	case object.kind == '{':
		return object.members, nil
	default:
		return nil, object.expected("an object")
	}
}

// arrayKeyword returns the elements of a keyword that must be an array.
func (v *value) arrayKeyword(name string) ([]*value, error) {
	switch array := v.keyword(name); {
	case array == nil:
		return nil, nil
	case array.kind == '[':
		return array.elements, nil
	default:
		return nil, array.expected("an array")
	}
}
