package chattemplate

import (
	"fmt"
	"strings"
	"unicode"
)

// partKind is what a part of a template is.
type partKind uint8

const (
	textPart partKind = iota
	outputPart
	statementPart
)

// part is a stretch of a template: text to be printed as it stands, or the tokens of a tag.
type part struct {
	kind   partKind
	text   string
	tokens []token
	line   int
}

// lexer cuts a template into parts. White space around tags is dropped here, as jinja2 does with trim_blocks and
// lstrip_blocks: a minus drops all of it; a statement or comment that stands first in its line loses what is before it,
// and the newline that follows it, unless a plus says no.
type lexer struct {
	source string
	at     int
	line   int
	// lineStart tells that the tag before ended with a newline that belonged to it.
	lineStart bool
	parts     []part
}

// lineError is an error at a line; Parse adds the name of the template.
type lineError struct {
	line    int
	message string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

// lex cuts a source into its parts.
func lex(source string) ([]part, error) {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	l := &lexer{source: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for l.at < len(l.source) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return l.parts, nil
}

func (l *lexer) errorf(format string, arguments ...any) error {
	return &lineError{l.line, fmt.Sprintf(format, arguments...)}
}

// opener finds the next tag.
func (l *lexer) opener() int {
	for i := l.at; ; i++ {
		n := strings.IndexByte(l.source[i:], '{')
		if n < 0 || i+n+1 >= len(l.source) {
			return -1
		}
		i += n
		switch l.source[i+1] {
		case '{', '%', '#':
			return i
		}
	}
}

// move goes on to a place and counts the lines.
func (l *lexer) move(to int) {
	l.line += strings.Count(l.source[l.at:to], "\n")
	l.at = to
}

// text adds text as it stands.
func (l *lexer) text(s string) {
	if s != "" {
		l.parts = append(l.parts, part{kind: textPart, text: s, line: l.line})
	}
}

// before gives the text before a tag without the white space that the tag drops.
func (l *lexer) before(text string, sign byte, block bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if sign == '+' || !block {
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.lineStart) && strings.TrimFunc(text[start:], isSpace) == "" {
		return text[:start]
	}
	return text
}

// after goes to the end of a tag, past the white space that it drops.
func (l *lexer) after(end int, sign byte, block bool) {
	l.lineStart = false
	rest := l.source[end:]
	switch {
	case sign == '-':
		trimmed := strings.TrimLeftFunc(rest, isSpace)
		l.lineStart = strings.HasSuffix(rest[:len(rest)-len(trimmed)], "\n")
		end += len(rest) - len(trimmed)
	case sign != '+' && block && strings.HasPrefix(rest, "\n"):
		end++
		l.lineStart = true
	}
	l.move(end)
}

// next reads the text up to a tag, and the tag.
func (l *lexer) next() error {
	open := l.opener()
	if open < 0 {
		l.text(l.source[l.at:])
		l.move(len(l.source))
		return nil
	}
	kind, inside, sign := l.source[open+1], open+2, byte(0)
	if inside < len(l.source) && (l.source[inside] == '-' || l.source[inside] == '+') {
		sign = l.source[inside]
		inside++
	}
	l.text(l.before(l.source[l.at:open], sign, kind != '{'))
	l.move(inside)
	switch kind {
	case '#':
		return l.comment()
	case '{':
		line := l.line
		tokens, end, sign, err := l.tokens("}}")
		if err != nil {
			return err
		}
		l.parts = append(l.parts, part{kind: outputPart, tokens: tokens, line: line})
		l.after(end, sign, false)
		return nil
	}
	if start, trim, ok := l.raw(); ok {
		return l.rawText(start, trim)
	}
	line := l.line
	tokens, end, sign, err := l.tokens("%}")
	if err != nil {
		return err
	}
	l.parts = append(l.parts, part{kind: statementPart, tokens: tokens, line: line})
	l.after(end, sign, true)
	return nil
}

func (l *lexer) comment() error {
	n := strings.Index(l.source[l.at:], "#}")
	if n < 0 {
		return l.errorf("expected the end of the comment, #}, found the end of the template")
	}
	end := l.at + n
	sign := byte(0)
	if n > 0 {
		if c := l.source[end-1]; c == '-' || c == '+' {
			sign = c
		}
	}
	l.after(end+2, sign, true)
	return nil
}

// raw tells whether the statement at hand is raw, where its text begins, and whether white space there is dropped.
func (l *lexer) raw() (start int, trim, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(l.source[l.at:], isSpace), "raw")
	if !ok {
		return 0, false, false
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	if rest, ok = strings.CutPrefix(rest, "-%}"); ok {
		return len(l.source) - len(rest), true, true
	}
	rest, ok = strings.CutPrefix(rest, "%}")
	return len(l.source) - len(rest), false, ok
}

// rawText reads text that is printed as it stands, up to its endraw tag.
func (l *lexer) rawText(start int, trim bool) error {
	for open := start; ; open += 2 {
		n := strings.Index(l.source[open:], "{%")
		if n < 0 {
			return l.errorf("expected {%% endraw %%}, found the end of the template")
		}
		open += n
		rest, sign := l.source[open+2:], byte(0)
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			sign, rest = rest[0], rest[1:]
		}
		rest, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, isSpace), "endraw")
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, isSpace)
		endSign := byte(0)
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			endSign, rest = rest[0], rest[1:]
		}
		if rest, ok = strings.CutPrefix(rest, "%}"); !ok {
			continue
		}
		text := l.source[start:open]
		if trim {
			text = strings.TrimLeftFunc(text, isSpace)
		}
		l.lineStart = false
		l.text(l.before(text, sign, true))
		l.after(len(l.source)-len(rest), endSign, true)
		return nil
	}
}

// isSpace tells what Python's str.isspace holds for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
