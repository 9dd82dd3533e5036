package python

import (
	"github.com/parlance-llm/parlance/internal/codec"
)

// A string is one or more literals, adjacent ones joined. The states of a literal:
//
//	openedOnce        behind its opening quote; a second one may follow
//	openedTwice       behind two quotes: an empty literal, or the beginning of a triple-quoted one
//	inString          inside
//	inStringQuotes    inside a triple-quoted one, behind one or two quotes
//	inEscape          behind a backslash
//	inVerbatimEscape  the same in a literal with the prefix r, which keeps its backslashes
//	inJoinedLine      behind a backslash and a carriage return; a line feed belongs to it
//	inOctal           in an octal escape
//	inHexadecimal     in one that begins with x, u or U
//	afterQuote        behind the quote or quotes that may have closed it, and blanks
//	afterTwoQuotes    behind these and, directly, one more of the same kind, and blanks
//	inPrefix          behind these, blanks, and letters that may be the prefix of a further literal
//
// The quote closes the string if one of , ) ] } : follows, or the end; if a literal follows, the string goes on there; if
// anything else follows, it is a character of the string (lfm2.md, repair 3). Of three cases that Python and the repair
// see differently
//
//	'a' 'b'     blanks, then a quote: adjacent literals, always
//	'a''b'      a quote directly: adjacent literals, but 'say 'hi'' before , ) ] } : is a quote that closes and one before
//	            it that does not. Python would have the comma or bracket begin a literal, which nobody writes.
//	'a'b'c'     a prefix directly: a nested quotation. Behind blanks it is a prefix.

// The bytes at which the tight loop over the inside of a string stops, for either quote.
var stopsDouble, stopsSingle = stops('"'), stops('\'')

func stops(quote byte) *[256]bool {
	var table [256]bool
	for b := range byte(' ') {
		table[b] = true
	}
	table['"'], table['\\'], table[quote] = true, true, true
	return &table
}

// text takes the inside of a string from the front of p and returns how much it took.
func (c *Codec) text(p []byte) int {
	end := len(p)
	if c.holding {
		end = min(end, c.limit()-len(c.raw))
	}
	stops := stopsDouble
	if c.quote == '\'' {
		stops = stopsSingle
	}
	sink := c.sink()
	i := 0
	for i < end && c.state == inString {
		from := i
		for i < end && !stops[p[i]] {
			i++
		}
		if i > from {
			if c.high != 0 {
				c.loneHigh()
			}
			*sink = append(*sink, p[from:i]...)
			if i == end {
				break
			}
		}
		b := p[i]
		i++
		switch {
		case b == c.quote:
			c.loneHigh()
			c.quotes = 1
			c.wait = c.wait[:0]
			c.state = afterQuote
			if c.triple {
				c.state = inStringQuotes
			}
		case b == '\\' && c.verbatim:
			*sink = append(*sink, `\\`...)
			c.state = inVerbatimEscape
		case b == '\\':
			if i < end && escapes[p[i]] != 0 {
				c.loneHigh()
				*sink = appendCharacter(*sink, escapes[p[i]])
				i++
				continue
			}
			c.state = inEscape
		default:
			c.loneHigh()
			*sink = codec.AppendEscaped(*sink, b)
		}
	}
	if c.holding {
		c.raw = append(c.raw, p[:i]...)
	}
	c.work += i
	return i
}

// inText reads a byte in any of a string's states but inString.
func (c *Codec) inText(b byte) bool {
	switch c.state {
	case openedOnce:
		c.state = inString
		if b == c.quote {
			c.state = openedTwice
			return true
		}
		return false
	case openedTwice:
		if b == c.quote {
			c.triple = true
			c.state = inString
			return true
		}
		c.state = afterQuote
		return false
	case inStringQuotes:
		switch {
		case b != c.quote:
			c.putQuotes(c.quotes)
			c.quotes = 0
			c.state = inString
			return false
		case c.quotes == 2:
			c.quotes = 0
			c.state = afterQuote
		default:
			c.quotes++
		}
		return true
	case afterQuote:
		return c.afterQuote(b)
	case afterTwoQuotes:
		return c.afterTwoQuotes(b)
	case inPrefix:
		return c.inPrefix(b)
	}
	return c.inEscape(b)
}

// openLiteral begins a literal behind its opening quote.
func (c *Codec) openLiteral(quote byte, verbatim bool) {
	c.quote = quote
	c.triple = false
	c.verbatim = verbatim
	c.quotes = 0
	c.wait = c.wait[:0]
	c.state = openedOnce
}

