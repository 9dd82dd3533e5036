package chattemplate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// render renders the template of a set for no messages, with the set's tokens.
func render(t *testing.T, s *Set, tools bool) string {
	t.Helper()
	template, err := s.For(tools)
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := template.Render(Request{Messages: []byte("[]"), Tokens: s.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	return prompt
}

func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		path        string
		plain, tool string
	}{
		"a file":      {map[string]string{"a.jinja": "A"}, "a.jinja", "A", "A"},
		"config":      {map[string]string{"tokenizer_config.json": `{"chat_template": "B{{ bos_token }}", "bos_token": {"content": "<s>"}}`}, "", "B<s>", "B<s>"},
		"config file": {map[string]string{"tokenizer_config.json": `{"chat_template": "B{{ eos_token }}", "eos_token": "</s>"}`}, "tokenizer_config.json", "B</s>", "B</s>"},
		"several": {map[string]string{"tokenizer_config.json": `{"chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]}`},
			"", "D", "T"},
		"a file goes first":  {map[string]string{"chat_template.jinja": "F{{ bos_token }}", "tokenizer_config.json": `{"chat_template": "C", "bos_token": "b"}`}, "", "Fb", "Fb"},
		"further files":      {map[string]string{"chat_template.jinja": "F", "additional_chat_templates/tool_use.jinja": "T"}, "", "F", "T"},
		"chat_template.json": {map[string]string{"chat_template.json": `{"chat_template": "J"}`}, "", "J", "J"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Load(filepath.Join(folder(t, c.files), c.path))
			if err != nil {
				t.Fatal(err)
			}
			if got := render(t, s, false); got != c.plain {
				t.Errorf("without tools: expected %q, found %q", c.plain, got)
			}
			if got := render(t, s, true); got != c.tool {
				t.Errorf("with tools: expected %q, found %q", c.tool, got)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	s, err := Load(folder(t, map[string]string{"tokenizer_config.json": `{"bos_token": "<s>"}`}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.For(false); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("expected that there is no template, found %v", err)
	}
	var syntax *SyntaxError
	if _, err := Load(folder(t, map[string]string{"chat_template.jinja": "a\n{% if %}"})); !errors.As(err, &syntax) || syntax.Line != 2 {
		t.Errorf("expected a syntax error of line 2, found %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("expected that there is no such file, found %v", err)
	}
}

// TestBrokenTokenizerConfig: what is wrong with the file is told with its place, in the words of JSON.
func TestBrokenTokenizerConfig(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                               "expected JSON: it ends too early",
		`[]`:                              "expected an object, found an array",
		`{"chat_template":3}`:             "chat_template: expected a text, or an array of templates with names: expected an array, found a number",
		`{"chat_template":[{"name":3}]}`:  "[0].name: expected a string, found a number",
		`{"chat_template":"{{ unclosed"}`: "expected }}",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "tokenizer_config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(folder); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "tokenizer_config.json") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: expected %q, found %v", text, says, err)
		}
	}
}
