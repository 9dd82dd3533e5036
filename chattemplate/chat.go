package chattemplate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ardanlabs/jinja"
)

// ContentFormat says how a template wants the content of messages.
type ContentFormat string

const (
	// ContentAuto: as the template reads it; see Template.ContentFormat. Text stays text if the template asks of anything
	// whether it is text.
	ContentAuto ContentFormat = "auto"
	// ContentString: text; the text of several parts is joined by newlines.
	ContentString ContentFormat = "string"
	// ContentOpenAI: an array of parts, as the OpenAI interface has it.
	ContentOpenAI ContentFormat = "openai"
)

// Chat is a request as a server gets it. The JSON texts are as the client wrote them.
type Chat struct {
	// Messages is an array of messages as the OpenAI interface has them; Tools and Documents are arrays, or nothing.
	Messages, Tools, Documents []byte
	// Kwargs are the chat_template_kwargs of the request, an object or nothing; Defaults are the operator's, which hold
	// where the request says nothing, null, or "auto".
	Kwargs, Defaults []byte
	// ReasoningEffort goes to the template as reasoning_effort. It switches enable_thinking, on unless it is none, where
	// the request does not. "" says nothing.
	ReasoningEffort string
	// AddGenerationPrompt and ContinueFinalMessage end the prompt; see Request.
	AddGenerationPrompt, ContinueFinalMessage bool
	// ContentFormat is how the content of messages is given to the template; "" is ContentAuto.
	ContentFormat ContentFormat
	// ShortToolCallIDs cuts ids of calls to their last nine characters, which is all that templates of Mistral take.
	ShortToolCallIDs bool
	// TrustTemplate lets chat_template stand among the Kwargs, where it is refused otherwise. It does not change the template
	// that renders: see KwargsTemplate.
	TrustTemplate bool
	// Tokens and Now are those of Request.
	Tokens map[string]string
	Now    time.Time
}

// Rendered is a prompt, and what had to be put right in the request for it.
type Rendered struct {
	Prompt   string
	Warnings []string
}

// RenderChat normalises a request and renders its prompt. What happens to messages is told at normalise, in messages.go:
// arguments of calls become objects, reasoning goes by both its names, content becomes what the template reads.
//
// The error is a *RequestError or a *RenderError; both are the request's fault as far as a server can tell.
func (t *Template) RenderChat(c Chat) (Rendered, error) {
	request := Request{
		Messages: c.Messages, Tools: c.Tools, Documents: c.Documents, Tokens: c.Tokens, Now: c.Now,
		AddGenerationPrompt: c.AddGenerationPrompt, ContinueFinalMessage: c.ContinueFinalMessage,
	}
	variables, err := request.variables()
	if err != nil {
		return Rendered{}, err
	}
	kwargs, err := c.kwargs()
	if err != nil {
		return Rendered{}, err
	}
	for name, v := range kwargs {
		if name != "messages" && name != "tools" && name != "documents" && name != "add_generation_prompt" {
			variables[name] = v
		}
	}
	if documents := kwargs["documents"]; documents.IsList() && len(c.Documents) == 0 {
		variables["documents"] = documents
	}
	n := normalizer{format: c.ContentFormat, developer: t.knowsDeveloper, shortIDs: c.ShortToolCallIDs}
	if n.format == "" || n.format == ContentAuto {
		n.format, n.keepText = t.contentFormat, t.asksForText
	}
	for i, message := range variables["messages"].AsList().Items {
		if err := n.message(fmt.Sprintf("messages.%d", i), message); err != nil {
			return Rendered{}, err
		}
	}
	prompt, err := t.render(variables, request)
	return Rendered{prompt, n.warnings}, err
}

// ContentFormat is how the template reads the content of messages: as parts if it loops over it, else as text.
func (t *Template) ContentFormat() ContentFormat { return t.contentFormat }

// kwargs lays the arguments of the request over those of the operator, and the request's own fields over both.
func (c *Chat) kwargs() (map[string]jinja.Value, error) {
	defaults, err := object("default chat_template_kwargs", c.Defaults)
	if err != nil {
		return nil, err
	}
	given, err := object("chat_template_kwargs", c.Kwargs)
	if err != nil {
		return nil, err
	}
	if v, ok := given["chat_template"]; ok && !v.IsNone() && !c.TrustTemplate {
		return nil, &RequestError{"chat_template_kwargs.chat_template", "a request may not bring its own chat template here"}
	}
	out := maps.Clone(defaults)
	for name, v := range given {
		if _, ok := defaults[name]; ok && (v.IsNone() || v.IsString() && v.AsString() == "auto") {
			continue
		}
		out[name] = v
	}
	delete(out, "chat_template")
	delete(out, "tokenize")
	if c.ReasoningEffort != "" {
		out["reasoning_effort"] = jinja.NewString(c.ReasoningEffort)
		if _, ok := given["enable_thinking"]; !ok {
			out["enable_thinking"] = jinja.NewBool(c.ReasoningEffort != "none")
		}
	}
	return out, nil
}

// KwargsTemplate gives the source of the chat template that a request brings among its chat_template_kwargs, "" if it
// brings none. Whether it may is for the server to say.
func KwargsTemplate(kwargs []byte) (string, error) {
	given, err := object("chat_template_kwargs", kwargs)
	if err != nil {
		return "", err
	}
	source := given["chat_template"]
	if source.IsUndefined() || source.IsNone() {
		return "", nil
	}
	if !source.IsString() {
		return "", &RequestError{"chat_template_kwargs.chat_template", "expected a text, found " + kind(source)}
	}
	return source.AsString(), nil
}

// object reads the members of an object, or nothing.
func object(field string, data []byte) (map[string]jinja.Value, error) {
	v, err := readValue(data)
	switch {
	case err == nil && v.IsNone():
		return map[string]jinja.Value{}, nil
	case err != nil || !v.IsDict():
		return nil, &RequestError{field, expected("an object", v, err)}
	}
	return v.AsDict().Data, nil
}

// contentReader finds out how a template reads content.
type contentReader struct {
	// loops are what is looped over, held what names are given: assigned, or passed for a parameter of a macro.
	loops []*node
	held  map[string][]*node
	// parameters are those of macros, by their names.
	parameters map[string][]string
	calls      []*node
	// text tells that something is asked whether it is text.
	text bool
}

// format tells how content is read: as parts if a loop goes over it.
func (c *contentReader) format() ContentFormat {
	for _, call := range c.calls {
		if callee := call.children[0]; callee.kind == nameNode {
			for i, parameter := range c.parameters[callee.text] {
				if i+1 < len(call.children) {
					c.held[parameter] = append(c.held[parameter], call.children[i+1])
				}
			}
		}
	}
	if slices.ContainsFunc(c.loops, func(n *node) bool { return c.isContent(n, 0) }) {
		return ContentOpenAI
	}
	return ContentString
}

// isContent tells whether an expression is the content of a message.
func (c *contentReader) isContent(n *node, depth int) bool {
	if depth > 8 {
		return false
	}
	switch n.kind {
	case filterNode:
		return c.isContent(n.children[0], depth+1)
	case attributeNode:
		return n.text == "content"
	case itemNode:
		return n.children[1].kind == stringNode && n.children[1].text == "content"
	case conditionNode:
		return c.isContent(n.children[0], depth+1) || n.children[2] != nil && c.isContent(n.children[2], depth+1)
	case nameNode:
		return slices.ContainsFunc(c.held[n.text], func(n *node) bool { return c.isContent(n, depth+1) })
	}
	return false
}
