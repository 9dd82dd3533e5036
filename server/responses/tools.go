package responses

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// tool is a declared tool as the model sees it, and as the client does.
type tool struct {
	generate.Tool
	name, namespace string
	custom          bool
}

// separator stands between namespace and name in what the model sees.
const separator = "__"

// customInput is the schema of a custom tool.
const customInput = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// readTools reads declared tools. Those that OpenAI's own service runs are left out, and a note says so: agents declare
// them as a matter of course, and do without.
func (r *Request) readTools(o *body.Object, field string) {
	for _, t := range o.Objects(field) {
		if t != nil {
			r.readTool(t, "")
		}
	}
}

func (r *Request) readTool(o *body.Object, namespace string) {
	if !o.Need("type") {
		return
	}
	kind := o.String("type")
	switch {
	case kind == nil:
	case *kind == "function":
		r.readFunction(o, namespace)
	case *kind == "custom":
		r.readCustom(o, namespace)
	case *kind == "namespace" && namespace == "":
		name := text(o, "name")
		if name == "" {
			return
		}
		for _, inner := range o.Objects("tools") {
			if inner != nil {
				r.readTool(inner, name)
			}
		}
	case *kind == "namespace":
		o.Complain("type", "a namespace cannot stand in a namespace")
	default:
		r.notes = append(r.notes, fmt.Sprintf("the tool %s is run by OpenAI's own service, and is left out", *kind))
	}
}

// text is a text that a member must be.
func text(o *body.Object, name string) string {
	if !o.Need(name) {
		return ""
	}
	value := o.String(name)
	if value == nil {
		return ""
	}
	if *value == "" {
		o.Complain(name, "expected a text that is not empty")
	}
	return *value
}

func (r *Request) readFunction(o *body.Object, namespace string) {
	if o.Has("function") {
		o.Complain("function", "the fields of a function stand in the tool itself in this interface, not under function")
		return
	}
	t := tool{name: text(o, "name"), namespace: namespace}
	t.Description, t.Strict, t.DeferLoading = o.String("description"), o.Bool("strict"), o.Bool("defer_loading")
	if o.Object("parameters") != nil {
		t.Parameters = o.Raw("parameters")
	}
	r.declare(o, t)
}

// readCustom reads a tool that takes a text. What grammar the text should follow the model is told in words; no engine is
// held to it.
func (r *Request) readCustom(o *body.Object, namespace string) {
	t := tool{name: text(o, "name"), namespace: namespace, custom: true}
	description := ""
	if given := o.String("description"); given != nil {
		description = *given
	}
	if format := o.Object("format"); format != nil {
		if kind := format.Choice("type", "text", "grammar"); kind != nil && *kind == "grammar" {
			definition := text(format, "definition")
			format.Choice("syntax", "lark", "regex")
			description = strings.TrimSpace(description + "\n\nThe input follows this grammar:\n" + definition)
			r.notes = append(r.notes, fmt.Sprintf("the grammar of the tool %s is shown to the model and not enforced", t.name))
		}
	}
	t.Description, t.Parameters = &description, jsontext.Value(customInput)
	r.declare(o, t)
}

// declare adds a tool under the name that the model sees.
func (r *Request) declare(o *body.Object, t tool) {
	if t.Name = t.name; t.namespace != "" {
		t.Name = t.namespace + separator + t.name
	}
	if r.names[t.Name] && t.name != "" {
		o.Complain("name", "tool names must be unique")
	}
	r.names[t.Name] = true
	r.tools = append(r.tools, t)
}

// toolOf finds the tool that the model called.
func (r *Request) toolOf(name string) tool {
	for _, t := range r.tools {
		if t.Name == name {
			return t
		}
	}
	return tool{name: name}
}

