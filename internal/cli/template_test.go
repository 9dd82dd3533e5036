package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParseByTemplate(t *testing.T) {
	template := `{"start_anchor":"A:","fields":{"thinking":{"open":"<think>","close":"</think>"},"tool_calls":{"open_pattern":"<call (?P<name>\\w+)>","close":"</call>","content":"json","transform":{"function":{"name":"{name}","arguments":"{content}"}}}}}`
	folder := tokenizer(t, `{"<think>": 1}`)
	file := filepath.Join(folder, "template.json")
	for name, text := range map[string]string{"template.json": template, "tokenizer_config.json": `{"response_template":` + template + `}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	answer := `<think>hm</think>hi<call f>{"x":1}</call>`
	for _, flags := range [][]string{{"--response-template", file}, {"--response-template", filepath.Join(folder, "tokenizer_config.json")}, {"--tokenizer", folder}} {
		arguments := append([]string{"parse", "--tool-call-parser", "hf", "--reasoning-parser", "hf", "--json"}, flags...)
		contains(t, good(t, answer, arguments...), `"reasoning":"hm"`)
		contains(t, good(t, answer, arguments...), `"name":"f"`)
	}
	contains(t, good(t, `{"id":1,"tool_parser":"hf","text":"<call f>{}</call>"}`, "batch", "--response-template", file), `"name":"f"`)
	o := run(t, answer, "parse", "--tool-call-parser", "hf")
	contains(t, o.complaints, "`--tool-call-parser hf` requires `response_template` metadata in the tokenizer configuration")
	o = run(t, answer, "parse", "--tool-call-parser", "hf", "--reasoning-parser", "qwen3")
	contains(t, o.complaints, "--reasoning-parser qwen3 and --tool-call-parser hf cannot be combined")
	o = run(t, answer, "parse", "--tool-call-parser", "hermes", "--response-template", file)
	contains(t, o.complaints, "--response-template: expected the parser hf or beam")
	o = run(t, `{"id":1,"tool_parser":"hermes","text":"x","response_template":`+template+`}`, "batch")
	contains(t, o.complaints, "response_template: expected the parser hf or beam, which reads one, found hermes")
}
