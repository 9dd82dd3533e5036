package roundtrip

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/render"
)

// Situation is a text of a kind that every format meets, with the message that it must be read as.
type Situation struct {
	Name string
	Text string
	// Want is what must be read when the model has ended its turn.
	Want *parlance.Message
	// CallsOnly: only the calls are compared.
	CallsOnly bool
	// Message is what the text was rendered from, and Parts its outline; nil where the text is not as it was rendered.
	Message *parlance.Message
	Parts   []render.Part
}

// Situations makes the standard situations of a format, each from a message that is known. refused names those that the
// format cannot carry.
func (t *Trip) Situations(tools *parlance.Tools) (situations []Situation, refused []string, err error) {
	add := func(name string, m *parlance.Message) (*Situation, error) {
		text, parts, err := t.Renderer.Outline(m, render.Options{Request: t.Request(tools)})
		var exception *render.Error
		if errors.As(err, &exception) {
			refused = append(refused, name+": "+string(exception.Reason))
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		situations = append(situations, Situation{Name: name, Text: text, Want: m, Message: m, Parts: parts})
		return &situations[len(situations)-1], nil
	}
	for _, plain := range t.messages() {
		if _, err := add(plain.name, plain.message); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range situations {
		if s.Message != nil {
			situations = append(situations, t.spoiled(&s)...)
		}
	}
	situations = append(situations, t.textual(tools)...)
	situations = append(situations, t.broken(tools)...)
	return situations, refused, nil
}

type named struct {
	name    string
	message *parlance.Message
}

var (
	oslo   = parlance.Call{Name: "get_weather", Arguments: `{"city": "Oslo", "days": 2}`}
	bergen = parlance.Call{Name: "get_weather", Arguments: `{"city": "Bergen", "metric": true}`}
	hour   = parlance.Call{Name: "get_time", Arguments: `{}`}
)

// messages are the messages that are written as they are.
func (t *Trip) messages() (out []named) {
	add := func(name string, m *parlance.Message) { out = append(out, named{name, m}) }
	segments := func(parts ...any) *parlance.Message {
		m := &parlance.Message{}
		for _, part := range parts {
			switch part := part.(type) {
			case parlance.Segment:
				m.Segments = append(m.Segments, part)
			case parlance.Call:
				m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.ToolCall, Call: len(m.Calls)})
				m.Calls = append(m.Calls, part)
			}
		}
		return m
	}
	content := func(text string) parlance.Segment { return parlance.Segment{Kind: parlance.Content, Text: text} }
	reasoning := func(text string) parlance.Segment { return parlance.Segment{Kind: parlance.Reasoning, Text: text} }
	add("content", segments(content("All is well.")))
	if t.Thoughts {
		add("thinking before content", segments(reasoning("Need to think."), content("All is well.")))
		add("thinking alone", segments(reasoning("Need to think.")))
		add("thinking around content", segments(reasoning("One."), content("All"), reasoning("Two."), content(" is well.")))
		add("thinking of several lines", segments(reasoning("One.\n\nTwo  <b> — ünïcode 🙂"), content("x")))
	}
	if !t.Calls {
		return out
	}
	add("one call", segments(oslo))
	add("no arguments", segments(hour))
	add("parallel calls", segments(oslo, hour, bergen))
	add("one name twice", segments(oslo, bergen))
	add("prose before", segments(content("Let me look."), oslo))
	add("prose after", segments(oslo, content("Done.")))
	add("prose between", segments(content("First"), oslo, content(" then "), bergen, content("done.")))
	add("nested values", segments(parlance.Call{Name: "search", Arguments: `{"query": "q", "filters": {"lang": "en", "year": 1999, "deep": {"on": true}}, "ids": [1, 2], "grid": [[0.5], []]}`}))
	add("deep values", segments(parlance.Call{Name: "search", Arguments: `{"grid": ` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `, "filters": ` + strings.Repeat(`{"deep": `, 40) + `{}` + strings.Repeat("}", 40) + `}`}))
	add("unicode", segments(parlance.Call{Name: "write-file.v2", Arguments: `{"path": "größe/日本.txt", "text": "🙂 e\u0301 \u2028 \u0000 \"quoted\" \\ back"}`}))
	add("layout in values", segments(parlance.Call{Name: "write-file.v2", Arguments: `{"path": "", "text": "\nline\n\n", "lines": ["", " "]}`}))
	add("numbers at the edge", segments(parlance.Call{Name: "search", Arguments: `{"ids": [9007199254740993, -9223372036854775809, 123456789012345678901234567890], "grid": [[0.1, 1e-7, 1.50, 2.2250738585072014e-308, -0.0]]}`}))
	for k, marker := range t.markers() {
		add(fmt.Sprintf("marker %d in a value", k), segments(parlance.Call{Name: "write-file.v2", Arguments: `{"path": "a", "text": ` + quote("see "+marker+" here") + `}`}))
	}
	if t.Thoughts {
		add("thinking before a call", segments(reasoning("Need to look."), oslo))
		add("thinking, prose, call", segments(reasoning("Need to look."), content("Let me look."), oslo, hour))
		add("thinking around a call", segments(reasoning("One."), oslo, reasoning("Two."), content("x")))
	}
	return out
}

