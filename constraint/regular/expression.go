package regular

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is the automaton of the texts that an expression matches from their first to their last character. Expressions
// are written as in Go's regexp package, with `.` for every character. The error says what is wrong with the expression
// (*syntax.Error of regexp/syntax), or that it is too large (*TooLarge) or holds a word boundary, which no automaton of
// ours reads; so it is for Search and Without.
func Match(expression string) (*Automaton, error) {
	return compile("(?:" + expression + ")")
}

// Search is the automaton of the texts in which an expression matches somewhere, as JSON schema has it: the anchors ^
// and $ mean the ends of the text.
func Search(expression string) (*Automaton, error) {
	parsed, err := parse(expression)
	if err != nil {
		return nil, err
	}
	return build(&syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{anything(), parsed, anything()}})
}

// Without is the automaton of the texts in which none of the expressions matches anywhere. With no expressions it is
// every text.
func Without(expressions ...string) (*Automaton, error) {
	if len(expressions) == 0 {
		return Match(".*")
	}
	groups := make([]string, len(expressions))
	for i, e := range expressions {
		groups[i] = "(?:" + e + ")"
	}
	found, err := compile(".*(?:" + strings.Join(groups, "|") + ").*")
	if err != nil {
		return nil, err
	}
	return found.Not()
}

// compiled keeps automata by their expressions. Most of them come from the definitions of the formats and are asked for
// again and again.
var compiled kept[string]

func compile(expression string) (*Automaton, error) {
	return compiled.get(expression, func() (*Automaton, error) {
		parsed, err := parse(expression)
		if err != nil {
			return nil, err
		}
		return build(parsed)
	})
}

func parse(expression string) (*syntax.Regexp, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, err
	}
	return parsed.Simplify(), nil
}

// anything is the expression of every text.
func anything() *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}
}

// Texts is the automaton of a list of texts.
func Texts(texts ...string) (*Automaton, error) {
	if len(texts) == 0 {
		return nothing(), nil
	}
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = Quote(text)
	}
	return compile(strings.Join(quoted, "|"))
}

// Quote writes a text as an expression that matches just it.
func Quote(text string) string {
	var space [256]byte
	out := space[:0]
	for _, r := range text {
		if r < 128 && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			out = append(strconv.AppendInt(append(out, `\x{`...), int64(r), 16), '}')
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// Blanks is the expression of any white space, or none.
const Blanks = `[\s\v\x{85}\p{Z}]*`
