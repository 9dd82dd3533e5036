// Package codec holds what the argument syntaxes share.
//
// An argument syntax is the way a model family writes the arguments of a call: JSON, tagged values, Python keyword
// arguments, JSON with delimited strings. Each of them that is not JSON already is turned into JSON while it arrives,
// by a small automaton of its own: it is fed pieces of text, of any size, and appends the JSON text that is certain so
// far to a buffer. What it has appended is never taken back, and where the pieces were cut never changes what it appends.
//
// JSON text that is made here (rather than passed on as the model wrote it) has one space after ':' and ',' and
// escapes only what JSON requires to be escaped (ruling 3, design §2.5).
package codec

// Status is what an automaton says after it has been fed a piece of text.
type Status uint8

const (
	// More: the whole piece was taken and the arguments go on.
	More Status = iota
	// Done: the closing bracket of the arguments was taken; the rest of the piece belongs to the caller.
	Done
	// Refused: what has arrived cannot be arguments at all (ruling 21). It is said only before anything was appended.
	Refused
)

// AppendString appends text as the inside of a JSON string, without the quotes: quotation marks, backslashes and
// control characters are escaped, everything else, invalid UTF-8 included, stays as it is.
func AppendString(dst, text []byte) []byte {
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		dst = AppendEscaped(dst, c)
		from = i + 1
	}
	return append(dst, text[from:]...)
}

// AppendEscaped appends the JSON escape of one byte that may not stand in a JSON string as it is.
func AppendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendQuoted appends text as a JSON string with its quotes.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	dst = AppendString(dst, text)
	return append(dst, '"')
}

// IsBlank tells the four characters that JSON and the notation call white space.
func IsBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
