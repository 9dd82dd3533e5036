package pattern

import (
	"slices"
	"unicode"
)

// Set is a set of characters: ranges in ascending order that neither touch nor overlap.
type Set []Range

// Range is the characters from First to Last.
type Range struct{ First, Last rune }

const lastRune = unicode.MaxRune

// all is every character.
var all = Set{{0, lastRune}}

func setOf(ranges []Range) Set {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b Range) int { return int(a.First - b.First) })
	var out Set
	for _, r := range ranges {
		if n := len(out); n > 0 && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

func tableSet(tables ...*unicode.RangeTable) Set {
	var out []Range
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, Range{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, Range{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return setOf(out)
}

func (s Set) negate() Set {
	var out Set
	next := rune(0)
	for _, r := range s {
		if r.First > next {
			out = append(out, Range{next, r.First - 1})
		}
		next = r.Last + 1
	}
	if next <= lastRune {
		out = append(out, Range{next, lastRune})
	}
	return out
}

func union(sets ...Set) Set {
	var out []Range
	for _, s := range sets {
		out = append(out, s...)
	}
	return setOf(out)
}

func (s Set) meets(other Set) bool {
	for i, j := 0, 0; i < len(s) && j < len(other); {
		switch {
		case s[i].Last < other[j].First:
			i++
		case other[j].Last < s[i].First:
			j++
		default:
			return true
		}
	}
	return false
}

// Has tells whether a character is in the set.
func (s Set) Has(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(in Range, r rune) int {
		switch {
		case in.Last < r:
			return -1
		case in.First > r:
			return 1
		}
		return 0
	})
	return found
}

// size is the number of characters, but not more than a few thousand.
func (s Set) size() (n int) {
	for _, r := range s {
		if n += int(r.Last-r.First) + 1; n > 4096 {
			break
		}
	}
	return n
}

func (s Set) runes() (out []rune) {
	for _, r := range s {
		for c := r.First; c <= r.Last; c++ {
			out = append(out, c)
		}
	}
	return out
}

func equal(a, b Set) bool { return slices.Equal(a, b) }

// folded adds the characters that differ only in case.
func (s Set) folded() Set {
	var out []Range
	for _, r := range s {
		out = append(out, r)
		if r.First == 0 && r.Last == lastRune {
			return all
		}
		for c := r.First; c <= r.Last; c++ {
			for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
				out = append(out, Range{other, other})
			}
		}
	}
	return setOf(out)
}

// The classes of Python: \d, \s and \w, for text and with the flag a for ASCII.
var (
	digits      = tableSet(unicode.Nd)
	spaces      = union(tableSet(unicode.White_Space), Set{{0x1c, 0x1f}})
	words       = union(tableSet(unicode.L, unicode.M, unicode.N), Set{{'_', '_'}})
	asciiDigits = Set{{'0', '9'}}
	asciiSpaces = Set{{'\t', '\r'}, {' ', ' '}}
	asciiWords  = Set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
)

func class(letter rune, ascii bool) (Set, bool) {
	pick := func(wide, narrow Set) Set {
		if ascii {
			return narrow
		}
		return wide
	}
	switch letter {
	case 'd':
		return pick(digits, asciiDigits), true
	case 'D':
		return pick(digits, asciiDigits).negate(), true
	case 's':
		return pick(spaces, asciiSpaces), true
	case 'S':
		return pick(spaces, asciiSpaces).negate(), true
	case 'w':
		return pick(words, asciiWords), true
	case 'W':
		return pick(words, asciiWords).negate(), true
	}
	return nil, false
}

// blank tells whether a set is white space, as \s has it for text or for ASCII.
func (s Set) blank() bool { return equal(s, spaces) || equal(s, asciiSpaces) }

// property gives the characters of a Unicode property such as L, Lu or Greek.
func property(name string) (Set, bool) {
	if t, ok := unicode.Categories[name]; ok {
		return tableSet(t), true
	}
	if t, ok := unicode.Scripts[name]; ok {
		return tableSet(t), true
	}
	if t, ok := unicode.Properties[name]; ok {
		return tableSet(t), true
	}
	return nil, false
}

var posix = map[string]Set{
	"alpha": tableSet(unicode.L), "digit": digits, "alnum": tableSet(unicode.L, unicode.Nd), "upper": tableSet(unicode.Lu),
	"lower": tableSet(unicode.Ll), "space": spaces, "xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, "punct": tableSet(unicode.P), "word": words,
}
