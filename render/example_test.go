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
