package constraint_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
)

// A call is forced: the engine is given a grammar that admits nothing else.
func ExampleNew() {
	p, err := parlance.Lookup("hermes", "")
	if err != nil {
		log.Fatal(err)
	}
	tools, err := constraint.ParseTools([]byte(`[{"type": "function", "function": {"name": "now", "strict": true,
		"parameters": {"type": "object", "properties": {"zone": {"enum": ["CET", "UTC"]}}, "required": ["zone"], "additionalProperties": false}}}]`))
	if err != nil {
		log.Fatal(err)
	}
	c, err := constraint.New(p, constraint.Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"}})
	if err != nil {
		log.Fatal(err)
	}
	grammar := c.GBNF() // what llama.cpp takes; StructuralTag is for vLLM and SGLang
	fmt.Println(strings.Contains(grammar.Text, "now"), len(grammar.Notes))
	// Output:
	// true 0
}
