package cli

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"
)

const sample = "../../samples/qwen3_coder.txt"

var sampleFlags = []string{"parse", "--tool-call-parser", "qwen3_coder", "--reasoning-parser", "qwen3", "--tools", "../../samples/tools.json"}

func onSample(more ...string) []string {
	return append(append(append([]string{}, sampleFlags...), more...), sample)
}

func TestParseForPeople(t *testing.T) {
	out := good(t, "", onSample()...)
	contains(t, out,
		"── reasoning ──", "\nThe user is in Oslo", "── content ──", "\nI will look up the weather in Oslo for the next three days.\n",
		"── tool calls ──", "1. get_weather\n   {\n     \"city\": \"Oslo\",\n     \"days\": 3,\n     \"units\": \"metric\"\n   }\n")
	if strings.Contains(out, "\x1b") {
		t.Error("colours where no terminal is")
	}
	contains(t, good(t, "just text", "parse", "--tool-call-parser", "hermes"), "(none)\n\n── content ", "\njust text\n")
	for _, more := range [][]string{{"--stream"}, {"--chunk", "3"}, {"--chunk", "0"}, {"--chunk", "seed:5"}, {"--calls", "validated", "--chunk", "1"}} {
		if streamed := good(t, "", onSample(more...)...); streamed != out {
			t.Errorf("%v gave\n%s", more, streamed)
		}
	}
}

type parsed struct {
	ID        any
	Reasoning string
	Content   string
	ToolCalls []struct{ ID, Name, Arguments string } `json:"tool_calls"`
	Segments  []struct {
		Type  string
		Text  *string
		Index *int
	}
	Malformed *bool
	Trace     []struct {
		Start, End int
		Became     string
		Call       *int
		Text       string
	}
}