// definitions are those of the halves that are chosen.
func (t *Trip) definitions() (out []*grammar.Definition) {
	tool, reasoning, _ := t.Renderer.Parser().Definitions()
	for _, d := range []*grammar.Definition{tool, reasoning} {
		if d != nil && (len(out) == 0 || out[0] != d) {
			out = append(out, d)
		}
	}
	return out
}

// markers are the literals with a letter in them of what the trip can read.
func (t *Trip) markers() (out []string) {
	seen := map[string]bool{}
	for _, d := range t.definitions() {
		for _, rule := range d.Rules {
			grammar.Walk(rule.Body, func(e grammar.Expression) bool {
				if literal, ok := e.(*grammar.Literal); ok {
					if text := hole.ReplaceAllString(literal.Text, ""); strings.ContainsFunc(text, unicode.IsLetter) && !seen[text] {
						seen[text] = true
						out = append(out, text)
					}
				}
				return true
			})
		}
	}
	return out
}

func marked(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// spoiled are texts made from a rendered one by a fault that the rulings forgive.
func (t *Trip) spoiled(s *Situation) (out []Situation) {
	last := len(s.Parts) - 1
	for ; last >= 0; last-- {
		if kind := s.Parts[last].Kind; kind == render.PartArgument || kind == render.PartReasoning {
			break
		} else if kind == render.PartContent || kind == render.PartName {
			return nil
		}
	}
	if last < 0 {
		return nil
	}
	if part := s.Parts[last]; part.Kind == render.PartArgument && part.Call >= 0 && !strings.ContainsAny(s.Text[part.Start:part.End], "{[=:") && emptyLast(s.Message.Calls[part.Call].Arguments) {
		return nil // the part is a key, with an empty value behind it: without its closer nothing tells that it is there
	}
	// Missing closers: the turn ends behind the last argument, or the thought, or any marker after it (rulings 12, 40).
	for k := last + 1; k < len(s.Parts); k++ {
		end := s.Parts[k].Start
		if k > last+1 && (plain(s.Text[s.Parts[k-1].Start:end]) || plain(s.Text[end:s.Parts[k].End])) {
			continue // inside a marker of several parts
		}
		out = append(out, Situation{Name: fmt.Sprintf("%s, closers missing from byte %d", s.Name, end), Text: s.Text[:end], Want: s.Message})
	}
	return out
}

// plain tells a part of a marker that is written as words.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_ :", r)
	})
}

// broken is a good call behind one whose name cannot be read: that one is text, and the good one still counts
// (rulings 33, 35). It is for formats in which every call has a marker of its own: elements of a list stand and fall
// together, and in formats of messages what is missing in a header is made good.
func (t *Trip) broken(tools *parlance.Tools) []Situation {
	if tool, _, _ := t.Renderer.Parser().Definitions(); tool != nil && hasMessages(tool) {
		return nil
	}
	text, parts, err := t.Renderer.Outline(&parlance.Message{Calls: []parlance.Call{oslo, bergen}}, render.Options{Request: t.Request(tools)})
	if err != nil {
		return nil
	}
	from, to, marker := -1, -1, false
	for _, part := range parts {
		switch literal := text[part.Start:part.End]; {
		case part.Call == 0 && from < 0 && part.Kind == render.PartName:
			from, to = part.Start, part.End
		case part.Call == 1 && part.Kind == render.PartName:
			if !marker {
				return nil
			}
			name := "" // in quotes
			if text[from-1] != '"' {
				name = ")"
			}
			return []Situation{{Name: "a broken call before a good one", Text: text[:from] + name + text[to:], Want: &parlance.Message{Calls: []parlance.Call{bergen}}, CallsOnly: true}}
		case part.Call == 1 && part.Kind == render.PartMarkup:
			marker = marker || slices.Contains(t.markers(), literal) && !plain(literal)
		}
	}
	return nil
}

