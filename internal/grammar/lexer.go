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

// parseClass reads `[a-z_]+`, `[^{}]+`, `\w+` or `[0-9]{9}`.
func (l *lexer) parseClass(t token) (*Run, error) {
	run := &Run{Position: t.position, Source: t.text}
	source := t.text
	i := 0
	one := func() (c byte, escaped bool, err error) {
		c = source[i]
		i++
		if c == '\\' && i < len(source) {
			escaped = true
			c = source[i]
			i++
			switch c {
			case 'n':
				return '\n', false, nil
			case 't':
				return '\t', false, nil
			case 'r':
				return '\r', false, nil
			}
		}
		if c >= 128 {
			return 0, false, l.fail(t.position, "a class lists ASCII characters; found %q", source)
		}
		return c, escaped, nil
	}
	shorthand := func(c byte) bool {
		switch c {
		case 'w':
			run.Class.AddRange('0', '9')
			run.Class.AddRange('A', 'Z')
			run.Class.AddRange('a', 'z')
			run.Class.Add('_')
			run.Class.Wide = WideLetters
		case 'd':
			run.Class.AddRange('0', '9')
		case 's':
			for _, b := range []byte(" \t\n\r\f\v") {
				run.Class.Add(b)
			}
		default:
			return false
		}
		return true
	}
	switch {
	case source == "":
		return nil, l.fail(t.position, "expected a class such as [a-z] in the run, found nothing")
	case source[0] == '[':
		i = 1
		negated := i < len(source) && source[i] == '^'
		if negated {
			i++
		}
		for i < len(source) && source[i] != ']' {
			first, escaped, err := one()
			if err != nil {
				return nil, err
			}
			if escaped && shorthand(first) {
				continue
			}
			last := first
			if i+1 < len(source) && source[i] == '-' && source[i+1] != ']' {
				i++
				if last, _, err = one(); err != nil {
					return nil, err
				}
			}
			if last < first {
				return nil, l.fail(t.position, "the range %c-%c runs backwards", first, last)
			}
			run.Class.AddRange(first, last)
		}
		if i >= len(source) {
			return nil, l.fail(t.position, "expected a ']' in the run /%s/", source)
		}
		i++
		if negated {
			run.Class.Negate()
		}
	default:
		c, escaped, err := one()
		if err != nil {
			return nil, err
		}
		if !escaped || !shorthand(c) {
			run.Class.Add(c)
		}
	}
	switch rest := source[i:]; {
	case rest == "+":
	case strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}"):
		if _, err := fmt.Sscanf(rest, "{%d}", &run.Count); err != nil || run.Count < 1 {
			return nil, l.fail(t.position, "expected a count such as {9} behind the class, found %q", rest)
		}
	default:
		return nil, l.fail(t.position, "expected + or {count} behind the class, found %q", rest)
	}
	return run, nil
}
