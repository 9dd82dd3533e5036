package toolschema

import "slices"

// rightness tells of nodes, by their numbers, whether some value satisfies them.
type rightness []bool

func (right rightness) of(n *Node) bool { return n.Free || right[n.number] }

// alternative tells the same of an alternative.
func (right rightness) alternative(a *Alternative) bool {
	switch a.Kind {
	case Array:
		if a.MaxItems >= 0 && a.MaxItems < a.MinItems {
			return false
		}
		for i := range a.MinItems {
			if item := a.Item(i); item == nil || !right.of(item) {
				return false
			}
			if i >= len(a.Prefix) {
				break
			}
		}
	case Object:
		for _, p := range a.Properties {
			if p.Required && !right.of(p.Node) {
				return false
			}
		}
	case String:
		return a.MaxLength < 0 || a.MinLength <= a.MaxLength
	case Integer:
		return a.Minimum == nil || a.Maximum == nil || *a.Minimum <= *a.Maximum
	}
	return true
}

// satisfiable finds out whether some value satisfies the root, and takes out alternatives and members that none does. The
// error names the place that makes it impossible.
func (r *reader) satisfiable(root *Node) error {
	right := make(rightness, len(r.made)+1)
	for changed := true; changed; {
		changed = false
		for _, n := range slices.Backward(r.made) { // what a node uses mostly comes behind it
			if !right.of(n) && slices.ContainsFunc(n.Alternatives, right.alternative) {
				right[n.number], changed = true, true
			}
		}
	}
	if !right.of(root) {
		return blame(root, right, make([]bool, len(right)))
	}
	for _, n := range r.made {
		n.Alternatives = slices.DeleteFunc(n.Alternatives, func(a *Alternative) bool { return !right.alternative(a) })
		for _, a := range n.Alternatives {
			a.prune(right)
		}
	}
	return nil
}

// prune takes out of an alternative what no value satisfies.
func (a *Alternative) prune(right rightness) {
	a.Properties = slices.DeleteFunc(a.Properties, func(p Property) bool { return !right.of(p.Node) })
	a.Patterned = slices.DeleteFunc(a.Patterned, func(p Patterned) bool { return !right.of(p.Node) })
	if a.Additional != nil && !right.of(a.Additional) {
		a.Additional = nil
	}
	if a.Kind != Array {
		return
	}
	for i := range a.Prefix {
		if !right.of(a.Prefix[i]) {
			a.Prefix, a.Items, a.MaxItems = a.Prefix[:i], nil, i
			break
		}
	}
	if a.Items != nil && !right.of(a.Items) {
		a.Items = nil
	}
	if a.Items == nil && (a.MaxItems < 0 || a.MaxItems > len(a.Prefix)) {
		a.MaxItems = len(a.Prefix)
	}
}

func blame(n *Node, right rightness, seen []bool) error {
	seen[n.number] = true
	if len(n.Alternatives) == 0 {
		return &Error{n.Pointer, "expected a schema that some value satisfies, found one that none does"}
	}
	for _, a := range n.Alternatives {
		var inner []*Node
		switch {
		case a.Kind == Object:
			for _, p := range a.Properties {
				if p.Required {
					inner = append(inner, p.Node)
				}
			}
		case a.Kind == Array && a.MinItems > 0:
			for i := range min(a.MinItems, len(a.Prefix)+1) {
				if item := a.Item(i); item != nil {
					inner = append(inner, item)
				}
			}
		}
		for _, next := range inner {
			if right.of(next) {
				continue
			}
			if seen[next.number] {
				return &Error{next.Pointer, "expected a schema that some value satisfies, found one that asks for itself without end"}
			}
			return blame(next, right, seen)
		}
	}
	return &Error{n.Pointer, "expected a schema that some value satisfies, found bounds that exclude each other"}
}

// markRecursive finds the nodes that can be reached from themselves: those of the strongly connected components, found
// as Tarjan does, and those that refer to themselves.
func (r *reader) markRecursive() {
	// place is when a node was met, from 1; low the least place that it leads back to; open: its component is not complete.
	type state struct {
		place, low int
		open       bool
	}
	states := make([]state, len(r.made)+1)
	var open []*Node
	places := 0
	var visit func(*Node)
	visit = func(n *Node) {
		places++
		at := &states[n.number]
		*at = state{places, places, true}
		from := len(open)
		open = append(open, n)
		n.children(func(next *Node) {
			other := &states[next.number]
			switch {
			case next.Free:
			case other.place == 0:
				visit(next)
				at.low = min(at.low, other.low)
			case other.open:
				at.low = min(at.low, other.place)
				if next == n {
					n.Recursive = true
				}
			}
		})
		if at.low < at.place {
			return
		}
		for _, member := range open[from:] {
			states[member.number].open = false
			member.Recursive = member.Recursive || len(open)-from > 1
		}
		open = open[:from]
	}
	for _, n := range r.made {
		if states[n.number].place == 0 {
			visit(n)
		}
	}
}
