package constraint

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/parlance-llm/parlance"
)

const templateStart = `{"start_anchor": "A:", "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {"close": "<end>"}, "tool_calls": `

func withTemplate(t *testing.T, name, calls string) *parlance.Parser {
	t.Helper()
	template, err := parlance.ParseResponseTemplate([]byte(templateStart + calls + "}}"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := parlance.LookupTemplate(name, name, template)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Calls are forced in the syntax that a checkpoint's own response template says: what is written is read as what it
// means, by the parser made from the same template.
func TestTemplateAgreement(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"hf", "beam"} {
		p := withTemplate(t, name, `{"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "json", "transform": {"function": {"name": "{name}", "arguments": "{content}"}}}`)
		for _, choice := range []parlance.ToolChoice{{Mode: "required"}, {Mode: "function", Name: "search"}} {
			agree(t, p, []byte(weather), Request{Tools: parsed(t, weather), ToolChoice: choice}, "", 25, random)
		}
	}
}

// Where the template's pattern cannot be written, forced calls come as plain JSON, with a note; calls that are held
// without being forced are refused by the name of the tool.
func TestTemplateFallback(t *testing.T) {
	p := withTemplate(t, "hf", `{"open_pattern": "<call (?P<name>[0-9]+)>", "close": "</call>", "content": "json", "transform": {"function": {"name": "{name}", "arguments": "{content}"}}}`)
	tools := parsed(t, weather)
	c := constrainedBy(t, p, Request{Tools: tools, ToolChoice: required})
	text := `[{"name": "search", "parameters": {"query": "tea"}}]`
	if !c.Accepts(text) || c.Accepts(`[{"name": "other", "parameters": {}}]`) || len(c.Notes()) == 0 {
		t.Errorf("accepts %v, accepts another tool %v, notes %q", c.Accepts(text), c.Accepts(`[{"name": "other", "parameters": {}}]`), c.Notes())
	}
	if m := p.Parse(text, parlance.Request{ToolChoice: required}, parlance.FinishStop); len(m.Calls) != 1 || m.Calls[0].Name != "search" {
		t.Errorf("read %v, content %q", m.Calls, m.Content)
	}
	var wrong *Error
	if _, err := New(p, Request{Tools: tools}); !errors.As(err, &wrong) || wrong.Tool != "get_weather" {
		t.Errorf("expected an error that names the tool, found %v", err)
	}
}

func constrainedBy(t *testing.T, p *parlance.Parser, r Request) *Constraint {
	t.Helper()
	c, err := New(p, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
