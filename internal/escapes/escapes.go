// Package escapes makes line breaks of line breaks that a tokenizer writes out.
//
// Some tokenizers decode a line break as a backslash and an n. A Newlines filter puts the break back, in text that
// arrives in pieces. It leaves alone what looks the same and is meant: code between backquotes, formulas between dollar
// signs or LaTeX brackets, and what follows two or more backslashes (the sheet of minicpmv). A span that is never
// closed runs to the end of the text, since a stream cannot know better.
package escapes

// Newlines is the state of one text. The zero value stands at its beginning. It belongs to one goroutine.
type Newlines struct {
	span    span
	quotes  int    // backquotes that close the code
	pending []byte // text that is not settled: backslashes, half a line break, a run of backquotes or dollar signs
}

type span uint8

const (
	plain span = iota
	code
	dollar
	dollars
	round  // \( … \)
	square // \[ … \]
)

// Append takes a piece and appends what is settled to dst. How the text is cut into pieces makes no difference.
func (f *Newlines) Append(dst, piece []byte) []byte {
	for _, c := range piece {
		dst = f.step(dst, c)
	}
	return dst
}

// Close appends what is left at the end of the text.
func (f *Newlines) Close(dst []byte) []byte {
	pending := f.pending
	f.pending = nil
	if f.span == plain && len(pending) > 1 && pending[0] == '\\' && pending[1] == 'r' {
		return append(append(dst, '\n'), pending[2:]...)
	}
	return append(dst, pending...)
}

func (f *Newlines) step(dst []byte, c byte) []byte {
	if len(f.pending) == 0 {
		switch c {
		case '\\', '`', '$':
			f.pending = append(f.pending, c)
			return dst
		}
		return append(dst, c)
	}
	switch f.pending[0] {
	case '`', '$':
		if c == f.pending[0] && (c == '`' || len(f.pending) < 2) {
			f.pending = append(f.pending, c)
			return dst
		}
		dst = f.delimiter(dst)
		return f.step(dst, c)
	}
	return f.backslash(dst, c)
}

// delimiter settles a run of backquotes or dollar signs: it opens or closes a span.
func (f *Newlines) delimiter(dst []byte) []byte {
	n := len(f.pending)
	dst = append(dst, f.pending...)
	quote := f.pending[0] == '`'
	f.pending = f.pending[:0]
	switch {
	case f.span == plain && quote:
		f.span, f.quotes = code, n
	case f.span == plain && n == 1:
		f.span = dollar
	case f.span == plain:
		f.span = dollars
	case f.span == code && quote && (n == f.quotes || f.quotes >= 3 && n >= f.quotes),
		f.span == dollar && !quote && n == 1, f.span == dollars && !quote && n == 2:
		f.span = plain
	}
	return dst
}

// backslash goes on behind a backslash, a run of them, or `\r`.
func (f *Newlines) backslash(dst []byte, c byte) []byte {
	p := f.pending
	if len(p) >= 2 && p[1] == 'r' { // \r, or \r and another backslash
		if len(p) == 2 && c == '\\' {
			f.pending = append(p, c)
			return dst
		}
		dst = append(dst, '\n')
		f.pending = p[:0]
		if len(p) == 3 {
			if c == 'n' {
				return dst
			}
			dst = f.step(dst, '\\')
		}
		return f.step(dst, c)
	}
	if c == '\\' {
		f.pending = append(p, c)
		return dst
	}
	n := len(p)
	if n == 1 {
		if settled, out := f.escape(dst, c); settled {
			return out
		}
	}
	dst = append(dst, p...)
	f.pending = p[:0]
	if n > 1 { // a run of backslashes escapes what follows it
		return append(dst, c)
	}
	return f.step(dst, c)
}

// escape treats one backslash and the character behind it.
func (f *Newlines) escape(dst []byte, c byte) (bool, []byte) {
	to := f.span
	switch {
	case f.span == plain && c == 'n':
		f.pending = f.pending[:0]
		return true, append(dst, '\n')
	case f.span == plain && c == 'r':
		f.pending = append(f.pending, c)
		return true, dst
	case f.span == plain && c == '(':
		to = round
	case f.span == plain && c == '[':
		to = square
	case f.span == round && c == ')', f.span == square && c == ']':
		to = plain
	default:
		return false, dst
	}
	f.span = to
	f.pending = f.pending[:0]
	return true, append(dst, '\\', c)
}
