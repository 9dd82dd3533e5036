package templates_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/templates"
)

// parsers are the parsers of what each template shows.
var parsers = map[string]struct{ tool, reasoning string }{
	"deepseek_r1":      {"deepseek_v3", ""}, // earlier turns are shown without their thoughts
	"deepseek_v3":      {"deepseek_v3", ""},
	"deepseek_v31":     {"deepseek_v31", "deepseek_v3"},
	"deepseek_v32":     {"deepseek_v32", "deepseek_v3"},
	"deepseek_v4":      {"deepseek_v4", "deepseek_v4"},
	"deepseek_v41":     {"deepseek_v41", "deepseek_v41"},
	"functiongemma":    {"functiongemma", ""},
	"gemma3_pythonic":  {"pythonic", ""},
	"gemma4":           {"gemma4", "gemma4"},
	"granite":          {"granite", ""},
	"granite_20b_fc":   {"granite-20b-fc", ""},
	"hermes":           {"hermes", ""},
	"hunyuan_a13b":     {"hunyuan_a13b", "hunyuan_a13b"},
	"inkling":          {"inkling", "inkling"},
	"internlm2_tool":   {"internlm", ""},
	"kimi_k3":          {"kimi_k3", "kimi_k3"},
	"llama3_json":      {"llama3_json", ""},
	"llama3_pythonic":  {"pythonic", ""},
	"llama4_json":      {"llama4_json", ""},
	"llama4_pythonic":  {"llama4_pythonic", ""},
	"mistral":          {"mistral", ""},
	"mistral_parallel": {"mistral", ""},
	"phi4_mini":        {"phi4_mini_json", ""},
	"xlam_llama":       {"xlam", ""},
	"xlam_qwen":        {"xlam", ""},
}

// turns are messages that every template must show so that its parser reads them back.
var turns = map[string]string{
	"one call":      `[{"name": "get_weather", "arguments": {"location": "Paris", "days": 3, "alpha": 0.25}}]`,
	"several calls": `[{"name": "get_weather", "arguments": {"location": "Oslo", "days": 1}}, {"name": "search", "arguments": {"zquery": "a", "flag": false, "tags": ["x", "y"]}}, {"name": "get_weather", "arguments": {"location": "Rome", "days": -2}}]`,
	"nested values": `[{"name": "search", "arguments": {"zquery": "Zürich – 日本 🎉", "filters": {"lang": "it", "after": null}, "tags": [], "flag": true}}]`,
	"quotes":        `[{"name": "search", "arguments": {"zquery": "it's \"quoted\" \\ and\nbroken", "tags": ["a, b", "{c}", "[d]"]}}]`,
}

// TestRoundTrip renders calls as the model would have written them and parses that.
func TestRoundTrip(t *testing.T) {
	var tools json.RawMessage
	for _, c := range conversations(t) {
		if c.name == "tools" {
			tools = c.request.Tools
		}
	}
	declared, err := parlance.ParseTools(tools)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range templates.Names() {
		p, ok := parsers[name]
		if !ok {
			t.Errorf("%s: expected the names of its parsers", name)
			continue
		}
		parser, err := parlance.Lookup(p.tool, p.reasoning)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		source, _ := templates.Source(name)
		template, err := chattemplate.Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		for situation, calls := range turns {
			for _, content := range []string{"", "Let me look."} {
				t.Run(name+"/"+situation+"/"+content, func(t *testing.T) {
					roundTrip(t, template, parser, tools, declared, calls, content)
				})
			}
		}
	}
}

// wholeAnswer are parsers whose calls are the whole answer, so that content before them makes them text.
var wholeAnswer = map[string]bool{"pythonic": true, "llama4_pythonic": true, "xlam": true}

// reasoned are templates that show the thought of the turn they end with.
var reasoned = map[string]bool{"deepseek_v32": true, "deepseek_v4": true, "deepseek_v41": true, "gemma4": true, "inkling": true, "kimi_k3": true}

const thought = "They want the weather."

func roundTrip(t *testing.T, template *chattemplate.Template, parser *parlance.Parser, tools json.RawMessage, declared *parlance.Tools, calls, content string) {
	if content != "" && wholeAnswer[parser.ToolName()] {
		t.Skip("the format has no content beside calls")
	}
	var want []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal([]byte(calls), &want); err != nil {
		t.Fatal(err)
	}
	type call struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function any    `json:"function"`
	}
	message := struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Thought string `json:"reasoning,omitempty"`
		Calls   []call `json:"tool_calls"`
	}{Role: "assistant", Content: content}
	if reasoned[template.Name()] {
		message.Thought = thought
	}
	for i, c := range want {
		message.Calls = append(message.Calls, call{"abcdefgh" + string(rune('0'+i)), "function", c})
	}
	encoded, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	chat := chattemplate.Chat{Messages: []byte(`[{"role": "user", "content": "Hi"}]`), Tools: tools, Now: moment}
	if reasoned[template.Name()] {
		chat.Kwargs = []byte(`{"thinking": true, "enable_thinking": true}`)
	}
	prompt, turn, err := template.Turn(chat, encoded)
	if err != nil {
		t.Fatal(err)
	}
	got := parser.Parse(turn, parlance.Request{Tools: declared, Prompt: prompt}, parlance.FinishStop)
	if len(got.Calls) != len(want) {
		t.Fatalf("expected %d calls, found %d, content %q, reasoning %q, in %q", len(want), len(got.Calls), got.Content, got.Reasoning, turn)
	}
	for i, c := range got.Calls {
		var expected, found any
		if err := json.Unmarshal(want[i].Arguments, &expected); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.Arguments), &found); err != nil {
			t.Fatalf("call %d: %v, in %q", i, err, c.Arguments)
		}
		if c.Name != want[i].Name || !reflect.DeepEqual(expected, found) {
			t.Errorf("call %d: expected %s %s, found %s %s", i, want[i].Name, want[i].Arguments, c.Name, c.Arguments)
		}
	}
	if got.Reasoning != message.Thought {
		t.Errorf("expected the thought %q, found %q, in %q", message.Thought, got.Reasoning, turn)
	}
	if strings.TrimSpace(got.Content) != content {
		t.Errorf("expected the content %q, found %q, in %q", content, got.Content, turn)
	}
}
