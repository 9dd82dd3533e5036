package engine

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/internal/content"
	"github.com/parlance-llm/parlance/internal/explain"
)

// Transcript says how replay writes a conversation down as a prompt, in place of a chat template: every message between the
// two texts of its role.
type Transcript struct {
	// Begin is what the prompt begins with.
	Begin string `json:"begin,omitzero"`
	// Roles are the texts before and after a message of each role: system, user, assistant and tool. A role that is not
	// listed is written like system, or like user if that is not listed either.
	Roles map[string][2]string `json:"roles"`
	// Tools are the texts before and after the JSON array of tools, which comes first if there are any.
	Tools [2]string `json:"tools,omitzero"`
	// Generation begins the answer. If the template arguments switch thinking off as ThinkingOff says, in any of its
	// entries, it is GenerationWithoutThinking.
	Generation                string         `json:"generation"`
	GenerationWithoutThinking string         `json:"generation_without_thinking,omitzero"`
	ThinkingOff               map[string]any `json:"thinking_off,omitzero"`
}

// plainTranscript is for models whose recordings come without one.
var plainTranscript = Transcript{
	Roles: map[string][2]string{
		"system": {"system: ", "\n"}, "user": {"user: ", "\n"}, "assistant": {"assistant: ", "\n"}, "tool": {"tool: ", "\n"},
	},
	Tools:      [2]string{"tools: ", "\n"},
	Generation: "assistant: ",
}

type transcriptMessage struct {
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	ToolCalls jsontext.Value `json:"tool_calls"`
}

// write renders a conversation.
func (t *Transcript) write(c *Conversation) (string, error) {
	var messages []transcriptMessage
	if err := json.Unmarshal(c.Messages, &messages, lenient); err != nil {
		return "", fmt.Errorf("messages: %w", explain.Error(err))
	}
	var b strings.Builder
	b.WriteString(t.Begin)
	if tools := strings.TrimSpace(string(c.Tools)); tools != "" && tools != "null" && tools != "[]" {
		b.WriteString(t.Tools[0] + tools + t.Tools[1])
	}
	for i, message := range messages {
		text, err := content.Text(message.Content)
		if err != nil {
			return "", fmt.Errorf("messages.%d.content: %w", i, err)
		}
		if calls := string(message.ToolCalls); calls != "" && calls != "null" {
			text += calls
		}
		around := t.around(message.Role)
		b.WriteString(around[0] + text)
		if c.ContinueFinalMessage && i == len(messages)-1 {
			return b.String(), nil
		}
		b.WriteString(around[1])
	}
	switch {
	case c.NoGenerationPrompt:
	case t.thinkingOff(c.ChatTemplateKwargs):
		b.WriteString(t.GenerationWithoutThinking)
	default:
		b.WriteString(t.Generation)
	}
	return b.String(), nil
}

func (t *Transcript) around(role string) [2]string {
	for _, role := range []string{role, "system", "user"} {
		if around, ok := t.Roles[role]; ok {
			return around
		}
	}
	return [2]string{}
}

func (t *Transcript) thinkingOff(kwargs map[string]any) bool {
	for name, off := range t.ThinkingOff {
		if value, ok := kwargs[name]; ok && value == off {
			return true
		}
	}
	return false
}
