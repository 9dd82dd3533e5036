package web

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
)

// Span is a stretch of the text with one fate. Start and End count UTF-16 units.
type Span struct {
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Became string `json:"became"`
	Call   int    `json:"call"`
	// Malformed: it belongs to a call that could not be read.
	Malformed bool `json:"malformed,omitzero"`
	// Marker is the marker that the stretch is, Rules the rules of the definition that have it.
	Marker string   `json:"marker,omitzero"`
	Rules  []string `json:"rules,omitzero"`
	// Says is the rule that decided, in words.
	Says string `json:"says"`
}

// says are the fates in words.
var says = map[string]string{
	"markup":    "markup: it belongs to the format, and to no tray",
	"content":   "content: no marker of the format stands here",
	"reasoning": "reasoning: inside a thought",
	"arguments": "arguments: the argument text of the call is made from it",
	"junk":      "junk: inside a call, where it means nothing; it is skipped and flagged",
	"dropped":   "dropped: the channel it stands in is shown to nobody",
	"layout":    "layout: white space at the edge of a tray, or alone between two pieces of markup, belongs to no tray",
}

// spans are the fates of a text, markup cut up into its markers.
func (r *reading) spans(text string, m *parlance.Message) (out []Span) {
	markers := r.markers()
	at := 0
	add := func(piece string, span parlance.Span, marker marker) {
		s := Span{Start: at, Became: span.Became, Call: span.Call, Says: says[span.Became]}
		at += units(piece)
		s.End = at
		if span.Call >= 0 && span.Call < len(m.Calls) {
			s.Malformed = m.Calls[span.Call].Malformed
		}
		if marker.text != "" {
			s.Marker, s.Rules = marker.text, marker.rules
		}
		out = append(out, s)
	}
	for _, span := range m.Trace {
		rest := text[span.Start:span.End]
		for span.Became == "markup" && rest != "" {
			begin, found := len(rest), marker{}
			for _, candidate := range markers {
				if i := strings.Index(rest[:min(len(rest), begin+len(candidate.text))], candidate.text); i >= 0 && i < begin {
					begin, found = i, candidate
				}
			}
			if found.text == "" {
				break
			}
			if begin > 0 {
				add(rest[:begin], span, marker{})
			}
			add(found.text, span, found)
			rest = rest[begin+len(found.text):]
		}
		if rest != "" {
			add(rest, span, marker{})
		}
	}
	return out
}

// marker is a marker of the chosen formats and the rules that have it.
type marker struct {
	text  string
	rules []string
}

// markers are the markers of the chosen formats, longer ones first.
func (r *reading) markers() (out []marker) {
	for _, info := range r.formats {
		if !slices.Contains(info.ToolNames, r.question.ToolParser) && !slices.Contains(info.ReasoningNames, r.question.ReasoningParser) {
			continue
		}
		for _, text := range info.Markers {
			if i := slices.IndexFunc(out, func(m marker) bool { return m.text == text }); i >= 0 {
				continue
			}
			out = append(out, marker{text: text, rules: rulesWith(info.Grammar, text)})
		}
	}
	slices.SortStableFunc(out, func(a, b marker) int { return len(b.text) - len(a.text) })
	return out
}

// rulesWith are the names of the rules of a grammar in which a marker is written.
func rulesWith(grammar, marker string) (out []string) {
	name := ""
	for line := range strings.Lines(grammar) {
		if head, _, found := strings.Cut(line, " = "); found && strings.TrimSpace(head) != "" && !strings.ContainsAny(strings.TrimSpace(head), " \"{[(|") {
			name = strings.TrimSpace(head)
		}
		if name != "" && strings.Contains(line, marker) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
