package parlance

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	"github.com/parlance-llm/parlance/internal/schema"
)

// FinishReason is why an output ended.
type FinishReason string

const (
	// FinishStop: the model ended its turn.
	FinishStop FinishReason = "stop"
	// FinishLength: the output was cut off at a limit.
	FinishLength FinishReason = "length"
)

// Request is what a request says that matters for reading its answer. The zero value asks for nothing in particular.
type Request struct {
	// Tools are the declared tools. Names and arguments are read without them too; they give tagged values their types.
	Tools *Tools
	// ToolChoice says which calls are read. Its zero value is auto.
	ToolChoice ToolChoice
	// Prompt is the rendered prompt, or its end, as far as it is known; "" means that nothing is known. It decides
	// where the output begins (ruling 5).
	Prompt string
	// PromptTokens are the tokens of the prompt, or of its end; if there are any, they count instead of Prompt. For a
	// parser that is bound to a vocabulary a marker in them is one only as its token.
	PromptTokens []Token
	// ChatTemplateKwargs are the arguments of the chat template, as JSON has them; they switch thinking on or off where
	// the prompt does not show it (rulings 6, 7).
	ChatTemplateKwargs map[string]any
	// SpecialTokens are tokens that the model's vocabulary is known to hold. A suffix that a checkpoint puts on every
	// marker is read off them, else off the prompt.
	SpecialTokens []string
	// HideReasoning empties the reasoning tray and changes nothing else (ruling 14).
	HideReasoning bool
	// Exact keeps all white space that is not markup. By default white space at the ends of a tray, and between two
	// pieces of markup, belongs to no tray.
	Exact bool
	// Validated holds each call of a stream until it is whole and valid. Whole answers are always read so.
	Validated bool
	// KnownToolsOnly: what would be a call of a tool that is not declared stays text.
	KnownToolsOnly bool
	// Trace keeps what became of every byte.
	Trace bool
	// HeldLimit bounds what is held of guards, headers, names and runs of closers, in bytes; ArgumentLimit bounds
	// arguments before their name and values that must be read whole. Zero means 4 KiB and 16 MiB (ruling 41).
	HeldLimit, ArgumentLimit int
}

// ToolChoice says which calls a request wants: "auto" (or ""), "none", "required", or "function" with the name of the
// function.
type ToolChoice struct {
	Mode string
	Name string
}

