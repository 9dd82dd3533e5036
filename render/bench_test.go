package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

// BenchmarkConversation writes the assistant's messages of a conversation of 40 messages with 20 tools: each has
// reasoning, content and one to three calls with six arguments. One operation is the whole conversation.
func BenchmarkConversation(b *testing.B) {
	var tools []string
	for k := range 20 {
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": "tool_%d", "parameters": {"type": "object", "properties": {
			"path": {"type": "string"}, "text": {"type": "string"}, "count": {"type": "integer"}, "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}},
			"tags": {"type": "array", "items": {"type": "string"}}, "ratio": {"type": "number"}}}}}`, k))
	}
	declared, err := parlance.ParseTools([]byte("[" + strings.Join(tools, ", ") + "]"))
	if err != nil {
		b.Fatal(err)
	}
	var messages []*parlance.Message
	for k := range 20 { // the other twenty are the user's and the tools'
		m := &parlance.Message{Reasoning: strings.Repeat("I should look at the file first. ", 10), Content: strings.Repeat("Let me look at that. ", 5)}
		for c := range 1 + k%3 {
			m.Calls = append(m.Calls, parlance.Call{Name: fmt.Sprintf("tool_%d", (k+c)%20), Arguments: fmt.Sprintf(
				`{"path": "/src/main_%d.go", "text": %q, "count": %d, "deep": {"on": true}, "tags": ["a", "b"], "ratio": 0.25}`, k, strings.Repeat("x := 1 // <tag> & more ", 20), k)})
		}
		messages = append(messages, m)
	}
	for _, names := range [][2]string{{"hermes", "qwen3"}, {"qwen3_coder", "qwen3"}, {"kimi_k3", "kimi_k3"}, {"openai", "openai_gptoss"}, {"gemma4", "gemma4"}, {"minimax_m3", "minimax_m3"}, {"olmo3", "olmo3"}} {
		b.Run(names[0], func(b *testing.B) {
			r, err := render.For(names[0], names[1])
			if err != nil {
				b.Fatal(err)
			}
			options := render.Options{Request: parlance.Request{Tools: declared}}
			b.ReportAllocs()
			for b.Loop() {
				for _, m := range messages {
					if _, err := r.Render(m, options); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
