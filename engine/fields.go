package engine

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"
)

// fields is the body of a request to an engine.
type fields map[string]any

// fill adds the fields of the options and of the request that are not there yet. Into an object that is there go the members
// that it lacks.
func (f fields) fill(extras ...map[string]jsontext.Value) error {
	for i := len(extras) - 1; i >= 0; i-- {
		for name, value := range extras[i] {
			inner, isObject := f[name].(fields)
			if _, set := f[name]; set && (!isObject || value.Kind() != '{') {
				continue
			}
			if !isObject {
				f[name] = value
				continue
			}
			var members map[string]jsontext.Value
			if err := json.Unmarshal(value, &members, lenient); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := inner.fill(members); err != nil {
				return err
			}
		}
	}
	return nil
}

// sampling sets the sampling parameters under the names that an engine has for them. names maps OpenAI's and vLLM's names to
// the engine's; a parameter that is not listed is refused.
func (f fields) sampling(engine string, s Sampling, names map[string]string) error {
	refused := ""
	set := func(name string, value any, present bool) {
		if !present {
			return
		}
		own, ok := names[name]
		if !ok {
			refused = name
			return
		}
		f[own] = value
	}
	number := func(name string, value *float64) { set(name, value, value != nil) }
	number("temperature", s.Temperature)
	number("top_p", s.TopP)
	number("min_p", s.MinP)
	number("presence_penalty", s.PresencePenalty)
	number("frequency_penalty", s.FrequencyPenalty)
	number("repetition_penalty", s.RepetitionPenalty)
	set("top_k", s.TopK, s.TopK != nil)
	set("seed", s.Seed, s.Seed != nil)
	set("min_tokens", s.MinTokens, s.MinTokens > 0)
	set("ignore_eos", true, s.IgnoreEOS)
	set("bad_words", s.BadWords, len(s.BadWords) > 0)
	set("allowed_token_ids", s.AllowedTokens, len(s.AllowedTokens) > 0)
	bias := map[string]float64{}
	for id, value := range s.LogitBias {
		bias[strconv.Itoa(id)] = value
	}
	set("logit_bias", bias, len(bias) > 0)
	if refused != "" {
		return unsupported(engine, "generate", refused, "the engine has no such sampling parameter")
	}
	return nil
}

// sameNames are parameters that an engine calls as vLLM does.
func sameNames(names ...string) map[string]string {
	same := map[string]string{}
	for _, name := range names {
		same[name] = name
	}
	return same
}

// jsonText is the JSON text of a constraint, checked.
func (c *Constraint) jsonText(engine string) (jsontext.Value, error) {
	value := jsontext.Value(c.Text)
	if !value.IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, &Error{Kind: Refused, Engine: engine, Op: "generate", Param: "structured_outputs",
			Message: fmt.Sprintf("expected JSON as the text of a %s constraint", c.Dialect)}
	}
	return value, nil
}

// responseFormat is a constraint in the words of OpenAI's response_format.
func (c *Constraint) responseFormat(engine string) (fields, error) {
	if c.Dialect == JSONObject {
		return fields{"type": "json_object"}, nil
	}
	schema, err := c.jsonText(engine)
	if err != nil {
		return nil, err
	}
	return fields{"type": "json_schema", "json_schema": fields{"name": "answer", "strict": true, "schema": schema}}, nil
}

// schema is a constraint in JSON as a schema.
func (c *Constraint) schema(engine string) (jsontext.Value, error) {
	if c.Dialect == JSONObject {
		return jsontext.Value(`{"type":"object"}`), nil
	}
	return c.jsonText(engine)
}
