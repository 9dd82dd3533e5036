package schema

import (
	"maps"
	"slices"
)

// mostCompared bounds how many nodes are compared to find out whether two are equal.
const mostCompared = 256

// Equal reports whether two schemas say the same, word for word: then every text is read alike by both. Of schemas that
// hold themselves, and of very large ones, it answers false unless they are one.
func (s *Schema) Equal(other *Schema) bool {
	left := mostCompared
	return equal(s, other, &left)
}

func equal(a, b *Schema, left *int) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	if *left--; *left < 0 {
		return false
	}
	same := func(a, b *Schema) bool { return equal(a, b, left) }
	return a.kinds == b.kinds && same(a.additional, b.additional) && same(a.items, b.items) &&
		maps.EqualFunc(a.properties, b.properties, same) && slices.EqualFunc(a.prefix, b.prefix, same) && slices.EqualFunc(a.through, b.through, same) &&
		slices.EqualFunc(a.patterns, b.patterns, func(a, b pattern) bool {
			return a.expression.String() == b.expression.String() && same(a.schema, b.schema)
		})
}
