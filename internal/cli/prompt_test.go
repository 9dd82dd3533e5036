package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

const weatherRequest = `{
	"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}],
	"tools": [{"type": "function", "function": {"name": "get_weather", "description": "Tells the weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
}`

const deaf = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"

func TestPrompt(t *testing.T) {
	out := good(t, weatherRequest, "prompt", "--chat-template", "hermes", "--tool-call-parser", "hermes")
	contains(t, out, "<|im_start|>system\nBe brief.⟪tools⟫", `"name": "get_weather"`, "⟪/tools⟫<|im_end|>\n<|im_start|>user\nWeather?<|im_end|>\n<|im_start|>assistant\n")
	if raw := good(t, weatherRequest, "prompt", "--chat-template", "hermes", "--raw"); raw != strings.TrimSuffix(strings.NewReplacer("⟪tools⟫", "", "⟪/tools⟫", "").Replace(out), "\n") {
		t.Errorf("expected the same without the marks, found\n%s", raw)
	}
	if out := good(t, weatherRequest, "prompt", "--chat-template", "hermes", "--add-generation-prompt=false", "--raw"); strings.HasSuffix(out, "assistant\n") {
		t.Errorf("expected no beginning of an answer, found\n%s", out)
	}
}

func TestPromptWarns(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		warning   string
	}{
		"tools ignored":           {[]string{"--chat-template", deaf}, "ignores the tools"},
		"a tool left out":         {[]string{"--chat-template", deaf + "{{ 'tools!' if tools }}"}, "does not show these tools: get_weather"},
		"calls of another format": {[]string{"--chat-template", "granite", "--tool-call-parser", "hermes"}, "shows calls that the parser hermes does not read: <|tool_call|>["},
		"calls left out":          {[]string{"--chat-template", "{{ tools }}" + deaf, "--tool-call-parser", "hermes"}, "leaves out the calls of earlier turns"},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, weatherRequest, append([]string{"prompt"}, c.arguments...)...)
			if o.status != 0 || !strings.Contains(o.complaints, "warning: ") || !strings.Contains(o.complaints, c.warning) {
				t.Errorf("expected the warning %q, found status %d\n%s", c.warning, o.status, o.complaints)
			}
		})
	}
}

func TestPromptJSON(t *testing.T) {
	var got promptResult
	out := good(t, weatherRequest, "prompt", "--chat-template", "deepseek_r1", "--reasoning-parser", "deepseek_r1", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tools == nil || !strings.HasPrefix(got.Prompt[got.Tools.Start:], "\n\n## Tools") || !strings.HasPrefix(got.Prompt[got.Tools.End:], "<｜User｜>") {
		t.Errorf("expected the part with the tools, found %+v of %q", got.Tools, got.Prompt)
	}
	if got.InThought == nil || !*got.InThought {
		t.Error("expected that the answer begins inside a thought")
	}
}

// TestPromptFormats holds that each of our templates writes what its parser reads, as the command checks it.
func TestPromptFormats(t *testing.T) {
	for template, parser := range map[string]string{"llama3.1_json": "llama3_json", "mistral_parallel": "mistral", "kimi_k3": "kimi_k3", "gemma4": "gemma4", "deepseek_v31": "deepseek_v31"} {
		good(t, weatherRequest, "prompt", "--chat-template", template, "--tool-call-parser", parser, "--raw")
	}
}

func TestPromptRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in        string
		arguments []string
		status    int
		says      string
	}{
		"no template":      {weatherRequest, nil, 2, "expected --chat-template or --model"},
		"unknown template": {weatherRequest, []string{"--chat-template", "herms"}, 1, "one of the names"},
		"no request":       {"[]", []string{"--chat-template", "hermes"}, 1, "expected a request for chat completions"},
		"no messages":      {"{}", []string{"--chat-template", "hermes"}, 1, "messages: expected an array"},
		"refused":          {weatherRequest, []string{"--chat-template", "{{ raise_exception('Not today.') }}"}, 1, "parlance: Not today."},
		"a bad template":   {weatherRequest, []string{"--chat-template", "\n{% if %}"}, 1, "line 2: expected an expression"},
		"unknown parser":   {weatherRequest, []string{"--chat-template", "hermes", "--tool-call-parser", "nothing"}, 1, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, c.in, append([]string{"prompt"}, c.arguments...)...)
			if o.status != c.status || !strings.Contains(o.complaints, c.says) {
				t.Errorf("expected status %d and %q, found %d\n%s", c.status, c.says, o.status, o.complaints)
			}
		})
	}
	good(t, weatherRequest, "prompt", "--chat-template", "{{ 'a' + none }}{{ tools|length }}{{ tools }}", "--lenient-chat-template", "--raw")
}
