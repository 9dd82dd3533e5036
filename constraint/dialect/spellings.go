package dialect

import (
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/constraint/regular"
)

var gbnf = &spelling{root: "root", defines: " ::= ", empty: `""`, never: `[^\x00-\U0010FFFF]`,
	name: dashed, literal: backslashed, class: bracketedGBNF, mostRepeated: 1000}

var ebnf = &spelling{root: "root", defines: " ::= ", empty: `""`, never: `[^\x00-\U0010FFFF]`,
	name: underscored, literal: backslashed, class: bracketedEBNF, mostRepeated: 0, unlimited: true}

var lark = &spelling{root: "start", defines: ": ", empty: `""`, never: `/[^\x{0}-\x{10ffff}]/`,
	name: lowered, literal: letters, class: pattern, leftward: true, mostRepeated: 0}

func dashed(name string) string { return named(name, '-') }

func underscored(name string) string { return named(name, '_') }

func lowered(name string) string { return strings.ToLower(named(name, '_')) }

// named makes the name of a rule: letters, digits and one other character, with a letter first.
func named(name string, other rune) string {
	var out strings.Builder
	for _, r := range name {
		if r < 128 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			out.WriteRune(r)
		} else if text := out.String(); text != "" && !strings.HasSuffix(text, string(other)) {
			out.WriteRune(other)
		}
	}
	text := strings.TrimRight(out.String(), string(other))
	if text == "" || text[0] >= '0' && text[0] <= '9' {
		text = "r" + string(other) + text
	}
	return strings.TrimRight(text, string(other))
}

// backslashed is a text in double quotes as GBNF and EBNF have it.
func backslashed(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\x%02X`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// llama.cpp knows no escape of its own for a dash and a caret, xgrammar takes them as codes for what they mean in a class.
func bracketedGBNF(ranges []regular.Range, negated bool) string {
	return bracketed(ranges, negated, func(r rune) string { return fmt.Sprintf(`\x%02X`, r) })
}

func bracketedEBNF(ranges []regular.Range, negated bool) string {
	return bracketed(ranges, negated, func(r rune) string { return `\` + string(r) })
}

func bracketed(ranges []regular.Range, negated bool, special func(rune) string) string {
	return "[" + inside(ranges, negated, func(r rune) string {
		switch {
		case r == '\\' || r == ']':
			return `\` + string(r)
		case r == '^' || r == '-':
			return special(r)
		case r == '\n':
			return `\n`
		case r == '\t':
			return `\t`
		case r == '\r':
			return `\r`
		case r < ' ' || r == 0x7f:
			return fmt.Sprintf(`\x%02X`, r)
		case r > 0xffff:
			return fmt.Sprintf(`\U%08X`, r)
		case r > 0x7f:
			return fmt.Sprintf(`\u%04X`, r)
		}
		return string(r)
	}) + "]"
}

func inside(ranges []regular.Range, negated bool, spell func(rune) string) string {
	var out strings.Builder
	if negated {
		out.WriteByte('^')
	}
	for _, r := range ranges {
		out.WriteString(spell(r.First))
		if r.Last > r.First {
			if r.Last > r.First+1 {
				out.WriteByte('-')
			}
			out.WriteString(spell(r.Last))
		}
	}
	return out.String()
}

// letters writes a text for Lark one character at a time: llguidance reads the longest piece that any text allowed at a
// place begins with, and would not go back.
func letters(text string) string {
	var parts []string
	for _, r := range text {
		parts = append(parts, pattern([]regular.Range{{First: r, Last: r}}, false))
	}
	return strings.Join(parts, " ")
}

func pattern(ranges []regular.Range, negated bool) string {
	if len(ranges) == 1 && !negated && ranges[0].First == 0 && ranges[0].Last == regular.MaxRune {
		return `/(?s:.)/`
	}
	return "/[" + inside(ranges, negated, func(r rune) string {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == ' ' || r > 0x7f && r < 0xd800 {
			return string(r)
		}
		return fmt.Sprintf(`\x{%x}`, r)
	}) + "]/"
}
