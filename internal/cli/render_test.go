package cli

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		in        string
		out       string
		complaint string
		status    int
	}{
		"a message": {
			[]string{"--tool-call-parser", "hermes"}, `{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}`,
			"<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>", "", 0,
		},
		"as parse prints it": {
			[]string{"--tool-call-parser", "kimi_k2"}, `{"reasoning": "", "content": "AB", "tool_calls": [{"id": "", "name": "f", "arguments": "{}"}], "segments": [{"type": "content", "text": "A"}, {"type": "tool_call", "index": 0}, {"type": "content", "text": "B"}]}`,
			"A<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>B", "", 0,
		},
		"a conversation": {
			[]string{"--tool-call-parser", "kimi_k2"}, `[{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "y"}, {"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": {}}}]}]`,
			`functions.g:1`, "", 0,
		},
		"what cannot be carried": {
			[]string{"--tool-call-parser", "pythonic"}, `{"tool_calls": [{"name": "f", "arguments": "{\"two words\": 1}"}]}`,
			"", `standard input: pythonic cannot carry the message (key of call 0)`, 1,
		},
		"in a conversation": {
			[]string{"--tool-call-parser", "pythonic"}, `[{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{\"two words\": 1}"}]}]`,
			`"reason":"key"`, "", 1,
		},
		"no name": {[]string{}, `{}`, "", "found neither", 2},
		"no JSON": {[]string{"--tool-call-parser", "hermes"}, `nothing`, "", "standard input: ", 1},
		"nameless": {
			[]string{"--tool-call-parser", "hermes"}, `{"tool_calls": [{"function": {"arguments": "{}"}}]}`,
			"", "tool_calls[0]: expected the name of a function", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, complaints strings.Builder
			status := Main(append([]string{"render"}, c.arguments...), strings.NewReader(c.in), &out, &complaints)
			if status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(complaints.String(), c.complaint) {
				t.Errorf("status %d\n out %s\n complaints %s", status, out.String(), complaints.String())
			}
		})
	}
}
