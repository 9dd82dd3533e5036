package chattemplate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/templates"
)

func TestResolve(t *testing.T) {
	model, err := Load(folder(t, map[string]string{"tokenizer_config.json": `{"bos_token": "<s>", "chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T{{ bos_token }}"}]}`}))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder(t, map[string]string{"a.jinja": "A{{ bos_token }}"}), "a.jinja")
	for value, want := range map[string]string{"": "D", "tool_use": "T<s>", "{{ bos_token }}": "<s>", file: "A<s>", filepath.Dir(file) + "/a.jinja": "A<s>"} {
		s, err := Resolve(value, model)
		if err != nil {
			t.Fatal(err)
		}
		if got := render(t, s, false); got != want {
			t.Errorf("%q: expected %q, found %q", value, want, got)
		}
	}
	for _, name := range []string{"hermes", "llama3.1_json", "tool_chat_template_mistral_parallel.jinja", "examples/tool_chat_template_deepseekv31.jinja"} {
		if _, err := Resolve(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Resolve("nothing", model); err == nil || !strings.Contains(err.Error(), "tool_use") || !strings.Contains(err.Error(), "hermes") {
		t.Errorf("expected an error that lists the names, found %v", err)
	}
}

func TestOurTemplatesParse(t *testing.T) {
	for _, name := range templates.Names() {
		source, ok := templates.Source(name)
		if !ok {
			t.Fatalf("%s has no source", name)
		}
		template, err := Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		if template.ContentFormat() != ContentOpenAI || !template.asksForText {
			t.Errorf("%s: expected that content may be text or parts", name)
		}
	}
}
