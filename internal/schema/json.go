package schema

import "github.com/parlance-llm/parlance/internal/codec"

// mostNested bounds the nesting of JSON text that is read as a value. It is the bound of Go's own packages, so nothing
// goes out that a client written in Go could not read; deeper text is no JSON here.
const mostNested = 10_000

// appendJSON appends the one JSON value that the text is, blanks around it left out, and reports whether it is one.
// It is kept as written; only a raw control character in a string, which JSON forbids and models write all the same,
// is escaped (ruling 26).
func appendJSON(dst, text []byte) ([]byte, bool) {
	for len(text) > 0 && codec.IsBlank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && codec.IsBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	c := copier{dst: dst, text: text}
	if !c.value(0) || c.at != len(text) {
		return dst, false
	}
	return append(c.dst, text[c.from:]...), true
}

// copier checks a JSON text and copies it. Its methods move at over one part of the text, or report that something
// else stands there.
type copier struct {
	dst  []byte
	text []byte
	from int // text[from:at] has been checked and is not yet copied
	at   int
}

func (c *copier) value(depth int) bool {
	if c.at == len(c.text) {
		return false
	}
	switch c.text[c.at] {
	case '{':
		return depth < mostNested && c.list(depth+1, '}')
	case '[':
		return depth < mostNested && c.list(depth+1, ']')
	case '"':
		return c.quoted()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	length, _ := numberLength(c.text[c.at:])
	c.at += length
	return length > 0
}

// list reads an object or an array, whose closer says which.
func (c *copier) list(depth int, closer byte) bool {
	c.at++
	c.blanks()
	if c.next(closer) {
		return true
	}
	for {
		if closer == '}' {
			if !c.quoted() {
				return false
			}
			c.blanks()
			if !c.next(':') {
				return false
			}
			c.blanks()
		}
		if !c.value(depth) {
			return false
		}
		c.blanks()
		if c.next(closer) {
			return true
		}
		if !c.next(',') {
			return false
		}
		c.blanks()
	}
}

// quoted copies a string.
func (c *copier) quoted() bool {
	if !c.next('"') {
		return false
	}
	for c.at < len(c.text) {
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			return true
		case b == '\\':
			if !c.escape() {
				return false
			}
		case b < ' ':
			c.dst = append(c.dst, c.text[c.from:c.at]...)
			c.dst = codec.AppendEscaped(c.dst, b)
			c.at++
			c.from = c.at
		default:
			c.at++
		}
	}
	return false
}

func (c *copier) escape() bool {
	c.at++
	if c.at == len(c.text) {
		return false
	}
	switch c.text[c.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.at++
		return true
	case 'u':
		c.at++
		for range 4 {
			if c.at == len(c.text) || !isHex(c.text[c.at]) {
				return false
			}
			c.at++
		}
		return true
	}
	return false
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
}

func (c *copier) word(word string) bool {
	rest := c.text[c.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	c.at += len(word)
	return true
}

func (c *copier) blanks() {
	for c.at < len(c.text) && codec.IsBlank(c.text[c.at]) {
		c.at++
	}
}

// next moves over one byte if it is the one that is wanted.
func (c *copier) next(wanted byte) bool {
	if c.at == len(c.text) || c.text[c.at] != wanted {
		return false
	}
	c.at++
	return true
}