// textual are situations of text that only looks like markup.
func (t *Trip) textual(tools *parlance.Tools) (out []Situation) {
	const hold = "PLACE"
	replace := func(name string, m *parlance.Message, with string) {
		text, err := t.Renderer.Render(m, render.Options{Request: t.Request(tools)})
		if err != nil || strings.Count(text, hold) != 1 {
			return // the format has no such place
		}
		want := &parlance.Message{Reasoning: strings.Replace(m.Reasoning, hold, with, 1), Content: strings.Replace(m.Content, hold, with, 1), Calls: m.Calls}
		out = append(out, Situation{Name: name, Text: strings.Replace(text, hold, with, 1), Want: want})
	}
	text, err := t.Renderer.Render(&parlance.Message{}, render.Options{Request: t.Request(tools)})
	if err == nil {
		out = append(out, Situation{Name: "empty", Text: text, Want: &parlance.Message{}},
			Situation{Name: "blank", Text: text + " \n\t\n ", Want: &parlance.Message{}})
	}
	for _, near := range []string{"a < b", "<", "<x>", "[1, 2]", `{"a": 1}`, "[docs](url)", "f(x)", "```go\nx\n```", "`{`", "<|", "&amp;", "end."} {
		replace(fmt.Sprintf("content %q", near), &parlance.Message{Content: "x " + hold + " y"}, near)
		if t.Thoughts {
			replace(fmt.Sprintf("thought %q", near), &parlance.Message{Reasoning: "x " + hold + " y", Content: "z"}, near)
		}
	}
	opener, closer := t.callMarkers()
	if opener != "" {
		replace("quoted opener in content", &parlance.Message{Content: "write " + hold + " tags, then go on"}, opener)
		if t.Thoughts {
			replace("quoted opener in a thought", &parlance.Message{Reasoning: "write " + hold + " tags, then go on", Content: "z"}, opener)
		}
	}
	if closer != "" {
		replace("orphan closer", &parlance.Message{Content: "x " + hold + " y"}, closer)
		replace("orphan closer before a call", &parlance.Message{Content: "x " + hold + " y", Calls: []parlance.Call{oslo}}, closer)
	}
	return out
}

// callMarkers are the first and the last marker of a call with what encloses it, where calls stand in text: in formats of
// messages the markers of these are markup everywhere.
func (t *Trip) callMarkers() (opener, closer string) {
	tool, _, _ := t.Renderer.Parser().Definitions()
	if tool == nil || hasMessages(tool) {
		return "", ""
	}
	text, parts, err := t.Renderer.Outline(&parlance.Message{Calls: []parlance.Call{oslo}}, render.Options{Request: t.Request(nil)})
	if err != nil {
		return "", ""
	}
	thought, err := t.Renderer.Render(&parlance.Message{}, render.Options{Request: t.Request(nil)})
	if err != nil {
		return "", ""
	}
	for k := len(parts) - 1; k >= 0 && parts[k].Kind == render.PartMarkup; k-- {
		if literal := text[parts[k].Start:parts[k].End]; marked(literal) && !plain(literal) {
			closer = literal
			break
		}
	}
	for k := len(parts) - 1; k >= 0; k-- { // from the name back to the thought, if there is one, which has no call
		if literal := text[parts[k].Start:parts[k].End]; parts[k].Kind == render.PartName {
			opener = closer
		} else if opener != "" && parts[k].Kind == render.PartMarkup && marked(literal) && !plain(literal) {
			if strings.Contains(thought, literal) || t.frames(literal) {
				break
			}
			opener = literal
		}
	}
	if opener == closer {
		opener = ""
	}
	return opener, closer
}

// frames tells whether a text is a marker of a frame, which is markup wherever it stands.
func (t *Trip) frames(text string) (found bool) {
	for _, d := range t.definitions() {
		for _, rule := range d.Rules {
			if rule.Role() == grammar.Frame {
				grammar.Walk(rule.Body, func(e grammar.Expression) bool {
					literal, ok := e.(*grammar.Literal)
					found = found || ok && literal.Text == text
					return !found
				})
			}
		}
	}
	return found
}

// hasMessages tells whether the output of a format is made of messages.
func hasMessages(d *grammar.Definition) bool {
	return slices.ContainsFunc(d.Rules, func(rule *grammar.Rule) bool { return rule.Role() == grammar.Message })
}

// emptyLast tells whether the last value of a JSON text, at whatever depth, is an empty string, list or object.
func emptyLast(arguments string) bool {
	text := strings.TrimRight(arguments, "]} \t\r\n")
	return strings.HasSuffix(text, `: ""`) || strings.HasSuffix(text, `:""`) || strings.HasSuffix(text, "[") || strings.HasSuffix(text, "{")
}
