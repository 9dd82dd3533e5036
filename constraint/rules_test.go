package constraint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/sample"
)

// one is a tool with parameters, as an array of tools.
func one(name, parameters string) string {
	return fmt.Sprintf(`[{"type": "function", "function": {"name": %q, "parameters": %s}}]`, name, parameters)
}

// toolNames are the tool parsers whose grammar comes with the program; the others read what a checkpoint brings.
func toolNames(t testing.TB) (names []string) {
	t.Helper()
	for _, name := range parlance.ToolNames() {
		_, err := parlance.Lookup(name, "")
		if template := (*parlance.TemplateError)(nil); errors.As(err, &template) {
			continue
		}
		names = append(names, name)
	}
	return names
}

func parsed(t testing.TB, data string) []Tool {
	t.Helper()
	tools, err := ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func lookup(t testing.TB, tool, reasoning string) *parlance.Parser {
	t.Helper()
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func constrained(t testing.TB, tool, reasoning string, r Request) *Constraint {
	t.Helper()
	c, err := New(lookup(t, tool, reasoning), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wants(t *testing.T, c *Constraint, text string, want bool) {
	t.Helper()
	if c == nil {
		t.Fatalf("there is no constraint to hold %q against", text)
	}
	if got := c.Accepts(text); got != want {
		t.Errorf("%q: accepted %v, want %v", text, got, want)
	}
}

var required = parlance.ToolChoice{Mode: "required"}

const f = `{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}`

// When a constraint applies: forced calls always; auto if a tool is strict, the level says so, there may be but one call,
// or the answer has a format; none only for that format.
func TestWhenToConstrain(t *testing.T) {
	loose, strict := parsed(t, one("f", f)), parsed(t, one("f", f))
	strict[0].Strict = true
	format := &ResponseFormat{Schema: []byte(`{"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"]}`)}
	none := parlance.ToolChoice{Mode: "none"}
	named := parlance.ToolChoice{Mode: "function", Name: "f"}
	for i, c := range []struct {
		tool string
		r    Request
		want bool
	}{
		{"hermes", Request{Tools: loose}, false},
		{"hermes", Request{Tools: strict}, true},
		{"hermes", Request{Tools: loose, StrictLevel: LevelAuto}, false},
		{"hermes", Request{Tools: loose, StrictLevel: LevelFunction}, true},
		{"hermes", Request{Tools: loose, StrictLevel: LevelParameter}, true},
		{"hermes", Request{Tools: loose, OneCall: true}, true},
		{"hermes", Request{Tools: loose, ResponseFormat: format}, true},
		{"hermes", Request{Tools: loose, ToolChoice: required}, true},
		{"hermes", Request{Tools: loose, ToolChoice: named}, true},
		{"hermes", Request{Tools: strict, ToolChoice: none, StrictLevel: LevelParameter, OneCall: true}, false},
		{"hermes", Request{Tools: strict, ToolChoice: none, ResponseFormat: format}, true},
		{"hermes", Request{}, false},
		{"hermes", Request{ResponseFormat: format}, true},
		{"hermes", Request{Tools: strict, Unenforced: true, StrictLevel: LevelParameter, OneCall: true}, false},
		{"hermes", Request{Tools: strict, Unenforced: true, ToolChoice: required}, true},
		{"glm47", Request{Tools: loose}, true}, // its own level is function
		{"glm47", Request{Tools: loose, StrictLevel: LevelAuto}, true},
		{"ling3", Request{Tools: loose}, false},
	} {
		got, err := New(lookup(t, c.tool, ""), c.r)
		if err != nil {
			t.Errorf("%d: %v", i, err)
		} else if (got != nil) != c.want {
			t.Errorf("%d %s %+v: constrained %v, want %v", i, c.tool, c.r, got != nil, c.want)
		}
	}
}

// The levels: function holds the call's shape and the names, parameter the arguments too.
func TestLevels(t *testing.T) {
	call := func(name, arguments string) string {
		return `<tool_call>` + "\n" + `{"name": "` + name + `", "arguments": ` + arguments + "}\n</tool_call>"
	}
	tools := parsed(t, one("f", f))
	function := constrained(t, "hermes", "", Request{Tools: tools, StrictLevel: LevelFunction})
	parameter := constrained(t, "hermes", "", Request{Tools: tools, StrictLevel: LevelParameter})
	unenforced := constrained(t, "hermes", "", Request{Tools: tools, StrictLevel: LevelParameter, Unenforced: true, ToolChoice: required})
	for _, c := range []*Constraint{function, parameter} {
		wants(t, c, "Only text.", true)
		wants(t, c, "Text. "+call("f", `{"a": 1}`)+" More.", true)
		wants(t, c, call("g", `{"a": 1}`), false)
		wants(t, c, "<tool_call> in prose", false)
	}
	wants(t, function, call("f", `{"b": "x"}`), true)
	wants(t, parameter, call("f", `{"b": "x"}`), false)
	wants(t, unenforced, call("f", `{"b": "x"}`), true)
	wants(t, unenforced, "Only text.", false)
}

// W9: arguments that are not held to a schema are an object all the same.
func TestW9ArgumentsAreAnObject(t *testing.T) {
	for _, tools := range []string{one("f", f), one("f", "null"), `[{"type": "function", "function": {"name": "f"}}]`} {
		c := constrained(t, "hermes", "", Request{Tools: parsed(t, tools), ToolChoice: required})
		for arguments, want := range map[string]bool{`{}`: true, `{"any": [1, {"x": null}]}`: true, `"text"`: false, `[1]`: false, `5`: false, `null`: false} {
			wants(t, c, `<tool_call>{"name": "f", "arguments": `+arguments+`}</tool_call>`, want)
		}
	}
}

// W10: $defs, definitions and references to the whole schema work, each in its own tool, also where two tools call
// different things by the same name, and in the JSON schema of several tools.
func TestW10References(t *testing.T) {
	data := `[
		{"type": "function", "function": {"name": "one", "strict": true, "parameters": {"type": "object", "properties": {"x": {"$ref": "#/$defs/T"}}, "required": ["x"], "$defs": {"T": {"type": "integer"}}}}},
		{"type": "function", "function": {"name": "two", "strict": true, "parameters": {"type": "object", "properties": {"x": {"$ref": "#/definitions/T"}}, "required": ["x"], "definitions": {"T": {"type": "string"}}}}},
		{"type": "function", "function": {"name": "three", "strict": true, "parameters": {"type": "object", "properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}}}}]`
	c := constrained(t, "hermes", "", Request{Tools: parsed(t, data), ToolChoice: required})
	schema, ok := c.JSONSchema()
	if !ok {
		t.Fatal("a forced call has no JSON schema")
	}
	validator := &schemaOf{schema: compileSchema(t, []byte(schema.Text))}
	for _, call := range []struct {
		name, arguments string
		want            bool
	}{
		{"one", `{"x": 5}`, true}, {"one", `{"x": "5"}`, false},
		{"two", `{"x": "5"}`, true}, {"two", `{"x": 5}`, false},
		{"three", `{"child": {"child": {"n": 1}}}`, true}, {"three", `{"child": {"child": {"n": "1"}}}`, false}, {"three", `{"child": 1}`, false},
	} {
		wants(t, c, `<tool_call>{"name": "`+call.name+`", "arguments": `+call.arguments+`}</tool_call>`, call.want)
		err := validator.invalid(`[{"name": "` + call.name + `", "parameters": ` + call.arguments + `}]`)
		if (err == nil) != call.want {
			t.Errorf("the JSON schema on %s %s: %v, want %v", call.name, call.arguments, err, call.want)
		}
	}
	if strings.Contains(schema.Text, "definitions") {
		t.Errorf("references into a single tool are left: %s", schema.Text)
	}
}

// Schemas that hold themselves, in every format, mode and dialect.
func TestRecursiveSchemas(t *testing.T) {
	tree := `{"type": "object", "properties": {"name": {"type": "string"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}, "required": ["name"]}`
	list := `{"type": "object", "properties": {"head": {"$ref": "#/$defs/A"}}, "required": ["head"], "$defs": {
		"A": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/B"}}, "required": ["n"]},
		"B": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/A"}}, "more": {"$ref": "#/$defs/A"}}, "required": ["items"]}}}`
	data := fmt.Sprintf(`[{"type": "function", "function": {"name": "tree", "strict": true, "parameters": %s}}, {"type": "function", "function": {"name": "list", "strict": true, "parameters": %s}}]`, tree, list)
	tools := parsed(t, data)
	for _, name := range toolNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := parlance.Lookup(name, "")
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(4, 2))
			for _, mode := range []string{"required", "auto"} {
				r := Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: mode}}
				agree(t, p, []byte(data), r, "", 25, random)
				c, err := New(p, r)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range []Text{c.StructuralTag(), c.GBNF(), c.EBNF(), c.Lark()} {
					if text.Text == "" {
						t.Errorf("%s: a dialect is empty", mode)
					}
				}
			}
		})
	}
}