// afterQuote reads a byte behind a quote that may have closed the string.
func (c *Codec) afterQuote(b byte) bool {
	switch {
	case codec.IsBlank(b):
		if len(c.wait) == shortLimit {
			c.endString()
			return false
		}
		c.wait = append(c.wait, b)
		return true
	case endsString(b):
		c.endString()
		return false
	case b == c.quote && len(c.wait) == 0:
		c.state = afterTwoQuotes
		return true
	case b == '"' || b == '\'':
		c.openLiteral(b, false)
		return true
	case len(c.wait) > 0 && isPrefixLetter(b):
		c.wait = append(c.wait, b)
		c.letters = 1
		c.state = inPrefix
		return true
	}
	c.notClosed()
	return false
}

// afterTwoQuotes reads a byte behind a quote that may have closed the string and another one directly behind it.
func (c *Codec) afterTwoQuotes(b byte) bool {
	switch {
	case b == c.quote && len(c.wait) == 0:
		c.openLiteral(b, false)
		c.state = openedTwice
		return true
	case codec.IsBlank(b) && len(c.wait) < shortLimit:
		c.wait = append(c.wait, b)
		return true
	case codec.IsBlank(b) || endsString(b):
		c.fault = true
		c.putQuotes(1)
		c.endString()
		return false
	}
	// The second quote opened a literal, whose inside has begun.
	c.triple = false
	c.verbatim = false
	c.state = inString
	c.putWait()
	return false
}

// inPrefix reads a byte behind what may be the prefix of a further literal.
func (c *Codec) inPrefix(b byte) bool {
	if (b == '"' || b == '\'') && c.letters > 0 {
		if prefix, verbatim := stringPrefix(c.wait[len(c.wait)-c.letters:]); prefix {
			c.openLiteral(b, verbatim)
			return true
		}
	}
	if c.letters == 1 && isPrefixLetter(b) {
		c.wait = append(c.wait, b)
		c.letters++
		return true
	}
	c.notClosed()
	return false
}

// notClosed says that the quote, or quotes, did not close the string: they belong to it, with what has come since.
func (c *Codec) notClosed() {
	c.fault = true
	if c.triple {
		c.putQuotes(3)
	} else {
		c.putQuotes(1)
	}
	c.quotes = 0
	c.state = inString
	c.putWait()
}

// endString ends a string.
func (c *Codec) endString() {
	c.put(`"`)
	c.wait = c.wait[:0]
	c.fallback = false
	c.state = afterValue
}

// endOfText gives out what is held of a string where the output ends, and reports whether its closing quote had come.
// Quotes that could have closed it belong to it (rulings 39 and 40). Half an escape is text if the output is whole; if it
// was cut, nobody knows what it would have become, and it is dropped.
func (c *Codec) endOfText(whole bool) (closed bool) {
	switch c.state {
	case openedTwice, afterQuote:
		return true
	case afterTwoQuotes:
		c.putQuotes(1)
		return true
	case inPrefix:
		c.notClosed()
	case inStringQuotes:
		c.putQuotes(c.quotes)
	case inOctal:
		c.putRune(c.code)
	}
	if whole {
		c.loneHigh()
		switch c.state {
		case inEscape:
			c.put(`\\`)
		case inHexadecimal:
			c.putWait()
		}
	}
	return false
}

// putQuotes appends quotes that belong to a string.
func (c *Codec) putQuotes(n int) {
	sink := c.sink()
	for range n {
		*sink = appendCharacter(*sink, c.quote)
	}
}

// putWait appends, as text of a string, what has waited for its meaning.
func (c *Codec) putWait() {
	sink := c.sink()
	*sink = codec.AppendString(*sink, c.wait)
	c.wait = c.wait[:0]
}

// appendCharacter appends one byte of a JSON string, escaped if need be.
func appendCharacter(dst []byte, b byte) []byte {
	if stopsDouble[b] {
		return codec.AppendEscaped(dst, b)
	}
	return append(dst, b)
}

// endsString reports whether a quote before this byte closes its string.
func endsString(b byte) bool { return b == ',' || b == ')' || b == ']' || b == '}' || b == ':' }

// isPrefixLetter reports whether a letter may stand in the prefix of a string literal.
func isPrefixLetter(b byte) bool {
	b |= 0x20
	return b == 'r' || b == 'u' || b == 'f' || b == 'b'
}

// stringPrefix reports whether a text is the prefix of a string literal, and whether it is one that keeps backslashes.
func stringPrefix(text []byte) (prefix, verbatim bool) {
	switch len(text) {
	case 1:
		return isPrefixLetter(text[0]), text[0]|0x20 == 'r'
	case 2:
		first, second := text[0]|0x20, text[1]|0x20
		pair := first == 'r' && (second == 'b' || second == 'f') || second == 'r' && (first == 'b' || first == 'f')
		return pair, pair
	}
	return false, false
}
