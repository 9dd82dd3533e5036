package constraint

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaOf is the schema of a tool's arguments, as an independent validator has it.
type schemaOf struct {
	schema *jsonschema.Schema
	names  []string
}

// validators are the schemas of tools by their names.
func validators(t testing.TB, data []byte) map[string]*schemaOf {
	t.Helper()
	tools, err := ParseTools(data)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*schemaOf{}
	for _, tool := range tools {
		s := &schemaOf{schema: compileSchema(t, tool.Parameters)}
		var parameters struct {
			Properties jsontext.Value `json:"properties"`
		}
		if json.Unmarshal(tool.Parameters, &parameters) == nil && parameters.Properties.Kind() == '{' {
			s.names = memberNames(string(parameters.Properties))
		}
		out[tool.Name] = s
	}
	return out
}

func compileSchema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// invalid says what is wrong with arguments, nil if nothing is.
func (s *schemaOf) invalid(arguments string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return err
	}
	return s.schema.Validate(value)
}

// ordered tells whether the members of arguments stand in the order of the schema, each once.
func (s *schemaOf) ordered(arguments string) bool {
	last := -1
	for _, name := range memberNames(arguments) {
		at := slices.Index(s.names, name)
		if at <= last {
			return false
		}
		last = at
	}
	return true
}

// memberNames are the names of an object's members, in their order.
func memberNames(object string) (names []string) {
	decoder := jsontext.NewDecoder(strings.NewReader(object), jsontext.AllowDuplicateNames(true))
	if _, err := decoder.ReadToken(); err != nil {
		return nil
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return names
		}
		names = append(names, name.String())
		if err := decoder.SkipValue(); err != nil {
			return names
		}
	}
	return names
}
