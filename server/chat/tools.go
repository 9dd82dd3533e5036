package chat

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

const choiceUsage = "Correct usage: `{\"type\": \"function\", \"function\": {\"name\": \"my_function\"}}`"

// checkTools: no more tools than the server allows, whether or not allowed_tools leaves some out.
func (h *Handler) checkTools(o *body.Object) error {
	tools, _ := body.Elements(o.Raw("tools"))
	return h.Settings.Limits.CheckTools(len(tools))
}

// readToolChoice reads tool_choice, and what it needs of the tools. An explicit null is the same as none given (W4).
func (r *Request) readToolChoice(o *body.Object) error {
	tools, isList := body.Elements(o.Raw("tools"))
	if isList && len(tools) == 0 {
		return apierror.Invalidf("tools", "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.")
	}
	choice := o.Raw("tool_choice")
	if choice == nil {
		r.ToolChoice.Mode = generate.ToolChoiceNone
		if len(tools) > 0 {
			r.ToolChoice.Mode = generate.ToolChoiceAuto
		}
		return nil
	}
	switch choice.Kind() {
	case '"':
		r.ToolChoice.Mode = body.Text(choice)
		switch r.ToolChoice.Mode {
		case generate.ToolChoiceNone:
			return nil
		case generate.ToolChoiceAuto, generate.ToolChoiceRequired:
			return needTools(o)
		}
	case '{':
		if err := needTools(o); err != nil {
			return err
		}
		members, _ := body.Members(choice)
		if body.Text(body.Lookup(members, "type")) == "allowed_tools" && body.Lookup(members, "type").Kind() == '"' {
			return r.readAllowedTools(body.Lookup(members, "allowed_tools"), tools)
		}
		return r.readNamed(body.Lookup(members, "function"), tools)
	}
	return apierror.Invalidf("tool_choice", "Invalid value for `tool_choice`: %s! Only named tools, \"none\", \"auto\" or \"required\" are supported.", body.Summary(choice))
}

func needTools(o *body.Object) error {
	if o.Raw("tools") == nil {
		return apierror.Invalidf("tool_choice", "When using `tool_choice`, `tools` must be set.")
	}
	return nil
}

func (r *Request) readNamed(function jsontext.Value, tools []jsontext.Value) error {
	members, ok := body.Members(function)
	if !ok {
		return apierror.Invalidf("tool_choice.function", "Expected field `function` in `tool_choice`. %s", choiceUsage)
	}
	name := body.Lookup(members, "name")
	if name.Kind() != '"' || body.Text(name) == "" {
		return apierror.Invalidf("tool_choice.function.name", "Expected field `name` in `function` in `tool_choice`, found %s. %s", body.Found(name), choiceUsage)
	}
	r.ToolChoice = generate.ToolChoice{Mode: generate.ToolChoiceFunction, Name: body.Text(name)}
	if !slices.Contains(names(tools), r.ToolChoice.Name) {
		return apierror.Invalidf("tool_choice", "The tool specified in `tool_choice` does not match any of the specified `tools`: %q", r.ToolChoice.Name)
	}
	return nil
}

// readAllowedTools narrows the tools to those that are allowed, and takes the mode.
func (r *Request) readAllowedTools(allowed jsontext.Value, tools []jsontext.Value) error {
	members, ok := body.Members(allowed)
	if !ok {
		return apierror.Invalidf("tool_choice.allowed_tools", "Expected field `allowed_tools` in `tool_choice`, an object with `mode` and `tools`.")
	}
	mode := body.Lookup(members, "mode")
	if r.ToolChoice.Mode = body.Text(mode); mode.Kind() != '"' || r.ToolChoice.Mode != generate.ToolChoiceAuto && r.ToolChoice.Mode != generate.ToolChoiceRequired {
		return apierror.Invalidf("tool_choice.allowed_tools.mode", "Expected \"auto\" or \"required\", found %s.", body.Found(mode))
	}
	list, ok := body.Elements(body.Lookup(members, "tools"))
	if !ok || len(list) == 0 {
		return apierror.Invalidf("tool_choice.allowed_tools.tools", "Expected a list of at least one tool, found %s.", body.Found(body.Lookup(members, "tools")))
	}
	declared := names(tools)
	for i, name := range names(list) {
		if !slices.Contains(declared, name) || name == "" {
			return apierror.Invalidf(fmt.Sprintf("tool_choice.allowed_tools.tools.%d", i), "Expected one of the specified `tools` (%s), found %q.", strings.Join(declared, ", "), name)
		}
	}
	r.allowed = names(list)
	return nil
}

// names are the names of tools that have not been checked yet, "" where there is none.
func names(tools []jsontext.Value) []string {
	out := make([]string, len(tools))
	for i, tool := range tools {
		members, _ := body.Members(tool)
		function, _ := body.Members(body.Lookup(members, "function"))
		if name := body.Lookup(function, "name"); name.Kind() == '"' {
			out[i] = body.Text(name)
		}
	}
	return out
}

// readTools reads the tools; with allowed_tools only those count.
func (r *Request) readTools(o *body.Object) {
	for _, tool := range o.Objects("tools") {
		if tool == nil {
			continue
		}
		tool.Choice("type", "function")
		if !tool.Need("function") {
			continue
		}
		function := tool.Object("function")
		if function == nil {
			continue
		}
		t := generate.Tool{Description: function.String("description"), Strict: function.Bool("strict"), DeferLoading: function.Bool("defer_loading")}
		if function.Need("name") {
			t.Name = set(function.String("name"), "")
		}
		if function.Object("parameters") != nil {
			t.Parameters = function.Raw("parameters")
		}
		if r.allowed == nil || slices.Contains(r.allowed, t.Name) {
			r.Tools = append(r.Tools, t)
		}
	}
}
