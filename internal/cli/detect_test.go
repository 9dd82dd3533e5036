package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare := write("bare.jinja", "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}")
	weights := write("Qwen3-8B-Q4_K_M.gguf", "GGUF\x03\x00\x00\x00")
	config := write("config.json", `{"model_type": "qwen3"}`)
	template, err := os.ReadFile("../../templates/deepseek_v31.jinja")
	if err != nil {
		t.Fatal(err)
	}
	own := write("own.jinja", string(template))
	for _, test := range []struct {
		in        string
		arguments []string
		status    int
		out, says string // what each of the two outputs holds
	}{
		{"", []string{"unsloth/Qwen3-8B-GGUF"}, 0, `thinking: on by default; chat_template_kwargs {"enable_thinking": false} in a request`, ""},
		{"", []string{"deepseek-ai/DeepSeek-V3.1"}, 0, `{"enable_thinking": true} or {"thinking": true}`, ""},
		{"", []string{own}, 0, `thinking: off by default; chat_template_kwargs {"thinking": true} in a request`, ""},
		{"", []string{"deepseek-ai/DeepSeek-R1"}, 0, "if the model's own does not show the tools of a request, --chat-template deepseek_r1 does", ""},
		{"", []string{bare, "NousResearch/Hermes-3-Llama-3.1-8B"}, 0, "this one does not show the tools of a request; --chat-template hermes does", ""},
		{"", []string{"nvidia/Llama-3.1-Nemotron-Nano-8B-v1"}, 0, "llama3_json (format llama3_json), likely", ""},
		{"", []string{"somebody/nothing"}, 1, "(no guess)", "no definition names a model like somebody/nothing, and there is no such file or folder"},
		{"", []string{"/nowhere/x"}, 1, "", "no such file"},
		{"", []string{weights}, 1, "", "found the weights of a model; its name tells (parlance detect --model Qwen3-8B-Q4_K_M.gguf)"},
		{"", []string{config}, 1, "", "of a model give the whole folder"},
		{"Nothing at all.", nil, 1, "(no guess)", "no format fits"},
		{"<think>\nHm.\n</think>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>", nil, 0, "--tool-call-parser hermes", ""},
	} {
		o := run(t, test.in, append([]string{"detect"}, test.arguments...)...)
		if o.status != test.status || !strings.Contains(o.out, test.out) || !strings.Contains(o.complaints, test.says) {
			t.Errorf("%q: status %d, %s%s", test.arguments, o.status, o.out, o.complaints)
		}
		if strings.Contains(o.out, "not explained") {
			t.Errorf("%q: what the reasoning parser explains counts against the tool parser: %s", test.arguments, o.out)
		}
	}
}
