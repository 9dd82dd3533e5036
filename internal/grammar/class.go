package grammar

import (
	"fmt"
	"strings"
	"unicode"
)

// Class is a set of characters: ASCII ones one by one, the others as a whole.
type Class struct {
	ascii [2]uint64
	Wide  Wide
}

// Wide says which characters outside ASCII are in a class.
type Wide uint8

const (
	// WideNone: no character outside ASCII.
	WideNone Wide = iota
	// WideLetters: letters, marks and digits.
	WideLetters
	// WideAll: every one.
	WideAll
)

// Has tells whether an ASCII character is in the class.
func (c *Class) Has(b byte) bool { return b < 128 && c.ascii[b>>6]&(1<<(b&63)) != 0 }

// HasWide tells whether a character outside ASCII is in the class.
func (c *Class) HasWide(r rune) bool {
	switch c.Wide {
	case WideAll:
		return true
	case WideLetters:
		return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
	}
	return false
}

// Add puts an ASCII character into the class.
func (c *Class) Add(b byte) { c.ascii[b>>6] |= 1 << (b & 63) }

// AddRange puts the ASCII characters from first to last into the class.
func (c *Class) AddRange(first, last byte) {
	for b := first; b <= last; b++ {
		c.Add(b)
	}
}

// Negate turns the class into its complement, outside ASCII into all characters or none.
func (c *Class) Negate() {
	c.ascii[0], c.ascii[1] = ^c.ascii[0], ^c.ascii[1]
	if c.Wide == WideNone {
		c.Wide = WideAll
	} else {
		c.Wide = WideNone
	}
}

// WordClass is what a word is made of where its definition gives no class: letters, digits and _ - . : / (ruling 20).
var WordClass = func() (c Class) {
	c.AddRange('0', '9')
	c.AddRange('A', 'Z')
	c.AddRange('a', 'z')
	for _, b := range []byte("_-.:/") {
		c.Add(b)
	}
	c.Wide = WideLetters
	return c
}()

// parseClass reads `[a-z_]+`, `[^{}]+`, `\w+` or `[0-9]{9}`.
func (l *lexer) parseClass(t token) (*Run, error) {
	r := &classReader{lexer: l, position: t.position, source: t.text}
	if err := r.class(); err != nil {
		return nil, err
	}
	run := &Run{Position: t.position, Source: t.text, Class: r.read}
	switch rest := r.source[r.at:]; {
	case rest == "+":
	case strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}"):
		if _, err := fmt.Sscanf(rest, "{%d}", &run.Count); err != nil || run.Count < 1 {
			return nil, r.fail("expected a count such as {9} behind the class, found %q", rest)
		}
	default:
		return nil, r.fail("expected + or {count} behind the class, found %q", rest)
	}
	return run, nil
}

// classReader reads the class of a run, from its source.
type classReader struct {
	lexer    *lexer
	position Position
	source   string
	at       int
	read     Class
}

func (r *classReader) fail(format string, arguments ...any) error {
	return r.lexer.fail(r.position, format, arguments...)
}

// class reads characters in brackets, or a single one.
func (r *classReader) class() error {
	switch {
	case r.source == "":
		return r.fail("expected a class such as [a-z] in the run, found nothing")
	case r.source[0] == '[':
		r.at = 1
		return r.brackets()
	}
	c, escaped, err := r.character()
	if err == nil && (!escaped || !r.shorthand(c)) {
		r.read.Add(c)
	}
	return err
}

// brackets reads characters and ranges up to the bracket that closes them.
func (r *classReader) brackets() error {
	negated := strings.HasPrefix(r.source[r.at:], "^")
	if negated {
		r.at++
	}
	for r.at < len(r.source) && r.source[r.at] != ']' {
		first, escaped, err := r.character()
		if err != nil {
			return err
		}
		if escaped && r.shorthand(first) {
			continue
		}
		last := first
		if rest := r.source[r.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			r.at++
			if last, _, err = r.character(); err != nil {
				return err
			}
		}
		if last < first {
			return r.fail("the range %c-%c runs backwards", first, last)
		}
		r.read.AddRange(first, last)
	}
	if r.at >= len(r.source) {
		return r.fail("expected a ']' in the run /%s/", r.source)
	}
	r.at++
	if negated {
		r.read.Negate()
	}
	return nil
}

// character reads one character, and tells whether it was escaped and may be a shorthand.
func (r *classReader) character() (c byte, escaped bool, err error) {
	c = r.source[r.at]
	r.at++
	if c == '\\' && r.at < len(r.source) {
		escaped = true
		c = r.source[r.at]
		r.at++
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
		return 0, false, r.fail("a class lists ASCII characters; found %q", r.source)
	}
	return c, escaped, nil
}

// shorthand adds what a letter behind a backslash stands for, if it stands for several characters.
func (r *classReader) shorthand(c byte) bool {
	switch c {
	case 'w':
		r.read.AddRange('0', '9')
		r.read.AddRange('A', 'Z')
		r.read.AddRange('a', 'z')
		r.read.Add('_')
		r.read.Wide = WideLetters
	case 'd':
		r.read.AddRange('0', '9')
	case 's':
		for _, b := range []byte(" \t\n\r\f\v") {
			r.read.Add(b)
		}
	default:
		return false
	}
	return true
}
