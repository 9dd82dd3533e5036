package formatpages

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io/fs"
	"strings"

	"github.com/parlance-llm/parlance"
)

// templateCase is a case of a format whose grammar comes with the checkpoint, as a response template.
type templateCase struct {
	Text             string         `json:"text"`
	Tools            jsontext.Value `json:"tools"`
	Prompt           string         `json:"prompt"`
	ToolChoice       jsontext.Value `json:"tool_choice"`
	FinishReason     string         `json:"finish_reason"`
	IncludeReasoning *bool          `json:"include_reasoning"`
	ResponseTemplate jsontext.Value `json:"response_template"`
	WantStream       jsontext.Value `json:"want_stream"`
}

// newTemplateExample takes the case of such a format that shows most.
func newTemplateExample(cases fs.FS, f *parlance.FormatInfo) (*example, error) {
	var sets map[string]jsontext.Value
	if err := decode(cases, "tools.json", &sets); err != nil {
		return nil, err
	}
	var list []templateCase
	if err := decode(cases, f.Name+".json", &list); err != nil {
		return nil, err
	}
	var best *example
	most := 0
	for i := range list {
		c := &list[i]
		if c.ResponseTemplate == nil || c.ToolChoice != nil || c.FinishReason != "" || c.IncludeReasoning != nil || c.WantStream != nil {
			continue
		}
		e, err := c.read(f.Name, sets)
		if err != nil {
			return nil, err
		}
		if shows := e.shows(); e.read != nil && shows > most {
			best, most = e, shows
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no case shows the format")
	}
	return best, nil
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

// read reads the text of a case; nothing is read if its template is one of those that must be refused.
func (c *templateCase) read(name string, sets map[string]jsontext.Value) (*example, error) {
	declared := c.Tools
	if declared.Kind() == '"' {
		var set string
		if err := json.Unmarshal(declared, &set); err != nil {
			return nil, err
		}
		declared = sets[set]
	}
	tools, err := parlance.ParseTools(declared)
	if err != nil {
		return nil, err
	}
	template, err := parlance.ParseResponseTemplate(c.ResponseTemplate)
	if err != nil {
		return &example{}, nil
	}
	p, err := parlance.LookupTemplate(name, name, template)
	if err != nil {
		return &example{}, nil
	}
	shown := c.ResponseTemplate.Clone()
	if err := shown.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	r := parlance.Request{Tools: tools, Prompt: c.Prompt}
	return &example{flags: flags(p), prompt: c.Prompt, template: string(shown), text: c.Text, read: p.Parse(c.Text, r, parlance.FinishStop)}, nil
}

// shows tells how much an example shows: each tray counts, and of two alike the shorter one is better.
func (e *example) shows() int {
	if e.read == nil {
		return 0
	}
	score := 1
	for _, tray := range []string{e.read.Reasoning, e.read.Content} {
		if strings.TrimSpace(tray) != "" {
			score += 10000
		}
	}
	for _, call := range e.read.Calls {
		if !call.Malformed && !call.Cut && len(call.Arguments) > len("{}") {
			score += 20000
			break
		}
	}
	return score + max(0, 5000-len(e.text)-len(e.template))
}
