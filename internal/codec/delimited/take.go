package delimited

import (
	"bytes"
	"math"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/schema"
)

// take takes text without delimiters: all of it, or up to the closing bracket of the arguments. It returns how many
// bytes that are.
func (c *Codec) take(p, out []byte) (int, []byte) {
	at := 0
	for at < len(p) && c.state != over {
		b := p[at]
		switch c.state {
		case inText:
			return len(p), codec.AppendString(out, p[at:])
		case inHeld:
			return len(p), c.hold(p[at:], inText, out)
		case inQuotedKey:
			c.spell(p[at:])
			return len(p), out
		case inBare, inLongBare:
			length := c.bareLength(p[at:])
			out = c.hold(p[at:at+length], inLongBare, out)
			if at += length; at < len(p) {
				out = c.settle(out)
			}
		case inJSONText, inJSONKey:
			return at, out // quoted reads on
		case inKey:
			if c.Quotes && b == '"' && len(c.key) == 0 && !c.tooBig {
				c.state = inJSONKey
				at++
				continue
			}
			if length := c.keyLength(p[at:]); length > 0 {
				c.spell(p[at : at+length])
				at += length
				continue
			}
			out = c.takeAroundKey(b, out)
			at++
		case afterKey:
			switch {
			case b == ':':
				out = c.named(out)
			case !codec.IsBlank(b):
				c.expectKey() // no colon, so that was no key: perhaps one begins here
				continue
			}
			at++
		case atValue:
			var taken bool
			if taken, out = c.takeBeforeValue(b, out); taken {
				at++
			}
		case afterValue:
			switch {
			case c.closes(b):
				out = c.close(b, out)
			case b == ',':
				c.expect()
			case !codec.IsBlank(b) && b != '}' && b != ']':
				c.expect() // the comma is missing
				continue
			}
			at++
		}
	}
	return at, out
}

// keyLength returns how much of the text belongs to a bare key. Inside a key brackets are text, because page[size] is
// a name in use; before it they are junk or close a level.
func (c *Codec) keyLength(text []byte) int {
	if len(c.key) == 0 && !c.tooBig {
		if b := text[0]; b == '[' || b == ']' || b == '{' || codec.IsBlank(b) {
			return 0
		}
	}
	object, parenthesis := c.closes('}'), c.closes(')')
	for i, b := range text {
		if b == ':' || b == ',' || b == '}' && object || b == ')' && parenthesis {
			return i
		}
	}
	return len(text)
}

// takeAroundKey takes a byte that ends a bare key or comes before one. Of a field whose key is too long nothing is read
// up to the comma.
func (c *Codec) takeAroundKey(b byte, out []byte) []byte {
	switch {
	case b == ':' && len(c.key) > 0:
		c.key = bytes.TrimRight(c.key, " \n\t\r")
		return c.named(out)
	case b == ',':
		c.expectKey() // what stood before the comma had no colon
	case c.closes(b):
		return c.close(b, out)
	}
	return out
}

// takeBeforeValue takes a byte that comes before a value or begins one. It reports whether the byte was taken: the
// first of a bare word is not, because it belongs to the word.
func (c *Codec) takeBeforeValue(b byte, out []byte) (bool, []byte) {
	array := c.top().array
	switch {
	case codec.IsBlank(b):
		return true, out
	case c.Quotes && b == '"':
		c.state = inJSONText
		return true, append(c.element(out), '"')
	case c.closes(b):
		return true, c.close(b, out)
	case b == ',':
		if !array {
			out = c.settle(out)
			c.expectKey()
		}
		return true, out
	case b == '}', b == ']':
		return true, out
	case (b == '{' || b == '[') && len(c.levels) < mostLevels:
		out = c.element(out)
		c.levels = append(c.levels, level{schema: c.schema, array: b == '['})
		if b == '[' {
			c.arrays++
		} else {
			c.objects++
		}
		c.expect()
		return true, append(out, b)
	}
	c.held = c.held[:0]
	c.state = inBare
	return false, out
}

// turn takes a delimiter.
func (c *Codec) turn(out []byte) []byte {
	if c.state == afterValue {
		c.expect() // the comma is missing
	}
	switch c.state {
	case inKey, afterKey:
		c.expectKey() // what stood before it was no key
		c.state = inQuotedKey
	case inQuotedKey:
		c.state = afterKey
	case atValue:
		if kinds := c.schema.Kinds(); kinds == 0 || kinds == schema.String {
			out = append(c.element(out), '"')
			c.state = inText
			break
		}
		c.held = c.held[:0]
		c.state = inHeld
	case inText, inHeld:
		out = c.settle(out)
	case inBare, inLongBare, over:
		// The other delimiter of a bare word was forgotten; as a part of the word this one would only do harm.
	}
	return out
}

