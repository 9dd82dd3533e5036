package python

import "unicode/utf8"

// escapes is the character that each letter behind a backslash stands for; 0 is none.
var escapes = [256]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"',
}

// inEscape reads a byte of an escape. An unknown escape keeps its backslash, and so does one whose digits are too few or
// name no character.
func (c *Codec) inEscape(b byte) bool {
	switch c.state {
	case inVerbatimEscape:
		sink := c.sink()
		*sink = appendCharacter(*sink, b)
		c.state = inString
		return true
	case inJoinedLine:
		c.state = inString
		return b == '\n'
	case inOctal:
		if b < '0' || b > '7' {
			c.putRune(c.code)
			c.state = inString
			return false
		}
		c.code = c.code<<3 | rune(b-'0')
		c.digits++
		if c.digits == 3 {
			c.putRune(c.code)
			c.state = inString
		}
		return true
	case inHexadecimal:
		digit, ok := hexadecimal(b)
		if !ok {
			c.loneHigh()
			c.state = inString
			c.putWait()
			return false
		}
		c.wait = append(c.wait, b)
		c.code = c.code<<4 | digit
		c.digits--
		if c.digits == 0 {
			c.state = inString
			c.endHexadecimal()
		}
		return true
	}
	c.state = inString
	switch b {
	case 'x', 'u', 'U':
		c.wait = append(c.wait[:0], '\\', b)
		c.code = 0
		switch b {
		case 'x':
			c.digits = 2
		case 'u':
			c.digits = 4
		case 'U':
			c.digits = 8
		}
		c.state = inHexadecimal
		return true
	}
	c.loneHigh()
	switch {
	case escapes[b] != 0:
		sink := c.sink()
		*sink = appendCharacter(*sink, escapes[b])
	case b == '\n':
	case b == '\r':
		c.state = inJoinedLine
	case b >= '0' && b <= '7':
		c.code = rune(b - '0')
		c.digits = 1
		c.state = inOctal
	default:
		c.put(`\\`)
		return false
	}
	return true
}

// endHexadecimal gives out the character of a whole escape. The two halves of a surrogate pair become one character; half
// a pair, which JSON text in UTF-8 cannot hold, becomes U+FFFD.
func (c *Codec) endHexadecimal() {
	code := c.code
	switch {
	case code >= 0xDC00 && code <= 0xDFFF && c.high != 0:
		code = (c.high-0xD800)<<10 + code - 0xDC00 + 0x10000
		c.high = 0
		c.putRune(code)
		return
	case code >= 0xD800 && code <= 0xDBFF:
		c.loneHigh()
		c.high = code
		return
	}
	c.loneHigh()
	if code > utf8.MaxRune || code < 0 { // eight digits may set the sign
		c.putWait()
		return
	}
	c.putRune(code)
}

// loneHigh gives out the first half of a surrogate pair whose second half did not come.
func (c *Codec) loneHigh() {
	if c.high != 0 {
		c.high = 0
		c.putRune(utf8.RuneError)
	}
}

// putRune appends one character of a string; a lone half of a surrogate pair becomes U+FFFD.
func (c *Codec) putRune(r rune) {
	sink := c.sink()
	if r < utf8.RuneSelf {
		*sink = appendCharacter(*sink, byte(r))
		return
	}
	*sink = utf8.AppendRune(*sink, r)
}

// hexadecimal is the value of a hexadecimal digit.
func hexadecimal(b byte) (rune, bool) {
	switch {
	case isDigit(b):
		return rune(b - '0'), true
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return rune(b|0x20-'a') + 10, true
	}
	return 0, false
}
