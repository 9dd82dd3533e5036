package messages

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// readConversation translates system and messages. An answer that is begun by the last message is gone on with.
func (r *Request) readConversation(o *body.Object) {
	if system := readSystem(o); system != "" {
		r.add(generate.Message{Role: "system", Content: system})
	}
	if !o.Need("messages") {
		return
	}
	list := o.Objects("messages")
	if list != nil && len(list) == 0 {
		o.Complain("messages", "expected at least one message")
	}
	last := ""
	for _, m := range list {
		if m == nil {
			continue
		}
		m.Need("role")
		role := m.Choice("role", "user", "assistant", "system")
		if role == nil || !m.Require("content") {
			continue
		}
		last = *role
		switch *role {
		case "system":
			r.inline = true
			if text, there := r.systemBlocks(m); there {
				r.add(generate.Message{Role: "system", Content: text})
			}
		case "assistant":
			calls := r.readAssistant(m)
			if calls {
				last = ""
			}
		default:
			r.readUser(m)
		}
	}
	if last == "assistant" {
		r.Template.NoGenerationPrompt, r.Template.ContinueFinalMessage = true, true
	}
}

func (r *Request) add(m generate.Message) {
	r.Messages = append(r.Messages, m.JSON())
}

// blocksOf are the blocks of a message; a text is one block.
func blocksOf(m *body.Object) []*body.Object {
	switch value := m.Raw("content"); value.Kind() {
	case '"':
		block, err := body.Parse(append(append([]byte(`{"type":"text","text":`), value...), '}'))
		if err != nil {
			m.Complain("content", "Input should be a valid string")
			return nil
		}
		return []*body.Object{block}
	case '[':
		return m.Objects("content")
	}
	m.Complain("content", "Input should be a text, or a list of blocks")
	return nil
}

// joined is the text of text blocks.
func joined(blocks []*body.Object) string {
	var text strings.Builder
	for _, block := range blocks {
		if block == nil {
			continue
		}
		block.Choice("type", "text")
		if s := block.String("text"); s != nil && !strings.HasPrefix(*s, billing) {
			text.WriteString(*s)
		}
	}
	return text.String()
}

// readAssistant translates an answer of the model. It tells whether the answer ends in calls.
func (r *Request) readAssistant(m *body.Object) (calls bool) {
	out := generate.Message{Role: "assistant"}
	var text strings.Builder
	texts := false
	for _, block := range blocksOf(m) {
		if block == nil || !block.Need("type") {
			continue
		}
		kind := block.String("type")
		switch {
		case kind == nil:
		case *kind == "text":
			texts = true
			text.WriteString(required(block, "text"))
		case *kind == "thinking":
			out.Reasoning += required(block, "thinking")
		case *kind == "redacted_thinking": // nobody here can read it
		case *kind == "tool_use":
			call := generate.NewToolCall(required(block, "id"), required(block, "name"), "{}")
			if block.Need("input") && block.Object("input") != nil {
				call.Function.Arguments = string(block.Raw("input"))
			}
			out.Calls = append(out.Calls, call)
		default:
			block.Complain("type", "expected a block of the type text, thinking, redacted_thinking or tool_use in an assistant message")
		}
	}
	if texts || len(out.Calls) == 0 {
		out.Content = text.String()
	}
	r.add(out)
	return len(out.Calls) > 0
}

// required is a text that a block must have.
func required(block *body.Object, name string) string {
	if block.Need(name) {
		if text := block.String(name); text != nil {
			return *text
		}
	}
	return ""
}

// readUser translates what the user says. Results of tools become messages of their own; everything keeps its order (W26).
func (r *Request) readUser(m *body.Object) {
	var parts []generate.Part
	flush := func() {
		if len(parts) > 0 {
			r.add(generate.Message{Role: "user", Content: generate.Content(parts)})
		}
		parts = nil
	}
	blocks := blocksOf(m)
	for _, block := range blocks {
		if block == nil || !block.Need("type") {
			continue
		}
		if kind := block.String("type"); kind != nil && *kind == "tool_result" {
			flush()
			parts = append(parts, r.readResult(block)...)
			continue
		}
		if p, ok := readPart(block); ok {
			parts = append(parts, p)
		}
	}
	if flush(); len(blocks) == 0 {
		r.add(generate.Message{Role: "user", Content: ""})
	}
}

