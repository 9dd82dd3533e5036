package schema

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec"
)

// Silent says what the text of a value is where the schema is silent. The markup around the value knows (ruling 28).
type Silent uint8

const (
	// SilentString: the text is a string as it stands.
	SilentString Silent = iota
	// SilentJSON: the text is JSON, and a string if it is not.
	SilentJSON
)

// AppendValue reads the text of one value by a schema and appends it to dst as exactly one JSON value. There is no
// error: what fits no kind that the schema allows stays a string (ruling 27). Invalid UTF-8 stays as it is.
//
// The kinds are tried in a fixed order, null, integer, number, boolean, object, array, string, and the first that fits
// wins (the sheet of qwen3_coder, rules 4 and 5). Numbers keep their digits and, if JSON allows it, their spelling;
// they never pass through a float (ruling 29). JSON text is kept as written, but a control character in a string of it
// is escaped (ruling 26).
//
// AppendValue may be called by many goroutines at once. It allocates nothing unless dst is too short or the text
// is Python.
func AppendValue(dst, text []byte, s *Schema, silent Silent) []byte {
	kinds := s.Kinds()
	if kinds == String || kinds == 0 && silent == SilentString {
		return codec.AppendQuoted(dst, text)
	}
	if out, ok := appendByKind(dst, text, kinds); ok {
		return out
	}
	return codec.AppendQuoted(dst, text)
}

// AppendTyped reads one value of a syntax that tells strings from other values by a delimiter, and appends it to dst
// as exactly one JSON value. What the schema says goes first, for delimited text as for bare text (the sheet of
// gemma4); where it is silent, delimited text is a string, and bare text is the number or the literal that it spells in
// JSON, else a string (ruling 28). In all else it is like AppendValue.
func AppendTyped(dst, text []byte, s *Schema, delimited bool) []byte {
	if s.Kinds() == 0 && !delimited && isScalar(text) {
		return append(dst, text...)
	}
	return AppendValue(dst, text, s, SilentString)
}

// appendByKind appends the value that the text is if it is not a string, and reports whether it is one. Text that fits
// no kind is tried as JSON of any kind, unless it may be a string.
func appendByKind(dst, text []byte, kinds Kinds) ([]byte, bool) {
	if kinds.Has(Null) && isNull(text, kinds.Has(String)) {
		return append(dst, "null"...), true
	}
	if kinds.Has(Integer | Number) {
		if out, ok := appendNumber(dst, bytes.TrimSpace(text), kinds.Has(Number)); ok {
			return out, true
		}
	}
	if kinds.Has(Boolean) {
		if word, ok := boolean(bytes.TrimSpace(text)); ok {
			return append(dst, word...), true
		}
	}
	if kinds.Has(Object | Array) {
		if out, ok := appendJSON(dst, text); ok {
			return out, true
		}
		if out, ok := appendContainer(dst, text); ok {
			return out, true
		}
	}
	if kinds.Has(String) {
		return dst, false
	}
	return appendJSON(dst, text)
}

// isNull reports whether the text is null. Python's spelling counts only where the text cannot be a string, because
// the chat templates that print None print strings without quotes too.
func isNull(text []byte, maybeString bool) bool {
	return isWord(text, "null") || !maybeString && string(bytes.TrimSpace(text)) == "None"
}

// boolean returns the JSON spelling of a truth value.
func boolean(text []byte) (string, bool) {
	switch {
	case isWord(text, "true"), string(text) == "1":
		return "true", true
	case isWord(text, "false"), string(text) == "0":
		return "false", true
	}
	return "", false
}

// isWord reports whether the text is a word of small letters, in any case.
func isWord(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}

// isScalar reports whether the text is a JSON number, true, false or null, and nothing else.
func isScalar(text []byte) bool {
	switch string(text) {
	case "true", "false", "null":
		return true
	}
	length, _ := numberLength(text)
	return length > 0 && length == len(text)
}
