package doctor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/doctor"
	"github.com/parlance-llm/parlance/engine"
)

const (
	hermesCall = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"
	coderCall  = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
	// plainTemplate shows the tools and nothing of calls, blindTemplate not even those.
	plainTemplate = `{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`
	blindTemplate = `{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`
)

// hermes are the flags of a server that reads Hermes.
var hermes = []string{"--enable-auto-tool-choice", "--tool-call-parser", "hermes"}

// fault is a target with something wrong, and what is to be found.
type fault struct {
	name string
	// model is what replay plays behind Parlance with these flags; target, where it is set, makes another target.
	model   engine.RecordedModel
	flags   []string
	target  func(t *testing.T) string
	options doctor.Options
	// want are the codes, the cause first; change is a part of the change to make.
	want   []string
	change string
}

// writes is a model that always writes one text.
func writes(text string) engine.RecordedModel {
	return engine.RecordedModel{Recordings: []engine.Recording{{Text: text}}}
}

func constrained(is bool) engine.RecordingMatch { return engine.RecordingMatch{Constrained: &is} }

// transcript writes prompts like ChatML.
func transcript(tools, generation, off string) *engine.Transcript {
	return &engine.Transcript{
		Roles: map[string][2]string{"user": {"<|im_start|>user\n", "<|im_end|>\n"}}, Tools: [2]string{tools, "\n"},
		Generation: "<|im_start|>assistant\n" + generation, GenerationWithoutThinking: "<|im_start|>assistant\n" + off,
		ThinkingOff: map[string]any{"enable_thinking": false},
	}
}

