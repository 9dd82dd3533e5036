package python

import "math/big"

// appendNumber appends an unsigned Python number as JSON, with a minus sign if negative. It reports false, and appends
// nothing, if text is no number. The digits stay as they are written, whatever their number: no number goes through a
// float (ruling 29, pythonic.md). What JSON spells differently is spelled anew: 1_000, 07, .5, 5., 0x1F, 0o17, 0b1.
func appendNumber(dst, text []byte, negative bool) ([]byte, bool) {
	before := len(dst)
	if negative {
		dst = append(dst, '-')
	}
	if len(text) > 2 && text[0] == '0' {
		if base := baseOf(text[1]); base != 0 {
			digits := text[2:]
			if digits[0] == '_' {
				digits = digits[1:]
			}
			return appendInteger(dst, digits, base, before)
		}
	}
	whole := len(dst)
	dst, text, ok := appendDigits(dst, text)
	if !ok {
		return dst[:before], false
	}
	digits := len(dst) - whole
	zeros := 0
	for zeros < digits-1 && dst[whole+zeros] == '0' {
		zeros++
	}
	dst = append(dst[:whole], dst[whole+zeros:]...)
	digits -= zeros
	if digits == 0 {
		dst = append(dst, '0')
	}
	if len(text) > 0 && text[0] == '.' {
		dst = append(dst, '.')
		point := len(dst)
		if dst, text, ok = appendDigits(dst, text[1:]); !ok || digits+len(dst)-point == 0 {
			return dst[:before], false
		}
		if len(dst) == point {
			dst = append(dst, '0')
		}
	} else if digits == 0 {
		return dst[:before], false
	}
	if len(text) > 1 && text[0]|0x20 == 'e' {
		dst, text = append(dst, text[0]), text[1:]
		if text[0] == '+' || text[0] == '-' {
			dst, text = append(dst, text[0]), text[1:]
		}
		exponent := len(dst)
		if dst, text, ok = appendDigits(dst, text); !ok || len(dst) == exponent {
			return dst[:before], false
		}
	}
	if len(text) > 0 {
		return dst[:before], false
	}
	return dst, true
}

// appendDigits appends the decimal digits that text begins with and returns what follows them. As in Python a single
// underscore may stand between two digits; it reports false where one stands elsewhere.
func appendDigits(dst, text []byte) (digits, rest []byte, ok bool) {
	length, last := len(text), byte('_')
	for len(text) > 0 && (isDigit(text[0]) || text[0] == '_') {
		if text[0] != '_' {
			dst = append(dst, text[0])
		} else if last == '_' {
			return dst, text, false
		}
		last, text = text[0], text[1:]
	}
	return dst, text, last != '_' || len(text) == length
}

// appendInteger appends, in decimal, the integer that text writes in another base. If there is none, it cuts dst to
// before and reports false.
func appendInteger(dst, text []byte, base, before int) ([]byte, bool) {
	digits := make([]byte, 0, len(text))
	last := byte('_')
	for _, b := range text {
		if b != '_' {
			digits = append(digits, b)
		} else if last == '_' {
			return dst[:before], false
		}
		last = b
	}
	var value big.Int
	// SetString takes signs too, which Python does not take here.
	if last == '_' || digits[0] == '+' || digits[0] == '-' {
		return dst[:before], false
	}
	if _, ok := value.SetString(string(digits), base); !ok {
		return dst[:before], false
	}
	return value.Append(dst, 10), true
}

// baseOf is the base that a letter behind a zero stands for; 0 if none.
func baseOf(letter byte) int {
	switch letter | 0x20 {
	case 'x':
		return 16
	case 'o':
		return 8
	case 'b':
		return 2
	}
	return 0
}
