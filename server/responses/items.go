package responses

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// translation turns items into messages. What the model did in one turn (reasoning, text, calls) is one message.
type translation struct {
	request  *Request
	messages []generate.Message
	turn     *generate.Message // the model's turn that goes on
}

// translate makes the conversation of all items. field is where the request has its own.
func (r *Request) translate(field string) error {
	t := &translation{request: r}
	if r.instructions != "" {
		t.system(r.instructions)
	}
	for i, item := range slices.Concat(r.history, r.input) {
		place := fmt.Sprintf("%s.%d", field, i-len(r.history))
		if i < len(r.history) {
			place = "previous_response_id"
		}
		o, err := body.Parse(item.JSON)
		if err == nil {
			err = t.add(o, place)
		}
		if err != nil {
			return err
		}
	}
	t.end()
	if last := len(r.input) - 1; last >= 0 && unfinished(r.input[last].JSON) {
		r.Template.NoGenerationPrompt, r.Template.ContinueFinalMessage = true, true
	}
	for _, m := range t.messages {
		r.Messages = append(r.Messages, m.JSON())
	}
	return nil
}

// unfinished tells whether an item is a message of the model's that is to be gone on with.
func unfinished(item jsontext.Value) bool {
	members, _ := body.Members(item)
	status := body.Lookup(members, "status")
	role := body.Lookup(members, "role")
	return role.Kind() == '"' && body.Text(role) == "assistant" && status.Kind() == '"' && (body.Text(status) == "in_progress" || body.Text(status) == "incomplete")
}

// system adds to the system messages; those at the beginning are one, since many templates take no more.
func (t *translation) system(text string) {
	t.end()
	if n := len(t.messages); n > 0 && t.messages[n-1].Role == "system" && n == 1 {
		t.messages[0].Content = t.messages[0].Content.(string) + "\n\n" + text
		return
	}
	t.messages = append(t.messages, generate.Message{Role: "system", Content: text})
}

// end ends the model's turn.
func (t *translation) end() {
	if t.turn != nil {
		t.messages = append(t.messages, *t.turn)
		t.turn = nil
	}
}

// model is the turn of the model that is going on.
func (t *translation) model() *generate.Message {
	if t.turn == nil {
		t.turn = &generate.Message{Role: "assistant"}
	}
	return t.turn
}

// add translates one item. The error names its place.
func (t *translation) add(o *body.Object, place string) error {
	kind := "message"
	if given := o.String("type"); given != nil {
		kind = *given
	}
	switch kind {
	case "message":
		t.message(o)
	case "reasoning":
		t.reasoning(o)
	case "function_call":
		name := text(o, "name")
		if namespace := o.String("namespace"); namespace != nil && *namespace != "" {
			name = *namespace + separator + name
		}
		arguments := "{}"
		if given := o.String("arguments"); given != nil && *given != "" {
			arguments = *given
		}
		t.call(text(o, "call_id"), name, arguments)
	case "custom_tool_call":
		input := ""
		if given := o.String("input"); given != nil {
			input = *given
		}
		arguments, _ := json.Marshal(map[string]string{"input": input}, jsontext.AllowInvalidUTF8(true)) // a text always goes
		name := text(o, "name")
		if namespace := o.String("namespace"); namespace != nil && *namespace != "" {
			name = *namespace + separator + name
		}
		t.call(text(o, "call_id"), name, string(arguments))
	case "function_call_output", "custom_tool_call_output":
		t.output(o)
	default:
		return apierror.Invalidf(place+".type", "Unsupported input item type: %q", kind)
	}
	if err := o.Err(); err != nil {
		e := apierror.From(err)
		return apierror.Invalidf(place, "%s", strings.ReplaceAll(e.Message, "body.", place+"."))
	}
	return nil
}

func (t *translation) call(id, name, arguments string) {
	m := t.model()
	m.Calls = append(m.Calls, generate.NewToolCall(id, name, arguments))
}