func faults() []fault {
	thinking := slices.Concat(hermes, []string{"--reasoning-parser", "qwen3"})
	off := map[string]any{"enable_thinking": false}
	return []fault{
		{name: "parser of another family, no flags", model: writes(coderCall), flags: hermes,
			want: []string{"other-tool-parser"}, change: "--tool-call-parser qwen3_coder"},
		{name: "parser of another family", model: writes(coderCall), flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			want: []string{"other-tool-parser"}, change: "--tool-call-parser qwen3_coder"},
		{name: "parser of another family, in front of an engine", options: doctor.Options{ToolCallParser: "hermes", ChatTemplate: plainTemplate},
			target: func(t *testing.T) string { return fake(t, coderCall, nil) },
			want:   []string{"other-tool-parser", "template-drops-calls"}, change: "--tool-call-parser qwen3_coder"},
		{name: "no tool parser", model: writes(hermesCall), flags: nil,
			want: []string{"auto-tools-off"}, change: "--enable-auto-tool-choice --tool-call-parser hermes"},
		{name: "no tool parser, and nothing tells which", model: writes("No call at all."), flags: nil,
			want: []string{"auto-tools-off"}, change: "parlance detect finds the NAME out"},
		{name: "auto-tools off", model: writes("<think>Hm.</think>" + hermesCall), flags: []string{"--tool-call-parser", "hermes", "--reasoning-parser", "qwen3"},
			want: []string{"auto-tools-off"}, change: "--enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser"},
		{name: "a server that reads nothing", target: func(t *testing.T) string {
			return fake(t, "", func(asked) said { return said{Content: hermesCall, Finish: "stop"} })
		}, want: []string{"no-tool-parser"}, change: "--tool-call-parser hermes"},
		{name: "no reasoning parser, no flags", model: writes("<think>Hm.</think>\n\n" + hermesCall), flags: hermes,
			want: []string{"no-reasoning-parser"}, change: "--reasoning-parser"},
		{name: "no reasoning parser", model: writes("<think>Hm.</think>\n\n" + hermesCall), flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			want: []string{"no-reasoning-parser"}, change: "--reasoning-parser"},
		{name: "no reasoning parser, the prompt opens the thought", target: func(t *testing.T) string {
			return fake(t, "", func(asked) said {
				return said{Content: "Hm.</think>", Name: "get_weather", Arguments: `{"city": "Paris"}`, Finish: "tool_calls"}
			})
		}, options: doctor.Options{ChatTemplate: "deepseek_r1"}, want: []string{"no-reasoning-parser"}, change: "--reasoning-parser deepseek_r1"},
		{name: "reasoning parser of another family", model: writes("<think>Hm.</think>\n\n" + hermesCall), flags: slices.Concat(hermes, []string{"--reasoning-parser", "gemma4"}),
			options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "gemma4"}, want: []string{"other-reasoning-parser"}, change: "--reasoning-parser"},
		{name: "template ignores the tools", model: writes("Hi."), flags: slices.Concat(hermes, []string{"--chat-template", blindTemplate}),
			want: []string{"template-ignores-tools"}, change: "--chat-template"},
		{name: "template shows another syntax", model: writes(hermesCall), flags: hermes, options: doctor.Options{ToolCallParser: "hermes", ChatTemplate: "mistral"},
			want: []string{"template-other-syntax"}, change: "--tool-call-parser"},
		{name: "template drops calls", model: writes(hermesCall), flags: hermes, options: doctor.Options{ToolCallParser: "hermes", ChatTemplate: plainTemplate},
			want: []string{"template-drops-calls"}, change: "--chat-template"},
		{name: "unknown argument", model: writes(hermesCall), flags: hermes, options: doctor.Options{ToolCallParser: "hermes", ChatTemplate: plainTemplate, Kwargs: map[string]any{"deep_thinking": true}},
			want: []string{"template-drops-calls", "unknown-kwargs"}, change: "--chat-template"},
		{name: "unknown argument, the template is not known", model: writes(hermesCall), flags: hermes, options: doctor.Options{Kwargs: map[string]any{"deep_thinking": true}},
			want: []string{"unknown-kwargs"}, change: "leave them out"},
		{name: "markers stripped", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Transcript: transcript("Answer in <tool_call> with one of ", "", ""),
				Recordings: []engine.Recording{{Text: `{"name": "get_weather", "arguments": {"city": "Paris"}}`}}},
			want: []string{"markers-stripped"}, change: "skip_special_tokens=false"},
		{name: "engine parses calls", options: doctor.Options{Engine: "openai-chat", ToolCallParser: "hermes"},
			target: func(t *testing.T) string { return fake(t, "", func(asked) said { return good() }) },
			want:   []string{"engine-parses"}, change: "without its own parsers"},
		{name: "engine parses thoughts", options: doctor.Options{Engine: "openai-chat", ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			target: func(t *testing.T) string {
				return fake(t, "", func(asked) said { return said{Reasoning: "Hm.", Content: hermesCall, Finish: "stop"} })
			},
			want: []string{"engine-parses"}, change: "without its own parsers"},
		{name: "thinking open against the switch", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3", Kwargs: off},
			model: engine.RecordedModel{Transcript: transcript("", "", "<think>\n"), Recordings: []engine.Recording{{Text: "Hm.</think>" + hermesCall}}},
			want:  []string{"thinking-against-switch"}, change: "--chat-template"},
		{name: "thinking closed against the switch", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			model: engine.RecordedModel{Transcript: transcript("", "<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n"), Recordings: []engine.Recording{{Text: hermesCall}}},
			want:  []string{"thinking-against-switch"}, change: "enable_thinking"},
		{name: "thinking all the same", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			model: engine.RecordedModel{Transcript: transcript("", "", "<think>\n\n</think>\n\n"), Recordings: []engine.Recording{{Text: "<think>Hm.</think>" + hermesCall}}},
			want:  []string{"thinking-against-switch"}, change: "--chat-template"},
		{name: "thought never opened", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3", Kwargs: off},
			model: engine.RecordedModel{Transcript: transcript("", "", "x"), Recordings: []engine.Recording{{Text: "I need the tool.</think>" + hermesCall}}},
			want:  []string{"thought-never-opened"}, change: "--chat-template"},
		{name: "answer taken for a thought", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			model: engine.RecordedModel{Transcript: transcript("", "", "<think>\n\n</think>\n\n"), Recordings: []engine.Recording{
				{Text: "It is fine in Paris."}, {Match: constrained(true), Text: "<think>Hm.</think>" + hermesCall},
				{Match: engine.RecordingMatch{Ends: "</think>\n\n"}, Text: hermesCall}}},
			want: []string{"thought-assumed"}, change: "enable_thinking"},
		{name: "thought not closed", flags: thinking, options: doctor.Options{ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			model: engine.RecordedModel{Transcript: transcript("", "", "<think>\n\n</think>\n\n"), Recordings: []engine.Recording{
				{Text: "<think>I wonder about Paris."}, {Match: constrained(true), Text: "<think>Hm.</think>" + hermesCall},
				{Match: engine.RecordingMatch{Ends: "</think>\n\n"}, Text: hermesCall}}},
			want: []string{"thought-not-closed"}, change: "thinking off"},
		{name: "thought cut off", flags: thinking, options: doctor.Options{},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: "<think>I wonder about Paris.", FinishReason: engine.FinishLength}, {Match: constrained(true), Text: "<think>Hm.</think>" + hermesCall}}},
			want: []string{"thought-not-closed"}, change: "max_tokens"},
		{name: "call cut off by the limit", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "get_weather", "arguments": {"ci`, FinishReason: engine.FinishLength}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"call-cut-by-limit"}, change: "max_tokens"},
		{name: "call cut off by the limit before its name, no flags", flags: hermes,
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "get_we`, FinishReason: engine.FinishLength}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"call-cut-by-limit"}, change: "max_tokens"},
		{name: "call cut off by a stop string", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "get_weather", "arguments": {"city": "Pa`, StopString: "ris"}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"call-cut-by-stop"}, change: "stop"},
		{name: "call cut off by a stop string of ours", flags: hermes, model: writes(hermesCall), options: doctor.Options{ToolCallParser: "hermes", Stop: []string{"Paris"}},
			want: []string{"call-cut-by-stop"}, change: "stop"},
		{name: "broken arguments", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "get_weather", "arguments": {"city": Paris}}</tool_call>`}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"malformed-call"}, change: "strict"},
		{name: "undeclared function", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>`}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"undeclared-function"}, change: "--unknown-tools fail"},
		{name: "arguments against the schema", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: `<tool_call>{"name": "get_weather", "arguments": {"town": "Paris"}}</tool_call>`}, {Match: constrained(true), Text: hermesCall}}},
			want: []string{"arguments-against-schema"}, change: "strict"},
		{name: "forced call not constrained", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{
				{Text: hermesCall}, {Match: engine.RecordingMatch{Contains: []string{"get_weather"}, Constrained: new(true)}, Text: "It is fine."}}},
			want: []string{"forced-not-constrained", "format-shuts-out-tools"}, change: "--engine"},
		{name: "forced call refused by an engine without constraints", options: doctor.Options{Engine: "openai-chat", ToolCallParser: "hermes", ReasoningParser: "qwen3"},
			target: func(t *testing.T) string {
				return fake(t, "", func(asked) said { return said{Content: "<think>Hm.</think>" + hermesCall, Finish: "stop"} })
			},
			want: []string{"forced-not-constrained", "format-shuts-out-tools"}, change: "vllm"},
		{name: "format shuts the tools out", target: func(t *testing.T) string {
			return fake(t, "", func(q asked) said {
				if q.Format != nil {
					return said{Content: `{"city": "Paris", "celsius": 18}`, Finish: "stop"}
				}
				return good()
			})
		}, want: []string{"format-shuts-out-tools"}, change: "response_format"},
		{name: "whole and streamed differ", target: func(t *testing.T) string {
			return fake(t, "", func(q asked) said {
				if q.Stream {
					return said{Content: "{", Finish: "stop"}
				}
				return good()
			})
		}, want: []string{"stream-differs"}, change: "Parlance in front"},
		{name: "reasoning in another field", flags: thinking, model: writes("<think>Hm.</think>" + hermesCall),
			options: doctor.Options{ReasoningField: "reasoning_content"}, want: []string{"reasoning-field"}, change: "--reasoning-field reasoning_content"},
		{name: "tokenizer without the markers", flags: hermes, model: writes(hermesCall), options: doctor.Options{ToolCallParser: "lfm2", Tokenizer: "TOKENIZER"},
			want: []string{"tokenizer-without-markers"}, change: "--tokenizer"},
		{name: "refused", target: func(t *testing.T) string {
			return fake(t, "", func(asked) said { return said{Refusal: "no tools here"} })
		},
			want: []string{"refused"}, change: "message"},
		{name: "no call", flags: hermes, options: doctor.Options{ToolCallParser: "hermes"},
			model: engine.RecordedModel{Recordings: []engine.Recording{{Text: "I cannot know."}, {Match: constrained(true), Text: hermesCall}}},
			want:  []string{"no-call"}, change: "required"},
	}
}

