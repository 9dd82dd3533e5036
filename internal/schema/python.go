package schema

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec/python"
)

// appendContainer appends the Python list, tuple, set or dict that the text is, as JSON, and reports whether it is one
// (ruling 27). Other Python literals are not read: null and truth values have their own places in the trial order, and
// quotes around a string belong to it.
func appendContainer(dst, text []byte) ([]byte, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '[' && text[0] != '{' && text[0] != '(' {
		return dst, false
	}
	out, ok := python.AppendLiteral(dst, text)
	if !ok || out[len(dst)] != '[' && out[len(dst)] != '{' { // (1) is the number 1
		return dst, false
	}
	made := copier{text: out[len(dst):]}
	if !made.value(0) { // nested deeper than is read here
		return dst, false
	}
	return out, true
}
