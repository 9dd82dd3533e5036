package conformance

import (
	"encoding/json/jsontext"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Difference is where a result is not what a case wants: one entry for each thing that differs.
type Difference []Item

// Item is one thing that differs, with what was expected and what was found.
type Item struct {
	Field           string
	Expected, Found string
}

// Compare compares a result with what is wanted, by rulings 1 to 3: reasoning and content without the white space at
// their ends; calls in order, names exactly; wanted objects as JSON values, wanted strings byte for byte. It gives nil if
// the result is right.
func (w *Want) Compare(r *Result) (d Difference) {
	trays := []struct{ field, want, got string }{{"reasoning", w.Reasoning, r.Reasoning}, {"content", w.Content, r.Content}}
	for _, tray := range trays {
		want, got := strings.TrimSpace(tray.want), strings.TrimSpace(tray.got)
		if want != got {
			want, got = around(want, got, strconv.Quote)
			d = append(d, Item{tray.field, want, got})
		}
	}
	if len(w.ToolCalls) != len(r.ToolCalls) {
		var want, got []string
		for i := range w.ToolCalls {
			want = append(want, w.ToolCalls[i].String())
		}
		for i := range r.ToolCalls {
			got = append(got, r.ToolCalls[i].String())
		}
		return append(d, Item{"calls", listed(want), listed(got)})
	}
	for i := range w.ToolCalls {
		d = append(d, w.ToolCalls[i].compare(fmt.Sprintf("call %d, ", i+1), &r.ToolCalls[i])...)
	}
	return d
}

func (w *WantCall) compare(which string, r *ResultCall) (d Difference) {
	if w.Name != r.Name {
		d = append(d, Item{which + "name", fmt.Sprintf("%q", w.Name), fmt.Sprintf("%q", r.Name)})
	}
	if w.Arguments.Object == nil {
		if w.Arguments.Text != r.Arguments {
			want, got := around(w.Arguments.Text, r.Arguments, strconv.Quote)
			d = append(d, Item{which + "arguments as text", want, got})
		}
		return d
	}
	if got, err := canonical([]byte(r.Arguments)); err != nil || got != w.Arguments.canonical {
		want, got := around(compact(w.Arguments.Object), r.Arguments, asWritten)
		if err != nil {
			got += " (" + err.Error() + ")"
		}
		d = append(d, Item{which + "arguments", want, got})
	}
	return d
}

// compact leaves the blanks out of a JSON value.
func compact(value jsontext.Value) string {
	value = value.Clone()
	if value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		panic("conformance: a wanted object was JSON when it was read")
	}
	return string(value)
}

func (w *WantCall) String() string {
	return w.Name + " " + short(asWritten(w.Arguments.String()), longest)
}

func (r *ResultCall) String() string {
	return r.Name + " " + short(asWritten(r.Arguments), longest)
}

func listed(calls []string) string {
	if len(calls) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(calls), strings.Join(calls, "; "))
}

// longest is how many characters of a text a difference shows.
const longest = 120

// short cuts a text that is long.
func short(text string, longest int) string {
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	n := 0
	for range longest {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	return text[:n] + "…"
}

// asWritten shows a text that needs no quotes; control characters would spoil the terminal.
func asWritten(text string) string {
	if text == "" {
		return `""`
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '␣'
		}
		return r
	}, text)
}

// around shows two texts that differ; of long ones the part in which they begin to differ.
func around(want, got string, show func(string) string) (string, string) {
	same := 0
	for same < len(want) && same < len(got) && want[same] == got[same] {
		same++
	}
	from := 0
	if max(utf8.RuneCountInString(want), utf8.RuneCountInString(got)) > longest && same > longest/3 {
		from = same - longest/3
		for from > 0 && !utf8.RuneStart(want[from]) {
			from--
		}
	}
	cut := func(text string) string {
		text = show(short(text[from:], longest))
		if from > 0 {
			text = "…" + text
		}
		return text
	}
	return cut(want), cut(got)
}
