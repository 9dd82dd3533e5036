package parlance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// parserData is what testdata/parsers.json says of the parser names.
type parserData struct {
	Call         map[string]string
	Thought      map[string][2]string
	Whole        map[string]string
	Template     json.RawMessage
	KeepsThought []string `json:"keeps_thought"`

	wholeTool, wholeReasoning map[string]string // the formats of Whole, by their parser names
}

var parserNames = sync.OnceValue(func() *parserData {
	d := &parserData{}
	read("testdata/parsers.json", d)
	d.wholeTool, d.wholeReasoning = map[string]string{}, map[string]string{}
	for format := range d.Whole {
		info, _ := Format(format)
		for _, name := range info.ToolNames {
			d.wholeTool[name] = format
		}
		for _, name := range info.ReasoningNames {
			d.wholeReasoning[name] = format
		}
	}
	return d
})

// TestAllNamesResolve: the 58 and 42 names of vLLM 0.33.0, and of formats that it does not have those that the data know too.
func TestAllNamesResolve(t *testing.T) {
	d := parserNames()
	if want := slices.Sorted(maps.Keys(d.Call)); len(want) < 58 || !slices.Equal(ToolNames(), want) {
		t.Errorf("tool parsers: expected %d %q\nfound %d %q", len(want), want, len(ToolNames()), ToolNames())
	}
	if want := slices.Sorted(maps.Keys(d.Thought)); len(want) < 42 || !slices.Equal(ReasoningNames(), want) {
		t.Errorf("reasoning parsers: expected %d %q\nfound %d %q", len(want), want, len(ReasoningNames()), ReasoningNames())
	}
}

// verdict is what is to become of a pair of names: an error, or a text with what is read of it.
type verdict struct {
	refused                  string
	text                     string
	calls                    bool
	thought, content, format string
}

// verdict says what the data holds of a pair; "" is no name.
func (d *parserData) verdict(tool, reasoning string) (v verdict) {
	reads := func(name string) bool { return name == "hf" || name == "beam" }
	a, b := d.wholeTool[tool], d.wholeReasoning[reasoning]
	switch {
	case tool == "" && reasoning == "":
		return verdict{refused: "expected the name of a tool parser or of a reasoning parser, found neither"}
	case tool != "" && reasoning != "" && (reads(tool) || reads(reasoning)) && tool != reasoning:
		return verdict{refused: fmt.Sprintf("--reasoning-parser %s and --tool-call-parser %s cannot be combined: both halves of a response template come from the one template", reasoning, tool)}
	case tool != "" && a != "" && b != "" && a != b:
		return verdict{refused: fmt.Sprintf("--reasoning-parser %s and --tool-call-parser %s cannot be combined: each reads the whole output itself", reasoning, tool)}
	case tool != "" && reasoning != "" && a+b != "":
		v = verdict{calls: true, thought: "hm", format: a}
		if a == "" {
			v.format = b
		}
		v.text = d.Whole[v.format]
		return v
	case reasoning == "":
		return verdict{text: d.Call[tool], calls: true}
	}
	around := d.Thought[reasoning]
	v.thought = "hm"
	if slices.Contains(d.KeepsThought, reasoning) {
		v.thought, v.content = "", around[0]
	}
	if tool == "" {
		v.text, v.content = around[0]+"ok"+around[1], v.content+"ok"
		return v
	}
	v.text, v.calls = around[0]+d.Call[tool]+around[1], true
	return v
}

// TestCombinations: any tool parser goes together with any reasoning parser or is refused with the reason, and each pair
// that works reads a text that shows both halves, whole and streamed. A format that always reads the whole output does
// so whatever is named for its other half.
func TestCombinations(t *testing.T) {
	d := parserNames()
	template, err := ParseResponseTemplate(d.Template)
	if err != nil {
		t.Fatal(err)
	}
	tools := append([]string{""}, slices.Sorted(maps.Keys(d.Call))...)
	reasonings := append([]string{""}, slices.Sorted(maps.Keys(d.Thought))...)
	for i, tool := range tools {
		t.Run("tool="+tool, func(t *testing.T) {
			t.Parallel()
			for k, reasoning := range reasonings {
				if testing.Short() && tool != "" && reasoning != "" && (i+k)%9 != 0 {
					continue
				}
				combination(t, d, tool, reasoning, template)
			}
		})
	}
}

func combination(t *testing.T, d *parserData, tool, reasoning string, template *ResponseTemplate) {
	t.Helper()
	want := d.verdict(tool, reasoning)
	// Parsers that are looked up are kept; made anew they are not.
	o := &lookup{library: Default().library(), tool: tool, reasoning: reasoning, template: template}
	if tool == "" && reasoning == "" || want.refused != "" {
		_, err := LookupTemplate(tool, reasoning, template)
		if err == nil || err.Error() != want.refused {
			t.Errorf("%q with %q: expected %q, found %v", tool, reasoning, want.refused, err)
		}
		if refused := (*CombinationError)(nil); tool+reasoning != "" && !errors.As(err, &refused) {
			t.Errorf("%q with %q: %T", tool, reasoning, err)
		}
		return
	}
	p, err := newParser(o)
	if err != nil {
		t.Errorf("%q with %q: %v", tool, reasoning, err)
		return
	}
	if want.format != "" && (p.toolHalf.Format != want.format || p.reasoningHalf.Format != want.format) {
		t.Errorf("%q with %q: read by %s and %s, want %s", tool, reasoning, p.toolHalf.Format, p.reasoningHalf.Format, want.format)
	}
	// Some families think only when asked to.
	request := Request{ChatTemplateKwargs: map[string]any{"thinking": true, "enable_thinking": true, "reasoning_effort": "high"}}
	s := sample{parser: p, text: want.text, request: request, reason: FinishStop}
	for way, m := range map[string]*Message{
		"whole": p.Parse(want.text, request, FinishStop), "streamed": streamed(t, s, want.text, func() int { return 1 }),
	} {
		calls := len(m.Calls) == 0
		if want.calls {
			calls = len(m.Calls) == 1 && m.Calls[0].Name == "get_weather" && strings.Join(strings.Fields(m.Calls[0].Arguments), "") == `{"city":"Paris"}`
		}
		if !calls || m.Reasoning != want.thought || m.Content != want.content {
			t.Errorf("%q with %q, %s: %q\nexpected a call: %v, R %q, C %q\nfound %s", tool, reasoning, way, want.text, want.calls, want.thought, want.content, describe(m))
		}
	}
}
