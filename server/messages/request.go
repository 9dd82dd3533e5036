package messages

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// Request is a request of this interface.
type Request struct {
	generate.Request
	// inline are the places of system messages inside the conversation.
	inline   bool
	disabled bool // thinking is switched off
	changes  []change
	notes    []string
}

// leastBudget is the least thinking budget that the API reference allows.
const leastBudget = 1024

// Read reads a request and finds its model. counting requests have no max_tokens.
func (h *Handler) Read(ctx context.Context, o *body.Object, counting bool) (*Request, error) {
	r := &Request{}
	r.Interface, r.N, r.Parallel, r.IncludeReasoning = "messages", 1, true, true
	o.Need("model")
	name := ""
	if model := o.String("model"); model != nil {
		name = *model
	}
	r.readConversation(o)
	r.readTools(o)
	r.changeTools()
	r.readSampling(o, counting)
	effort := r.readThinking(o)
	r.readFormat(o)
	if servers := o.Array("mcp_servers"); len(servers) > 0 {
		o.Complain("mcp_servers", "MCP servers are connected to by Anthropic's own service; declare their tools with an input_schema")
	}
	kwargs := generate.ReadKwargs(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := r.readToolChoice(o); err != nil {
		return nil, err
	}
	var err error
	if r.Model, err = h.Models.Resolve(ctx, name); err != nil {
		return nil, err
	}
	if r.disabled {
		if effort = h.Settings.DisabledEffort; effort == "auto" || effort == "" {
			effort = r.least()
		}
	}
	if err := h.Settings.Defaults.Apply(&r.Template, kwargs, effort); err != nil {
		return nil, err
	}
	if r.ThinkingBudget != nil && !h.Generator.Engine.Capabilities().ThinkingBudget {
		r.notes = append(r.notes, "thinking.budget_tokens is not enforced: the engine cannot limit the thought")
		r.ThinkingBudget = nil
	}
	return r, h.Settings.Limits.Check(&r.Request)
}

// least is the effort of a request that switches thinking off: none, or low for models that cannot but think.
func (r *Request) least() string {
	if parser := r.Model.Parser; parser != nil {
		if format, ok := parser.ReasoningFormat(); ok && format.Alone && len(format.Thinking) == 0 {
			return "low"
		}
	}
	return "none"
}

// readTools reads the tools.
func (r *Request) readTools(o *body.Object) {
	names := map[string]bool{}
	for _, given := range o.Objects("tools") {
		if given == nil {
			continue
		}
		t, ok := readTool(given)
		if !ok {
			continue
		}
		if names[t.Name] && t.Name != "" {
			given.Complain("name", "tool names must be unique")
		}
		names[t.Name] = true
		r.Tools = append(r.Tools, t)
	}
}

// readTool reads a tool. Those that Anthropic defines and runs, or that have no schema, cannot be served.
func readTool(tool *body.Object) (generate.Tool, bool) {
	if kind := tool.String("type"); kind != nil && *kind != "custom" {
		tool.Complain("type", "tools of this type are defined by Anthropic's own service; declare a tool with a name and an input_schema")
		return generate.Tool{}, false
	}
	t := generate.Tool{Description: tool.String("description"), Strict: tool.Bool("strict"), DeferLoading: tool.Bool("defer_loading")}
	if tool.Need("name") {
		if name := tool.String("name"); name != nil {
			if t.Name = *name; t.Name == "" {
				tool.Complain("name", "the name of a tool must not be empty")
			}
		}
	}
	if tool.Need("input_schema") && tool.Object("input_schema") != nil {
		t.Parameters = withType(tool.Raw("input_schema"))
	}
	return t, true
}

// withType gives a schema the type object if it has none.
func withType(schema jsontext.Value) jsontext.Value {
	members, _ := body.Members(schema)
	if kind := body.Lookup(members, "type"); kind != nil && kind.Kind() != 'n' {
		return schema
	}
	members = slices.DeleteFunc(members, func(m body.Member) bool { return m.Name == "type" })
	return body.Join(append([]body.Member{{Name: "type", Value: jsontext.Value(`"object"`)}}, members...))
}

// readToolChoice reads tool_choice; absent it is auto where there are tools.
func (r *Request) readToolChoice(o *body.Object) error {
	r.ToolChoice.Mode = generate.ToolChoiceNone
	if len(r.Tools) > 0 {
		r.ToolChoice.Mode = generate.ToolChoiceAuto
	}
	choice := o.Object("tool_choice")
	if choice == nil {
		return o.Err()
	}
	choice.Need("type")
	kind := choice.Choice("type", "auto", "any", "tool", "none")
	serial := choice.Bool("disable_parallel_tool_use")
	name := choice.String("name")
	if err := o.Err(); err != nil {
		return err
	}
	r.Parallel = serial == nil || !*serial
	if *kind != "none" && *kind != "auto" && len(r.Tools) == 0 {
		return apierror.Invalidf("tool_choice", "tool_choice %q needs tools, and the request has none", *kind)
	}
	switch *kind {
	case "none":
		r.ToolChoice.Mode = generate.ToolChoiceNone
	case "any":
		r.ToolChoice.Mode = generate.ToolChoiceRequired
	case "tool":
		if name == nil || *name == "" {
			return apierror.Invalidf("tool_choice.name", "tool_choice of the type \"tool\" needs the name of the tool")
		}
		if !slices.ContainsFunc(r.Tools, func(t generate.Tool) bool { return t.Name == *name }) {
			return apierror.Invalidf("tool_choice.name", "expected the name of one of the tools, found %q", *name)
		}
		r.ToolChoice = generate.ToolChoice{Mode: generate.ToolChoiceFunction, Name: *name}
	}
	return nil
}

func (r *Request) readSampling(o *body.Object, counting bool) {
	r.Sampling.Temperature, r.Sampling.TopP = o.Float("temperature"), o.Float("top_p")
	if k := o.Int("top_k"); k != nil {
		n := int(*k)
		r.Sampling.TopK = &n
	}
	r.Stop = o.Strings("stop_sequences", false)
	if stream := o.Bool("stream"); stream != nil {
		r.Stream = *stream
	}
	if !counting && o.Need("max_tokens") {
		if n := o.Int("max_tokens"); n != nil {
			if r.MaxTokens = int(*n); *n < 1 {
				o.Complain("max_tokens", "max_tokens must be at least 1")
			}
		}
	}
	o.Object("metadata") // nothing in it matters here
}

// readThinking reads thinking and output_config.effort, and gives the effort; "" asks for none in particular.
func (r *Request) readThinking(o *body.Object) (effort string) {
	if config := o.Object("output_config"); config != nil {
		if given := config.Choice("effort", generate.Efforts...); given != nil {
			effort = *given
		}
	}
	thinking := o.Object("thinking")
	if thinking == nil {
		return effort
	}
	thinking.Need("type")
	kind := thinking.Choice("type", "enabled", "disabled", "adaptive")
	if kind == nil {
		return effort
	}
	switch *kind {
	case "disabled":
		r.disabled = true
	case "enabled":
		if !thinking.Need("budget_tokens") {
			break
		}
		budget := thinking.Int("budget_tokens")
		switch {
		case budget == nil:
		case *budget < leastBudget:
			thinking.Complain("budget_tokens", fmt.Sprintf("budget_tokens must be at least %d", leastBudget))
		case r.MaxTokens > 0 && int(*budget) >= r.MaxTokens:
			// It limits nothing that max_tokens does not. Anthropic refuses it; agents send it all the same.
		default:
			n := int(*budget)
			r.ThinkingBudget = &n
		}
	}
	return effort
}

// readFormat reads output_config.format, and output_format, which said the same before.
func (r *Request) readFormat(o *body.Object) {
	format, param := o.Object("output_format"), "output_format"
	if config := o.Object("output_config"); config != nil && config.Raw("format") != nil {
		format, param = config.Object("format"), "output_config.format"
	}
	if format == nil {
		return
	}
	format.Need("type")
	if format.Choice("type", "json_schema") != nil && format.Need("schema") && format.Object("schema") != nil {
		r.ResponseFormat = &generate.ResponseFormat{Dialect: engine.JSONSchema, Text: string(format.Raw("schema")), Param: param}
	}
}

// billing begins a system block that Claude Code adds for Anthropic's accounts; it changes with every request.
const billing = "x-anthropic-billing-header"

// readSystem reads the system prompt: a text, or blocks of text, which are put together without anything between.
func readSystem(o *body.Object) string {
	switch value := o.Raw("system"); value.Kind() {
	case '"':
		return body.Text(value)
	case '[':
		var text strings.Builder
		for _, block := range o.Objects("system") {
			if block == nil {
				continue
			}
			block.Choice("type", "text")
			if !block.Need("text") {
				continue
			}
			if part := block.String("text"); part != nil && !strings.HasPrefix(*part, billing) {
				text.WriteString(*part)
			}
		}
		return text.String()
	case 0:
		return ""
	default:
		o.Complain("system", "Input should be a text, or a list of text blocks")
		return ""
	}
}
