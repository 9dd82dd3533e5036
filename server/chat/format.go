package chat

import (
	"encoding/json/jsontext"
	"slices"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// readResponseFormat reads response_format and structured_outputs, which say the same in two ways.
func (r *Request) readResponseFormat(o *body.Object) error {
	format, err := responseFormat(o.Raw("response_format"))
	if err != nil {
		return err
	}
	structured, err := generate.StructuredOutputs(o.Raw("structured_outputs"), r.ToolChoice)
	if err != nil {
		return err
	}
	switch {
	case format == nil:
		r.ResponseFormat = structured
	case structured != nil && structured.Dialect != format.Dialect:
		return apierror.Invalidf("response_format", "You can only use one kind of constraints for structured outputs, found %s in `response_format` and %s in `structured_outputs`.", format.Dialect, structured.Dialect)
	default:
		r.ResponseFormat = format
	}
	return nil
}

func responseFormat(value jsontext.Value) (*generate.ResponseFormat, error) {
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
	f := &generate.ResponseFormat{Param: param}
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
		if err := generate.CheckStructuralTag(members, param); err != nil {
			return nil, err
		}
		f.Dialect, f.Text = engine.StructuralTag, string(value)
	}
	return f, nil
}