// ParseToolChoice reads a tool choice as the OpenAI interface has it: a string, or
// {"type": "function", "function": {"name": …}}. Nothing, and null, are auto. The error
// names the field and tells what was expected there and what was found.
func ParseToolChoice(data []byte) (ToolChoice, error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "null" {
		return ToolChoice{}, nil
	}
	var mode string
	switch data[0] {
	case '"':
		if err := json.Unmarshal(data, &mode, lenient); err != nil {
			return ToolChoice{}, fmt.Errorf("tool_choice: %w", err)
		}
		switch mode {
		case "auto", "none", "required":
			return ToolChoice{Mode: mode}, nil
		}
		return ToolChoice{}, fmt.Errorf("tool_choice: expected auto, none, required or a function, found %q", mode)
	case '{':
	default:
		return ToolChoice{}, fmt.Errorf("tool_choice: expected auto, none, required or a function, found %s", shortly(data))
	}
	var named struct {
		Function struct {
			Name jsontext.Value `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(data, &named, lenient); err != nil {
		return ToolChoice{}, fmt.Errorf("tool_choice.function: expected an object with the name of a function, found %s", shortly(data))
	}
	var name string
	if given := named.Function.Name; given.Kind() != '"' || json.Unmarshal(given, &name, lenient) != nil || name == "" {
		return ToolChoice{}, fmt.Errorf("tool_choice.function.name: expected the name of a function, found %s", shortly(given))
	}
	return ToolChoice{Mode: "function", Name: name}, nil
}

// lenient reads JSON of requests: a repeated member counts with its last value, as in Python and JavaScript.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Tools are declared tools. They are immutable and may be shared by goroutines.
type Tools struct {
	schemas map[string]*schema.Schema
	names   []string
}

// Names are the names of the tools in the order of their declaration.
func (t *Tools) Names() []string {
	if t == nil {
		return nil
	}
	return t.names
}

// ToolError says what is wrong with a tool.
type ToolError struct {
	// Index is the place of the tool in the array, from 0; Name its name, if it has one.
	Index int
	Name  string
	// Field is the field at fault; Err says what was expected and found.
	Field string
	Err   error
}

func (e *ToolError) Error() string {
	name := ""
	if e.Name != "" {
		name = fmt.Sprintf(" (%s)", e.Name)
	}
	return fmt.Sprintf("tools[%d]%s: %s: %v", e.Index, name, e.Field, e.Err)
}

func (e *ToolError) Unwrap() error { return e.Err }

// ParseTools reads an array of tools as the OpenAI interface has them:
// [{"type": "function", "function": {"name": …, "parameters": …}}, …]. Nothing, and null, are no tools. The error is a
// *ToolError that names the tool and the field, unless data is no array at all.
func ParseTools(data []byte) (*Tools, error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	var raw []jsontext.Value
	if kind := jsontext.Value(data).Kind(); kind != '[' && kind != jsontext.KindInvalid {
		return nil, fmt.Errorf("tools: expected an array of tools, found %s", shortly(data))
	}
	if err := json.Unmarshal(data, &raw, lenient); err != nil {
		return nil, fmt.Errorf("tools: expected an array of tools: %w", err)
	}
	t := &Tools{schemas: map[string]*schema.Schema{}}
	for i, value := range raw {
		if err := t.add(i, value); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Tools) add(i int, value jsontext.Value) error {
	var tool struct {
		Type     jsontext.Value `json:"type"`
		Function jsontext.Value `json:"function"`
	}
	if err := json.Unmarshal(value, &tool, lenient); err != nil {
		return &ToolError{Index: i, Field: "tool", Err: fmt.Errorf("expected an object, found %s", shortly(value))}
	}
	if len(tool.Type) > 0 && string(tool.Type) != `"function"` {
		return &ToolError{Index: i, Field: "type", Err: fmt.Errorf(`expected "function", found %s`, shortly(tool.Type))}
	}
	if tool.Function.Kind() != '{' {
		return &ToolError{Index: i, Field: "function", Err: fmt.Errorf("expected an object, found %s", shortly(tool.Function))}
	}
	var function struct {
		Name       jsontext.Value `json:"name"`
		Parameters jsontext.Value `json:"parameters"`
	}
	if err := json.Unmarshal(tool.Function, &function, lenient); err != nil {
		return &ToolError{Index: i, Field: "function", Err: err}
	}
	var name string
	if function.Name.Kind() != '"' || json.Unmarshal(function.Name, &name, lenient) != nil || name == "" {
		return &ToolError{Index: i, Field: "function.name", Err: fmt.Errorf("expected a name, found %s", shortly(function.Name))}
	}
	if kind := function.Parameters.Kind(); len(function.Parameters) > 0 && kind != '{' && kind != 'n' {
		return &ToolError{Index: i, Name: name, Field: "function.parameters", Err: fmt.Errorf("expected a JSON schema, found %s", shortly(function.Parameters))}
	}
	s, err := schema.Parse(function.Parameters)
	if err != nil {
		return &ToolError{Index: i, Name: name, Field: "function.parameters", Err: err}
	}
	if _, twice := t.schemas[name]; !twice {
		t.names = append(t.names, name)
	}
	t.schemas[name] = s
	return nil
}

func shortly(value jsontext.Value) string {
	switch text := string(value); {
	case len(text) == 0:
		return "nothing"
	case len(text) > 60:
		return text[:60] + "…"
	default:
		return text
	}
}
