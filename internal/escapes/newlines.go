// Package escapes makes line breaks of line breaks that a tokenizer writes out.
//
// Some tokenizers decode a line break as a backslash and an n. A Newlines filter puts the break back, in text that
// arrives in pieces. It leaves alone what looks the same and is meant: code between backquotes, formulas between dollar
// signs or LaTeX brackets, and what follows two or more backslashes (the sheet of minicpmv). A span that is never
// closed runs to the end of the text, since a stream cannot know better.
package escapes

// Newlines is the state of one text. The zero value stands at its beginning. It belongs to one goroutine. It holds back
// nothing but a single backslash that may begin a line break.
type Newlines struct {
	span   span
	quotes int // backquotes that close the code

	delimiter byte // the run of backquotes or dollar signs that is being read, or 0
	run       int  // its length
	slashes   int  // backslashes before the next character: of one alone it is not known yet what it means
	held      bool // that one is held back
	returned  bool // a written-out \r has just become a line break; a \n behind it belongs to it
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
	return f.release(dst)
}

func (f *Newlines) step(dst []byte, c byte) []byte {
	if f.delimiter != 0 {
		if c == f.delimiter && (c == '`' || f.run < 2) {
			f.run++
			return append(dst, c)
		}
		f.settleRun()
	}
	switch {
	case c == '\\':
		return f.backslash(dst)
	case f.slashes > 1: // a run of backslashes escapes what follows it
		f.slashes = 0
		return append(dst, c)
	case f.slashes == 1:
		f.slashes = 0
		if written, out := f.escape(dst, c); written {
			return out
		}
		dst = f.release(dst)
	}
	f.returned = false
	if c == '`' || c == '$' {
		f.delimiter, f.run = c, 1
	}
	return append(dst, c)
}

func (f *Newlines) backslash(dst []byte) []byte {
	f.slashes++
	if f.slashes == 1 && f.span == plain {
		f.held = true
		return dst
	}
	return append(f.release(dst), '\\')
}

// release gives out the backslash that is held back.
func (f *Newlines) release(dst []byte) []byte {
	if f.held {
		f.held, f.returned = false, false
		dst = append(dst, '\\')
	}
	return dst
}

// settleRun follows a run of backquotes or dollar signs: it opens or closes a span.
func (f *Newlines) settleRun() {
	n, quote := f.run, f.delimiter == '`'
	f.delimiter = 0
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
}

// escape follows a single backslash and the character behind it. It answers false if they mean nothing together.
func (f *Newlines) escape(dst []byte, c byte) (bool, []byte) {
	switch {
	case f.span == plain && (c == 'n' || c == 'r'):
		second := f.returned && c == 'n'
		f.held, f.returned = false, c == 'r'
		if second { // \r\n is one line break
			return true, dst
		}
		return true, append(dst, '\n')
	case f.span == plain && c == '(':
		f.span = round
	case f.span == plain && c == '[':
		f.span = square
	case f.span == round && c == ')', f.span == square && c == ']':
		f.span = plain
	default:
		return false, dst
	}
	return true, append(f.release(dst), c)
}
