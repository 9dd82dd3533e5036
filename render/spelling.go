package render

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/python"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// comma and colon stand between the members of JSON, and between a key and its value.
func comma(written *grammar.Written) string {
	if written.JSON == "compact" {
		return ","
	}
	return ", "
}

func colon(written *grammar.Written) string {
	if written.JSON == "compact" {
		return ":"
	}
	return ": "
}

// spell writes the keys and values of an object anew, as the family spells them. Numbers stay as they are written.
func spell(members []member, written *grammar.Written) {
	if written.Keys == "sorted" {
		sortMembers(members)
	}
	size := 0
	for k := range members {
		size += len(members[k].quoted) + len(members[k].raw)
	}
	text := make([]byte, 0, size+size/8) // all keys and values, one behind the other
	for k := range members {
		m := &members[k]
		from := len(text)
		text = appendJSON(text, m.quoted, written)
		m.quoted, from = text[from:len(text):len(text)], len(text)
		text = appendJSON(text, m.raw, written)
		m.raw = text[from:len(text):len(text)]
	}
}

// appendJSON appends a JSON value in the spelling of the family: white space only where it belongs, and in strings no
// escape that JSON does not require.
func appendJSON(dst, value []byte, written *grammar.Written) []byte {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case ' ', '\t', '\r', '\n':
		case ',':
			dst = append(dst, comma(written)...)
		case ':':
			dst = append(dst, colon(written)...)
		case '"':
			n, escaped := 1, false
			for ; value[i+n] != '"'; n++ {
				if value[i+n] == '\\' {
					escaped = true
					n++
				}
			}
			if text := value[i : i+n+1]; escaped {
				dst = appendString(dst, text)
			} else {
				dst = append(dst, text...)
			}
			i += n
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendString appends a JSON string without needless escapes. A half of a surrogate pair has no other spelling than its
// escape, and keeps it.
func appendString(dst, quoted []byte) []byte {
	for i := 0; i < len(quoted); {
		if n := bytes.IndexByte(quoted[i:], '\\'); n != 0 {
			if n < 0 {
				return append(dst, quoted[i:]...)
			}
			dst = append(dst, quoted[i:i+n]...)
			i += n
		}
		switch c := quoted[i+1]; c {
		case 'u':
			r, n := unescape(quoted[i:])
			switch {
			case r == utf8.RuneError && n == len(`\u0000`):
				dst = append(dst, quoted[i:i+n]...)
			case r < ' ' || r == '"' || r == '\\':
				dst = codec.AppendEscaped(dst, byte(r))
			default:
				dst = utf8.AppendRune(dst, r)
			}
			i += n
		case '/':
			dst = append(dst, c)
			i += 2
		default:
			dst = append(dst, '\\', c)
			i += 2
		}
	}
	return dst
}

// unescape gives the character of an escape \uXXXX, or of two that are a pair, and its length. It is RuneError for half a
// pair.
func unescape(text []byte) (r rune, n int) {
	const length = len(`\u0000`)
	r = hexadecimal(text[2:length])
	if !utf16.IsSurrogate(r) {
		return r, length
	}
	if len(text) >= 2*length && text[length] == '\\' && text[length+1] == 'u' {
		if pair := utf16.DecodeRune(r, hexadecimal(text[length+2:2*length])); pair != utf8.RuneError {
			return pair, 2 * length
		}
	}
	return utf8.RuneError, length
}

func hexadecimal(digits []byte) (r rune) {
	for _, c := range digits {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// sortMembers sorts the members of an object by their names, at every depth.
func sortMembers(members []member) {
	for k := range members {
		members[k].raw = sortValue(members[k].raw)
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
}

func sortValue(raw []byte) []byte {
	switch raw[0] {
	case '{':
		members, _ := objectMembers(raw, nil)
		sortMembers(members)
		return appendObject(nil, members, &grammar.Written{})
	case '[':
		out := []byte{'['}
		for k, element := range elements(raw) {
			if k > 0 {
				out = append(out, ',')
			}
			out = append(out, sortValue(element)...)
		}
		return append(out, ']')
	}
	return raw
}

func appendObject(dst []byte, members []member, written *grammar.Written) []byte {
	dst = append(dst, '{')
	for k, m := range members {
		if k > 0 {
			dst = append(dst, comma(written)...)
		}
		dst = append(append(append(dst, m.quoted...), colon(written)...), m.raw...)
	}
	return append(dst, '}')
}

// pythonStyle is how the family spells the arguments of Python calls.
func pythonStyle(written *grammar.Written) python.Style {
	return python.Style{SingleQuotes: written.Strings == "single", JSONWords: written.Words == "json", JSONLists: written.Lists == "json", JSONObjects: written.Objects == "json"}
}

// pythonValue is a tagged value that is no string as Python prints it, where the family does so; else "".
func pythonValue(raw []byte, written *grammar.Written) string {
	switch kind(raw) {
	case "boolean", "null":
		if written.Words != "python" {
			return ""
		}
	case "object":
		if written.Objects != "python" {
			return ""
		}
	case "array":
		if written.Lists != "python" {
			return ""
		}
	default:
		return ""
	}
	text, err := python.AppendPrinted(nil, raw)
	if err != nil {
		return ""
	}
	return string(text)
}
