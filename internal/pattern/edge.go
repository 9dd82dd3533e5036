package pattern

import "slices"

// AtStart divides an expression by what it says at the beginning of the text, where '^' holds, and anywhere else. One of
// the two is nil if nothing can match there; start is nil as well if it says the same as anywhere. The error is an
// *Error.
func (e *Expression) AtStart() (start, anywhere *Expression, err error) {
	if root, ok, _ := assume(e.root, true, false); ok {
		anywhere = &Expression{source: e.source, root: root, names: e.names}
	}
	if !holdsStart(e.root) {
		return nil, anywhere, nil
	}
	if root, ok, _ := assume(e.root, true, true); ok {
		start = &Expression{source: e.source, root: root, names: e.names}
	}
	if start == nil && anywhere == nil {
		return nil, nil, e.fail(0, "the pattern matches nothing: '^' stands behind other characters")
	}
	if start != nil && anywhere != nil && sameTexts(start, anywhere) {
		start = nil
	}
	return start, anywhere, nil
}

func sameTexts(a, b *Expression) bool {
	partsA, errA := a.Parts()
	partsB, errB := b.Parts()
	return errA == nil && errB == nil && slices.EqualFunc(partsA, partsB, sameTextsPart)
}

func sameTextsPart(a, b Part) bool {
	if a.Choice != nil || b.Choice != nil {
		return slices.EqualFunc(a.Choice, b.Choice, func(a, b []Part) bool { return slices.EqualFunc(a, b, sameTextsPart) })
	}
	one, two := slices.Clone(a.Texts), slices.Clone(b.Texts)
	slices.Sort(one)
	slices.Sort(two)
	return slices.Equal(one, two) && a.Blank == b.Blank && a.Name == b.Name && (a.Run == nil) == (b.Run == nil) && a.at == b.at
}

func holdsStart(n *node) bool { return n.op == opStart || slices.ContainsFunc(n.subs, holdsStart) }

// assume rewrites a node with '^' held to be true or false where nothing stands before it; behind other characters it is
// false. ok is false if the node can match nothing then; empty tells that it takes no characters.
func assume(n *node, begin, truth bool) (out *node, ok, empty bool) {
	switch n.op {
	case opStart:
		return &node{op: opEmpty, at: n.at}, begin && truth, true
	case opEmpty, opEnd:
		return n, true, true
	case opAhead:
		return n, true, true
	case opSet:
		return n, true, false
	case opGroup:
		sub, ok, empty := assume(n.subs[0], begin, truth)
		copied := *n
		copied.subs = []*node{sub}
		return &copied, ok, empty
	case opRepeat:
		sub, ok, _ := assume(n.subs[0], begin, truth)
		if !ok {
			return &node{op: opEmpty, at: n.at}, n.min == 0, true
		}
		copied := *n
		copied.subs = []*node{sub}
		return &copied, true, false
	case opAlt:
		copied := *n
		copied.subs = nil
		empty = true
		for _, sub := range n.subs {
			if rewritten, ok, none := assume(sub, begin, truth); ok {
				copied.subs = append(copied.subs, rewritten)
				empty = empty && none
			}
		}
		if len(copied.subs) == 1 {
			return copied.subs[0], true, empty
		}
		return &copied, len(copied.subs) > 0, empty
	}
	copied := *n
	copied.subs = nil
	empty = true
	for _, sub := range n.subs {
		rewritten, ok, none := assume(sub, begin && empty, truth)
		if !ok {
			return n, false, false
		}
		empty = empty && none
		copied.subs = append(copied.subs, rewritten)
	}
	return &copied, true, empty
}

// WithoutEnd leaves out the ways in which an expression matches at the end of the text with nothing before it but white
// space: what it closes is over there anyway. It gives nil if no other way is left.
func (e *Expression) WithoutEnd() *Expression {
	root, ok := withoutEnd(e.root, true)
	if !ok {
		return nil
	}
	return &Expression{source: e.source, root: root, names: e.names}
}

func withoutEnd(n *node, blank bool) (out *node, ok bool) {
	switch n.op {
	case opEnd:
		return n, !blank
	case opGroup:
		if n.name != "" {
			return n, true
		}
		sub, ok := withoutEnd(n.subs[0], blank)
		copied := *n
		copied.subs = []*node{sub}
		return &copied, ok
	case opAlt:
		copied := *n
		copied.subs = nil
		for _, sub := range n.subs {
			if rewritten, ok := withoutEnd(sub, blank); ok {
				copied.subs = append(copied.subs, rewritten)
			}
		}
		return &copied, len(copied.subs) > 0
	case opCat:
		copied := *n
		copied.subs = slices.Clone(n.subs)
		for i, sub := range n.subs {
			if i+1 == len(n.subs) {
				rewritten, ok := withoutEnd(sub, blank)
				if !ok {
					return n, false
				}
				copied.subs[i] = rewritten
			}
			blank = blank && isBlank(sub)
		}
		return &copied, true
	}
	return n, true
}