func TestFaults(t *testing.T) {
	found := map[string]bool{}
	for _, f := range faults() {
		for _, code := range f.want {
			found[code] = true
		}
		t.Run(f.name, func(t *testing.T) {
			o := f.options
			if f.target != nil {
				o.URL = f.target(t)
			} else {
				o.URL = serve(t, slices.Concat(f.flags, []string{"--replay", record(t, f.model), "--replay-speed", "-1"})...)
			}
			if o.Tokenizer != "" {
				o.Tokenizer = t.TempDir()
				vocabulary := `{"added_tokens":[{"id":1,"content":"<|im_end|>","special":true}],"model":{"vocab":{"a":0}}}`
				if err := os.WriteFile(filepath.Join(o.Tokenizer, "tokenizer.json"), []byte(vocabulary), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := examine(t, o)
			if got := codes(r); !slices.Equal(got, f.want) {
				t.Errorf("expected %q, found %q", f.want, got)
				for _, finding := range r.Findings {
					t.Logf("%s: %s → %s", finding.Code, finding.Says, finding.Change)
				}
				t.Logf("read by %s %s; raw %+v; whole %+v; stream %+v; forced %+v; format %+v, off %+v", r.ToolCallParser, r.ReasoningParser, r.Raw, r.Whole, r.Streamed, r.Forced, r.Format, r.Off)
			}
			says, change := r.Verdict()
			if says == "" || len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Change, f.change) {
				t.Errorf("expected a change with %q, found %q, %q", f.change, says, change)
			}
		})
	}
	for _, c := range doctor.Checks() {
		if !found[c.Code] {
			t.Errorf("no fault provokes %s", c.Code)
		}
	}
}
