package engine

import (
	"encoding/json/v2"
	"strings"
	"unicode/utf8"
)

// Some engines cut a character in two and write each half as it is, so that neither event is valid UTF-8. A JSON decoder
// would make replacement characters of them. strayByte is where such bytes hide from it: in code points at the end of the
// private planes, one for each of the bytes 0x80 to 0xFF.
const strayByte = 0x10F700

// unmarshalEvent reads an event. If it is not valid UTF-8 its stray bytes are in the texts as code points; see restored.
func unmarshalEvent(data []byte, out any) (stray bool, err error) {
	if !utf8.Valid(data) {
		stray = true
		hidden := make([]byte, 0, len(data)+16)
		for len(data) > 0 {
			r, size := utf8.DecodeRune(data)
			if r == utf8.RuneError && size == 1 {
				hidden = utf8.AppendRune(hidden, strayByte+rune(data[0]))
			} else {
				hidden = append(hidden, data[:size]...)
			}
			data = data[size:]
		}
		data = hidden
	}
	return stray, json.Unmarshal(data, out, lenient)
}

// restored gives the bytes back that unmarshalEvent has hidden.
func restored(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= strayByte+0x80 && r <= strayByte+0xFF {
			b.WriteByte(byte(r - strayByte))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// characters puts characters together that come in parts.
type characters struct {
	held string
}

// write gives what is whole characters so far. Bytes that can be none become U+FFFD.
func (c *characters) write(text string, stray bool) string {
	if stray {
		text = restored(text)
	}
	if c.held == "" && utf8.ValidString(text) {
		return text
	}
	text = c.held + text
	c.held = ""
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				c.held = tail
				text = text[:len(text)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// flush ends the text.
func (c *characters) flush() string {
	if c.held == "" {
		return ""
	}
	c.held = ""
	return "\uFFFD"
}
