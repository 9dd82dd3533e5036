package constraint

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/jsonschema"
	"github.com/parlance-llm/parlance/constraint/sample"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/render"
)

// pool are properties that tools have in common, nearly or in truth: each name has several schemas, which differ in
// little. References lead into definitions, of which there are several too.
var pool = []struct {
	name    string
	schemas []string
}{
	{"path", []string{
		`{"type": "string"}`,
		`{"type": "string", "description": "where"}`,
		`{"type": "string", "minLength": 2}`,
		`{"type": "string", "nullable": true}`,
		`{"type": ["string", "null"]}`,
		`{"type": ["null", "string"]}`,
		`{"type": "string", "format": "date"}`,
		`{"type": "string", "format": "unheard-of"}`,
		`{"type": "string", "pattern": "^[a-z]{2}-\\d+$"}`,
		`{"type": "string", "default": "x"}`,
		`{"anyOf": [{"type": "string"}, {"type": "array", "items": false, "minItems": 1}]}`, // no list is right, and is read as one
		`{}`,
		`true`,
	}},
	{"mode", []string{
		`{"enum": ["read", "write"]}`,
		`{"enum": ["write", "read"]}`,
		`{"enum": ["read", "write", "get"]}`,
		`{"type": "string", "enum": ["read", "write", "1"]}`,
		`{"enum": ["read", 1, null, true]}`,
		`{"const": "read"}`,
		`{"const": 1}`,
		`{"enum": ["[1]", "1", 2]}`,
		`{"type": ["string", "integer"], "enum": ["[1]", "1", 2]}`,
		`{"type": ["string", "integer", "array"], "enum": ["[1]", "1", 2]}`, // no list is right, and is read as one
	}},
	{"count", []string{
		`{"type": "integer"}`,
		`{"type": "number"}`,
		`{"type": ["integer", "string"]}`,
		`{"type": "integer", "minimum": 0}`,
		`{"type": "integer", "minimum": 0, "maximum": 9}`,
		`{"type": "integer", "nullable": true}`,
		`{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`,
		`{"oneOf": [{"type": "boolean"}, {"type": "integer"}]}`,
		`{"type": "integer", "multipleOf": 5}`,
	}},
	{"options", []string{
		`{"type": "object"}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}`,
		`{"type": "object", "properties": {"path": {"type": "integer"}}}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": {"type": "integer"}}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": true}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}, "patternProperties": {"^p_": {"type": "integer"}}}`,
		`{"type": "object", "properties": {"path": {"type": "string"}}, "patternProperties": {"^p_": {"type": "boolean"}}}`,
		`{"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "integer"}}}`,
		`{"type": "object", "properties": {"a": {"type": "integer"}, "z": {"type": "string"}}}`,
		`{"type": "object", "properties": {"path": {"type": "object", "properties": {"mode": {"enum": ["a", "b"]}}}}}`,
		`{"type": "object", "properties": {"path": {"type": "object", "properties": {"mode": {"enum": ["a", "c"]}}}}}`,
		`{"additionalProperties": {"type": "string"}}`,
	}},
	{"list", []string{
		`{"type": "array"}`,
		`{"type": "array", "items": {"type": "string"}}`,
		`{"type": "array", "items": {"type": "integer"}}`,
		`{"type": "array", "items": {"type": "string"}, "minItems": 1}`,
		`{"type": "array", "items": {"type": "string"}, "maxItems": 2}`,
		`{"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}}`,
		`{"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}}`,
		`{"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}`,
	}},
	{"node", []string{
		`{"$ref": "#/$defs/node"}`,
		`{"$ref": "#/$defs/node", "nullable": true}`,
		`{"type": "array", "items": {"$ref": "#/$defs/node"}}`,
		`{"allOf": [{"$ref": "#/$defs/node"}]}`,
		`{"type": "object", "properties": {"node": {"$ref": "#/$defs/node"}}}`,
	}},
	{"other", []string{
		`{"$ref": "#/$defs/node"}`,
		`{"anyOf": [{"$ref": "#/$defs/node"}, {"type": "integer"}]}`,
	}},
	// named as tools, and as words of markers
	{"get", []string{`{"type": "string"}`, `{"type": "integer"}`}},
	{"name", []string{`{"type": "string"}`, `{"enum": ["get", "arguments"]}`}},
	{"parameter", []string{`{"type": "string"}`, `{"type": "boolean"}`}},
}

