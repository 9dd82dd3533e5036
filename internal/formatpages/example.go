package formatpages

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
)

// example is a case that may serve as a worked example.
type example struct {
	ID                 string         `json:"id"`
	Why                string         `json:"why"`
	Text               string         `json:"text"`
	ToolParser         string         `json:"tool_parser"`
	ReasoningParser    string         `json:"reasoning_parser"`
	Tools              jsontext.Value `json:"tools"`
	Prompt             string         `json:"prompt"`
	ToolChoice         jsontext.Value `json:"tool_choice"`
	FinishReason       string         `json:"finish_reason"`
	IncludeReasoning   *bool          `json:"include_reasoning"`
	ResponseTemplate   jsontext.Value `json:"response_template"`
	SpecialTokens      []string       `json:"special_tokens"`
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs"`
	WantStream         jsontext.Value `json:"want_stream"`
	message            *parlance.Message
}

// readExamples reads the cases that ask for nothing special and sorts their texts.
func readExamples(cases fs.FS) (examples []example, err error) {
	names, err := fs.Glob(cases, "*.json")
	if err != nil {
		return nil, err
	}
	sets := map[string]jsontext.Value{}
	if err := decode(cases, "tools.json", &sets); err != nil {
		return nil, err
	}
	for _, name := range names {
		if path.Base(name) == "tools.json" {
			continue
		}
		var all []jsontext.Value
		if err := decode(cases, name, &all); err != nil {
			return nil, err
		}
		for _, value := range all {
			var e example
			if err := json.Unmarshal(value, &e); err != nil {
				continue // a case of another kind
			}
			if e.Text == "" || e.ToolChoice != nil || e.FinishReason != "" || e.IncludeReasoning != nil || e.WantStream != nil {
				continue
			}
			if ok, err := e.sort(sets); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, e.ID, err)
			} else if ok {
				examples = append(examples, e)
			}
		}
	}
	return examples, nil
}

func decode(files fs.FS, name string, into any) error {
	data, err := fs.ReadFile(files, name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// sort reads the text of an example; ok is false if its parsers are not there.
func (e *example) sort(sets map[string]jsontext.Value) (ok bool, err error) {
	var template *parlance.ResponseTemplate
	if e.ResponseTemplate != nil {
		if template, err = parlance.ParseResponseTemplate(e.ResponseTemplate); err != nil {
			return false, nil
		}
	}
	p, err := parlance.LookupTemplate(e.ToolParser, e.ReasoningParser, template)
	if err != nil {
		return false, nil
	}
	if e.Tools.Kind() == '"' {
		var name string
		if err := json.Unmarshal(e.Tools, &name); err != nil {
			return false, err
		}
		e.Tools = sets[name]
	}
	tools, err := parlance.ParseTools(e.Tools)
	if err != nil {
		return false, err
	}
	e.message = p.Parse(e.Text, parlance.Request{Tools: tools, Prompt: e.Prompt, SpecialTokens: e.SpecialTokens, ChatTemplateKwargs: e.ChatTemplateKwargs}, parlance.FinishStop)
	return true, nil
}

// choose takes the example that shows most of a format and has least that is odd.
func choose(f *parlance.FormatInfo, examples []example) (best example, ok bool) {
	most := 0
	for _, e := range examples {
		if score := e.shows(f); score > most {
			best, most, ok = e, score, true
		}
	}
	return best, ok
}

// shows tells how well an example shows a format; 0 if it does not.
func (e *example) shows(f *parlance.FormatInfo) int {
	tool := slices.Contains(f.ToolNames, e.ToolParser)
	reasoning := slices.Contains(f.ReasoningNames, e.ReasoningParser)
	if !tool && !reasoning {
		return 0
	}
	score := 1000 - len([]rune(e.Text))/4
	if (len(f.ToolNames) > 0) == tool {
		score += 400
	}
	if (len(f.ReasoningNames) > 0) == reasoning {
		score += 400
	}
	if strings.HasPrefix(e.ID, f.Name+"/") {
		score += 600
	}
	if len(e.message.Calls) > 0 {
		score += 600
	}
	if e.message.Reasoning != "" {
		score += 200
	}
	if e.message.Content != "" {
		score += 100
	}
	for _, odd := range []string{"reference", "missing", "lone", "unknown", "without", "lack", "inside", "no ", "not ", "never", "break", "unclosed", "late", "glued", "echo"} {
		if strings.Contains(e.Why, odd) {
			score -= 150
		}
	}
	for _, call := range e.message.Calls {
		if len(call.Arguments) < len(`{"city": "Oslo"}`) || call.Malformed || call.Cut {
			score -= 200
		}
	}
	return max(score, 1)
}

// write writes the example: what the model writes, and what it becomes.
func (e *example) write(out *strings.Builder) error {
	out.WriteString("\n## Example\n\n")
	if e.Prompt != "" {
		fmt.Fprintf(out, "The prompt ends in %s. The model writes\n\n", code(e.Prompt))
	} else {
		out.WriteString("The model writes\n\n")
	}
	fence(out, "", e.Text)
	var flags []string
	if e.ToolParser != "" {
		flags = append(flags, "--tool-call-parser "+e.ToolParser)
	}
	if e.ReasoningParser != "" {
		flags = append(flags, "--reasoning-parser "+e.ReasoningParser)
	}
	if e.ResponseTemplate != nil {
		template := e.ResponseTemplate.Clone()
		if err := template.Indent(jsontext.WithIndent("  ")); err != nil {
			return err
		}
		out.WriteString("\nThe template of its checkpoint is\n\n")
		fence(out, "json", string(template))
	}
	fmt.Fprintf(out, "\nand with %s that is\n\n", code(strings.Join(flags, " ")))
	message, err := messageJSON(e.message)
	if err != nil {
		return err
	}
	fence(out, "json", message)
	return nil
}

// messageJSON writes a message with its arguments as the objects that their text is.
func messageJSON(m *parlance.Message) (string, error) {
	type call struct {
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
		shown.Calls = append(shown.Calls, call{c.Name, jsontext.Value(c.Arguments)})
	}
	data, err := json.Marshal(shown, jsontext.WithIndent("  "))
	return string(data), err
}
