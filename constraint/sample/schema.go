package sample

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Schema writes a random JSON schema of a tool's parameters. The higher the level, the uglier: from flat strings and
// numbers at 0 to references in circles, merged branches and names that no one would choose at 6.
func Schema(random *rand.Rand, level int) string {
	s := &schemas{random: random, level: level}
	body := s.object(level, true)
	if len(s.definitions) > 0 {
		body = strings.TrimSuffix(body, "}") + `, "` + s.where() + `": {` + strings.Join(s.definitions, ", ") + "}}"
	}
	return body
}

type schemas struct {
	random      *rand.Rand
	level       int
	definitions []string
	place       string
}

func (s *schemas) where() string {
	if s.place == "" {
		s.place = []string{"$defs", "definitions"}[s.random.IntN(2)]
	}
	return s.place
}

func (s *schemas) chance(level, in int) bool { return s.level >= level && s.random.IntN(in) == 0 }

// name is the name of a member; the top level holds names that every format can write.
func (s *schemas) name(i int, top bool) string {
	names := []string{"city", "days", "path", "text", "limit", "query", "user_id", "tags", "mode", "kind", "value", "items"}
	if s.chance(3, 3) {
		names = []string{"arguments", "name", "type", "parameters", "class", "_x", "A1", "in", "properties", "input"}
	}
	if !top && s.chance(4, 3) {
		names = []string{"a b", "x-y", "é", "1st", "a.b", "$id", "<tag>", "q\"uote", "漢字", "a:b", "a,b", "{x}"}
	}
	return fmt.Sprintf("%s%s", names[s.random.IntN(len(names))], []string{"", fmt.Sprint(i)}[min(i, 1)])
}

func (s *schemas) object(depth int, top bool) string {
	count := 1 + s.random.IntN(2+min(s.level, 4))
	var properties, required []string
	seen := map[string]bool{}
	for i := range count {
		name := s.name(i, top)
		if seen[name] {
			continue
		}
		seen[name] = true
		properties = append(properties, toolschema.Quote(name)+": "+s.value(depth-1))
		if s.random.IntN(2) == 0 {
			required = append(required, toolschema.Quote(name))
		}
	}
	members := []string{`"type": "object"`, `"properties": {` + strings.Join(properties, ", ") + "}"}
	if len(required) > 0 {
		members = append(members, `"required": [`+strings.Join(required, ", ")+"]")
	}
	switch {
	case s.chance(3, 5):
		members = append(members, `"additionalProperties": `+s.value(0))
	case s.chance(1, 3):
		members = append(members, `"additionalProperties": false`)
	case s.chance(4, 6):
		members = append(members, `"patternProperties": {"^p_[a-z]{1,3}$": `+s.value(0)+`}, "additionalProperties": false`)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func (s *schemas) value(depth int) string {
	simple := []func() string{
		func() string { return `{"type": "string"}` },
		func() string { return `{"type": "integer"}` },
		func() string { return `{"type": "number"}` },
		func() string { return `{"type": "boolean"}` },
		func() string { return `{"type": "string", "enum": ["a", "b c", "A-1"]}` },
	}
	if s.level >= 1 {
		simple = append(simple,
			func() string { return `{"type": "string", "description": "some \"text\"", "default": "x"}` },
			func() string { return `{"type": ["string", "null"]}` },
			func() string { return `{"type": "integer", "minimum": -3, "maximum": 120}` },
			func() string { return `{"anyOf": [{"type": "integer"}, {"type": "null"}]}` },
			func() string { return `{"const": 5}` })
	}
	if s.level >= 2 {
		simple = append(simple,
			func() string { return `{"type": "string", "pattern": "^[a-z]{2}-\\d+$"}` },
			func() string { return `{"type": "string", "minLength": 2, "maxLength": 9}` },
			func() string { return `{"type": "string", "format": "date"}` },
			func() string { return `{"type": ["integer", "string"]}` },
			func() string { return `{"type": ["boolean", "null", "number"]}` },
			func() string { return `{"enum": [1, "one", true, null, 2.5]}` },
			func() string { return `{"type": "object"}` })
	}
	if s.level >= 4 {
		simple = append(simple,
			func() string { return `{}` }, func() string { return `true` },
			func() string { return `{"allOf": [{"type": "string"}, {"maxLength": 5}, {"minLength": 1}]}` },
			func() string { return `{"enum": ["null", "true", "", "\n", "5", "</parameter>", "a\"b"]}` },
			func() string { return `{"type": "string", "format": "uuid"}` },
			func() string { return `{"type": ["object", "array", "string"]}` },
			func() string { return `{"exclusiveMinimum": 0, "type": "integer"}` })
	}
	if depth <= 0 || s.random.IntN(3) > 0 {
		return simple[s.random.IntN(len(simple))]()
	}
	nested := []func() string{
		func() string { return `{"type": "array", "items": ` + s.value(depth-1) + "}" },
		func() string { return s.object(depth-1, false) },
	}
	if s.level >= 2 {
		nested = append(nested,
			func() string {
				return `{"type": "array", "items": ` + s.value(depth-1) + `, "minItems": 1, "maxItems": 3}`
			},
			func() string { return `{"anyOf": [` + s.value(depth-1) + ", " + s.value(depth-1) + "]}" })
	}
	if s.level >= 3 {
		nested = append(nested,
			func() string {
				return `{"type": "array", "prefixItems": [` + s.value(0) + ", " + s.value(0) + `], "items": false, "minItems": 2}`
			},
			func() string {
				return `{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "allOf": [{"properties": {"b": ` + s.value(0) + `}, "required": ["b"]}]}`
			},
			func() string { return s.reference(depth) })
	}
	if s.level >= 5 {
		nested = append(nested, func() string { return s.circle() }, func() string { return `{"$ref": "#"}` })
	}
	return nested[s.random.IntN(len(nested))]()
}

// reference refers to a definition.
func (s *schemas) reference(depth int) string {
	name := fmt.Sprintf("d%d", len(s.definitions))
	at := len(s.definitions)
	s.definitions = append(s.definitions, "")
	s.definitions[at] = `"` + name + `": ` + s.value(depth-1)
	return `{"$ref": "#/` + s.where() + "/" + name + `"}`
}

// circle refers to a definition that refers to itself.
func (s *schemas) circle() string {
	name := fmt.Sprintf("c%d", len(s.definitions))
	where := s.where()
	s.definitions = append(s.definitions, `"`+name+`": {"type": "object", "properties": {"v": `+s.value(0)+`, "next": {"anyOf": [{"$ref": "#/`+where+"/"+name+`"}, {"type": "null"}]}, "all": {"type": "array", "items": {"$ref": "#/`+where+"/"+name+`"}}}, "required": ["v"], "additionalProperties": false}`)
	return `{"$ref": "#/` + where + "/" + name + `"}`
}
