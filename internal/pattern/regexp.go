package pattern

import (
	"fmt"
	"regexp"
	"strings"
)

// Regexp gives the expression as one of Go, for a text that is there as a whole. The error is an *Error.
func (e *Expression) Regexp() (*regexp.Regexp, error) {
	var out strings.Builder
	if at, ok := e.write(&out, e.root); !ok {
		return nil, e.fail(at, "a look-ahead can only be asked for at the end of the pattern of a tag")
	}
	compiled, err := regexp.Compile("(?s)" + out.String())
	if err != nil {
		return nil, e.fail(0, "the pattern is too large: %v", err)
	}
	return compiled, nil
}

// write writes a node in the syntax of Go's regexp package. It answers false, and where, if there is no way.
func (e *Expression) write(out *strings.Builder, n *node) (at int, ok bool) {
	switch n.op {
	case opSet:
		out.WriteByte('[')
		for _, r := range n.set {
			fmt.Fprintf(out, `\x{%x}-\x{%x}`, r.First, r.Last)
		}
		if len(n.set) == 0 {
			out.WriteString(`^\x{0}-\x{10FFFF}`)
		}
		out.WriteByte(']')
	case opCat, opAlt:
		for i, sub := range n.subs {
			if i > 0 && n.op == opAlt {
				out.WriteByte('|')
			}
			if at, ok := e.write(out, sub); !ok {
				return at, false
			}
		}
	case opGroup:
		out.WriteString("(?:")
		if n.name != "" {
			fmt.Fprintf(out, "(?P<%s>", n.name)
		}
		at, ok := e.write(out, n.subs[0])
		if n.name != "" {
			out.WriteByte(')')
		}
		out.WriteByte(')')
		return at, ok
	case opRepeat:
		out.WriteString("(?:")
		if at, ok := e.write(out, n.subs[0]); !ok {
			return at, false
		}
		out.WriteByte(')')
		switch {
		case n.max == unbounded:
			fmt.Fprintf(out, "{%d,}", n.min)
		default:
			fmt.Fprintf(out, "{%d,%d}", n.min, n.max)
		}
		if n.lazy {
			out.WriteByte('?')
		}
	case opStart:
		out.WriteString(`\A`)
	case opEnd:
		out.WriteString(`\n?\z`)
	case opAhead:
		return n.at, false
	}
	return 0, true
}