func (t *translation) message(o *body.Object) {
	role := "user"
	if o.Need("role") {
		if given := o.Choice("role", "user", "assistant", "system", "developer"); given != nil {
			role = *given
		}
	}
	parts := readParts(o, "content")
	switch role {
	case "assistant":
		m := t.model()
		if len(m.Calls) > 0 { // what comes behind calls is another turn
			t.end()
			m = t.model()
		}
		before, _ := m.Content.(string)
		m.Content = before + generate.JoinText(parts, "")
	case "system", "developer":
		t.system(generate.JoinText(parts, ""))
	default:
		t.end()
		t.messages = append(t.messages, generate.Message{Role: role, Content: generate.Content(parts)})
	}
}

// readParts reads the content of a message, or the output of a call: a text, or parts.
func readParts(o *body.Object, field string) (parts []generate.Part) {
	if !o.Require(field) {
		return nil
	}
	switch value := o.Raw(field); value.Kind() {
	case '"':
		return []generate.Part{generate.TextPart(body.Text(value))}
	case '[':
		for _, p := range o.Objects(field) {
			if p == nil || !p.Need("type") {
				continue
			}
			if read, ok := readPart(p); ok {
				parts = append(parts, read)
			}
		}
	case 0:
	default:
		o.Complain(field, "Input should be a text, or a list of parts")
	}
	return parts
}

func readPart(o *body.Object) (generate.Part, bool) {
	kind := o.String("type")
	switch {
	case kind == nil:
	case *kind == "input_text" || *kind == "output_text" || *kind == "text" || *kind == "reasoning_text" || *kind == "summary_text":
		if o.Need("text") {
			if s := o.String("text"); s != nil {
				return generate.TextPart(*s), true
			}
		}
	case *kind == "refusal":
		if s := o.String("refusal"); s != nil {
			return generate.TextPart(*s), true
		}
	case *kind == "input_image":
		detail := ""
		if given := o.String("detail"); given != nil {
			detail = *given
		}
		if url := o.String("image_url"); url != nil {
			return generate.ImagePart(*url, detail), true
		}
		o.Complain("image_url", "expected the address of an image: files that were uploaded are not available here")
	default:
		o.Complain("type", "expected a part of the type input_text, output_text, refusal or input_image")
	}
	return generate.Part{}, false
}

// output translates what a tool gave back. Images in it follow as a message of the user.
func (t *translation) output(o *body.Object) {
	t.end()
	id := text(o, "call_id")
	parts := readParts(o, "output")
	t.messages = append(t.messages, generate.Message{Role: "tool", ToolCallID: id, Content: generate.JoinText(parts, "\n")})
	if images := slices.DeleteFunc(slices.Clone(parts), func(p generate.Part) bool { return p.IsText() }); len(images) > 0 {
		t.messages = append(t.messages, generate.Message{Role: "user", Content: images})
	}
}

// sealed begins the reasoning that this server gave out to be sent back. It hides nothing: the same text stands beside it.
const sealed = "parlance.v1."

func seal(text string) string { return sealed + base64.StdEncoding.EncodeToString([]byte(text)) }

func (t *translation) reasoning(o *body.Object) {
	m := t.model()
	if m.Content != nil || len(m.Calls) > 0 {
		t.end()
		m = t.model()
	}
	var parts []generate.Part
	if o.Raw("content") != nil {
		parts = readParts(o, "content")
	}
	if len(parts) == 0 && o.Raw("summary") != nil {
		parts = readParts(o, "summary")
	}
	if len(parts) > 0 {
		m.Reasoning += generate.JoinText(parts, "")
		return
	}
	given := o.String("encrypted_content")
	if given == nil || *given == "" {
		return
	}
	encoded, ours := strings.CutPrefix(*given, sealed)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if !ours || err != nil {
		o.Complain("encrypted_content", "reasoning that another service has encrypted cannot be read here")
		return
	}
	m.Reasoning += string(data)
}
