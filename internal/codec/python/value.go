package python

import "github.com/parlance-llm/parlance/internal/codec"

// beforeValue reads a byte where a value or an element may begin.
func (c *Codec) beforeValue(b byte) bool {
	switch b {
	case ' ', '\n', '\t', '\r':
		return true
	case '"', '\'':
		c.begin(false)
		c.put(`"`)
		c.openLiteral(b, false)
		return true
	case '[', '(', '{':
		return c.open(b)
	case ',':
		c.missing()
		c.fault = true
		c.comma()
		return true
	case ')', ']', '}':
		if b == ')' || *c.closable(b) > 0 {
			c.missing()
		}
		c.closer(b)
		return true
	case ':':
		if c.atKey() {
			c.skipElement()
			return false
		}
	case '#':
		// Behind an equals sign it is likelier a colour than a comment.
		if c.depth > 0 {
			return c.comment()
		}
	}
	c.begin(true)
	c.signs = true
	c.state = inScalar
	return false
}

// atKey reports whether the element that stands here may be the key of a dict.
func (c *Codec) atKey() bool { return c.keyLevel != 0 && c.keyLevel == c.depth }

// missing gives null to a key that has no value (ruling 32). Where an element is missing, there is nothing to say.
func (c *Codec) missing() {
	if c.depth == 0 || c.kind() == object && !c.atKey() {
		c.fault = true
		c.put("null")
	}
}

// inScalar reads a byte of a number or a word. All of it is held: it has to be read whole.
func (c *Codec) inScalar(b byte) bool {
	switch b {
	case ' ', '\n', '\t', '\r':
		// Python allows blanks between a sign and its number.
		if !c.signs {
			return c.endScalar()
		}
	case '+', '-':
	case ',', ')', ']', '}', '#':
		return c.endScalar()
	case ':':
		if c.atKey() {
			return c.endScalar()
		}
		c.signs = false
	case '"', '\'':
		prefix, verbatim := stringPrefix(c.raw[c.elementRaw:])
		if !prefix {
			return c.unreadable()
		}
		c.settle() // a string need not be held
		c.put(`"`)
		c.openLiteral(b, verbatim)
		return true
	case '[', '(', '{':
		return c.unreadable()
	default:
		c.signs = false
	}
	if len(c.raw)-c.elementRaw >= shortLimit {
		return c.unreadable()
	}
	return true
}

// endScalar reads the number or word that has come, which the next byte does not belong to. It reports false: that byte is
// still to be read.
func (c *Codec) endScalar() bool {
	text := c.raw[c.elementRaw:]
	c.work += len(text)
	held, readable := appendScalar(c.held, text)
	if !readable {
		return c.unreadable()
	}
	c.held = held
	c.fallback, c.blanks = true, 0
	c.state = afterValue
	return false
}

// afterValue reads a byte behind a value or an element.
func (c *Codec) afterValue(b byte) bool {
	switch b {
	case ' ', '\n', '\t', '\r':
		if c.fallback {
			c.blanks++
			if c.blanks > shortLimit {
				c.settle()
			}
		}
		return true
	case ',':
		c.settle()
		c.comma()
		return true
	case ')', ']', '}':
		c.settle()
		c.closer(b)
		return true
	case ':':
		if c.atKey() {
			c.settle()
			c.colon()
			return true
		}
	case '#':
		return c.comment()
	}
	if c.fallback {
		return c.unreadable()
	}
	c.skip()
	return false
}

// appendScalar appends the number or word that text is, as JSON. It reports false, and appends nothing, if text is
// neither. The words are Python's and JSON's own (pythonic.md).
func appendScalar(dst, text []byte) ([]byte, bool) {
	switch string(text) {
	case "True", "true":
		return append(dst, "true"...), true
	case "False", "false":
		return append(dst, "false"...), true
	case "None", "null":
		return append(dst, "null"...), true
	}
	negative := false
	for len(text) > 0 && (text[0] == '-' || text[0] == '+' || codec.IsBlank(text[0])) {
		negative = negative != (text[0] == '-')
		text = text[1:]
	}
	return appendNumber(dst, text, negative)
}
