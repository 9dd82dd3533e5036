package constraint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// doubling is a schema of so many levels, each of which refers to the next twice: a few lines that say a value with
// two to the power of levels members.
func doubling(levels int) string {
	var definitions []string
	for i := range levels {
		next := fmt.Sprintf(`{"$ref": "#/$defs/level%d"}`, i+1)
		if i == levels-1 {
			next = `{"type": "boolean"}`
		}
		definitions = append(definitions, fmt.Sprintf(`"level%d": {"type": "object", "properties": {"a": %s, "b": %[2]s}}`, i, next))
	}
	return fmt.Sprintf(`{"type": "object", "properties": {"x": {"$ref": "#/$defs/level0"}}, "$defs": {%s}}`, strings.Join(definitions, ", "))
}

// A small request makes no large constraint, and takes no long time: what is referred to from many places is compared,
// and written, a bounded number of times.
func TestSmallSchemasStaySmall(t *testing.T) {
	const most = 3 << 20
	schema := doubling(30)
	data := fmt.Sprintf(`[{"type": "function", "function": {"name": "f", "strict": true, "parameters": %s}}, {"type": "function", "function": {"name": "g", "strict": true, "parameters": %[1]s}}]`, schema)
	for _, name := range toolNames(t) {
		c, err := build(lookup(t, name, ""), &Request{Tools: parsed(t, data), ToolChoice: required})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := c.JSONSchema()
		for dialect, size := range map[string]int{"structural tag": len(c.StructuralTag().Text), "GBNF": len(c.GBNF().Text), "Lark": len(c.Lark().Text), "JSON schema": len(text.Text)} {
			if size > most {
				t.Errorf("%s %s: %d bytes for a request of %d", name, dialect, size, len(data))
			}
		}
	}
	format, err := build(lookup(t, "hermes", ""), &Request{ToolChoice: parlance.ToolChoice{Mode: "none"}, ResponseFormat: &ResponseFormat{Schema: []byte(schema)}})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := format.JSONSchema(); len(text.Text) > most || len(format.StructuralTag().Text) > most {
		t.Errorf("an answer in a format: a schema of %d bytes, a tag of %d", len(text.Text), len(format.StructuralTag().Text))
	}
}
