package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	tokenEnd kind = iota
	tokenWord
	tokenLiteral
	tokenRun
	tokenSymbol
)

type token struct {
	kind     kind
	text     string // decoded for literals
	position Position
	glued    bool // no white space before it
}

func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the grammar"
	case tokenLiteral:
		return fmt.Sprintf("the literal %q", t.text)
	case tokenRun:
		return "the run /" + t.text + "/"
	}
	return "'" + t.text + "'"
}

// lexer cuts grammar text into tokens.
type lexer struct {
	file     string
	source   string
	at       int
	position Position
	column   int // of the beginning of a line, behind its indentation
}

func (l *lexer) fail(position Position, format string, arguments ...any) error {
	return &Error{File: l.file, Position: position, Message: fmt.Sprintf(format, arguments...)}
}

func (l *lexer) advance(n int) {
	for _, c := range []byte(l.source[l.at : l.at+n]) {
		if c == '\n' {
			l.position = Position{Line: l.position.Line + 1, Column: l.column}
		} else {
			l.position.Column++
		}
	}
	l.at += n
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (l *lexer) next() (token, error) {
	start := l.at
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			l.advance(1)
			continue
		case rest[0] == '#':
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.advance(n)
			continue
		}
		break
	}
	t := token{position: l.position, glued: l.at == start && l.at > 0}
	if l.at == len(l.source) {
		return t, nil
	}
	rest := l.source[l.at:]
	switch c := rest[0]; {
	case isWordByte(c):
		n := 1
		for n < len(rest) && (isWordByte(rest[n]) || rest[n] == '-' && n+1 < len(rest) && isWordByte(rest[n+1])) {
			n++
		}
		t.kind, t.text = tokenWord, rest[:n]
		l.advance(n)
	case c == '"' || c == '\'':
		text, n, err := l.literal(rest)
		if err != nil {
			return t, err
		}
		t.kind, t.text = tokenLiteral, text
		l.advance(n)
	case c == '/':
		n := 1
		for n < len(rest) && rest[n] != '/' {
			if rest[n] == '\\' {
				n++
			}
			n++
		}
		if n >= len(rest) || strings.Contains(rest[:n], "\n") {
			return t, l.fail(t.position, "expected a closing '/' behind the run")
		}
		t.kind, t.text = tokenRun, rest[1:n]
		l.advance(n + 1)
	case strings.IndexByte("=.|~^&(){}[]?!%:,@", c) >= 0:
		t.kind, t.text = tokenSymbol, rest[:1]
		l.advance(1)
	default:
		r, _ := utf8.DecodeRuneInString(rest)
		return t, l.fail(t.position, "expected a rule, a literal or an operator, found %q", r)
	}
	return t, nil
}

// literal decodes a quoted literal at the beginning of rest; n is its length with the quotes.
func (l *lexer) literal(rest string) (text string, n int, err error) {
	var out strings.Builder
	quote := rest[0]
	for n = 1; n < len(rest); n++ {
		switch c := rest[n]; {
		case c == quote:
			return out.String(), n + 1, nil
		case c == '\n':
			return "", 0, l.fail(l.position, "expected a closing %c before the end of the line", quote)
		case c != '\\':
			out.WriteByte(c)
		default:
			n++
			if n == len(rest) {
				continue
			}
			switch rest[n] {
			case 'n':
				out.WriteByte('\n')
			case 't':
				out.WriteByte('\t')
			case 'r':
				out.WriteByte('\r')
			case '\\', '"', '\'':
				out.WriteByte(rest[n])
			case 'u':
				var r rune
				if n+4 >= len(rest) {
					return "", 0, l.fail(l.position, `expected four hexadecimal digits behind \u`)
				}
				if _, err := fmt.Sscanf(rest[n+1:n+5], "%04x", &r); err != nil {
					return "", 0, l.fail(l.position, `expected four hexadecimal digits behind \u, found %q`, rest[n+1:n+5])
				}
				out.WriteRune(r)
				n += 4
			default:
				return "", 0, l.fail(l.position, `expected one of n t r u \ " ' behind a backslash, found %q`, rest[n])
			}
		}
	}
	return "", 0, l.fail(l.position, "expected a closing %c, found the end of the grammar", quote)
}
