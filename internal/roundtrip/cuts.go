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
	behind := 0 // where what is behind the last text, or the last whole marker, begins
	markers := t.markers()
	calls, open := 0, -1 // calls that are over, and the one that has begun
	arguments := 0       // parts of arguments of the open one that have begun
	segments := &parlance.Message{Calls: s.Message.Calls}
	for _, part := range s.Parts {
		if part.Start >= at {
			break
		}
		end := min(part.End, at)
		whole := part.End <= at
		written := s.Text[part.Start:end]
		switch part.Kind {
		case render.PartReasoning, render.PartContent:
			kind := parlance.Reasoning
			if part.Kind == render.PartContent {
				kind = parlance.Content
			}
			segments.Segments = append(segments.Segments, parlance.Segment{Kind: kind, Text: written})
			behind = end
			if open >= 0 {
				calls, open = open+1, -1
			}
		case render.PartMarkup:
			if whole && slices.Contains(markers, written) {
				behind = end
			}
		case render.PartName:
			if open >= 0 && part.Call != open {
				calls = open + 1
			}
			if whole && part.Call >= calls {
				open, arguments = part.Call, 0
				segments.Segments = append(segments.Segments, parlance.Segment{Kind: parlance.ToolCall, Call: open})
			}
		case render.PartArgument:
			arguments++
		}
	}
	reasoning, content := t.Renderer.Expected(segments)
	// What is no text yet, and no whole marker: half a marker, or markup of a format without markers.
	starts := []int{behind}
	for _, part := range s.Parts {
		if part.Start > behind && part.Start < at {
			starts = append(starts, part.Start)
		}
	}
	reasoningExact, contentExact := strings.TrimSpace(got.Reasoning) == reasoning, strings.TrimSpace(got.Content) == content
	reasoningFits, contentFits := reasoningExact, contentExact
	for _, start := range starts {
		rest := s.Text[start:at]
		longer := func(kind parlance.Kind) (reasoning, content string) {
			m := &parlance.Message{Segments: append(slices.Clip(segments.Segments), parlance.Segment{Kind: kind, Text: rest})}
			return t.Renderer.Expected(m)
		}
		r, _ := longer(parlance.Reasoning)
		_, c := longer(parlance.Content)
		reasoningFits = reasoningFits || contentExact && dense(got.Reasoning) == dense(r)
		contentFits = contentFits || reasoningExact && (dense(got.Content) == dense(c) || dense(got.Content) == dense(content+rest))
	}
	switch {
	case !reasoningFits:
		return fmt.Sprintf("expected the reasoning %q, or with an end of %q behind it, found %q", reasoning, s.Text[behind:at], got.Reasoning)
	case !contentFits:
		return fmt.Sprintf("expected the content %q, or with an end of %q behind it, found %q", content, s.Text[behind:at], got.Content)
	}
	most := calls
	if open >= 0 {
		most = open + 1
	}
	switch n := len(got.Calls); {
	case n < calls:
		return fmt.Sprintf("expected %d calls that are over, found %d", calls, n)
	case n > most:
		return fmt.Sprintf("expected no more than %d calls, found %d", most, n)
	case open >= 0 && n < most && arguments > 1:
		return fmt.Sprintf("expected the call of %s, whose arguments have begun", s.Message.Calls[open].Name)
	}
	for k, call := range got.Calls {
		want := full.Calls[k]
		if call.Name != want.Name {
			return fmt.Sprintf("call %d: expected the name %q, found %q", k, want.Name, call.Name)
		}
		if conformance.SameJSON(call.Arguments, want.Arguments) {
			continue
		}
		if k < calls {
			return fmt.Sprintf("call %d: expected the arguments %s, found %s", k, want.Arguments, call.Arguments)
		}
		n := commonPrefix(call.Arguments, want.Arguments)
		if more := call.Arguments[n:]; more != "" && !t.halfCloser(s.Text[:at], more) && !t.closersBehind(s.Text[:at], more, markers) {
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