var definitions = []string{
	`{"type": "string"}`,
	`{"type": "integer"}`,
	`{"enum": ["a", "b"]}`,
	`{"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}`,
	`{"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}`,
	`{"type": "object", "properties": {"value": {"type": "integer"}, "next": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["value"]}`,
	`{"type": "object", "properties": {"value": {"type": "integer"}}}`,
}

// toolNamesOfPool are names that hold each other, parameters, values and words of markers.
var toolNamesOfPool = []string{"get", "get_path", "path", "read", "function", "parameter", "call", "name", "tool", "string", "a"}

// alikeTools are tools that have properties in common. Of the pool few schemas are taken, so that tools have the same
// ones, or some that differ in little.
func alikeTools(random *rand.Rand) string {
	few := func(list []string) (out []string) {
		for _, at := range random.Perm(len(list))[:min(1+random.IntN(3), len(list))] {
			out = append(out, list[at])
		}
		return out
	}
	type property struct {
		name    string
		schemas []string
	}
	var properties []property
	for _, at := range random.Perm(len(pool))[:1+random.IntN(4)] {
		properties = append(properties, property{pool[at].name, few(pool[at].schemas)})
	}
	nodes := few(definitions)
	var tools []string
	names := random.Perm(len(toolNamesOfPool))
	for i := range 1 + random.IntN(8) {
		var declared, required []string
		for _, at := range random.Perm(len(properties)) {
			p := &properties[at]
			if random.IntN(4) == 0 {
				continue
			}
			declared = append(declared, fmt.Sprintf("%q: %s", p.name, p.schemas[random.IntN(len(p.schemas))]))
			if random.IntN(3) == 0 {
				required = append(required, strconv.Quote(p.name))
			}
		}
		more := ""
		switch random.IntN(8) {
		case 0:
			more = `, "additionalProperties": {"type": "integer"}`
		case 1:
			more = `, "additionalProperties": true`
		case 2:
			more = `, "patternProperties": {"^p_": {"type": "integer"}}`
		}
		parameters := fmt.Sprintf(`{"type": "object", "properties": {%s}, "required": [%s]%s, "$defs": {"node": %s}}`,
			strings.Join(declared, ", "), strings.Join(required, ", "), more, nodes[random.IntN(len(nodes))])
		if random.IntN(12) == 0 {
			parameters = "null"
		}
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": %q, "strict": %v, "parameters": %s}}`, toolNamesOfPool[names[i]], random.IntN(4) > 0, parameters))
	}
	return "[" + strings.Join(tools, ", ") + "]"
}

// readOtherwise are tools whose parameters allow the same values and are not read the same: what looks like a list is one
// where a list might be meant.
const readOtherwise = `[
	{"type": "function", "function": {"name": "get", "strict": true, "parameters": {"type": "object", "properties": {"mode": {"enum": ["[1]", "[2]"]}}, "required": ["mode"]}}},
	{"type": "function", "function": {"name": "get_path", "strict": true, "parameters": {"type": "object", "properties": {"mode": {"type": ["string", "array"], "enum": ["[1]", "[2]", "a"]}}, "required": ["mode"]}}},
	{"type": "function", "function": {"name": "read", "strict": true, "parameters": {"type": "object", "properties": {"mode": {"enum": ["[1]", "[2]", "a"]}}, "required": ["mode"]}}}]`