// W12: a forced call is constrained in every format that there is, in the format's own syntax, and the constraint never
// admits an output without a call.
func TestW12EveryFormatIsForced(t *testing.T) {
	tools := parsed(t, one("f", f))
	for _, name := range toolNames(t) {
		for _, choice := range []parlance.ToolChoice{required, {Mode: "function", Name: "f"}} {
			c, err := New(lookup(t, name, ""), Request{Tools: tools, ToolChoice: choice})
			if err != nil || c == nil {
				t.Errorf("%s %s: no constraint: %v", name, choice.Mode, err)
				continue
			}
			for _, text := range []string{"", "It is sunny in Paris.", "I cannot call tools.\n"} {
				if c.Accepts(text) {
					t.Errorf("%s %s: accepts %q", name, choice.Mode, text)
				}
			}
			if !c.Reader().Write(opening(c)) {
				t.Errorf("%s %s: refuses the beginning of a call", name, choice.Mode)
			}
		}
	}
}

// opening is the beginning of some text of a constraint.
func opening(c *Constraint) string {
	s := sample.New(c.Language(), rand.New(rand.NewPCG(1, 1)))
	text, _ := s.Text(c.Language(), 20)
	runes := []rune(text)
	return string(runes[:len(runes)/2])
}

// W13: tools with a response format: calls, or an answer in the format, and no prose.
func TestW13CallsOrFormattedText(t *testing.T) {
	format, err := ParseResponseFormat([]byte(`{"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object", "properties": {"sky": {"enum": ["blue", "grey"]}}, "required": ["sky"], "additionalProperties": false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for tool, call := range map[string]string{
		"hermes":      `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`,
		"qwen3_coder": "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
		"pythonic":    `[f(a=1)]`,
	} {
		c := constrained(t, tool, "", Request{Tools: parsed(t, one("f", f)), ResponseFormat: format})
		wants(t, c, call, true)
		wants(t, c, `{"sky": "blue"}`, true)
		wants(t, c, `{"sky": "green"}`, false)
		wants(t, c, "The sky is blue.", false)
		if _, ok := c.JSONSchema(); ok && tool != "" {
			schema, _ := c.JSONSchema()
			if schema.Text != "" {
				t.Errorf("%s: calls or an answer cannot be one JSON schema: %s", tool, schema.Text)
			}
		}
	}
	forced := constrained(t, "hermes", "", Request{Tools: parsed(t, one("f", f)), ResponseFormat: format, ToolChoice: required})
	wants(t, forced, `{"sky": "blue"}`, false)
	if len(forced.Notes()) == 0 {
		t.Error("that a forced call leaves the response format out is not noted")
	}
	plain := constrained(t, "hermes", "", Request{ResponseFormat: format})
	if schema, ok := plain.JSONSchema(); !ok || !strings.Contains(schema.Text, "grey") {
		t.Errorf("the JSON schema of an answer: %q", schema.Text)
	}
}

// W20: where the turn begins is what the prompt shows, whether or not the reasoning is hidden.
func TestW20HiddenReasoningStillBegins(t *testing.T) {
	p := lookup(t, "qwen3_coder", "qwen3")
	for prompt, want := range map[string]Thinking{
		"<|im_start|>assistant\n<think>\n":               ThinkingOpen,
		"<|im_start|>assistant\n<think>\n\n</think>\n\n": ThinkingOver,
		"<|im_start|>assistant\n":                        ThinkingOpen, // the family's default
	} {
		for _, hidden := range []bool{false, true} {
			if got := ThinkingOf(p, parlance.Request{Prompt: prompt, HideReasoning: hidden}); got != want {
				t.Errorf("%q, hidden %v: %v, want %v", prompt, hidden, got, want)
			}
		}
	}
	c, err := New(p, Request{Tools: parsed(t, one("f", f)), ToolChoice: required, Thinking: ThinkingOpen})
	if err != nil {
		t.Fatal(err)
	}
	call := "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
	wants(t, c, "I need f.\n</think>\n\n"+call, true)
	wants(t, c, "I need f."+call, true) // a call ends the thought
	wants(t, c, "I need f.\n</think>\n\nNo.", false)
	wants(t, c, "I never stop thinking", false)
}

// In every pair of halves the thought that is open goes on, and what follows is held; the parser reads both.
func TestThinkingFirst(t *testing.T) {
	tools := parsed(t, weather)
	declared, err := parlance.ParseTools([]byte(weather))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parlance.ReasoningNames() {
		tool := name
		if _, err := parlance.Lookup(tool, name); err != nil {
			tool = "hermes"
		}
		p, err := parlance.Lookup(tool, name)
		if err != nil {
			if p, err = parlance.Lookup("openai", name); err != nil {
				t.Logf("%s: %v", name, err)
				continue
			}
		}
		for _, thinking := range []Thinking{ThinkingOpen, ThinkingPossible, ThinkingOver} {
			if _, reasoning, _ := p.Definitions(); thinking == ThinkingPossible && reasoning.Thinking.Given {
				continue // a family that begins in the thought, or behind it
			}
			c, err := New(p, Request{Tools: tools, ToolChoice: required, Thinking: thinking})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			s := sample.New(c.Language(), rand.New(rand.NewPCG(3, 4)))
			for range 3 {
				text, spans := s.Text(c.Language(), 200)
				if !c.Accepts(text) {
					t.Errorf("%s %v: refuses its own text %q", name, thinking, text)
				}
				prompt := promptOf(p, thinking)
				m := p.Parse(text, parlance.Request{Tools: declared, ToolChoice: required, Prompt: prompt}, parlance.FinishStop)
				if wrong := differs(t, m, callsOf(text, spans)); wrong != "" {
					t.Errorf("%s+%s %v: %s\nprompt %q text %q\nreasoning %q content %q", p.ToolName(), name, thinking, wrong, prompt, text, m.Reasoning, m.Content)
					break
				}
			}
		}
	}
}

// promptOf is a prompt behind which a turn begins in this way, "" if none is needed.
func promptOf(p *parlance.Parser, thinking Thinking) string {
	_, reasoning, _ := p.Definitions()
	info, _ := parlance.Format(reasoning.Format)
	if len(info.ThoughtMarkers) == 0 {
		return ""
	}
	switch opener := info.ThoughtMarkers[0]; thinking {
	case ThinkingOpen:
		return opener
	case ThinkingOver:
		return opener + info.ThoughtMarkers[len(info.ThoughtMarkers)-1]
	}
	return ""
}

// parallel_tool_calls false: after the first call nothing follows.
func TestOneCall(t *testing.T) {
	call := `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`
	for _, choice := range []parlance.ToolChoice{{}, required, {Mode: "function", Name: "f"}} {
		c := constrained(t, "hermes", "", Request{Tools: parsed(t, one("f", f)), ToolChoice: choice, OneCall: true})
		wants(t, c, call, true)
		wants(t, c, call+"\n"+call, false)
		wants(t, c, call+" and text", false)
	}
	many := constrained(t, "hermes", "", Request{Tools: parsed(t, one("f", f)), ToolChoice: required})
	wants(t, many, call+"\n"+call, true)
	schema, _ := constrained(t, "hermes", "", Request{Tools: parsed(t, one("f", f)), ToolChoice: required, OneCall: true}).JSONSchema()
	if !strings.Contains(schema.Text, `"maxItems": 1`) {
		t.Errorf("the JSON schema lets more calls through: %s", schema.Text)
	}
}

// Bad input: an error that names the field, the tool and the place in its schema.
func TestBadInput(t *testing.T) {
	two := `[{"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}}]`
	for _, c := range []struct {
		name, tool, tools string
		choice            parlance.ToolChoice
		want              []string
	}{
		{"a tool named twice", "hermes", two, required, []string{"tools[1].function.name", "tool f", "tools[0]"}},
		{"a tool without a name", "hermes", `[{"type": "function", "function": {}}]`, required, []string{"tools[0].function.name"}},
		{"a name the format cannot write", "qwen3_coder", one("get weather", f), required, []string{"tools[0].function", "get weather", "' '"}},
		{"an impossible schema", "hermes", one("f", `{"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}`), required, []string{"tools[0].function.parameters", "tool f", "/properties/a", "none does"}},
		{"a false schema", "hermes", one("f", `{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": false}, "required": ["b"]}}, "required": ["a"]}`), required, []string{"/properties/a/properties/b"}},
		{"bounds that exclude each other", "hermes", one("f", `{"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 4}}, "required": ["a"]}`), required, []string{"/properties/a", "bounds"}},
		{"recursion without end", "hermes", one("f", `{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}`), required, []string{"tool f", "without end"}},
		{"recursion without end through two", "hermes", one("f", `{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/B"}}, "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}}}`), required, []string{"tool f", "without end", "/$defs/"}},
		{"what the reader of values cannot read", "qwen3_coder", one("f", `{"type": "object", "properties": {"a": {"type": "array", "prefixItems": 5}}}`), required, []string{"tools[0].function.parameters", "tool f", "/properties/a/prefixItems", "an array"}},
		{"a reference that leads nowhere", "hermes", one("f", `{"type": "object", "properties": {"a": {"$ref": "#/$defs/T"}}}`), required, []string{"/properties/a/$ref", "#/$defs/T", "nowhere"}},
		{"arguments that are no object", "hermes", one("f", `{"type": "string"}`), required, []string{"tool f", "object"}},
		{"a type that is no name", "hermes", one("f", `{"type": "object", "properties": {"a": {"type": 5}}}`), required, []string{"/properties/a/type", "the number 5"}},
		{"a named tool that is not declared", "hermes", one("f", f), parlance.ToolChoice{Mode: "function", Name: "g"}, []string{"tool_choice", `"g"`}},
		{"no tools to choose from", "hermes", `[]`, required, []string{"tool_choice", "tools"}},
		{"a parameter that Python cannot name", "pythonic", one("f", `{"type": "object", "properties": {"a b": {"type": "string"}}, "required": ["a b"]}`), parlance.ToolChoice{Mode: "function", Name: "f"}, []string{"tool f", "a b"}},
	} {
		tools := parsed(t, c.tools)
		for i := range tools {
			tools[i].Strict = true
		}
		_, err := New(lookup(t, c.tool, ""), Request{Tools: tools, ToolChoice: c.choice})
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: expected an *Error, found %v", c.name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", c.name, err, part)
			}
		}
	}
}

// A level that there is not is refused.
func TestUnknownLevel(t *testing.T) {
	_, err := New(lookup(t, "hermes", ""), Request{Tools: parsed(t, one("f", f)), ToolChoice: required, StrictLevel: "strict"})
	if err == nil || !strings.Contains(err.Error(), `function or parameter, found "strict"`) {
		t.Errorf("found %v", err)
	}
}

// What no constraint holds is noted, with its place.
func TestNotes(t *testing.T) {
	tools := parsed(t, one("f", `{"type": "object", "properties": {"a": {"type": "number", "multipleOf": 3}, "b": {"type": "array", "uniqueItems": true}, "c": {"not": {"type": "string"}}, "d": {"type": "string", "pattern": "(?=x)y"}}}`))
	tools[0].Strict = true
	notes := strings.Join(constrained(t, "hermes", "", Request{Tools: tools, ToolChoice: required}).Notes(), "\n")
	for _, part := range []string{"multipleOf", "/properties/a", "uniqueItems", "/properties/b", "not ", "/properties/c", "pattern", "look-around"} {
		if !strings.Contains(notes, part) {
			t.Errorf("%q is not in the notes:\n%s", part, notes)
		}
	}
}

// A constraint is made once for the same content.
func TestKept(t *testing.T) {
	p := lookup(t, "hermes", "")
	r := func() Request { return Request{Tools: parsed(t, one("kept", f)), ToolChoice: required} }
	first, err := New(p, r())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := New(p, r()); again != first {
		t.Error("the same request made another constraint")
	}
	other := r()
	other.OneCall = true
	if again, _ := New(p, other); again == first {
		t.Error("another request got the same constraint")
	}
}
