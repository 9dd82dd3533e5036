package chattemplate

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token of an expression is.
type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	stringToken
	integerToken
	floatToken
	operatorToken
)

type token struct {
	kind tokenKind
	// text is the name, the operator, the number as written, or the value of a string.
	text string
	line int
}

// is tells whether a token is an operator, or a name that is a keyword.
func (t token) is(text string) bool {
	return (t.kind == operatorToken || t.kind == nameToken) && t.text == text
}

func (t token) String() string {
	switch t.kind {
	case endToken:
		return "the end of the tag"
	case stringToken:
		return "a string"
	}
	return strconv.Quote(t.text)
}

var (
	floatPattern    = regexp.MustCompile(`^[0-9](_?[0-9])*(\.[0-9](_?[0-9])*)?([eE][-+]?[0-9](_?[0-9])*)?`)
	integerPattern  = regexp.MustCompile(`^(0[bB](_?[01])+|0[oO](_?[0-7])+|0[xX](_?[0-9a-fA-F])+|[0-9](_?[0-9])*)`)
	operatorPattern = regexp.MustCompile(`^(\*\*|//|==|!=|<=|>=|[-+*/%~\[\](){}<>=.,:|;])`)
)

// tokens reads the tokens of a tag up to its end, and gives where it ends, and the sign before that. An end inside
// brackets is none.
func (l *lexer) tokens(end string) (tokens []token, after int, sign byte, err error) {
	depth := 0
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		if depth == 0 {
			if strings.HasPrefix(rest, end) {
				return tokens, l.at + len(end), 0, nil
			}
			if (rest[0] == '-' || rest[0] == '+' && end == "%}") && strings.HasPrefix(rest[1:], end) {
				return tokens, l.at + 1 + len(end), rest[0], nil
			}
		}
		if r, size := utf8.DecodeRuneInString(rest); isSpace(r) {
			l.move(l.at + size)
			continue
		}
		found, size, err := l.token(rest, len(tokens) > 0 && tokens[len(tokens)-1].is("."))
		if err != nil {
			return nil, 0, 0, err
		}
		if found.kind == operatorToken {
			switch found.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				if depth--; depth < 0 {
					return nil, 0, 0, l.errorf("unexpected %s", found)
				}
			}
		}
		tokens = append(tokens, found)
		l.move(l.at + size)
	}
	return nil, 0, 0, l.errorf("expected %s, found the end of the template", end)
}

// token reads one token. Behind a dot a number is whole: a.0.1 has two.
func (l *lexer) token(rest string, dot bool) (t token, size int, err error) {
	t.line = l.line
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		end := 1
		for end < len(rest) && rest[end] != c {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return t, 0, l.errorf("expected the end of the string, found the end of the template")
		}
		t.kind, t.text = stringToken, unescape(rest[1:end])
		return t, end + 1, nil
	case c >= '0' && c <= '9':
		text := integerPattern.FindString(rest)
		t.kind = integerToken
		if float := floatPattern.FindString(rest); !dot && len(float) > len(text) {
			t.kind, text = floatToken, float
		}
		t.text = strings.ReplaceAll(text, "_", "")
		return t, len(text), nil
	}
	if text := operatorPattern.FindString(rest); text != "" {
		t.kind, t.text = operatorToken, text
		return t, len(text), nil
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		return t, 0, l.errorf("unexpected character %q", r)
	}
	t.kind, t.text = nameToken, rest[:n]
	return t, n, nil
}

// simpleEscapes are the escapes of one character.
var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"'}

// unescape reads the escapes of a Python string. What is none stays as it is written.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if c, ok := simpleEscapes[s[i]]; ok {
			out.WriteByte(c)
			continue
		}
		if s[i] == '\n' {
			continue
		}
		from, width, base := i+1, 0, 16
		switch s[i] {
		case 'x':
			width = 2
		case 'u':
			width = 4
		case 'U':
			width = 8
		default:
			from, base = i, 8
			for width < 3 && from+width < len(s) && s[from+width] >= '0' && s[from+width] <= '7' {
				width++
			}
		}
		if width > 0 && from+width <= len(s) {
			if r, err := strconv.ParseUint(s[from:from+width], base, 32); err == nil && r <= unicode.MaxRune {
				out.WriteRune(rune(r))
				i = from + width - 1
				continue
			}
		}
		out.WriteByte('\\')
		out.WriteByte(s[i])
	}
	return out.String()
}
