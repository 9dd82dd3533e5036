package constraint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
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

// An object of very many members, none of which has to be there, is written in proportion to them, and holds their order
// and their types like a small one.
func TestManyMembers(t *testing.T) {
	members := make([]string, 400)
	for i := range members {
		members[i] = fmt.Sprintf(`"p%d": {"type": "integer"}`, i)
	}
	data := fmt.Sprintf(`[{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "object", "properties": {"x": {"type": "object", "properties": {%s}}}}}}]`, strings.Join(members, ", "))
	tools, err := parlance.ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range toolNames(t) {
		p := lookup(t, name, "")
		d, _, _ := p.Definitions()
		c, err := build(p, &Request{Tools: parsed(t, data), ToolChoice: required})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if size := len(c.GBNF().Text); size > 40*len(data) {
			t.Errorf("%s: %d bytes for a request of %d", name, size, len(data))
		}
		for arguments, right := range map[string]bool{
			`{"x": {"p7": 1}}`:                        true,
			`{"x": {"p0": 1, "p1": 2, "p399": 3}}`:    true,
			`{"x": {"p40": 1, "p370": 2}}`:            true,
			`{"x": {"p40": 1, "p370": 2, "p370": 2}}`: false,
			`{"x": {"p40": "a"}}`:                     false,
			`{"x": {"p400": 1}}`:                      false,
			`{"x": {"p2": 1, "p40": {}}}`:             false,
		} {
			text, err := render.New(p).Render(&parlance.Message{Calls: []parlance.Call{{Name: "f", Arguments: arguments}}, Segments: []parlance.Segment{{Kind: parlance.ToolCall}}}, render.Options{Request: parlance.Request{Tools: tools}})
			if right && d.Written.Objects == "python" { // spelled in a way of the format's own
				continue
			}
			if err == nil && c.Accepts(text) != right {
				t.Errorf("%s: accepts %v: %q", name, !right, text)
			}
		}
	}
}

// However deeply a schema is nested, no rule is: llguidance refuses those.
func TestNoRuleIsNestedDeeply(t *testing.T) {
	schema := `{"type": "boolean"}`
	for range 20 {
		schema = fmt.Sprintf(`{"type": "object", "properties": {"a": %s, "b": {"type": "string"}}}`, schema)
	}
	tools := parsed(t, one("f", schema))
	tools[0].Strict = true
	for _, name := range toolNames(t) {
		for line := range strings.Lines(constrained(t, name, "", Request{Tools: tools, ToolChoice: required}).Lark().Text) {
			depth, most := 0, 0
			for _, word := range strings.Fields(line) {
				switch {
				case word == "(":
					depth++
				case strings.HasPrefix(word, ")"):
					depth--
				}
				most = max(most, depth)
			}
			if most > 20 {
				t.Errorf("%s: a rule with %d parentheses in each other: %.80s", name, most, line)
			}
		}
	}
}
