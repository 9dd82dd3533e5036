package cli

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run of the command line with files of tools, and what it answers.
func TestConstrain(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tools := file("tools.json", `[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 2}}, "required": ["a"]}}}]`)
	twice := file("twice.json", `[{"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}}]`)
	format := file("format.json", `{"type": "json_object"}`)
	for _, c := range []struct {
		name      string
		arguments []string
		status    int
		out, err  string
	}{
		{"a structural tag", []string{"--tool-call-parser", "hermes", "--tools", tools, "--tool-choice", "required"}, 0, `{"type": "structural_tag"`, ""},
		{"GBNF of a named tool", []string{"--tool-call-parser", "qwen3_coder", "--tools", tools, "--tool-choice", "f", "--dialect", "gbnf"}, 0, "root ::=", ""},
		{"Lark", []string{"--tool-call-parser", "hermes", "--tools", tools, "--tool-choice", "required", "--dialect", "lark"}, 0, "start:", ""},
		{"the JSON schema of a named tool", []string{"--tool-call-parser", "hermes", "--tools", tools, "--tool-choice", "f", "--dialect", "json-schema"}, 0, `"required": ["a"]`, ""},
		{"a note", []string{"--tool-call-parser", "hermes", "--tools", tools, "--tool-strict-level", "parameter"}, 0, "triggered_tags", "multipleOf"},
		{"the thought first", []string{"--tool-call-parser", "hermes", "--reasoning-parser", "deepseek_r1", "--tools", tools, "--tool-choice", "required", "--prompt", "<think>", "--dialect", "gbnf"}, 0, "</think>", ""},
		{"an answer in a format", []string{"--tool-call-parser", "hermes", "--response-format", format, "--dialect", "json-schema"}, 0, `"type": "object"`, ""},
		{"nothing to hold", []string{"--tool-call-parser", "hermes", "--tools", tools}, 0, "", "nothing has to be held"},
		{"one call only", []string{"--tool-call-parser", "hermes", "--tools", tools, "--parallel-tool-calls=false"}, 0, `"stop_after_first": true`, ""},
		{"a tool named twice", []string{"--tool-call-parser", "hermes", "--tools", twice, "--tool-choice", "required"}, 1, "", "tools[1].function.name"},
		{"no JSON schema for auto", []string{"--tool-call-parser", "hermes", "--tools", tools, "--parallel-tool-calls=false", "--dialect", "json-schema"}, 1, "", "forced call"},
		{"an unknown level", []string{"--tool-call-parser", "hermes", "--tool-strict-level", "much"}, 2, "", "tool-strict-level"},
		{"an unknown parser", []string{"--tool-call-parser", "hermse", "--tools", tools}, 1, "", "hermes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, complaints strings.Builder
			status := Main(append([]string{"constrain"}, c.arguments...), strings.NewReader(""), &out, &complaints)
			if status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, complaints.String())
			}
			if !strings.Contains(out.String(), c.out) || c.out == "" && out.Len() > 0 {
				t.Errorf("out %q, want %q in it", out.String(), c.out)
			}
			if !strings.Contains(complaints.String(), c.err) {
				t.Errorf("complaints %q, want %q in them", complaints.String(), c.err)
			}
		})
	}
	var out, complaints strings.Builder
	if status := Main([]string{"constrain", "--tool-call-parser", "hermes", "--tools", tools, "--tool-choice", "required", "--json"}, strings.NewReader(""), &out, &complaints); status != 0 {
		t.Fatal(complaints.String())
	}
	var answer struct {
		Dialect string `json:"dialect"`
		Text    string `json:"text"`
	}
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil || answer.Dialect != "structural-tag" || answer.Text == "" {
		t.Errorf("%v: %s", err, out.String())
	}
}
