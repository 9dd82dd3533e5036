package roundtrip

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/render"
)

// CutDifference tells where what was read of the first at bytes of a situation is not what the rulings say, or "".
//
// Reasoning and content are what was written of them, and what stands at the end if it is half a marker (rulings 12, 18);
// calls that are over stand as they were (the arguments of the last one may lack what is still open); one that is open
// has its name and a beginning of its argument text (rulings 37 to 39); nothing else comes out.
func (t *Trip) CutDifference(s *Situation, full *parlance.Message, at int, got *parlance.Message) string {
	w := s.writtenUpTo(at, t.markers())
	if difference := t.textDifference(s, w, at, got); difference != "" {
		return difference
	}
	return t.callsDifference(s, w, full, at, got)
}

// written is what has been written of a situation where it is cut.
type written struct {
	text      *parlance.Message // the pieces of text and the calls whose names are there
	behind    int               // where what is behind the last text, or the last whole marker, begins
	calls     int               // calls that are over
	open      int               // the one that has begun, or -1
	arguments int               // parts of its arguments that have begun
	markers   []string
}

func (s *Situation) writtenUpTo(at int, markers []string) written {
	w := written{text: &parlance.Message{Calls: s.Message.Calls}, open: -1, markers: markers}
	add := func(segment parlance.Segment) { w.text.Segments = append(w.text.Segments, segment) }
	for _, part := range s.Parts {
		if part.Start >= at {
			break
		}
		end := min(part.End, at)
		whole := part.End <= at
		text := s.Text[part.Start:end]
		switch part.Kind {
		case render.PartReasoning, render.PartContent:
			kind := parlance.Reasoning
			if part.Kind == render.PartContent {
				kind = parlance.Content
			}
			add(parlance.Segment{Kind: kind, Text: text})
			w.behind = end
			if w.open >= 0 {
				w.calls, w.open = w.open+1, -1
			}
		case render.PartMarkup:
			if whole && slices.Contains(markers, text) {
				w.behind = end
			}
		case render.PartName:
			if w.open >= 0 && part.Call != w.open {
				w.calls = w.open + 1
			}
			if whole && part.Call >= w.calls {
				w.open, w.arguments = part.Call, 0
				add(parlance.Segment{Kind: parlance.ToolCall, Call: w.open})
			}
		case render.PartArgument:
			w.arguments++
		}
	}
	return w
}

// textDifference tells where the reasoning or the content is not what was written of it, or "".
func (t *Trip) textDifference(s *Situation, w written, at int, got *parlance.Message) string {
	reasoning, content := t.Renderer.Expected(w.text)
	// What is no text yet, and no whole marker: half a marker, or markup of a format without markers.
	starts := []int{w.behind}
	for _, part := range s.Parts {
		if part.Start > w.behind && part.Start < at {
			starts = append(starts, part.Start)
		}
	}
	reasoningExact, contentExact := strings.TrimSpace(got.Reasoning) == reasoning, strings.TrimSpace(got.Content) == content
	reasoningFits, contentFits := reasoningExact, contentExact
	for _, start := range starts {
		rest := s.Text[start:at]
		longer := func(kind parlance.Kind) (reasoning, content string) {
			m := &parlance.Message{Segments: append(slices.Clip(w.text.Segments), parlance.Segment{Kind: kind, Text: rest})}
			return t.Renderer.Expected(m)
		}
		r, _ := longer(parlance.Reasoning)
		_, c := longer(parlance.Content)
		reasoningFits = reasoningFits || contentExact && dense(got.Reasoning) == dense(r)
		contentFits = contentFits || reasoningExact && (dense(got.Content) == dense(c) || dense(got.Content) == dense(content+rest))
	}
	switch {
	case !reasoningFits:
		return fmt.Sprintf("expected the reasoning %q, or with an end of %q behind it, found %q", reasoning, s.Text[w.behind:at], got.Reasoning)
	case !contentFits:
		return fmt.Sprintf("expected the content %q, or with an end of %q behind it, found %q", content, s.Text[w.behind:at], got.Content)
	}
	return ""
}

// callsDifference tells where the calls are not those that were written, or "". full are the calls of the whole text.
func (t *Trip) callsDifference(s *Situation, w written, full *parlance.Message, at int, got *parlance.Message) string {
	most := w.calls
	if w.open >= 0 {
		most = w.open + 1
	}
	switch n := len(got.Calls); {
	case n < w.calls:
		return fmt.Sprintf("expected %d calls that are over, found %d", w.calls, n)
	case n > most:
		return fmt.Sprintf("expected no more than %d calls, found %d", most, n)
	case w.open >= 0 && n < most && w.arguments > 1:
		return fmt.Sprintf("expected the call of %s, whose arguments have begun", s.Message.Calls[w.open].Name)
	}
	for k, call := range got.Calls {
		want := full.Calls[k]
		if call.Name != want.Name {
			return fmt.Sprintf("call %d: expected the name %q, found %q", k, want.Name, call.Name)
		}
		if conformance.SameJSON(call.Arguments, want.Arguments) {
			continue
		}
		if k < w.calls {
			return fmt.Sprintf("call %d: expected the arguments %s, found %s", k, want.Arguments, call.Arguments)
		}
		n := commonPrefix(call.Arguments, want.Arguments)
		if more := call.Arguments[n:]; more != "" && !t.halfCloser(s.Text[:at], more) && !t.closersBehind(s.Text[:at], more, w.markers) {
			return fmt.Sprintf("call %d: expected a beginning of %s, found %s", k, want.Arguments, call.Arguments)
		}
	}
	return ""
}

// dense leaves out white space: layout beside a marker that is not whole belongs to the text.
func dense(text string) string { return strings.Join(strings.Fields(text), "") }

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// halfCloser tells whether what stands behind the arguments is the end of the text, as a string has it: half a closer at
// a cut belongs to a string value (ruling 39).
func (t *Trip) halfCloser(text, more string) bool {
	for from := len(text) - 1; from >= 0 && len(text)-from <= 128; from-- {
		if string(codec.AppendString(nil, []byte(text[from:]))) == more {
			return true
		}
	}
	return false
}

// closersBehind tells whether a string was closed because closers of what is around it, quoted in it, are the end of the
// text: they end the value (ruling 31).
func (t *Trip) closersBehind(text, more string, markers []string) bool {
	return more == `"}` && slices.ContainsFunc(markers, func(marker string) bool { return strings.HasSuffix(strings.TrimSpace(text), marker) })
}