// readPart reads a block that is shown to the model as it is.
func readPart(block *body.Object) (generate.Part, bool) {
	kind := block.String("type")
	switch {
	case kind == nil:
	case *kind == "text":
		text := required(block, "text")
		return generate.TextPart(text), !strings.HasPrefix(text, billing)
	case *kind == "image":
		if url := imageOf(block); url != "" {
			return generate.ImagePart(url, ""), true
		}
	case *kind == "document":
		return readDocument(block)
	case *kind == "search_result":
		return generate.TextPart(joined(block.Objects("content"))), true
	case *kind == "tool_reference":
		return generate.TextPart(required(block, "tool_name")), true
	default:
		block.Complain("type", "expected a block of the type text, image, document, search_result, tool_reference or tool_result in a user message")
	}
	return generate.Part{}, false
}

// imageOf is the address of an image: where it is, or its bytes in the address itself (RFC 2397).
func imageOf(block *body.Object) string {
	if !block.Need("source") {
		return ""
	}
	source := block.Object("source")
	if source == nil || !source.Need("type") {
		return ""
	}
	switch kind := source.Choice("type", "base64", "url"); {
	case kind == nil:
		return ""
	case *kind == "url":
		return required(source, "url")
	default:
		return fmt.Sprintf("data:%s;base64,%s", required(source, "media_type"), required(source, "data"))
	}
}

// readDocument takes documents that are text.
func readDocument(block *body.Object) (generate.Part, bool) {
	source := block.Object("source")
	if source == nil {
		block.Need("source")
		return generate.Part{}, false
	}
	switch kind := source.String("type"); {
	case kind != nil && *kind == "text":
		return generate.TextPart(required(source, "data")), true
	case kind != nil && *kind == "content" && source.Raw("content").Kind() == '"':
		return generate.TextPart(required(source, "content")), true
	case kind != nil && *kind == "content":
		return generate.TextPart(joined(source.Objects("content"))), true
	}
	source.Complain("type", "only documents of text can be read here")
	return generate.Part{}, false
}

// readResult translates the result of a tool. What it holds beside text follows it as a message of the user.
func (r *Request) readResult(block *body.Object) (rest []generate.Part) {
	id := required(block, "tool_use_id")
	var texts []string
	switch value := block.Raw("content"); value.Kind() {
	case 0:
	case '"':
		texts = append(texts, body.Text(value))
	case '[':
		for _, inner := range block.Objects("content") {
			if inner == nil || !inner.Need("type") {
				continue
			}
			if kind := inner.String("type"); kind != nil && *kind == "tool_reference" {
				r.changes = append(r.changes, change{at: inner, name: required(inner, "tool_name"), found: true})
			}
			switch p, ok := readPart(inner); {
			case !ok:
			case p.IsText():
				texts = append(texts, p.Text)
			default:
				rest = append(rest, p)
			}
		}
	default:
		block.Complain("content", "Input should be a text, or a list of blocks")
	}
	text := strings.Join(texts, "\n")
	if failed := block.Bool("is_error"); failed != nil && *failed {
		text = asError(text)
	}
	r.add(generate.Message{Role: "tool", ToolCallID: id, Content: text})
	return rest
}

// asError tells the model that a tool failed, unless the result says so itself: chat templates know no other way.
func asError(text string) string {
	if strings.Contains(strings.ToLower(text[:min(len(text), 80)]), "error") {
		return text
	}
	return strings.TrimSpace("Error: " + text)
}

// mergeSystem puts all system messages into the one at the beginning, for templates that take no other.
func mergeSystem(messages []jsontext.Value) []jsontext.Value {
	var system []string
	var others []jsontext.Value
	for _, m := range messages {
		if generate.Role(m) != "system" {
			others = append(others, m)
			continue
		}
		members, _ := body.Members(m)
		system = append(system, body.Text(body.Lookup(members, "content")))
	}
	merged := generate.Message{Role: "system", Content: strings.Join(system, "\n\n")}
	return append([]jsontext.Value{merged.JSON()}, others...)
}
