package constraint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// toolsOf are n tools with middling schemas, none like another; salt makes them new.
func toolsOf(n, salt int) string {
	var tools []string
	for i := range n {
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": "tool_%d_%d", "strict": true, "description": "Does %d.", "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "where"}, "count": {"type": "integer"}, "mode": {"type": "string", "enum": ["read", "write", "m%d"]}, "options": {"type": "object", "properties": {"deep": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}}}}, "required": ["path", "mode"]}}}`, i, salt, i, i))
	}
	return "[" + strings.Join(tools, ", ") + "]"
}

// A constraint for 64 tools, made and written as the dialects; nothing of it has been made before.
func Benchmark64Tools(b *testing.B) {
	for _, name := range []string{"hermes", "qwen3_coder", "llama3_json", "glm47", "pythonic", "openai", "deepseek_v32"} {
		p, err := parlance.Lookup(name, "")
		if err != nil {
			b.Fatal(err)
		}
		for dialect, write := range map[string]func(*Constraint) Text{"structural tag": (*Constraint).StructuralTag, "GBNF": (*Constraint).GBNF} {
			b.Run(name+"/"+dialect, func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					b.StopTimer()
					tools, err := ParseTools([]byte(toolsOf(64, i)))
					if err != nil {
						b.Fatal(err)
					}
					r := Request{Tools: tools, ToolChoice: required}
					b.StartTimer()
					c, err := build(p, &r)
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(write(c).Text)))
				}
			})
		}
	}
}

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
