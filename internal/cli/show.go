package cli

import (
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance"
)

// colours are the colours of what input can become; the trays have theirs everywhere.
var colours = map[string]colour{
	"reasoning": purple, "content": green, "tool calls": cyan, "arguments": cyan,
	"markup": faint, "layout": faint, "junk": red, "dropped": yellow,
}

// ruleWidth is how wide a heading is, in characters.
const ruleWidth = 72

// heading begins a part of the output.
func heading(out io.Writer, p palette, c colour, title string) {
	fmt.Fprintln(out, p.paint(c, "── "+title+" "+strings.Repeat("─", max(1, ruleWidth-4-utf8.RuneCountInString(title)))))
}

// showMessage prints the three trays for people.
func showMessage(out io.Writer, p palette, m *parlance.Message) {
	for _, tray := range []struct{ name, text string }{{"reasoning", m.Reasoning}, {"content", m.Content}} {
		heading(out, p, colours[tray.name], tray.name)
		if tray.text == "" {
			fmt.Fprintln(out, p.paint(faint, "(none)"))
		} else {
			fmt.Fprintln(out, visible(strings.TrimSuffix(tray.text, "\n")))
		}
		fmt.Fprintln(out)
	}
	heading(out, p, colours["tool calls"], "tool calls")
	if len(m.Calls) == 0 {
		fmt.Fprintln(out, p.paint(faint, "(none)"))
	}
	for i := range m.Calls {
		showCall(out, p, i, &m.Calls[i])
	}
}

func showCall(out io.Writer, p palette, i int, call *parlance.Call) {
	line := fmt.Sprintf("%d. %s", i+1, p.paint(bold, visible(call.Name)))
	if call.ID != "" {
		line += p.paint(faint, "  id "+visible(call.ID))
	}
	if call.Malformed {
		line += p.paint(red, "  malformed: the arguments stand as the model wrote them")
	}
	if call.Cut {
		line += p.paint(yellow, "  cut off")
	}
	fmt.Fprintln(out, line)
	arguments := jsontext.Value(call.Arguments)
	if arguments.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		arguments = jsontext.Value(call.Arguments)
	}
	if len(arguments) > 0 {
		fmt.Fprintln(out, indent(visible(string(arguments)), 3))
	}
}

// spanText is how many characters of a span the table shows; --json has them all.
const spanText = 60

// showTrace prints each span of the input and what became of it.
func showTrace(out io.Writer, p palette, trace []parlance.Span, text []byte) {
	fmt.Fprintln(out)
	heading(out, p, faint, "trace")
	digits := len(strconv.Itoa(len(text)))
	width := max(2*digits+1, len("bytes"))
	fmt.Fprintln(out, p.paint(faint, fmt.Sprintf("%-*s  %-9s  %4s  %s", width, "bytes", "became", "call", "text")))
	for _, s := range trace {
		call := ""
		if s.Call >= 0 {
			call = strconv.Itoa(s.Call + 1)
		}
		bytes := fmt.Sprintf("%*d-%d", digits, s.Start, s.End)
		fmt.Fprintf(out, "%-*s  %s  %4s  %s\n", width, bytes,
			p.paint(colours[s.Became], fmt.Sprintf("%-9s", s.Became)), call, p.paint(colours[s.Became], quoted(string(text[s.Start:s.End]))))
	}
}

// quoted quotes a text, a long one without its middle.
func quoted(text string) string {
	if utf8.RuneCountInString(text) <= spanText {
		return strconv.Quote(text)
	}
	from, to := 0, len(text)
	for range spanText * 2 / 3 {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	for range spanText / 3 {
		_, size := utf8.DecodeLastRuneInString(text[:to])
		to -= size
	}
	return strconv.Quote(text[:from]) + " … " + strconv.Quote(text[to:])
}
