package constraint

import (
	"encoding/json/jsontext"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// object is a JSON object whose members keep their order. Other JSON values are []any, string, number, bool and nil.
type object []member

type member struct {
	name  string
	value any
}

// number is a JSON number as it is written.
type number string

func (o object) get(name string) (any, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil, false
	}
	return o[i].value, true
}

// with is the object with one member set, in its place if there is one.
func (o object) with(name string, value any) object {
	out := slices.Clone(o)
	if i := slices.IndexFunc(out, func(m member) bool { return m.name == name }); i >= 0 {
		out[i].value = value
		return out
	}
	return append(out, member{name, value})
}

func readJSON(t testing.TB, text string) any {
	t.Helper()
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	value, err := readValue(decoder)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func readValue(decoder *jsontext.Decoder) (any, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		out := object{}
		for decoder.PeekKind() == '"' {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			value, err := readValue(decoder)
			if err != nil {
				return nil, err
			}
			out = append(out, member{key, value})
		}
		_, err := decoder.ReadToken()
		return out, err
	case '[':
		out := []any{}
		for kind := decoder.PeekKind(); kind != ']' && kind != 0; kind = decoder.PeekKind() {
			value, err := readValue(decoder)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err := decoder.ReadToken()
		return out, err
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String()), nil
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func writeJSON(value any) string {
	switch value := value.(type) {
	case object:
		parts := make([]string, len(value))
		for i, m := range value {
			parts[i] = toolschema.Quote(m.name) + ": " + writeJSON(m.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = writeJSON(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return toolschema.Quote(value)
	case number:
		return string(value)
	case bool:
		return strconv.FormatBool(value)
	}
	return "null"
}

// values makes values that a schema allows, without any help from the package under test. Members come in the order in
// which a constraint holds them: as the schema has them, those of references and of allOf first.
type values struct {
	root   any
	random *rand.Rand
}

// resolved is a schema without references and allOf, as an object; true is the empty object.
func (v *values) resolved(schema any) object {
	out, _ := schema.(object)
	if target, ok := out.get("$ref"); ok {
		at := v.root
		for _, part := range strings.Split(strings.TrimPrefix(target.(string), "#"), "/")[1:] {
			at, _ = at.(object).get(part)
		}
		rest := slices.DeleteFunc(slices.Clone(out), func(m member) bool { return m.name == "$ref" })
		if target == "#" {
			at = v.root
		}
		return merged(v.resolved(at), rest)
	}
	if list, ok := out.get("allOf"); ok {
		own := slices.DeleteFunc(slices.Clone(out), func(m member) bool { return m.name == "allOf" })
		out = nil
		for _, part := range list.([]any) {
			out = merged(out, v.resolved(part))
		}
		out = merged(out, own)
	}
	return out
}

func merged(one, two object) object {
	for _, m := range two {
		switch before, ok := one.get(m.name); {
		case ok && m.name == "required":
			one = one.with(m.name, append(slices.Clone(before.([]any)), m.value.([]any)...))
		case ok && m.name == "properties":
			one = one.with(m.name, append(slices.Clone(before.(object)), m.value.(object)...))
		default:
			one = one.with(m.name, m.value)
		}
	}
	return one
}

// value is a value that a schema allows; of none or many there is no promise, so that a validator has the last word.
func (v *values) value(schema any, depth int) any {
	if depth < -8 { // it has no end
		return nil
	}
	s := v.resolved(schema)
	if constant, ok := s.get("const"); ok {
		return constant
	}
	if list, ok := s.get("enum"); ok {
		return list.([]any)[v.random.IntN(len(list.([]any)))]
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := s.get(keyword); ok {
			options := list.([]any)
			if depth <= 0 {
				return v.value(options[len(options)-1], depth)
			}
			return v.value(options[v.random.IntN(len(options))], depth)
		}
	}
	kind := "any"
	switch t, _ := s.get("type"); t := t.(type) {
	case string:
		kind = t
	case []any:
		kind = t[v.random.IntN(len(t))].(string)
	default:
		if _, ok := s.get("properties"); ok {
			kind = "object"
		}
	}
	switch kind {
	case "object":
		return v.object(s, depth)
	case "array":
		return v.array(s, depth)
	case "string":
		return v.text(s)
	case "integer", "number":
		return v.number(s, kind == "integer")
	case "boolean":
		return v.random.IntN(2) == 0
	case "null":
		return nil
	}
	return v.anything(depth)
}

func (v *values) object(s object, depth int) object {
	out := object{}
	properties, _ := s.get("properties")
	list, _ := properties.(object)
	required, _ := s.get("required")
	names, _ := required.([]any)
	for _, m := range list {
		if slices.Contains(names, any(m.name)) || depth > 0 && v.random.IntN(2) == 0 {
			out = append(out, member{m.name, v.value(m.value, depth-1)})
		}
	}
	if patterns, ok := s.get("patternProperties"); ok && v.random.IntN(2) == 0 {
		out = append(out, member{"p_" + "abc"[:1+v.random.IntN(3)], v.value(patterns.(object)[0].value, depth-1)})
	}
	additional, ok := s.get("additionalProperties")
	if !ok && len(list) == 0 {
		additional, ok = true, true // an object of which nothing is said
	}
	if ok && additional != false && v.random.IntN(2) == 0 {
		out = append(out, member{"more_" + strconv.Itoa(v.random.IntN(10)), v.value(additional, depth-1)})
	}
	return out
}

func count(s object, keyword string, otherwise int) int {
	if n, ok := s.get(keyword); ok {
		out, _ := strconv.Atoi(string(n.(number)))
		return out
	}
	return otherwise
}

func (v *values) array(s object, depth int) []any {
	out := []any{}
	prefix, _ := s.get("prefixItems")
	for _, item := range append([]any(nil), listOf(prefix)...) {
		out = append(out, v.value(item, depth-1))
	}
	items, ok := s.get("items")
	if ok && items == false {
		return out
	}
	least := count(s, "minItems", 0)
	most := count(s, "maxItems", least+2)
	if depth <= 0 {
		most = least
	}
	for len(out) < least+v.random.IntN(most-least+1) {
		out = append(out, v.value(items, depth-1))
	}
	return out
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

// ordinary are texts that a model may write as an argument.
var ordinary = []string{"", " ", "Oslo", "a b", "two\nlines\n", "\tx", "5", "true", "null", "say \"hi\"", `C:\dir`, "å 漢字 🙂", "<b>bold</b>", "a & b", "{x}", "[1]", "it's", "1.50", "-", "</", "#", "x=1, y=2", "ends ", " begins"}

func (v *values) text(s object) string {
	if pattern, ok := s.get("pattern"); ok {
		if pattern != `^[a-z]{2}-\d+$` {
			panic(fmt.Sprintf("no texts are known for the pattern %v", pattern))
		}
		return "ab-" + strconv.Itoa(v.random.IntN(1000))
	}
	switch format, _ := s.get("format"); format {
	case "date":
		return fmt.Sprintf("20%02d-%02d-%02d", v.random.IntN(100), 1+v.random.IntN(12), 1+v.random.IntN(28))
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", v.random.Uint32(), v.random.IntN(1<<16), v.random.IntN(1<<12), v.random.IntN(1<<12), v.random.Int64N(1<<48))
	}
	least := count(s, "minLength", 0)
	most := count(s, "maxLength", 1<<20)
	text := []rune(ordinary[v.random.IntN(len(ordinary))])
	for len(text) < least {
		text = append(text, 'x')
	}
	return string(text[:min(len(text), most)])
}

func (v *values) number(s object, whole bool) number {
	least := count(s, "minimum", count(s, "exclusiveMinimum", -5)+1)
	most := count(s, "maximum", least+100000)
	n := strconv.Itoa(least + v.random.IntN(most-least+1))
	if whole || v.random.IntN(2) == 0 {
		return number(n)
	}
	return number(n + []string{".5", ".25", ".125", "e2", ".50"}[v.random.IntN(5)])
}

func (v *values) anything(depth int) any {
	kinds := []string{"string", "integer", "number", "boolean", "null", "array", "object"}
	if depth <= 0 {
		kinds = kinds[:5]
	}
	return v.value(object{{"type", kinds[v.random.IntN(len(kinds))]}}, depth)
}

// changed is an object with one thing changed somewhere in it: a member gone or come, another type, another text, number
// or count.
func (v *values) changed(value object) object {
	places := 0
	walkValues(value, func(any) any { places++; return keep })
	at := v.random.IntN(places)
	i := -1
	out := walkValues(value, func(one any) any {
		if i++; i != at {
			return keep
		}
		return v.other(one, i == 0)
	})
	return out.(object)
}

type keeping struct{}

var keep any = keeping{}

// walkValues answers a value with every part of it that visit does not keep replaced.
func walkValues(value any, visit func(any) any) any {
	if other := visit(value); other != keep {
		return other
	}
	switch value := value.(type) {
	case object:
		out := slices.Clone(value)
		for i := range out {
			out[i].value = walkValues(out[i].value, visit)
		}
		return out
	case []any:
		out := slices.Clone(value)
		for i := range out {
			out[i] = walkValues(out[i], visit)
		}
		return out
	}
	return value
}

func (v *values) other(value any, root bool) any {
	if !root && v.random.IntN(3) == 0 {
		return v.anything(1)
	}
	switch value := value.(type) {
	case object:
		if len(value) > 0 && v.random.IntN(3) > 0 {
			return slices.Delete(slices.Clone(value), 0, 1+v.random.IntN(len(value)))
		}
		return append(slices.Clone(value), member{"unheard_of", v.anything(1)})
	case []any:
		if len(value) > 0 && v.random.IntN(2) == 0 {
			return value[:v.random.IntN(len(value))]
		}
		out := slices.Clone(value)
		for range 1 + v.random.IntN(5) {
			out = append(out, v.anything(0))
		}
		return out
	case string:
		return []string{value + "!", "", strings.Repeat(value+"x", 30), "zz"}[v.random.IntN(4)]
	case number:
		return []any{number("-" + strings.TrimPrefix(string(value), "-")), number("0"), number("1000000"), number("0.5"), string(value)}[v.random.IntN(5)]
	case bool:
		return !value
	}
	return "null"
}
