package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// isTerminal tells whether a person looks at what is written.
func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// palette colours text for a terminal. Without colours it leaves text alone.
type palette struct{ on bool }

// newPalette has colours on a terminal, unless NO_COLOR is set (no-color.org) or the terminal has none.
func newPalette(w io.Writer) palette {
	return palette{isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// colour is a code of ECMA-48.
type colour string

const (
	bold   colour = "1"
	faint  colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	purple colour = "35"
	cyan   colour = "36"
)

func (p palette) paint(c colour, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// visible makes the control characters of model text visible, since a terminal would obey them. Line breaks and tabs
// stay, and so does everything else.
func visible(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case unicode.IsControl(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// indent puts blanks before every line of a text.
func indent(text string, by int) string {
	before := strings.Repeat(" ", by)
	return before + strings.ReplaceAll(text, "\n", "\n"+before)
}
