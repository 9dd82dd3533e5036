package toolschema

import (
	"cmp"
	"slices"
)

// Sorted makes nodes with the properties of objects in the order of their names, at every depth, for formats that write
// them so. What nodes share stays shared.
func Sorted() func(n *Node) *Node {
	done := map[*Node]*Node{}
	return func(n *Node) *Node { return sorted(n, done) }
}

func sorted(n *Node, done map[*Node]*Node) *Node {
	if n == nil || n.Free || n == AnyObject {
		return n
	}
	if out, ok := done[n]; ok {
		return out
	}
	out := *n
	done[n] = &out
	out.Alternatives = make([]*Alternative, len(n.Alternatives))
	for i, a := range n.Alternatives {
		copied := *a
		copied.Prefix = slices.Clone(a.Prefix)
		for k := range copied.Prefix {
			copied.Prefix[k] = sorted(copied.Prefix[k], done)
		}
		copied.Items, copied.Additional = sorted(a.Items, done), sorted(a.Additional, done)
		copied.Properties = slices.Clone(a.Properties)
		slices.SortFunc(copied.Properties, func(one, two Property) int { return cmp.Compare(one.Name, two.Name) })
		for k := range copied.Properties {
			copied.Properties[k].Node = sorted(copied.Properties[k].Node, done)
		}
		copied.Patterned = slices.Clone(a.Patterned)
		for k := range copied.Patterned {
			copied.Patterned[k].Node = sorted(copied.Patterned[k].Node, done)
		}
		out.Alternatives[i] = &copied
	}
	return &out
}
