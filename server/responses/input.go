package responses

import (
	"encoding/json/jsontext"
	"strings"
	"unicode/utf8"
)

// inputDecoder reads the text in {"input": "…"} while it arrives. What is no such object is passed on as it is, since the
// arguments of a call that is malformed are raw text.
type inputDecoder struct {
	head  string // what came before the text began
	state uint8  // 0: before the text, 1: in it, 2: behind it, 3: raw
	rest  string // the beginning of an escape, or of a surrogate pair
}

// write takes more of the arguments and gives what it adds to the text.
func (d *inputDecoder) write(arguments string) string {
	switch d.state {
	case 0:
		d.head += arguments
		at, possible := textBegins(d.head)
		switch {
		case !possible:
			d.state = 3
			return d.head
		case at < 0:
			return ""
		}
		d.state, arguments = 1, d.head[at:]
	case 2:
		return ""
	case 3:
		return arguments
	}
	text := d.rest + arguments
	d.rest = ""
	var out strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "\"\\")
		if i < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:i])
		text = text[i:]
		if text[0] == '"' {
			d.state = 2
			break
		}
		n := escapeLength(text)
		if n == 0 {
			d.rest = text
			break
		}
		decoded, err := jsontext.AppendUnquote(nil, `"`+text[:n]+`"`)
		if err != nil {
			decoded = []byte(string(utf8.RuneError))
		}
		out.Write(decoded)
		text = text[n:]
	}
	return out.String()
}

// textBegins finds where the text of input begins in the beginning of an object: -1 if it has not begun yet. possible is
// false if it never will.
func textBegins(head string) (at int, possible bool) {
	at = 0
	for _, want := range []string{"{", `"input"`, ":", `"`} {
		for at < len(head) && strings.IndexByte(" \t\r\n", head[at]) >= 0 {
			at++
		}
		n := min(len(want), len(head)-at)
		if head[at:at+n] != want[:n] {
			return -1, false
		}
		if at += n; n < len(want) {
			return -1, true
		}
	}
	return at, true
}

// escapeLength is the length of the escape that a text begins with, with the second half of a surrogate pair; 0 if it is
// not all there yet.
func escapeLength(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != 'u' {
		return 2
	}
	if len(text) < 6 {
		return 0
	}
	if c := text[2:4]; (c[0] == 'd' || c[0] == 'D') && strings.IndexByte("89abAB", c[1]) >= 0 {
		switch {
		case len(text) < 8 && strings.HasPrefix(`\u`, text[6:]):
			return 0
		case strings.HasPrefix(text[6:], `\u`) && len(text) < 12:
			return 0
		case strings.HasPrefix(text[6:], `\u`):
			return 12
		}
	}
	return 6
}
