package constraint

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/explain"
	"github.com/parlance-llm/parlance/internal/jsontree"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Tool is a declared tool.
type Tool struct {
	Name string
	// Parameters is the JSON schema of the arguments; nothing and null mean any object.
	Parameters jsontext.Value
	// Strict: calls of it are held to the schema.
	Strict bool
}

// ParseTools reads an array of tools as the OpenAI interface has them. The error is an *Error.
func ParseTools(data []byte) ([]Tool, error) {
	if len(data) == 0 || jsontext.Value(data).Kind() == 'n' {
		return nil, nil
	}
	var raw []struct {
		Function *struct {
			Name       string         `json:"name"`
			Parameters jsontext.Value `json:"parameters"`
			Strict     *bool          `json:"strict"`
		} `json:"function"`
	}
	if err := json.Unmarshal(data, &raw, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, &Error{Param: "tools", Err: fmt.Errorf("expected an array of tools: %w", explain.Error(err))}
	}
	var out []Tool
	for i, tool := range raw {
		if tool.Function == nil {
			return nil, &Error{Param: fmt.Sprintf("tools[%d].function", i), Err: errors.New("expected an object, found nothing")}
		}
		out = append(out, Tool{tool.Function.Name, tool.Function.Parameters, tool.Function.Strict != nil && *tool.Function.Strict})
	}
	return out, nil
}

// arguments reads the schema of the arguments, which are always an object. read reads it as the parser does that reads
// values by it.
func (t *Tool) arguments() (node *toolschema.Node, notes []toolschema.Note, read func() (*schema.Schema, error), err error) {
	silent := func() (*schema.Schema, error) { return nil, nil }
	if kind := t.Parameters.Kind(); len(t.Parameters) == 0 || kind == 'n' {
		return anyArguments, nil, silent, nil
	}
	tree, err := jsontree.Read(t.Parameters)
	if err != nil {
		return nil, nil, nil, err
	}
	if node, notes, err = toolschema.ReadTree(tree); err != nil {
		return nil, nil, nil, err
	}
	read = func() (*schema.Schema, error) { return schema.ParseTree(tree) }
	if node.Free {
		return anyArguments, notes, read, nil
	}
	object := &toolschema.Node{Pointer: node.Pointer}
	for _, a := range node.Alternatives {
		if a.Kind == toolschema.Object {
			object.Alternatives = append(object.Alternatives, a)
		}
	}
	switch {
	case len(object.Alternatives) == 0:
		return nil, nil, nil, &toolschema.Error{Pointer: node.Pointer, Message: "expected the schema of an object, since arguments are one, found one that allows none"}
	case len(object.Alternatives) == len(node.Alternatives):
		return node, notes, read, nil
	}
	return object, notes, read, nil
}

// chosen are the tools that may be called, with their places in the request.
func (r *Request) chosen() (tools []*Tool, places []int, err error) {
	seen := map[string]int{}
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Name == "" {
			return nil, nil, &Error{Param: fmt.Sprintf("tools[%d].function.name", i), Err: errors.New("expected a name, found none")}
		}
		if first, twice := seen[t.Name]; twice {
			return nil, nil, &Error{Param: fmt.Sprintf("tools[%d].function.name", i), Tool: t.Name, Err: fmt.Errorf("expected every tool to have a name of its own, found that of tools[%d]", first)}
		}
		seen[t.Name] = i
		if r.ToolChoice.Mode != "function" || r.ToolChoice.Name == t.Name {
			tools, places = append(tools, t), append(places, i)
		}
	}
	if r.ToolChoice.Mode == "function" && len(tools) == 0 {
		return nil, nil, &Error{Param: "tool_choice", Err: fmt.Errorf("expected the name of a declared tool, found %q", r.ToolChoice.Name)}
	}
	return tools, places, nil
}
