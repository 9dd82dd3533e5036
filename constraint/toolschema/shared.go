package toolschema

import "slices"

// Shared makes one node of properties that say the same in several tools. Many tools have a path, a query or a limit, and
// what is made of one node is made once. It belongs to one goroutine.
type Shared struct {
	nodes map[string][]*Node // by their pointers
}

// mostKnown is how many nodes at one place are compared with the next, and mostCompared how many nodes two are compared
// in: what refers to one place from many is written shorter than it is.
const (
	mostKnown    = 8
	mostCompared = 1000
)

// Share puts nodes that were shared before in place of the properties of an object that say the same, at the same place,
// with all that is in them. What holds itself stays as it is.
func (s *Shared) Share(object *Node) {
	for _, a := range object.Alternatives {
		for i := range a.Properties {
			a.Properties[i].Node = s.one(a.Properties[i].Node)
		}
	}
}

func (s *Shared) one(n *Node) *Node {
	if n.Free || n.Pointer == "" {
		return n
	}
	known := s.nodes[n.Pointer]
	for _, other := range known {
		left := comparison(mostCompared)
		if left.same(other, n) {
			return other
		}
	}
	if len(known) < mostKnown {
		if s.nodes == nil {
			s.nodes = map[string][]*Node{}
		}
		s.nodes[n.Pointer] = append(known, n)
	}
	return n
}

// comparison is how many nodes may still be compared.
type comparison int

// same tells whether two nodes say the same, at the same place. Of nodes that can be reached from themselves it answers
// false, and of very large ones.
func (left *comparison) same(a, b *Node) bool {
	switch {
	case a == nil || b == nil || a == b:
		return a == b
	case a.Recursive || b.Recursive || a.Free != b.Free || a.Pointer != b.Pointer:
		return false
	}
	*left--
	return *left >= 0 && slices.EqualFunc(a.Alternatives, b.Alternatives, left.sameAlternative)
}

func (left *comparison) sameAlternative(a, b *Alternative) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.Format == b.Format && slices.Equal(a.Patterns, b.Patterns) &&
		a.MinLength == b.MinLength && a.MaxLength == b.MaxLength && sameBound(a.Minimum, b.Minimum) && sameBound(a.Maximum, b.Maximum) &&
		a.MinItems == b.MinItems && a.MaxItems == b.MaxItems && slices.EqualFunc(a.Prefix, b.Prefix, left.same) && left.same(a.Items, b.Items) && left.same(a.Additional, b.Additional) &&
		slices.EqualFunc(a.Properties, b.Properties, func(a, b Property) bool {
			return a.Name == b.Name && a.Required == b.Required && left.same(a.Node, b.Node)
		}) &&
		slices.EqualFunc(a.Patterned, b.Patterned, func(a, b Patterned) bool { return a.Pattern == b.Pattern && left.same(a.Node, b.Node) })
}

func sameBound(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
