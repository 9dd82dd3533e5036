package detect

import (
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// watched reads a text under watch, in pieces of four bytes.
func watched(t testing.TB, tool, reasoning, text string, request parlance.Request, reason parlance.FinishReason) []Alarm {
	return watchedWith(t, nil, tool, reasoning, text, request, reason)
}

// watchedWith is the same for a request whose tools are known, unless they are nil.
func watchedWith(t testing.TB, tools []string, tool, reasoning, text string, request parlance.Request, reason parlance.FinishReason) []Alarm {
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(p, p.PromptState(request))
	if tools != nil {
		w.Declare(tools...)
	}
	s := p.Stream(request)
	for rest := []byte(text); len(rest) > 0; {
		n := min(4, len(rest))
		w.Write(rest[:n], s.Write(rest[:n]))
		rest = rest[n:]
	}
	return w.Close(s.Close(reason))
}

// callsOf are texts of every format with whole calls.
func callsOf(t testing.TB) map[string][]sampleCase {
	out := map[string][]sampleCase{}
	for _, c := range casesOf(t) {
		if !c.plain() {
			continue
		}
		p, err := parlance.Lookup(c.Tool, "")
		if err != nil {
			t.Fatal(err)
		}
		if m := p.Parse(c.Text, parlance.Request{SpecialTokens: c.Special}, parlance.FinishStop); len(m.Calls) > 0 && !m.Malformed {
			out[formatOf(c.Tool)] = append(out[formatOf(c.Tool)], c)
		}
	}
	return out
}

// TestAlarmMatrix reads a call of every format with the parser of every other whose calls begin otherwise: the alarm
// names the format, or one whose calls begin in the same way.
func TestAlarmMatrix(t *testing.T) {
	calls := callsOf(t)
	var formats []*family
	for _, f := range standard().families {
		// Dialects that share a name with another format are chosen by the vocabulary, and are not read by name.
		// What comes at run time is read in the cases of its own.
		if len(f.ToolNames) > 0 && !f.ResponseTemplate && formatOf(f.ToolNames[0]) == f.Name {
			formats = append(formats, f)
		}
	}
	pairs, raised := 0, 0
	var missing []string
	for _, a := range formats {
		i := slices.IndexFunc(calls[a.Name], func(c sampleCase) bool { return !strings.HasPrefix(c.ID, "found/") })
		if i < 0 {
			t.Errorf("%s: no case with a call", a.Name)
			continue
		}
		text := calls[a.Name][i].Text
		p, err := parlance.Lookup(a.ToolNames[0], "")
		if err != nil {
			t.Fatal(err)
		}
		var tools []string
		for _, call := range p.Parse(text, parlance.Request{SpecialTokens: calls[a.Name][i].Special}, parlance.FinishStop).Calls {
			tools = append(tools, call.Name)
		}
		for _, b := range formats {
			if alike(a, b) {
				continue
			}
			pairs++
			alarms := watchedWith(t, tools, b.ToolNames[0], "", text, parlance.Request{}, parlance.FinishStop)
			k := slices.IndexFunc(alarms, func(a Alarm) bool { return a.Kind == OtherFormat })
			if k < 0 {
				missing = append(missing, a.Name+" read by "+b.Name)
				continue
			}
			raised++
			named := slices.IndexFunc(formats, func(f *family) bool { return f.Name == alarms[k].Format })
			if !alike(a, formats[named]) {
				t.Errorf("%s read by %s: the alarm names %s, whose calls begin otherwise: %q", a.Name, b.Name, alarms[k].Format, text)
			}
		}
	}
	t.Logf("%d of %d pairs raise the alarm (%.1f %%); none: %s", raised, pairs, 100*float64(raised)/float64(pairs), strings.Join(missing, ", "))
	if raised*100 < pairs*95 {
		t.Error("less than 95 %")
	}
}

// alike tells whether calls of two formats can begin in the same way.
func alike(a, b *family) bool {
	if a.Name == b.Name || a.CallsBare && b.CallsBare && len(a.openers) == 0 && len(b.openers) == 0 {
		return true
	}
	return slices.ContainsFunc(a.CallOpeners, func(opener string) bool { return slices.Contains(b.CallOpeners, opener) })
}

// meant are the cases whose text is meant to be wrong for the parsers that read it, with the alarm that is right.
var meant = map[string]AlarmKind{
	"longcat/hermes-marker-is-text":      OtherFormat,   // another format's call
	"qwen3_coder/json-body-stays-text":   OtherFormat,   // likewise
	"qwen3_coder/xml-alias-call":         OtherThought,  // a thought, and no reasoning parser
	"qwen3_json/no-reasoning-parser":     OtherThought,  // likewise
	"xlam/think_then_array":              OtherThought,  // likewise
	"qwen3_json/r1-call-in-open-thought": CallInThought, // the thought is never closed
}

func TestOwnCasesRaiseNoAlarm(t *testing.T) {
	cases := 0
	for _, c := range casesOf(t) {
		request := parlance.Request{Prompt: c.Prompt, SpecialTokens: c.Special}
		var err error
		if request.ToolChoice, err = parlance.ParseToolChoice(c.Choice); err != nil {
			t.Fatal(err)
		}
		cases++
		alarms := watched(t, c.Tool, c.Reasoning, c.Text, request, parlance.FinishReason(c.Finish))
		if want, ok := meant[c.ID]; ok {
			if len(alarms) != 1 || alarms[0].Kind != want {
				t.Errorf("%s: %v, want one alarm, %s", c.ID, alarms, want)
			}
			continue
		}
		for _, alarm := range alarms {
			t.Errorf("%s (%s, %s): %s: %q", c.ID, c.Tool, c.Reasoning, alarm.Says, c.Text)
		}
	}
	t.Logf("%d cases", cases)
}

// TestThoughtNeverOpened: the model closes a thought, and nothing has opened one.
func TestThoughtNeverOpened(t *testing.T) {
	alarms := watched(t, "", "qwen3", "I think so.</think>Yes.", parlance.Request{ChatTemplateKwargs: map[string]any{"enable_thinking": false}}, parlance.FinishStop)
	if len(alarms) != 1 || alarms[0].Kind != NeverOpened {
		t.Errorf("%v", alarms)
	}
	if alarms := watched(t, "", "qwen3", "<think>I think so.</think>Yes.", parlance.Request{}, parlance.FinishStop); len(alarms) > 0 {
		t.Errorf("%v", alarms)
	}
}

// TestLongAnswers: what is kept of an answer is bounded, and a call late in a long answer is still noticed.
func TestLongAnswers(t *testing.T) {
	call := callsOf(t)["qwen3_coder"][0].Text
	text := strings.Repeat("Nothing but text, and a lot of it. ", 20000) + call
	p, err := parlance.Lookup("llama3_json", "")
	if err != nil {
		t.Fatal(err)
	}
	w, s := NewWatch(p, parlance.PromptState{}), p.Stream(parlance.Request{})
	for rest := []byte(text); len(rest) > 0; rest = rest[min(64, len(rest)):] {
		w.Write(rest[:min(64, len(rest))], s.Write(rest[:min(64, len(rest))]))
		if cap(w.raw) > 2*mostKept {
			t.Fatalf("%d bytes are kept", cap(w.raw))
		}
	}
	alarms := w.Close(s.Close(parlance.FinishStop))
	if len(alarms) == 0 || alarms[0].Kind != OtherFormat {
		t.Errorf("%v", alarms)
	}
}

// BenchmarkWatch: what the watch costs beside the parser, for each piece of four bytes of plain content; and both
// together, as the server runs them.
func BenchmarkWatch(b *testing.B) {
	p, err := parlance.Lookup("hermes", "qwen3")
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.Repeat("The weather in Paris is fine today, 21 degrees. ", 2000))
	open := parlance.Request{Prompt: "<think>\n</think>\n"}
	next := func(i int) int {
		if i += 4; i+4 > len(text) {
			return 0
		}
		return i
	}
	b.Run("watch", func(b *testing.B) {
		deltas, w := []parlance.Delta{{Kind: parlance.Content}}, NewWatch(p, parlance.PromptState{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i = next(i) {
			deltas[0].Text = text[i : i+4]
			w.Write(text[i:i+4], deltas)
		}
	})
	b.Run("parser", func(b *testing.B) {
		s := p.Stream(open)
		b.ReportAllocs()
		for i := 0; b.Loop(); i = next(i) {
			s.Write(text[i : i+4])
		}
	})
	b.Run("both", func(b *testing.B) {
		s, w := p.Stream(open), NewWatch(p, parlance.PromptState{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i = next(i) {
			w.Write(text[i:i+4], s.Write(text[i:i+4]))
		}
	})
}
