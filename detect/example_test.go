package detect_test

import (
	"fmt"

	"github.com/parlance-llm/parlance/detect"
)

// What is known of a model is put together; a sample counts most.
func ExampleCombine() {
	r := detect.Combine(
		detect.Name("zai-org/GLM-4.6"),
		detect.Samples("<think>Oslo, then.</think><tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"),
	)
	fmt.Println(r.Flags())
	for _, guess := range r.Tools[:1] {
		fmt.Println(guess.Name, guess.Sure)
	}
	// Output:
	// --tool-call-parser glm47 --reasoning-parser glm47
	// glm47 true
}