func parse(t *testing.T, in string, arguments ...string) (p parsed) {
	t.Helper()
	out := good(t, in, append([]string{"parse", "--json"}, arguments...)...)
	if strings.Count(out, "\n") != 1 {
		t.Errorf("expected one line, found %q", out)
	}
	if err := json.Unmarshal([]byte(out), &p, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return p
}

func TestParseJSON(t *testing.T) {
	p := parse(t, hermesCall, "--tool-call-parser", "hermes")
	if p.Content != "Let me see." || p.Reasoning != "" || p.Malformed == nil || *p.Malformed || p.Trace != nil {
		t.Errorf("%+v", p)
	}
	if len(p.ToolCalls) != 1 || p.ToolCalls[0].Name != "get_weather" || p.ToolCalls[0].Arguments != `{"city": "Genève", "days": 3}` {
		t.Errorf("%+v", p.ToolCalls)
	}
	if len(p.Segments) != 2 || p.Segments[0].Type != "content" || *p.Segments[0].Text != "Let me see." || p.Segments[1].Type != "tool_call" || *p.Segments[1].Index != 0 {
		t.Errorf("%+v", p.Segments)
	}
}

func TestParseTrace(t *testing.T) {
	for _, more := range [][]string{nil, {"--stream"}, {"--chunk", "2"}} {
		p := parse(t, hermesCall, append([]string{"--tool-call-parser", "hermes", "--trace"}, more...)...)
		text := ""
		for _, span := range p.Trace {
			if span.Start != len(text) || span.End != span.Start+len(span.Text) {
				t.Errorf("%v: a span out of place: %+v", more, span)
			}
			text += span.Text
		}
		if text != hermesCall {
			t.Errorf("%v: the trace makes %q", more, text)
		}
	}
	out := good(t, hermesCall, "parse", "--tool-call-parser", "hermes", "--trace")
	contains(t, out, "── trace ──", "bytes", " content          \"Let me see.\"", " arguments     1  ")
}

func TestParseDeltas(t *testing.T) {
	want := strings.Join([]string{
		`{"type":"content","text":"Let me see."}`,
		`{"type":"tool_call","index":0,"id":"","name":"get_weather"}`,
		`{"type":"arguments","index":0,"text":"{\"city\": \"Genève\", \"days\": 3}"}`,
		`{"type":"tool_call_end","index":0,"malformed":false,"cut":false}`, ""}, "\n")
	if out := good(t, hermesCall, "parse", "--tool-call-parser", "hermes", "--deltas"); out != want {
		t.Errorf("found\n%s", out)
	}
	out := good(t, hermesCall, "parse", "--tool-call-parser", "hermes", "--deltas", "--chunk", "1")
	content, arguments := "", ""
	for line := range strings.Lines(out) {
		var d struct{ Type, Text string }
		if err := json.Unmarshal([]byte(line), &d, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		switch d.Type {
		case "content":
			content += d.Text
		case "arguments":
			arguments += d.Text
		}
	}
	if content != "Let me see." || arguments != `{"city": "Genève", "days": 3}` || strings.Count(out, "\n") < 20 {
		t.Errorf("%q %q in\n%s", content, arguments, out)
	}
}

// TestParseFlags holds each flag to what it changes.
func TestParseFlags(t *testing.T) {
	tools := `[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}]`
	toolsFile := file(t, "tools.json", tools)
	prompt := file(t, "prompt.txt", "<|im_start|>assistant\n<think>\n")
	call := "<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>"
	for _, test := range []struct {
		in, arguments, want string
	}{
		{call, "--tool-call-parser qwen3_coder", `R="" C="" f {"n": "7"}`},
		{call, "--tool-call-parser qwen3_coder --tools " + toolsFile, `R="" C="" f {"n": 7}`},
		{"a</think>b", "--reasoning-parser qwen3", `R="a" C="b"`},
		{"a</think>b", "--reasoning-parser qwen3 --include-reasoning=false", `R="" C="b"`},
		{"a", `--reasoning-parser qwen3 --chat-template-kwargs {"enable_thinking":false}`, `R="" C="a"`},
		{"a", `--reasoning-parser qwen3 --chat-template-kwargs {"enable_thinking":false} --prompt @` + prompt, `R="a" C=""`},
		{"a", `--reasoning-parser qwen3 --prompt <think></think>`, `R="" C="a"`},
		{hermesCall[:60], "--tool-call-parser hermes --finish-reason length", `R="" C="Let me see." get_weather `},
		{"<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>", "--tool-call-parser hermes --tool-choice none", `R="" C="<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>"`},
		{`{"n": 1}`, "--tool-call-parser hermes --tool-choice f", `R="" C="" f {"n": 1}`},
		{`{"n": 1}`, `--tool-call-parser hermes --tool-choice {"type":"function","function":{"name":"f"}}`, `R="" C="" f {"n": 1}`},
		{`[{"name": "f", "parameters": {"n": 1}}]`, "--tool-call-parser hermes --tool-choice required", `R="" C="" f {"n": 1}`},
		{"<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>", "--tool-call-parser hermes --unknown-tools fail --tools " + toolsFile, `R="" C="<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>"`},
		{" a \n", "--tool-call-parser hermes", `R="" C="a"`},
		{" a \n", "--tool-call-parser hermes --white-space exact", `R="" C=" a \n"`},
		{"<tool_call>" + strings.Repeat(" ", 100) + "{\"name\": \"g\", \"arguments\": {}}</tool_call>", "--tool-call-parser hermes --held-limit 64", `R="" C="<tool_call>`},
	} {
		p := parse(t, test.in, strings.Fields(test.arguments)...)
		got := fmt.Sprintf("R=%q C=%q", p.Reasoning, p.Content)
		for _, call := range p.ToolCalls {
			got += " " + call.Name + " " + call.Arguments
		}
		if got != test.want && !(strings.HasPrefix(got, test.want) && strings.Contains(test.arguments, "limit")) && !(strings.HasPrefix(got, test.want) && strings.Contains(test.arguments, "length")) {
			t.Errorf("%q with %s\nexpected %s\nfound    %s", test.in, test.arguments, test.want, got)
		}
	}
}

func TestModelTextIsNeverAnError(t *testing.T) {
	for _, text := range []string{"", "\x00\xff\xfe", "<tool_call>", strings.Repeat("<tool_call>", 1000), "\x1b]0;title\x07"} {
		for _, more := range [][]string{nil, {"--json"}, {"--deltas", "--chunk", "1"}, {"--trace"}} {
			out := good(t, text, append([]string{"parse", "--tool-call-parser", "hermes"}, more...)...)
			if strings.ContainsAny(out, "\x1b\x00\x07") {
				t.Errorf("%q %v: control characters went through: %q", text, more, out)
			}
		}
	}
}
