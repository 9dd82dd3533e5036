package chattemplate

import (
	"errors"
	"strings"
	"testing"
)

// show prints the messages as the template sees them.
const show = `{% for m in messages %}{{ m|tojson }}
{% endfor %}`

func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct{ source, messages, want string }{
		"arguments become objects, in order": {show,
			`[{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"z\": 1.0, \"a\": 12345678901234567890}"}}]}]`,
			`{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"z": 1.0, "a": 12345678901234567890}}}], "content": ""}`},
		"no arguments": {show,
			`[{"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "f", "arguments": ""}}, {"function": {"name": "g", "arguments": null}}]}]`,
			`{"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {}}}]}`},
		"empty calls": {show, `[{"role": "assistant", "content": "a", "tool_calls": []}]`, `{"role": "assistant", "content": "a"}`},
		"reasoning goes by both names": {show, `[{"role": "assistant", "reasoning_content": "r", "content": "a"}]`,
			`{"role": "assistant", "content": "a", "reasoning": "r", "reasoning_content": "r"}`},
		"reasoning holds, though empty": {show, `[{"role": "assistant", "content": "a", "reasoning": "", "reasoning_content": "r"}]`,
			`{"role": "assistant", "content": "a", "reasoning": "", "reasoning_content": ""}`},
		"developer":       {show, `[{"role": "developer", "content": "a"}]`, `{"role": "system", "content": "a"}`},
		"developer known": {show + `{# #}{{ "" if messages[0].role == "developer" }}`, `[{"role": "developer", "content": "a"}]`, `{"role": "developer", "content": "a"}`},
		"parts as text":   {show, `[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]}]`, `{"role": "user", "content": "a\nb"}`},
		"text as parts":   {show + `{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}`, `[{"role": "user", "content": "a"}]`, `{"role": "user", "content": [{"type": "text", "text": "a"}]}`},
		"parts through a macro": {show + `{% macro p(c) %}{% for x in c %}{% endfor %}{% endmacro %}{% for m in messages %}{{ p(m["content"]) }}{% endfor %}`,
			`[{"role": "user", "content": [{"type": "text", "text": "a"}]}]`, `{"role": "user", "content": [{"type": "text", "text": "a"}]}`},
		"text where it is asked for": {show + `{% for m in messages %}{% if m.content is string %}{% else %}{% for p in m.content %}{% endfor %}{% endif %}{% endfor %}`,
			`[{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}]}]`,
			`{"role": "user", "content": "a"}` + "\n" + `{"role": "user", "content": [{"type": "text", "text": "b"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			template, err := Parse("test", c.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := template.RenderChat(Chat{Messages: []byte(c.messages)})
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(got.Prompt) != c.want {
				t.Errorf("expected %s\nfound    %s", c.want, got.Prompt)
			}
			if len(got.Warnings) > 0 {
				t.Errorf("expected no warnings, found %q", got.Warnings)
			}
		})
	}
}

func TestNormaliseWarns(t *testing.T) {
	template, err := Parse("test", show)
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []string{`"{\"a\": "`, `"[1]"`, `3`} {
		got, err := template.RenderChat(Chat{Messages: []byte(`[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ` + arguments + `}}]}]`)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Prompt, `"arguments": {}`) || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "messages.0.tool_calls.0.function.arguments") {
			t.Errorf("%s: expected no arguments and a warning, found %s, %q", arguments, got.Prompt, got.Warnings)
		}
	}
}

func TestShortToolCallIDs(t *testing.T) {
	template, err := Parse("test", show)
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.RenderChat(Chat{ShortToolCallIDs: true, Messages: []byte(`[
		{"role": "assistant", "content": "", "tool_calls": [{"id": "call_abcdefghij", "function": {"name": "f", "arguments": {}}}]},
		{"role": "tool", "tool_call_id": "call_abcdefghij", "content": "x"}, {"role": "tool", "tool_call_id": "short", "content": "x"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(got.Prompt, `"bcdefghij"`) != 2 || !strings.Contains(got.Prompt, `"short"`) {
		t.Errorf("expected ids of nine characters, found %s", got.Prompt)
	}
}

func TestRequestErrors(t *testing.T) {
	template, err := Parse("test", show)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ messages, kwargs, field string }{
		{`null`, ``, "messages"},
		{`[`, ``, "messages"},
		{`[3]`, ``, "messages.0"},
		{`[{"content": "a"}]`, ``, "messages.0.role"},
		{`[{"role": "user", "content": 3}]`, ``, "messages.0.content"},
		{`[{"role": "user", "content": [{"type": "image_url"}]}]`, ``, "messages.0.content.0.type"},
		{`[{"role": "assistant", "tool_calls": [3]}]`, ``, "messages.0.tool_calls.0"},
		{`[{"role": "assistant", "tool_calls": [{"type": "custom"}]}]`, ``, "messages.0.tool_calls.0.type"},
		{`[]`, `[]`, "chat_template_kwargs"},
		{`[]`, `{"chat_template": "x"}`, "chat_template_kwargs.chat_template"},
	} {
		_, err := template.RenderChat(Chat{Messages: []byte(c.messages), Kwargs: []byte(c.kwargs)})
		var request *RequestError
		if !errors.As(err, &request) || request.Field != c.field {
			t.Errorf("%s %s: expected an error of %s, found %v", c.messages, c.kwargs, c.field, err)
		}
	}
}

