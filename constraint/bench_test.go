package constraint

import (
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// Reading a long output against a constraint.
func BenchmarkAcceptor(b *testing.B) {
	tools, err := ParseTools([]byte(weather))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"hermes":      `<tool_call>{"name": "search", "arguments": {"query": "` + strings.Repeat("lorem ipsum ", 4000) + `"}}</tool_call>`,
		"qwen3_coder": "<tool_call>\n<function=search>\n<parameter=query>\n" + strings.Repeat("lorem ipsum ", 4000) + "\n</parameter>\n</function>\n</tool_call>",
	} {
		p, err := parlance.Lookup(name, "")
		if err != nil {
			b.Fatal(err)
		}
		c, err := New(p, Request{Tools: tools, ToolChoice: required})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !c.Accepts(text) {
					b.Fatal("refused")
				}
			}
		})
	}
}
