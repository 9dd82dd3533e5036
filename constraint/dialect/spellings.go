package dialect

import (
	"strconv"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/regular"
)

var gbnf = &spelling{root: "root", defines: " ::= ", empty: `""`, never: `[^\x00-\U0010FFFF]`,
	dash: '-', literal: backslashed, class: bracketedGBNF, mostRepeated: 1000}

var ebnf = &spelling{root: "root", defines: " ::= ", empty: `""`, never: `[^\x00-\U0010FFFF]`,
	dash: '_', literal: backslashed, class: bracketedEBNF, mostRepeated: 0, unlimited: true}

var lark = &spelling{root: "start", defines: ": ", empty: `""`, never: `/[^\x{0}-\x{10ffff}]/`,
	dash: '_', lower: true, literal: letters, class: pattern, leftward: true, mostRepeated: 0}

// named appends the name of a rule: letters, digits and dashes between them, with a letter first.
func (s *spelling) named(dst []byte, name string) []byte {
	dashed := false // what is no letter and no digit stands before the next one
	for _, r := range name {
		letter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		digit := r >= '0' && r <= '9'
		if !letter && !digit {
			dashed = true
			continue
		}
		switch {
		case len(dst) == 0 && digit:
			dst = append(dst, noDigit, s.dash)
		case len(dst) > 0 && dashed:
			dst = append(dst, s.dash)
		}
		dashed = false
		if s.lower && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		dst = append(dst, byte(r))
	}
	if len(dst) == 0 {
		dst = append(dst, noDigit)
	}
	return dst
}

// noDigit is what a name begins with that has no letter there.
const noDigit = 'r'

// backslashed is a text in double quotes as GBNF and EBNF have it.
func backslashed(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r < ' ' || r == 0x7f:
			dst = appendHex(append(dst, `\x`...), r, 2)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendHex appends a number with at least so many digits, letters large.
func appendHex(dst []byte, r rune, digits int) []byte {
	const figures = "0123456789ABCDEF"
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, figures[r>>shift&15])
	}
	return dst
}

// llama.cpp knows no escape of its own for a dash and a caret, xgrammar takes them as codes for what they mean in a class.
func bracketedGBNF(dst []byte, ranges []regular.Range, negated bool) []byte {
	return bracketed(dst, ranges, negated, func(dst []byte, r rune) []byte { return appendHex(append(dst, `\x`...), r, 2) })
}

func bracketedEBNF(dst []byte, ranges []regular.Range, negated bool) []byte {
	return bracketed(dst, ranges, negated, func(dst []byte, r rune) []byte { return append(dst, '\\', byte(r)) })
}

// bracketed writes a class in brackets; special writes a dash and a caret.
func bracketed(dst []byte, ranges []regular.Range, negated bool, special func(dst []byte, r rune) []byte) []byte {
	spell := func(dst []byte, r rune) []byte {
		switch {
		case r == '\\' || r == ']':
			return append(dst, '\\', byte(r))
		case r == '^' || r == '-':
			return special(dst, r)
		case r == '\n':
			return append(dst, `\n`...)
		case r == '\t':
			return append(dst, `\t`...)
		case r == '\r':
			return append(dst, `\r`...)
		case r < ' ' || r == 0x7f:
			return appendHex(append(dst, `\x`...), r, 2)
		case r > 0xffff:
			return appendHex(append(dst, `\U`...), r, 8)
		case r > 0x7f:
			return appendHex(append(dst, `\u`...), r, 4)
		}
		return append(dst, byte(r))
	}
	return append(inside(append(dst, '['), ranges, negated, spell), ']')
}

func inside(dst []byte, ranges []regular.Range, negated bool, spell func(dst []byte, r rune) []byte) []byte {
	if negated {
		dst = append(dst, '^')
	}
	for _, r := range ranges {
		dst = spell(dst, r.First)
		if r.Last > r.First {
			if r.Last > r.First+1 {
				dst = append(dst, '-')
			}
			dst = spell(dst, r.Last)
		}
	}
	return dst
}

// letters writes a text for Lark one character at a time: llguidance reads the longest piece that any text allowed at a
// place begins with, and would not go back.
func letters(dst []byte, text string) []byte {
	for i, r := range text {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(letter(append(dst, "/["...), r), "]/"...)
	}
	return dst
}

// letter writes a character in a class of Lark.
func letter(dst []byte, r rune) []byte {
	if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == ' ' || r > 0x7f && r < 0xd800 {
		return utf8.AppendRune(dst, r)
	}
	return append(strconv.AppendInt(append(dst, `\x{`...), int64(r), 16), '}')
}

func pattern(dst []byte, ranges []regular.Range, negated bool) []byte {
	if len(ranges) == 1 && !negated && ranges[0].First == 0 && ranges[0].Last == regular.MaxRune {
		return append(dst, `/(?s:.)/`...)
	}
	return append(inside(append(dst, "/["...), ranges, negated, letter), "]/"...)
}
