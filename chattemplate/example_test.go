package chattemplate_test

import (
	"fmt"

	"github.com/parlance-llm/parlance/chattemplate"
)

func Example() {
	set, err := chattemplate.Resolve("granite", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tools := []byte(`[{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]`)
	template, err := set.For(len(tools) > 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	rendered, err := template.RenderChat(chattemplate.Chat{
		Messages:            []byte(`[{"role": "user", "content": "What time is it?"}]`),
		Tools:               tools,
		AddGenerationPrompt: true,
		Tokens:              set.Tokens,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(rendered.Prompt)
	// Output:
	// <|start_of_role|>available_tools<|end_of_role|>{
	//     "name": "now",
	//     "parameters": {
	//         "type": "object",
	//         "properties": {}
	//     }
	// }<|end_of_text|>
	// <|start_of_role|>user<|end_of_role|>What time is it?<|end_of_text|>
	// <|start_of_role|>assistant<|end_of_role|>
}
