package generate

import (
	"encoding/json/jsontext"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
)

// ReadFormat reads response_format and structured_outputs of the OpenAI interfaces that have both; they say the same in two
// ways. Without either it gives nil. The errors are of the kinds Schema and Invalid.
func ReadFormat(o *body.Object, choice ToolChoice) (*ResponseFormat, error) {
	format, err := responseFormat(o.Raw("response_format"))
	if err != nil {
		return nil, err
	}
	structured, err := StructuredOutputs(o.Raw("structured_outputs"), choice)
	switch {
	case err != nil || format == nil:
		return structured, err
	case structured != nil && structured.Dialect != format.Dialect:
		return nil, apierror.Invalidf("response_format", "You can only use one kind of constraints for structured outputs, found %s in `response_format` and %s in `structured_outputs`.", format.Dialect, structured.Dialect)
	}
	return format, nil
}

func responseFormat(value jsontext.Value) (*ResponseFormat, error) {
	if value == nil {
		return nil, nil
	}
	const param = "response_format"
	members, ok := body.Members(value)
	kind := body.Lookup(members, "type")
	if !ok || kind.Kind() != '"' || !slices.Contains([]string{"text", "json_object", "json_schema", "structural_tag"}, body.Text(kind)) {
		complaint := apierror.Complaint{Param: "body.response_format.type", Message: "Input should be 'text', 'json_object', 'json_schema' or 'structural_tag'", Found: body.Summary(kind)}
		if !ok {
			complaint = apierror.Complaint{Param: "body.response_format", Message: "Input should be a valid dictionary", Found: body.Summary(value)}
		}
		return nil, apierror.Join([]apierror.Complaint{complaint})
	}
	f := &ResponseFormat{Param: param}
	switch body.Text(kind) {
	case "text":
		return nil, nil
	case "json_object":
		f.Dialect = engine.JSONObject
	case "json_schema":
		wrapper, ok := body.Members(body.Lookup(members, "json_schema"))
		if !ok {
			return nil, apierror.Invalidf(param, "When response_format type is 'json_schema', the 'json_schema' field must be provided.")
		}
		schema := body.Lookup(wrapper, "schema")
		if kind := schema.Kind(); kind != '{' && kind != 't' && kind != 'f' {
			return nil, apierror.Invalidf(param, "expected a JSON schema in `json_schema.schema`, found %s", body.Found(schema))
		}
		f.Dialect, f.Text = engine.JSONSchema, string(schema)
	case "structural_tag":
		if err := CheckStructuralTag(members, param); err != nil {
			return nil, err
		}
		f.Dialect, f.Text = engine.StructuralTag, string(value)
	}
	return f, nil
}

// CheckStructuralTag tells whether an object has one of the two shapes of a structural tag; what is in it the engine
// checks. The error names param.
func CheckStructuralTag(members []body.Member, param string) error {
	if format := body.Lookup(members, "format"); format.Kind() == '{' {
		inner, _ := body.Members(format)
		if kind := body.Lookup(inner, "type"); kind.Kind() != '"' {
			return apierror.Invalidf(param, "Invalid structural_tag specification: expected `format.type`, found %s.", body.Found(kind))
		}
		return nil
	}
	structures, isList := body.Elements(body.Lookup(members, "structures"))
	triggers, also := body.Elements(body.Lookup(members, "triggers"))
	if !isList || !also {
		return apierror.Invalidf(param, "Invalid structural_tag specification: expected `format`, or `structures` and `triggers`.")
	}
	for _, structure := range structures {
		inner, _ := body.Members(structure)
		for _, name := range []string{"begin", "end"} {
			if body.Lookup(inner, name).Kind() != '"' {
				return apierror.Invalidf(param, "Invalid structural_tag specification: expected a string as `%s` of every structure, found %s.", name, body.Found(body.Lookup(inner, name)))
			}
		}
	}
	for _, trigger := range triggers {
		if trigger.Kind() != '"' {
			return apierror.Invalidf(param, "Invalid structural_tag specification: expected strings as `triggers`, found %s.", body.Summary(trigger))
		}
	}
	return nil
}

// StructuredOutputs reads vLLM's own field structured_outputs: exactly one of six kinds, which some tool choices exclude.
// Without a value it gives nil. The errors are of the kinds Schema and Invalid.
func StructuredOutputs(value jsontext.Value, choice ToolChoice) (*ResponseFormat, error) {
	if value == nil {
		return nil, nil
	}
	members, ok := body.Members(value)
	if !ok {
		return nil, apierror.Join([]apierror.Complaint{{Param: "body.structured_outputs", Message: "Input should be a valid dictionary", Found: body.Summary(value)}})
	}
	var kinds []string
	for _, kind := range []string{"json", "regex", "choice", "grammar", "json_object", "structural_tag"} {
		if given := body.Lookup(members, kind); given != nil && given.Kind() != 'n' && given.Kind() != 'f' {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0:
		return nil, apierror.Invalidf("", "You must use one kind of structured outputs constraint but none are specified.")
	case len(kinds) > 1:
		return nil, apierror.Invalidf("", "You can only use one kind of structured outputs constraint but multiple are specified: %s.", strings.Join(kinds, ", "))
	}
	kind := kinds[0]
	if choice.Mode == ToolChoiceFunction && (kind == "json" || kind == "regex" || kind == "choice") {
		return nil, apierror.Invalidf("", "You can only either use constraints for structured outputs or tools, not both.")
	}
	return structuredOutput(kind, body.Lookup(members, kind))
}

func structuredOutput(kind string, value jsontext.Value) (*ResponseFormat, error) {
	const param = "structured_outputs"
	f := &ResponseFormat{Param: param}
	text := ""
	if value.Kind() == '"' {
		if text = body.Text(value); text == "" {
			return nil, apierror.Invalidf(param, "structured_outputs.%s must not be empty.", kind)
		}
	}
	wrong := func(expected string) error {
		return apierror.Invalidf(param, "expected %s in structured_outputs.%s, found %s", expected, kind, body.Summary(value))
	}
	switch kind {
	case "json":
		f.Dialect, f.Text = engine.JSONSchema, string(value)
		if text != "" {
			f.Text = text
		}
		if !jsontext.Value(f.Text).IsValid(jsontext.AllowDuplicateNames(true)) || jsontext.Value(f.Text).Kind() != '{' {
			return nil, wrong("a JSON schema, or the text of one,")
		}
	case "json_object":
		f.Dialect = engine.JSONObject
	case "regex":
		if f.Dialect, f.Text = engine.Regex, text; text == "" {
			return nil, wrong("a regular expression")
		}
	case "grammar":
		if f.Dialect, f.Text = engine.Lark, text; text == "" {
			return nil, wrong("a grammar")
		}
		if strings.Contains(text, "::=") {
			f.Dialect = engine.EBNF
		}
	case "choice":
		f.Dialect = engine.Choice
		choices, ok := body.Elements(value)
		if !ok || len(choices) == 0 {
			return nil, wrong("a list of texts")
		}
		for _, choice := range choices {
			if choice.Kind() != '"' {
				return nil, wrong("a list of texts")
			}
			f.Choices = append(f.Choices, body.Text(choice))
		}
	case "structural_tag":
		if f.Dialect, f.Text = engine.StructuralTag, string(value); text != "" {
			f.Text = text
		}
		members, ok := body.Members(jsontext.Value(f.Text))
		if !ok {
			return nil, wrong("a structural tag, or the text of one,")
		}
		if err := CheckStructuralTag(members, param); err != nil {
			return nil, err
		}
	}
	return f, nil
}
