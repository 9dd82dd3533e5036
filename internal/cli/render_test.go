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
		"results": {
			[]string{"--tool-call-parser", "openai"}, `[{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}, {"id": "b", "function": {"name": "g", "arguments": {}}}]}, {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "y"}]}, {"role": "tool", "tool_call_id": "a", "content": {"n": [1,2]}}, {"role": "assistant", "content": "z"}]`,
			`{"index":2,"results":2,"text":"<|start|>functions.g to=assistant<|channel|>commentary<|message|>y<|end|><|start|>functions.f to=assistant<|channel|>commentary<|message|>{\"n\": [1, 2]}<|end|><|start|>assistant"}` + "\n" + `{"index":4,"text":"<|channel|>final<|message|>z<|end|>"}`, "", 0,
		},
		"results that are JSON": {
			[]string{"--tool-call-parser", "llama4_json"}, `[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": [1,2]}, {"role": "tool", "content": 1.50}, {"role": "tool", "content": true}, {"role": "tool", "content": null}]`,
			`ipython<|header_end|>\n\n[1, 2]<|eom|><|header_start|>ipython<|header_end|>\n\n1.50<|eom|><|header_start|>ipython<|header_end|>\n\ntrue<|eom|><|header_start|>ipython<|header_end|>\n\n\"\"<|eom|>`, "", 0,
		},
		"a variant of results": {
			[]string{"--tool-call-parser", "pythonic", "--results", "gemma3"}, `[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "y"}]`,
			`{"index":1,"results":1,"text":"<end_of_turn>\n<start_of_turn>user\n<tool_response>\ny\n</tool_response><end_of_turn>\n<start_of_turn>model\n"}`, "", 0,
		},
		"ids through a conversation": {
			[]string{"--tool-call-parser", "kimi_k2"}, `[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "y"}, {"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": {}}}]}, {"role": "tool", "content": "z"}]`,
			`## Return of functions.g:1\nz`, "", 0,
		},
		"results that are not known": {
			[]string{"--tool-call-parser", "dots"}, `[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "y"}, {"role": "assistant", "content": "z"}]`,
			`{"index":1,"results":1,"error":"dots cannot carry the message (results): the definition dots does not say how tool results are written: no chat template of the family is known","reason":"results"}` + "\n" + `{"index":2,"text":"z"}`, "", 1,
		},
		"a picture as a result": {
			[]string{"--tool-call-parser", "hermes"}, `[{"role": "tool", "content": [{"type": "image_url"}]}]`,
			"", `standard input: message 0: content: part 0: expected text, found "image_url"`, 1,
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

// TestRenderWithoutTools: where a format writes no types, the error says what does.
func TestRenderWithoutTools(t *testing.T) {
	message := `{"tool_calls": [{"name": "f", "arguments": "{\"days\": 3}"}]}`
	o := run(t, message, "render", "--tool-call-parser", "qwen3_coder")
	if o.status != 1 || !strings.Contains(o.complaints, "--tools FILE") {
		t.Errorf("status %d, %q", o.status, o.complaints)
	}
	tools := file(t, "tools.json", `[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}}]`)
	if o := run(t, message, "render", "--tool-call-parser", "qwen3_coder", "--tools", tools); o.status != 0 {
		t.Errorf("status %d, %q", o.status, o.complaints)
	}
}
