package main

import (
	"bufio"
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
)

// pair is a structural tag of the reference and ours for the same request.
type pair struct {
	Key        string         `json:"key"`
	Parser     string         `json:"parser"`
	Strict     bool           `json:"strict"`
	ToolChoice jsontext.Value `json:"tool_choice"`
	// Theirs is made for the tools as they are, Ours for Copies of each: the first with its own names, in the others the
	// names of the tool and of its parameters end in _2, _3 …
	Theirs jsontext.Value `json:"structural_tag"`
	Ours   string         `json:"ours"`
	// Tools are the names of the tools, Parameters those of all parameters in their schemas.
	Tools      []string `json:"tools"`
	Parameters []string `json:"parameters"`
	Copies     int      `json:"copies"`
}

// references writes our structural tags for the requests of the reference's, a line each.
func (f *flags) references(out *bufio.Writer) error {
	data, err := os.ReadFile(f.files[0])
	if err != nil {
		return err
	}
	tools, err := constraint.ParseTools(data)
	if err != nil {
		return err
	}
	kinds := pair{Copies: f.copies}
	for _, tool := range tools {
		kinds.Tools = append(kinds.Tools, tool.Name)
		for _, name := range properties(tool.Parameters) {
			if !slices.Contains(kinds.Parameters, name) {
				kinds.Parameters = append(kinds.Parameters, name)
			}
		}
	}
	var copies []constraint.Tool
	for i := range f.copies {
		for _, tool := range tools {
			if i > 0 {
				end := fmt.Sprintf("_%d", i+1)
				tool.Name += end
				for _, name := range kinds.Parameters {
					tool.Parameters = bytes.ReplaceAll(tool.Parameters, []byte(`"`+name+`"`), []byte(`"`+name+end+`"`))
				}
			}
			copies = append(copies, tool)
		}
	}
	file, err := os.Open(f.reference)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		p := kinds
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return err
		}
		if err := p.write(copies); err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
		if err := json.MarshalWrite(out, p); err != nil {
			return err
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return lines.Err()
}

// write makes our tag.
func (p *pair) write(tools []constraint.Tool) error {
	parser, err := parlance.Lookup(p.Parser, "")
	if err != nil {
		return err
	}
	choice, err := parlance.ParseToolChoice(p.ToolChoice)
	if err != nil {
		return err
	}
	for i := range tools {
		tools[i].Strict = p.Strict
	}
	c, err := constraint.New(parser, constraint.Request{Tools: tools, ToolChoice: choice, StrictLevel: constraint.LevelFunction})
	if err != nil {
		return err
	}
	p.Ours = c.StructuralTag().Text
	return nil
}

// properties are the names of the properties in a schema, at any depth.
func properties(schema jsontext.Value) (names []string) {
	var parts struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if json.Unmarshal(schema, &parts) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(parts.Properties)) {
		names = append(append(names, name), properties(parts.Properties[name])...)
	}
	return names
}
