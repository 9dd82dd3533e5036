package jsonscan

import "unicode/utf8"

// Decoder undoes the escapes of a JSON string that arrives in pieces. The zero value stands behind the opening quote.
type Decoder struct {
	escape uint8 // 0 none, 1 behind a backslash, 2–5 in the digits of \u
	rune   rune
	high   rune // the first half of a surrogate pair, waiting for the second
}

// Plain tells whether the next byte stands for itself, if it is neither a quote nor a backslash.
func (d *Decoder) Plain() bool { return d.escape == 0 && d.high == 0 }

// Step decodes text from index i until the closing quote, appending to out. It answers the index behind the last byte
// taken and More, Done (the quote was taken) or Broken (an escape that JSON does not have). Raw control characters pass
// (ruling 26). Half a surrogate pair becomes U+FFFD.
func (d *Decoder) Step(text []byte, i int, out []byte) (int, []byte, Event) {
	for i < len(text) {
		c := text[i]
		if d.escape == 0 && d.high == 0 {
			from := i
			for c != '"' && c != '\\' {
				i++
				if i == len(text) {
					return i, append(out, text[from:]...), More
				}
				c = text[i]
			}
			out = append(out, text[from:i]...)
			i++
			if c == '"' {
				return i, out, Done
			}
			d.escape = 1
			continue
		}
		i++
		switch {
		case d.escape == 0: // behind the first half of a pair
			if c == '\\' {
				d.escape = 1
				continue
			}
			out = utf8.AppendRune(out, utf8.RuneError)
			d.high = 0
			i--
		case d.escape == 1:
			if c == 'u' {
				d.escape, d.rune = 2, 0
				continue
			}
			if d.high != 0 {
				out, d.high = utf8.AppendRune(out, utf8.RuneError), 0
			}
			d.escape = 0
			switch c {
			case '"', '\\', '/':
				out = append(out, c)
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			case 'r':
				out = append(out, '\r')
			case 'b':
				out = append(out, '\b')
			case 'f':
				out = append(out, '\f')
			default:
				return i - 1, out, Broken
			}
		default:
			if !isHex(c) {
				return i - 1, out, Broken
			}
			d.rune = d.rune<<4 | hexValue(c)
			if d.escape++; d.escape <= 5 {
				continue
			}
			d.escape = 0
			out = d.unit(out)
		}
	}
	return i, out, More
}

// unit takes one UTF-16 unit.
func (d *Decoder) unit(out []byte) []byte {
	high, r := d.high, d.rune
	d.high = 0
	low := r >= 0xDC00 && r <= 0xDFFF
	if high != 0 {
		if low {
			return utf8.AppendRune(out, (high-0xD800)<<10|(r-0xDC00)+0x10000)
		}
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	switch {
	case r >= 0xD800 && r <= 0xDBFF:
		d.high = r
		return out
	case low:
		r = utf8.RuneError
	}
	return utf8.AppendRune(out, r)
}

func hexValue(c byte) rune {
	switch {
	case c <= '9':
		return rune(c - '0')
	case c <= 'F':
		return rune(c-'A') + 10
	}
	return rune(c-'a') + 10
}