// readToolChoice reads tool_choice. Without tools there is nothing to choose.
func (r *Request) readToolChoice(o *body.Object) error {
	if o.Null("tool_choice") {
		return apierror.Invalidf("tool_choice", "expected a tool choice, found null")
	}
	r.ToolChoice.Mode = generate.ToolChoiceNone
	if len(r.tools) > 0 {
		r.ToolChoice.Mode = generate.ToolChoiceAuto
	}
	for _, t := range r.tools {
		r.Tools = append(r.Tools, t.Tool)
	}
	choice := o.Raw("tool_choice")
	switch choice.Kind() {
	case 0:
		return nil
	case '"':
		switch mode := body.Text(choice); mode {
		case generate.ToolChoiceAuto:
			return nil
		case generate.ToolChoiceNone:
			r.ToolChoice.Mode = generate.ToolChoiceNone
			return nil
		case generate.ToolChoiceRequired:
			if len(r.tools) == 0 {
				return apierror.Invalidf("tool_choice", "tool_choice \"required\" needs tools, and the request has none")
			}
			r.ToolChoice.Mode = mode
			return nil
		}
	case '{':
		members, _ := body.Members(choice)
		kind := body.Lookup(members, "type")
		switch body.Text(kind) {
		case "function", "custom":
			return r.readNamed(members)
		case "allowed_tools":
			return r.readAllowed(members)
		}
		return apierror.Invalidf("tool_choice.type", "Expected \"function\", \"custom\" or \"allowed_tools\", found %s. Tools that OpenAI's own service runs are not served.", body.Found(kind))
	}
	return apierror.Invalidf("tool_choice", "Expected \"none\", \"auto\", \"required\" or an object, found %s.", body.Summary(choice))
}

func (r *Request) readNamed(members []body.Member) error {
	t, err := r.named(members, "tool_choice")
	if err != nil {
		return err
	}
	r.ToolChoice = generate.ToolChoice{Mode: generate.ToolChoiceFunction, Name: t.Name}
	return nil
}

// named finds a declared tool by the name, and the namespace, that an object gives.
func (r *Request) named(members []body.Member, place string) (tool, error) {
	name := body.Lookup(members, "name")
	if name.Kind() != '"' {
		return tool{}, apierror.Invalidf(place+".name", "Expected the name of a tool, found %s.", body.Found(name))
	}
	namespace := ""
	if given := body.Lookup(members, "namespace"); given.Kind() == '"' {
		namespace = body.Text(given)
	}
	var found []tool
	for _, t := range r.tools {
		if wanted := body.Text(name); (t.name == wanted || t.Name == wanted) && (namespace == "" || t.namespace == namespace) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return tool{}, apierror.Invalidf(place+".name", "The tool does not match any of the specified `tools`: %q", body.Text(name))
	}
	return tool{}, apierror.Invalidf(place+".name", "Several of the specified `tools` have the name %q: expected a namespace too.", body.Text(name))
}

// readAllowed narrows the tools to those that are allowed, and takes the mode (W21).
func (r *Request) readAllowed(members []body.Member) error {
	mode := body.Text(body.Lookup(members, "mode"))
	if mode != generate.ToolChoiceAuto && mode != generate.ToolChoiceRequired {
		return apierror.Invalidf("tool_choice.mode", "Expected \"auto\" or \"required\", found %s.", body.Found(body.Lookup(members, "mode")))
	}
	list, ok := body.Elements(body.Lookup(members, "tools"))
	if !ok || len(list) == 0 {
		return apierror.Invalidf("tool_choice.tools", "Expected a list of at least one tool.")
	}
	r.Tools = nil
	for i, entry := range list {
		place := fmt.Sprintf("tool_choice.tools.%d", i)
		inner, ok := body.Members(entry)
		if !ok {
			return apierror.Invalidf(place, "Expected an object, found %s.", body.Summary(entry))
		}
		t, err := r.named(inner, place)
		if err != nil {
			return err
		}
		r.Tools = append(r.Tools, t.Tool)
	}
	r.ToolChoice.Mode = mode
	return nil
}