// What tools have in common changes nothing of what each may be called with: the constraint of many tools accepts a text
// with one call exactly if that of one of them alone does. Texts come out of the constraints, of the renderer, and of
// tools with one's name and another's parameters, whole and changed a little. PARLANCE_SEED sets the seed.
func TestSharedParameters(t *testing.T) {
	seed := uint64(1)
	if text := os.Getenv("PARLANCE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	sets := 4
	if testing.Short() {
		sets = 1
	}
	for _, name := range toolNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := fnv.New64()
			h.Write([]byte(name))
			random := rand.New(rand.NewPCG(seed, h.Sum64()))
			tried := 0
			for i := range sets + 1 {
				data := readOtherwise
				if i > 0 {
					data = alikeTools(random)
				}
				tried += together(t, name, data, random)
				if t.Failed() {
					t.Logf("tools %s", data)
					return
				}
			}
			if !testing.Short() && tried < 20 {
				t.Errorf("only %d texts tried", tried)
			}
		})
	}
}

// recipient is the one of a message.
var recipient = regexp.MustCompile(` to=[A-Za-z0-9_]+<`)

// together holds the constraint of tools against those of each of them and tells how many texts it has tried.
func together(t *testing.T, name, data string, random *rand.Rand) (tried int) {
	p := lookup(t, name, "")
	tools := parsed(t, data)
	declared, err := parlance.ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	// what cannot be written alone is left out
	var alone []*Constraint
	for i := 0; i < len(tools); {
		c, err := build(p, &Request{Tools: tools[i : i+1], ToolChoice: required, OneCall: true})
		var wrong *Error
		if errors.As(err, &wrong) && wrong.Tool != "" {
			tools = append(tools[:i:i], tools[i+1:]...)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, data)
		}
		alone = append(alone, c)
		i++
	}
	if len(tools) == 0 {
		return 0
	}
	made := func(r Request) *Constraint {
		c, err := build(p, &r)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, data)
		}
		return c
	}
	all := made(Request{Tools: tools, ToolChoice: required, OneCall: true})
	several := made(Request{Tools: tools, ToolChoice: required})
	auto := made(Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "auto"}, StrictLevel: LevelFunction})
	hold := func(text string) {
		tried++
		want := false
		for i, c := range alone {
			// Whom a message is addressed to need not be the tool that a call in it names, if it is a tool.
			want = want || c.Accepts(recipient.ReplaceAllStringFunc(text, func(to string) string {
				if slices.ContainsFunc(tools, func(t Tool) bool { return to == " to="+t.Name+"<" }) {
					return " to=" + tools[i].Name + "<"
				}
				return to
			}))
		}
		if want != all.Accepts(text) {
			t.Errorf("%s: of all tools accepts %v, of each alone %v: %q", name, !want, want, text)
		}
		for i, c := range alone {
			one := c.Accepts(text)
			named, err := New(p, Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "function", Name: tools[i].Name}})
			if err != nil {
				t.Fatal(err)
			}
			if named.Accepts(text) != one {
				t.Errorf("%s: named %s: accepts %v, that of the tool alone %v: %q", name, tools[i].Name, !one, one, text)
			}
		}
		if want && !several.Accepts(text) {
			t.Errorf("%s: one call is accepted where there may be no more, and is not where there may: %q", name, text)
		}
	}
	renderer := render.New(p)
	rendered := func(calls ...parlance.Call) (string, bool) {
		m := &parlance.Message{Calls: calls}
		for i := range calls {
			m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.ToolCall, Call: i})
		}
		text, err := renderer.Render(m, render.Options{Request: parlance.Request{Tools: declared}})
		return text, err == nil
	}
	var right, wrong []parlance.Call
	for i, c := range alone {
		s := sample.New(c.Language(), random)
		for range 3 {
			text, _ := s.Text(c.Language(), 20+random.IntN(150))
			hold(text)
			hold(slightlyChanged(text, random))
		}
		// as it is rendered
		root := readJSON(t, string(orEmpty(tools[i].Parameters)))
		v := &values{root: root, random: random}
		for range 3 {
			arguments, ok := v.value(root, 3).(object)
			if !ok {
				break
			}
			if random.IntN(2) == 0 {
				arguments = v.changed(arguments)
			}
			call := parlance.Call{Name: tools[i].Name, Arguments: writeJSON(arguments)}
			text, ok := rendered(call)
			if !ok {
				continue
			}
			hold(text)
			if !c.Accepts(text) {
				wrong = append(wrong, call)
				continue
			}
			right = append(right, call)
			if !auto.Accepts(text) {
				t.Errorf("%s: auto refuses a call that required accepts: %q", name, text)
			}
		}
		// its name, with the parameters of another
		other := tools[random.IntN(len(tools))]
		other.Name = tools[i].Name
		if c, err := build(p, &Request{Tools: []Tool{other}, ToolChoice: required, OneCall: true}); err == nil {
			s := sample.New(c.Language(), random)
			for range 2 {
				text, _ := s.Text(c.Language(), 20+random.IntN(150))
				hold(text)
			}
		}
	}
	// Two calls are right where each of them is.
	for range min(4, len(right)) {
		one := right[random.IntN(len(right))]
		two, accepts := right[random.IntN(len(right))], true
		if len(wrong) > 0 && random.IntN(2) == 0 {
			two, accepts = wrong[random.IntN(len(wrong))], false
		}
		if text, ok := rendered(one, two); ok && (several.Accepts(text) != accepts || all.Accepts(text)) {
			t.Errorf("%s: two calls: accepts %v, where there may be but one %v; of each alone %v: %q", name, several.Accepts(text), all.Accepts(text), accepts, text)
		}
	}
	// The language of all tools holds nothing else.
	s := sample.New(all.Language(), random)
	for range 4 {
		text, _ := s.Text(all.Language(), 20+random.IntN(150))
		hold(text)
	}
	return tried
}

