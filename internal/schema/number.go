package schema

import (
	"unicode"
	"unicode/utf8"
)

// numberLength returns how many bytes at the beginning of the text are a JSON number, 0 if none are, and whether that
// number is written without a fraction and an exponent.
func numberLength(text []byte) (length int, whole bool) {
	at := 0
	if at < len(text) && text[at] == '-' {
		at++
	}
	digits := digitsLength(text[at:])
	if digits == 0 {
		return 0, false
	}
	if text[at] == '0' {
		digits = 1
	}
	at += digits
	length, whole = at, true
	if at < len(text) && text[at] == '.' {
		digits := digitsLength(text[at+1:])
		if digits == 0 {
			return length, whole
		}
		at += 1 + digits
		length, whole = at, false
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if digits := digitsLength(text[at:]); digits > 0 {
			length, whole = at+digits, false
		}
	}
	return length, whole
}

func digitsLength(text []byte) int {
	for i, c := range text {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(text)
}

// appendNumber appends the number that the text is, as JSON, and reports whether it is one: what Python's int reads,
// and, if fractions are wanted, what its float reads and is finite (the sheet of qwen3_coder, rule 4). There may be no
// blanks around it. Text that is a JSON number is kept as it is; everything else is spelled anew digit by digit, so
// its value is exactly the same: +5, 007, 1_000, .5 and 5. become 5, 7, 1000, 0.5 and 5.0.
func appendNumber(dst, text []byte, fractions bool) ([]byte, bool) {
	if length, whole := numberLength(text); length > 0 && length == len(text) {
		if whole || fractions {
			return append(dst, text...), true
		}
		return dst, false
	}
	out, ok := appendRespelled(dst, text, fractions)
	if !ok {
		return dst, false
	}
	return out, true
}

func appendRespelled(dst, text []byte, fractions bool) ([]byte, bool) {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			dst = append(dst, '-')
		}
		text = text[1:]
	}
	from := len(dst)
	dst, text, ok := appendDigits(dst, text)
	if !ok {
		return dst, false
	}
	written := len(dst) > from
	dst = dropLeadingZeros(dst, from)
	if fractions && len(text) > 0 && text[0] == '.' {
		dst = append(dst, '.')
		from = len(dst)
		if dst, text, ok = appendDigits(dst, text[1:]); !ok {
			return dst, false
		}
		if len(dst) > from {
			written = true
		} else {
			dst = append(dst, '0')
		}
	}
	if !written {
		return dst, false
	}
	if fractions && len(text) > 0 && text[0]|0x20 == 'e' {
		dst = append(dst, text[0])
		text = text[1:]
		if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			dst = append(dst, text[0])
			text = text[1:]
		}
		from = len(dst)
		if dst, text, ok = appendDigits(dst, text); !ok || len(dst) == from {
			return dst, false
		}
	}
	return dst, len(text) == 0
}

// appendDigits appends the decimal digits at the beginning of the text, those of other scripts as the ASCII ones, and
// returns the rest of the text. As in Python one underscore may stand between two digits; it reports false where one
// stands elsewhere.
func appendDigits(dst, text []byte) (out, rest []byte, ok bool) {
	from := len(dst)
	afterUnderscore := false
	for len(text) > 0 {
		if text[0] == '_' {
			if len(dst) == from || afterUnderscore {
				return dst, text, false
			}
			afterUnderscore = true
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		digit, isDigit := decimal(r)
		if !isDigit {
			break
		}
		dst = append(dst, '0'+digit)
		text = text[size:]
		afterUnderscore = false
	}
	return dst, text, !afterUnderscore
}

// decimal returns the value of a decimal digit of any script. Unicode lists the ten digits of a script in a row and
// each range of its table begins with a zero.
func decimal(r rune) (byte, bool) {
	if r <= unicode.MaxASCII {
		return byte(r) - '0', '0' <= r && r <= '9'
	}
	if !unicode.IsDigit(r) {
		return 0, false
	}
	for _, digits := range unicode.Digit.R16 {
		if rune(digits.Lo) <= r && r <= rune(digits.Hi) {
			return byte((r - rune(digits.Lo)) % 10), true
		}
	}
	for _, digits := range unicode.Digit.R32 {
		if rune(digits.Lo) <= r && r <= rune(digits.Hi) {
			return byte((r - rune(digits.Lo)) % 10), true
		}
	}
	return 0, false
}

// dropLeadingZeros removes the zeros that JSON does not allow before a number's first digit, and writes the one that it
// wants where there is no digit at all.
func dropLeadingZeros(dst []byte, from int) []byte {
	if len(dst) == from {
		return append(dst, '0')
	}
	first := from
	for first < len(dst)-1 && dst[first] == '0' {
		first++
	}
	return append(dst[:from], dst[first:]...)
}
