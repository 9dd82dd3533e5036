package generate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// Message is a message as chat templates read it. The interfaces whose conversations are made otherwise translate theirs
// into these.
type Message struct {
	Role string `json:"role"`
	// Content is a text, or []Part.
	Content    any        `json:"content,omitzero"`
	Reasoning  string     `json:"reasoning,omitzero"`
	Calls      []ToolCall `json:"tool_calls,omitzero"`
	ToolCallID string     `json:"tool_call_id,omitzero"`
}

// ToolCall is a call in a message.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what is called, with the text of its arguments.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// NewToolCall makes a call of a function.
func NewToolCall(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: Function{Name: name, Arguments: arguments}}
}

// Part is a part of a message's content: a text, or an image.
type Part struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitzero"`
	Image *ImageURL `json:"image_url,omitzero"`
}

// ImageURL says where an image is, or holds it (RFC 2397).
type ImageURL struct {
	URL string `json:"url"`
	// Detail is how closely the model should look, where the request says: low, high or auto.
	Detail string `json:"detail,omitzero"`
}

// TextPart and ImagePart make parts.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// ImagePart: see TextPart. detail may be "".
func ImagePart(url, detail string) Part {
	return Part{Type: "image_url", Image: &ImageURL{url, detail}}
}

// IsText tells whether a part is a text.
func (p Part) IsText() bool { return p.Type == "text" }

// Content is the content that parts make: one text, a line for each part, where there is nothing but text.
func Content(parts []Part) any {
	for _, p := range parts {
		if !p.IsText() {
			return parts
		}
	}
	return JoinText(parts, "\n")
}

// JoinText is the text of the parts that are text.
func JoinText(parts []Part, between string) string {
	var texts []string
	for _, p := range parts {
		if p.IsText() {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, between)
}

// JSON writes a message.
func (m Message) JSON() jsontext.Value {
	data, err := json.Marshal(m, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("generate: " + err.Error()) // texts only
	}
	return data
}