func orEmpty(parameters []byte) []byte {
	if len(parameters) == 0 || string(parameters) == "null" {
		return []byte(`{"type": "object"}`)
	}
	return parameters
}

// slightlyChanged is a text with one character gone, come or changed.
func slightlyChanged(text string, random *rand.Rand) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return "x"
	}
	at := random.IntN(len(runes))
	some := string([]rune("<>{}[]\"':,x1 \n")[random.IntN(14)])
	switch random.IntN(3) {
	case 0:
		return string(runes[:at]) + string(runes[at+1:])
	case 1:
		return string(runes[:at]) + some + string(runes[at:])
	}
	return string(runes[:at]) + some + string(runes[at+1:])
}

// What is shared says the same: of two tools with a property of one name the schemas are written alike, or each keeps its
// own.
func TestSharedSchemas(t *testing.T) {
	shared, own := 0, 0
	for _, property := range pool {
		for _, one := range property.schemas {
			for _, two := range property.schemas {
				for _, node := range definitions[:2] {
					var common toolschema.Shared
					var nodes [2]*toolschema.Node
					for i, schema := range []string{one, two} {
						read, _, err := toolschema.Read([]byte(fmt.Sprintf(`{"type": "object", "properties": {"p": %s}, "$defs": {"node": %s}}`, schema, []string{node, definitions[0]}[i])))
						if err != nil {
							t.Fatal(err)
						}
						before := jsonschema.Write(read)
						common.Share(read)
						if after := jsonschema.Write(read); after != before {
							t.Errorf("%s beside %s is %s, was %s", schema, one, after, before)
						}
						nodes[i] = read.Alternatives[0].Properties[0].Node
					}
					if nodes[0] == nodes[1] {
						shared++
					} else {
						own++
					}
				}
			}
		}
	}
	if shared < 100 || own < 100 {
		t.Errorf("%d pairs shared, %d not", shared, own)
	}
}