func TestKwargsTemplate(t *testing.T) {
	kwargs := []byte(`{"chat_template": "{{ a }}", "a": 1}`)
	source, err := KwargsTemplate(kwargs)
	if err != nil || source != "{{ a }}" {
		t.Fatalf("expected the template, found %q, %v", source, err)
	}
	template, err := Parse("of the request", source)
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.RenderChat(Chat{Messages: []byte("[]"), Kwargs: kwargs, TrustTemplate: true})
	if err != nil || got.Prompt != "1" {
		t.Errorf("expected 1, found %q, %v", got.Prompt, err)
	}
	for _, none := range []string{"", "{}", `{"chat_template": null}`} {
		if source, err := KwargsTemplate([]byte(none)); source != "" || err != nil {
			t.Errorf("%s: expected no template, found %q, %v", none, source, err)
		}
	}
	if _, err := KwargsTemplate([]byte(`{"chat_template": 3}`)); err == nil {
		t.Error("expected that a number is refused")
	}
}

func TestKwargs(t *testing.T) {
	template, err := Parse("test", `{{ a }} {{ b }} {{ reasoning_effort }} {{ enable_thinking }} {{ add_generation_prompt }}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		chat Chat
		want string
	}{
		{Chat{Kwargs: []byte(`{"a": 1}`), Defaults: []byte(`{"a": 2, "b": 3}`)}, "1 3   False"},
		{Chat{Kwargs: []byte(`{"a": null, "b": "auto"}`), Defaults: []byte(`{"a": 2, "b": 3}`)}, "2 3   False"},
		{Chat{Kwargs: []byte(`{"reasoning_effort": "x", "add_generation_prompt": false}`), ReasoningEffort: "high", AddGenerationPrompt: true}, "  high True True"},
		{Chat{Kwargs: []byte(`{"enable_thinking": true}`), ReasoningEffort: "none"}, "  none True False"},
		{Chat{ReasoningEffort: "none"}, "  none False False"},
	} {
		c.chat.Messages = []byte("[]")
		got, err := template.RenderChat(c.chat)
		if err != nil {
			t.Fatal(err)
		}
		if got.Prompt != c.want {
			t.Errorf("expected %q, found %q", c.want, got.Prompt)
		}
	}
}

func TestContinueFinalMessage(t *testing.T) {
	template, err := Parse("test", "{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}</{{ m.role }}>{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	messages := []byte(`[{"role": "user", "content": "q"}, {"role": "assistant", "content": "The answer is "}]`)
	got, err := template.Render(Request{Messages: messages, ContinueFinalMessage: true})
	if want := "<user>q</user><assistant>The answer is"; err != nil || got != want {
		t.Errorf("expected %q, found %q, %v", want, got, err)
	}
}
