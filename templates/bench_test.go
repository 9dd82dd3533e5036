package templates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/templates"
)

// BenchmarkRender renders a conversation of 40 messages and 20 tools, from its JSON text to the prompt.
func BenchmarkRender(b *testing.B) {
	words := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it does so again. ", 8)
	var tools, messages []string
	for i := range 20 {
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": "function_%d", "description": "Does the thing of number %d, and says how it went.", "parameters": {"type": "object", "properties": {"text": {"type": "string", "description": "A text"}, "count": {"type": "integer", "minimum": 1}, "kind": {"type": "string", "enum": ["one", "two"]}, "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["text"]}}}`, i, i))
	}
	messages = append(messages, `{"role": "system", "content": "Be brief, and use the tools."}`)
	for i := range 10 {
		messages = append(messages,
			fmt.Sprintf(`{"role": "user", "content": "%d: %s"}`, i, words),
			fmt.Sprintf(`{"role": "assistant", "content": "", "tool_calls": [{"id": "call%05d", "type": "function", "function": {"name": "function_%d", "arguments": {"text": "%s", "count": %d, "options": {"deep": true}, "tags": ["a", "b"]}}}]}`, i, i, words[:200], i),
			fmt.Sprintf(`{"role": "tool", "tool_call_id": "call%05d", "content": "%s"}`, i, words),
			fmt.Sprintf(`{"role": "assistant", "content": "%s"}`, words))
	}
	request := chattemplate.Request{
		Messages: []byte("[" + strings.Join(messages[:40], ",") + "]"), Tools: []byte("[" + strings.Join(tools, ",") + "]"),
		AddGenerationPrompt: true, Now: moment,
	}
	for _, name := range templates.Names() {
		b.Run(name, func(b *testing.B) {
			source, _ := templates.Source(name)
			template, err := chattemplate.Parse(name, source)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := template.Render(request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
