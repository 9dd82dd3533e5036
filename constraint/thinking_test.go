package constraint

import (
	"testing"

	"github.com/parlance-llm/parlance"
)

// TestThoughtsInMessages: where thoughts are messages of their own, a prompt that has begun the model's turn does not keep
// a forced call from coming behind a thought.
func TestThoughtsInMessages(t *testing.T) {
	p, err := parlance.Lookup("openai", "openai_gptoss")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := ParseTools([]byte(`[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(p, Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"},
		Thinking: ThinkingOf(p, parlance.Request{Prompt: "<|start|>user<|message|>Hi<|end|><|start|>assistant"})})
	if err != nil {
		t.Fatal(err)
	}
	call := `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>`
	for text, want := range map[string]bool{
		call: true,
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant" + call: true,
		"<|channel|>final<|message|>It is fine.<|return|>":                  false,
	} {
		if c.Accepts(text) != want {
			t.Errorf("expected %t for %s", want, text)
		}
	}
}
