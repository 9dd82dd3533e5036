package python

import (
	"unicode"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/codec"
)

// takeArgument reads a byte before the value of an argument: the key, blanks, and the equals sign. Before the first key
// is known to be one, everything else refuses the arguments (ruling 21); afterwards it is junk (ruling 32).
func (c *Codec) takeArgument(b byte) bool {
	if !c.certain {
		if c.guard == shortLimit {
			return c.notArgument()
		}
		c.guard++
	}
	switch c.state {
	case beforeArgument:
		return c.beforeArgument(b)
	case inName:
		switch {
		case isWord(b) && len(c.name) < shortLimit:
			c.name = append(c.name, b)
			return true
		case codec.IsBlank(b) && isName(c.name):
			c.state = afterName
			return true
		case b == '=' && isName(c.name):
			c.state = afterEquals
			return true
		}
		return c.notArgument()
	case afterName:
		switch {
		case codec.IsBlank(b):
			return true
		case b == '=':
			c.state = afterEquals
			return true
		}
		return c.notArgument()
	}
	if b == '=' {
		return c.notArgument()
	}
	c.certain = true
	c.putName()
	c.state = beforeValue
	return false
}

// beforeArgument reads a byte where an argument may begin.
func (c *Codec) beforeArgument(b byte) bool {
	switch {
	case codec.IsBlank(b):
		return true
	case b == ')':
		c.certain = true
		c.state = finished
		return true
	case isWord(b) && !isDigit(b):
		c.name = append(c.name[:0], b)
		c.state = inName
		return true
	case b == ',' && c.certain:
		return true
	case b == '#' && c.certain:
		return c.comment()
	}
	c.name = c.name[:0]
	return c.notArgument()
}

// notArgument says that what has come since the last comma is no keyword argument.
func (c *Codec) notArgument() bool {
	if !c.certain {
		c.state = refused
		return false
	}
	c.skip()
	c.word = wordAtEnd(c.name)
	return false
}

// putName appends the key of an argument and its colon, with what stands before it in the object (ruling 38).
func (c *Codec) putName() {
	if c.members {
		c.put(`, "`)
	} else {
		c.put(`{"`)
	}
	c.members = true
	c.out = append(c.out, c.name...)
	c.put(`": `)
}

// comment begins a comment, behind which the automaton goes on where it is.
func (c *Codec) comment() bool {
	c.fault = true
	c.resume = c.state
	c.state = inComment
	return true
}

// isWord reports whether a byte may stand in an identifier. Beyond ASCII that is for isName to say, when all of the
// identifier's bytes have come.
func isWord(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || isDigit(b) || b == '_' || b >= utf8.RuneSelf
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isName reports whether a text is an identifier. Python's own keywords are too (lfm2.md, repair 4).
func isName(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return false
		case r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		case i > 0 && (unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Pc)):
		default:
			return false
		}
		i += size
	}
	return len(text) > 0
}
