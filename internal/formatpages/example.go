package formatpages

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
	"github.com/parlance-llm/parlance/vocabulary"
)

// tools are the tools of the example.
const tools = `[{"type": "function", "function": {"name": "get_weather", "parameters": {
	"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}]`

// message is what every page shows, as far as its format can carry it.
func message(reasoning, content, call bool) *parlance.Message {
	m := &parlance.Message{}
	if reasoning {
		m.Reasoning = "Two days in Oslo; the tool knows the weather."
	}
	if content {
		m.Content = "One moment, please."
	}
	if call {
		m.Calls = []parlance.Call{{Name: "get_weather", Arguments: `{"city": "Oslo", "days": 2}`}}
	}
	return m
}

// example is the message as the models of a format write it, and as it is read.
type example struct {
	flags string
	// prompt is the end of the prompt, where it matters; template the response template, where the format has one.
	prompt, template string
	text             string
	read             *parlance.Message
	message          *parlance.Message // that was written; nil for a template's
}

// newExample has the renderer write as much of the message as the format can carry, and the parser read it.
func newExample(f *parlance.FormatInfo) (*example, error) {
	p, err := parserOf(f)
	if err != nil {
		return nil, err
	}
	declared, err := parlance.ParseTools([]byte(tools))
	if err != nil {
		return nil, err
	}
	r := parlance.Request{Tools: declared, ChatTemplateKwargs: switchedOn(f, p.ReasoningName())}
	calls, thoughts := len(f.ToolNames) > 0, len(f.ReasoningNames) > 0
	var refused error
	for _, carries := range [][3]bool{{true, true, true}, {true, false, true}, {false, true, true}, {false, false, true}, {true, true, false}} {
		if carries[0] && !thoughts || carries[2] && !calls {
			continue
		}
		m := message(carries[0], carries[1], carries[2])
		text, err := render.New(p).Render(m, render.Options{Request: r})
		if err != nil {
			refused = err
			continue
		}
		e := &example{flags: flags(p), text: text, read: p.Parse(text, r, parlance.FinishStop), message: m}
		if read := e.read; read.Reasoning != m.Reasoning || read.Content != m.Content || len(read.Calls) != len(m.Calls) {
			return nil, fmt.Errorf("what is written is not what is read: %q", text)
		}
		return e, nil
	}
	return nil, fmt.Errorf("no example can be written: %w", refused)
}

// parserOf is the parser of a format, with both halves if it has both. Of dialects that share a name, a vocabulary that has
// what the dialect's has leads to it.
func parserOf(f *parlance.FormatInfo) (*parlance.Parser, error) {
	tool, reasoning := "", ""
	if len(f.ToolNames) > 0 {
		tool = f.ToolNames[0]
	}
	if len(f.ReasoningNames) > 0 {
		reasoning = f.ReasoningNames[0]
	}
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		return nil, err
	}
	leads := func() bool {
		found, ok := p.ToolFormat()
		if !ok {
			found, ok = p.ReasoningFormat()
		}
		return ok && found.Name == f.Name
	}
	if leads() {
		return p, nil
	}
	added := map[string]int{}
	for _, token := range append(append([]string{}, f.Detect.Vocabulary...), f.Tokens...) {
		added[token] = len(added)
	}
	if p, err = p.Bind(vocabulary.New(f.Name, added)); err != nil {
		return nil, err
	}
	if !leads() {
		return nil, fmt.Errorf("neither its names nor its vocabulary lead to it")
	}
	return p, nil
}

// switchedOn are the chat-template arguments that switch thinking on where it is not on by default.
func switchedOn(f *parlance.FormatInfo, reasoning string) map[string]any {
	thinking := f.Thinking[reasoning]
	if thinking.OnByDefault {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(thinking.EnabledBy)) {
		return map[string]any{name: thinking.EnabledBy[name][0]}
	}
	return nil
}

// flags are the flags for a parser.
func flags(p *parlance.Parser) string {
	var list []string
	if p.ToolName() != "" {
		list = append(list, "--tool-call-parser "+p.ToolName())
	}
	if p.ReasoningName() != "" {
		list = append(list, "--reasoning-parser "+p.ReasoningName())
	}
	return strings.Join(list, " ")
}

// write writes the example: what the model writes, and what it becomes.
func (e *example) write(out *strings.Builder) error {
	out.WriteString("\n## Example\n\n")
	if e.template != "" {
		out.WriteString("The template of the checkpoint is\n\n")
		fence(out, "json", e.template)
		out.WriteString("\n")
	}
	if e.prompt != "" {
		fmt.Fprintf(out, "The prompt ends in %s. ", code(e.prompt))
	}
	out.WriteString("The model writes\n\n")
	fence(out, "", e.text)
	fmt.Fprintf(out, "\nand with `%s` that is\n\n", e.flags)
	shown, err := messageJSON(e.read)
	if err != nil {
		return err
	}
	fence(out, "json", shown)
	return nil
}

// messageJSON writes a message with its arguments as the objects that their text is.
func messageJSON(m *parlance.Message) (string, error) {
	type call struct {
		ID        string         `json:"id,omitzero"`
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	var shown struct {
		Reasoning string `json:"reasoning,omitzero"`
		Content   string `json:"content,omitzero"`
		Calls     []call `json:"tool_calls,omitempty"`
	}
	shown.Reasoning, shown.Content = m.Reasoning, m.Content
	for _, c := range m.Calls {
		shown.Calls = append(shown.Calls, call{c.ID, c.Name, jsontext.Value(c.Arguments)})
	}
	data, err := json.Marshal(shown, jsontext.WithIndent("  "))
	return string(data), err
}