// named ends a key at its colon: the key goes out at once (ruling 39).
func (c *Codec) named(out []byte) []byte {
	if c.tooBig {
		c.expectKey()
		return out
	}
	top := c.top()
	switch {
	case top.count > 0:
		out = append(out, ", "...)
	case len(c.levels) == 1:
		out = append(out, '{') // that of a deeper level went out when it was opened
	}
	top.begun()
	out = codec.AppendQuoted(out, c.key)
	c.schema = top.schema.Property(string(c.key))
	c.state = atValue
	return append(out, ": "...)
}

// element appends what stands before a value: the comma between elements. That between members goes out with the key.
func (c *Codec) element(out []byte) []byte {
	top := c.top()
	if !top.array {
		return out
	}
	if top.count > 0 {
		out = append(out, ", "...)
	}
	top.begun()
	return out
}

// settle completes the value that is being read, or that a key waits for, as it stands.
func (c *Codec) settle(out []byte) []byte {
	switch c.state {
	case inText, inLongBare:
		out = append(out, '"')
	case inJSONText: // what began as an escape is text
		out = append(codec.AppendString(out, c.escape), '"')
		c.escape = c.escape[:0]
	case inHeld:
		out = schema.AppendTyped(c.element(out), c.held, c.schema, true)
	case inBare:
		word := bytes.TrimRight(c.held, " \n\t\r")
		out = schema.AppendTyped(c.element(out), word, c.schema, false)
	case atValue:
		if c.top().array {
			break
		}
		// A field without a value is an empty string (the sheet of gemma4) where it may be a string at all.
		if kinds := c.schema.Kinds(); kinds == 0 || kinds.Has(schema.String) {
			out = append(out, `""`...)
		} else {
			out = append(out, "null"...)
		}
	}
	c.state = afterValue
	return out
}

// closes reports whether the byte is a bracket that closes an open level. It need not be the innermost: a model that
// forgets a bracket does not forget the one around it.
func (c *Codec) closes(b byte) bool {
	switch b {
	case '}':
		return c.objects > 0
	case ']':
		return c.arrays > 0
	case ')':
		return c.closer == ')' && len(c.levels) == 1
	}
	return false
}

// close takes a bracket that closes a level, and with it all levels inside.
func (c *Codec) close(b byte, out []byte) []byte {
	out = c.settle(out)
	for array := b == ']'; len(c.levels) > 1; {
		found := c.top().array == array
		out = c.pop(out)
		if found {
			return out
		}
	}
	c.state = over
	return out
}

// pop closes the innermost level, which is not the outermost.
func (c *Codec) pop(out []byte) []byte {
	array := c.top().array
	c.levels = c.levels[:len(c.levels)-1]
	if array {
		c.arrays--
		return append(out, ']')
	}
	c.objects--
	return append(out, '}')
}

// expect waits for the next member or element.
func (c *Codec) expect() {
	top := c.top()
	if !top.array {
		c.expectKey()
		return
	}
	c.schema = top.schema.Item(int(top.count))
	c.state = atValue
}

func (c *Codec) expectKey() {
	c.key, c.tooBig = c.key[:0], false
	c.state = inKey
}

// spell adds to the key that is being read.
func (c *Codec) spell(text []byte) {
	if c.tooBig || len(c.key)+len(text) > mostKey {
		c.key, c.tooBig = c.key[:0], true
		return
	}
	c.key = append(c.key, text...)
}

// hold adds to the value that is being held. A value that becomes too long goes on as a streamed string.
func (c *Codec) hold(text []byte, streamed state, out []byte) []byte {
	if c.state != streamed {
		room := c.limit() - len(c.held)
		if len(text) <= room {
			c.held = append(c.held, text...)
			return out
		}
		out = append(c.element(out), '"')
		out = codec.AppendString(out, c.held)
		c.state = streamed
	}
	return codec.AppendString(out, text)
}

func (c *Codec) limit() int {
	if c.Limit > 0 {
		return c.Limit
	}
	return DefaultLimit
}

// bareLength returns how much of the text belongs to a bare word.
func (c *Codec) bareLength(text []byte) int {
	parenthesis := c.closes(')')
	for i, b := range text {
		if b == ',' || b == '}' || b == ']' || b == ')' && parenthesis {
			return i
		}
	}
	return len(text)
}

func (c *Codec) top() *level { return &c.levels[len(c.levels)-1] }

// begun counts a member or an element. The count stops before it overflows; nobody needs to know it so far on.
func (l *level) begun() {
	if l.count < math.MaxInt32 {
		l.count++
	}
}
