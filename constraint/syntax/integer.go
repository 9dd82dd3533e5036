package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// integer is a whole number within its bounds.
func (b *Builder) integer(a *toolschema.Alternative) language.Node {
	if a.Minimum == nil && a.Maximum == nil {
		return integer
	}
	var below, above string // of the numbers below 0, and of 0 and above
	low, high := a.Minimum, a.Maximum
	if high == nil || *high >= 0 {
		from := int64(0)
		if low != nil {
			from = max(*low, 0)
		}
		above = numbers(uint64(from), high)
	}
	if low == nil || *low < 0 {
		from := uint64(1)
		if high != nil && *high < 0 {
			from = uint64(-*high)
		}
		var to *int64
		if low != nil {
			most := -*low
			to = &most
		}
		below = "-(?:" + numbers(from, to) + ")"
	}
	expression := strings.Trim(below+"|"+above, "|")
	key := "integer " + expression
	if node, ok := b.text[key]; ok {
		return node
	}
	automaton, err := regular.Match(expression)
	if err != nil {
		b.Notes = append(b.Notes, toolschema.Note{Pointer: b.Name, Keyword: "minimum or maximum", Reason: err.Error()})
		return integer
	}
	b.text[key] = &language.Regular{Automaton: automaton}
	return b.text[key]
}

// numbers is the expression of the numbers from one to another, which may be missing. Leading zeros are not written.
func numbers(from uint64, to *int64) string {
	low := strconv.FormatUint(from, 10)
	if to == nil {
		return atLeast(low) + fmt.Sprintf("|[1-9][0-9]{%d,%d}", len(low), mostDigits)
	}
	high := strconv.FormatInt(*to, 10)
	if len(low) == len(high) {
		return same(low, high)
	}
	parts := []string{atLeast(low)}
	if len(high)-len(low) > 1 {
		parts = append(parts, fmt.Sprintf("[1-9][0-9]{%d,%d}", len(low), len(high)-2))
	}
	return strings.Join(append(parts, same("1"+strings.Repeat("0", len(high)-1), high)), "|")
}

// atLeast is the numbers of as many digits that are not smaller.
func atLeast(low string) string { return same(low, strings.Repeat("9", len(low))) }

// same is the numbers between two of the same length.
func same(low, high string) string {
	if low == high {
		return low
	}
	if len(low) == 1 {
		return fmt.Sprintf("[%s-%s]", low, high)
	}
	if low[0] == high[0] {
		return low[:1] + "(?:" + same(low[1:], high[1:]) + ")"
	}
	zeros, nines := strings.Repeat("0", len(low)-1), strings.Repeat("9", len(low)-1)
	parts := []string{low[:1] + "(?:" + same(low[1:], nines) + ")"}
	if low[0]+1 < high[0] {
		parts = append(parts, fmt.Sprintf("[%c-%c][0-9]{%d}", low[0]+1, high[0]-1, len(low)-1))
	}
	parts = append(parts, high[:1]+"(?:"+same(zeros, high[1:])+")")
	return strings.Join(parts, "|")
}
