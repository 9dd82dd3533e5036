package constraint

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/parlance-llm/parlance/constraint/jsonschema"
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// ResponseFormat is the format that an answer must have. One of the fields is set.
type ResponseFormat struct {
	// Schema is a JSON schema; the answer is a value of it. {"type": "object"} is any JSON object.
	Schema jsontext.Value
	// Regex is a regular expression that the whole answer matches.
	Regex string
	// Choices are texts, one of which is the answer.
	Choices []string
}

// ParseResponseFormat reads a response_format as the OpenAI interface has it: text, json_object or json_schema. It
// answers nil for text, and for nothing and null.
func ParseResponseFormat(data []byte) (*ResponseFormat, error) {
	if len(data) == 0 || jsontext.Value(data).Kind() == 'n' {
		return nil, nil
	}
	var raw struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Schema jsontext.Value `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(data, &raw, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, &Error{Param: "response_format", Err: err}
	}
	switch raw.Type {
	case "text":
		return nil, nil
	case "json_object":
		return &ResponseFormat{Schema: jsontext.Value(`{"type": "object"}`)}, nil
	case "json_schema":
		if raw.JSONSchema == nil || len(raw.JSONSchema.Schema) == 0 || raw.JSONSchema.Schema.Kind() == 'n' {
			return nil, &Error{Param: "response_format.json_schema.schema", Err: errors.New("expected a JSON schema, found nothing")}
		}
		return &ResponseFormat{Schema: raw.JSONSchema.Schema}, nil
	}
	return nil, &Error{Param: "response_format.type", Err: fmt.Errorf("expected text, json_object or json_schema, found %q", raw.Type)}
}

// node is the format as a language, and its JSON schema, "" where it is none.
func (f *ResponseFormat) node(b *syntax.Builder, notes *[]string) (language.Node, string, error) {
	b.Name = "answer"
	mark := func(n language.Node) language.Node { return &language.Mark{Role: language.Formatted, Inner: n} }
	switch {
	case len(f.Schema) > 0:
		node, more, err := toolschema.Read(f.Schema)
		if err != nil {
			return nil, "", err
		}
		for _, note := range more {
			*notes = append(*notes, "response_format: "+note.String())
		}
		return mark(&language.Schema{Schema: node, Body: b.JSON(node)}), jsonschema.Write(node), nil
	case f.Regex != "":
		automaton, err := regular.Match(toolschema.Expression(f.Regex))
		if err != nil {
			return nil, "", fmt.Errorf("expected a regular expression that can be held: %w", err)
		}
		return mark(&language.Regular{Automaton: automaton}), "", nil
	case len(f.Choices) > 0:
		var options []language.Node
		for _, text := range f.Choices {
			options = append(options, language.Text(text))
		}
		return mark(language.Any(options...)), "", nil
	}
	return nil, "", errors.New("expected a schema, a regular expression or choices, found nothing")
}
