package python

import "github.com/parlance-llm/parlance/internal/codec"

// callEnd is what ends a literal that AppendLiteral reads.
var callEnd = []byte{')'}

// AppendLiteral appends one Python literal as JSON: a string, number, word, list, tuple, set or dict, with white space
// around it allowed. If text is anything else, or a literal that needs a repair other than raw line breaks in strings and
// zeros before integers, it returns dst as it was and false (ruling 27). A number of more than 4 KiB is not read. It may
// be called by several goroutines at once.
func AppendLiteral(dst, text []byte) ([]byte, bool) {
	// A literal is read as the value of an argument, behind its equals sign.
	c := Codec{Limit: len(text) + 2, state: beforeValue, certain: true, literal: true}
	_, out, st := c.Step(text, dst)
	if st != codec.More || c.fault {
		return dst, false
	}
	_, out, st = c.Step(callEnd, out)
	if st != codec.Done || c.fault {
		return dst, false
	}
	return out, true
}
