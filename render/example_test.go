package render_test

import (
	"fmt"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

func ExampleRenderer_Render() {
	r, err := render.For("hermes", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := r.Render(&parlance.Message{
		Content: "Let me look.",
		Calls:   []parlance.Call{{Name: "get_weather", Arguments: `{"city": "Oslo"}`}},
	}, render.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// Let me look.
	// <tool_call>
	// {"name": "get_weather", "arguments": {"city": "Oslo"}}
	// </tool_call>
}

func ExampleRenderer_Results() {
	r, err := render.For("qwen3_json", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := &parlance.Message{Calls: []parlance.Call{{ID: "call_1", Name: "get_weather", Arguments: `{"city": "Oslo"}`}}}
	text, err := r.Results(asked, []render.Result{{ID: "call_1", Content: "Rain, 7 degrees."}}, render.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// <|im_end|>
	// <|im_start|>user
	// <tool_response>
	// Rain, 7 degrees.
	// </tool_response><|im_end|>
	// <|im_start|>assistant
}
