package delimited

import (
	"encoding/json/v2"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
)

// quoted takes text between the quotes of JSON, up to the closing quote. It takes nothing elsewhere. A string passes as
// it is written; what is no escape of JSON, and control characters, are escaped (ruling 26).
func (c *Codec) quoted(p, out []byte) (int, []byte) {
	for i, b := range p {
		switch c.state {
		case inJSONText:
			out = c.quotedByte(b, out)
		case inJSONKey:
			c.quotedKeyByte(b)
		default:
			return i, out
		}
	}
	return len(p), out
}

func (c *Codec) quotedByte(b byte, out []byte) []byte {
	switch {
	case len(c.escape) > 0:
		c.escape = append(c.escape, b)
		if whole, good := escape(c.escape); whole {
			if good {
				out = append(out, c.escape...)
			} else {
				last := c.escape[len(c.escape)-1]
				out = codec.AppendString(out, c.escape[:len(c.escape)-1])
				c.escape = c.escape[:0]
				return c.quotedByte(last, out)
			}
			c.escape = c.escape[:0]
		}
		return out
	case b == '\\':
		c.escape = append(c.escape, b)
		return out
	case b == '"':
		c.state = afterValue
		return append(out, '"')
	case b < ' ':
		return codec.AppendEscaped(out, b)
	}
	return append(out, b)
}

// escape tells whether a text that begins with a backslash is over as an escape, and whether it is one.
func escape(text []byte) (whole, good bool) {
	if len(text) < 2 {
		return false, false
	}
	if text[1] != 'u' {
		return true, strings.IndexByte(`"\/bfnrt`, text[1]) >= 0
	}
	last := text[len(text)-1]
	hexadecimal := last >= '0' && last <= '9' || last >= 'a' && last <= 'f' || last >= 'A' && last <= 'F'
	switch {
	case len(text) == 2:
		return false, false
	case !hexadecimal:
		return true, false
	}
	return len(text) == 6, true
}

// quotedKeyByte reads a byte of a key. The key is kept as it is written, and decoded when it is complete.
func (c *Codec) quotedKeyByte(b byte) {
	switch {
	case len(c.escape) > 0: // behind a backslash
		c.escape = c.escape[:0]
	case b == '\\':
		c.escape = append(c.escape, b)
	case b == '"':
		var key string
		if json.Unmarshal(append(append([]byte{'"'}, c.key...), '"'), &key) == nil {
			c.key = append(c.key[:0], key...)
		}
		c.state = afterKey
		return
	}
	c.spell([]byte{b})
}
