package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKinds(t *testing.T) {
	for _, test := range []struct {
		schema string
		want   Kinds
	}{
		{`{}`, 0},
		{`{"type": "string"}`, String},
		{`{"type": " STRING "}`, String},
		{`{"type": ["integer", "null"]}`, Integer | Null},
		{`{"type": "any"}`, 0},
		{`{"type": null}`, 0},
		{`{"type": "uint64"}`, Integer},
		{`{"type": "double"}`, Number},
		{`{"type": "varchar"}`, String},
		{`{"type": "OBJECT"}`, Object},
		{`{"type": "sequence"}`, Array},
		{`{"enum": ["a", 1, 1.0, 1e3, null, true, [], {}]}`, String | Integer | Number | Null | Boolean | Array | Object},
		{`{"type": "integer", "enum": ["a"]}`, Integer | String},
		{`{"const": "a"}`, String},
		{`{"const": null}`, Null},
		{`{"const": 5}`, Integer},
		{`{"type": "integer", "nullable": true}`, Integer | Null},
		{`{"type": "integer", "nullable": false}`, Integer},
		{`{"properties": {"a": {}}}`, Object},
		{`{"properties": {"a": {}}, "nullable": true}`, Object | Null},
		{`{"patternProperties": {"a": {}}}`, Object},
		{`{"items": {"type": "string"}}`, Array},
		{`{"prefixItems": [{"type": "string"}]}`, Array},
		{`{"type": "string", "properties": {"a": {}}}`, String},
		{`{"anyOf": [{"type": "integer"}, {"oneOf": [{"type": "null"}, {"allOf": [{"type": "boolean"}]}]}]}`, Integer | Null | Boolean},
		{`{"anyOf": [true, false, {"type": "integer"}]}`, Integer},
		{`{"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}`, Integer},
		{`{"$ref": "#/definitions/x~1y~0z%20w", "definitions": {"x/y~z w": {"type": "integer"}}}`, Integer},
		{`{"$ref": "#/odd/place/1", "odd": {"place": [0, {"type": "integer"}]}}`, Integer},
		{`{"$ref": "#/$defs/missing"}`, 0},
		{`{"$ref": "#/odd/7", "odd": [0]}`, 0},
		{`{"$ref": "#/type/x", "type": "integer"}`, Integer},
		{`{"$ref": "#name"}`, 0},
		{`{"$ref": "https://example.com/x"}`, 0},
		{`{"$ref": "#%zz"}`, 0},
		{`{"$ref": "#"}`, 0},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}}`, Null},
		{`{"type": "integer", "type": "string"}`, String},
	} {
		if got := mustParse(t, test.schema).Kinds(); got != test.want {
			t.Errorf("%s: kinds %07b, want %07b", test.schema, got, test.want)
		}
	}
}

func TestSilent(t *testing.T) {
	for _, text := range []string{"", " \n", "null", " null "} {
		if s := mustParse(t, text); s != nil {
			t.Errorf("%q: not nil", text)
		}
	}
	var s *Schema
	if s.Kinds() != 0 || s.Property("a") != nil || s.Declares("a") || s.Items() != nil || s.Item(3) != nil {
		t.Error("the nil schema says something")
	}
}

func TestProperty(t *testing.T) {
	for _, test := range []struct {
		schema, name string
		want         Kinds
		declared     bool
	}{
		{`{"type": "object", "properties": {"a": {"type": "integer"}}}`, "a", Integer, true},
		{`{"type": "object", "properties": {"a": {"type": "integer"}}}`, "b", 0, false},
		{`{"properties": {"a": true}}`, "a", 0, true},
		{`{"properties": {"a": "string"}}`, "a", 0, true},
		{`{"properties": []}`, "a", 0, false},
		{`{"patternProperties": {"(?!x)": {"type": "null"}, "^x_": {"type": "integer"}}}`, "x_1", Integer, false},
		{`{"patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}`, "y", Boolean, false},
		{`{"patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}`, "x_", Integer, false},
		{`{"properties": {"x": {"type": "string"}}, "patternProperties": {"x": {"type": "integer"}}}`, "x", String, true},
		{`{"additionalProperties": false}`, "y", 0, false},
		{`{"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "boolean"}}}]}`, "b", Boolean, true},
		{`{"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": "boolean"}}}]}`, "a", Integer | Boolean, true},
		{`{"allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"a": {"$ref": "#/$defs/y"}}}, "y": {"enum": [1]}}}`, "a", Integer, true},
		{`{"$ref": "#/$defs/x", "properties": {"b": {}}, "$defs": {"x": {"properties": {"a": {"type": "null"}}}}}`, "a", Null, true},
		{`{"allOf": [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}], "properties": {"a": {"type": "null"}}}`, "a", Null, true},
		{`{"anyOf": [` + strings.Repeat(`{"$ref": "#"}, {"$ref": "#/anyOf/1"}, `, 200) + `{"properties": {"a": {"type": "null"}}}]}`, "a", Null, true},
	} {
		s := mustParse(t, test.schema)
		if got := s.Property(test.name).Kinds(); got != test.want {
			t.Errorf("%.200s, %s: kinds %07b, want %07b", test.schema, test.name, got, test.want)
		}
		if got := s.Declares(test.name); got != test.declared {
			t.Errorf("%.200s, %s: declared %v", test.schema, test.name, got)
		}
	}
}

func TestItem(t *testing.T) {
	s := mustParse(t, `{"items": {"type": "integer"}, "prefixItems": [{"type": "string"}, true]}`)
	if s.Item(0).Kinds() != String || s.Item(1) != nil || s.Item(2).Kinds() != Integer || s.Items().Kinds() != Integer {
		t.Error("prefixItems")
	}
	s = mustParse(t, `{"items": [{"type": "string"}], "additionalItems": {"type": "null"}}`)
	if s.Item(0).Kinds() != String || s.Item(1).Kinds() != Null || s.Items().Kinds() != Null {
		t.Error("items as an array")
	}
	s = mustParse(t, `{"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "null"}}, {"type": "null"}]}`)
	if s.Item(0).Kinds() != String|Null || s.Kinds() != Array|Null {
		t.Error("items through anyOf")
	}
}

// TestMerged goes on below a place that several nodes describe.
func TestMerged(t *testing.T) {
	s := mustParse(t, `{"oneOf": [
		{"properties": {"at": {"properties": {"x": {"type": "integer"}}}}},
		{"properties": {"at": {"properties": {"y": {"type": "boolean"}, "x": {"type": "null"}}}}},
		{"properties": {"at": {"type": "string"}}}]}`)
	at := s.Property("at")
	if at.Kinds() != Object|String || at.Property("x").Kinds() != Integer|Null || at.Property("y").Kinds() != Boolean || at.Property("z") != nil {
		t.Error("a member that three schemas describe")
	}
}

// TestWide looks for a member among many variants, written in place or by reference.
func TestWide(t *testing.T) {
	const size = 250
	var variants, references strings.Builder
	for i := range size {
		fmt.Fprintf(&variants, `, "%d": {"properties": {"kind": {"const": "k%d"}, "m%d": {"type": "integer"}}}`, i, i, i)
		fmt.Fprintf(&references, `, {"$ref": "#/$defs/%d"}`, i)
	}
	s := mustParse(t, `{"$defs": {"x": {}`+variants.String()+`}, "properties": {"v": {"oneOf": [{"type": "null"}`+references.String()+`]}}}`).Property("v")
	for i := range size {
		if s.Property(fmt.Sprint("m", i)).Kinds() != Integer {
			t.Fatalf("variant %d is lost", i)
		}
	}
	if s.Property("kind").Kinds() != String || s.Kinds() != Object|Null {
		t.Error("the variants' common member")
	}
}

func TestRecursive(t *testing.T) {
	s := mustParse(t, `{"properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {
		"value": {"type": "integer"}, "left": {"$ref": "#/$defs/node"}, "sons": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}}`)
	at := s.Property("tree")
	for range 10_000 {
		at = at.Property("left").Property("sons").Item(0)
	}
	if at.Property("value").Kinds() != Integer {
		t.Error("the schema of a deep node is lost")
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{`{`, "unexpected EOF"},
		{`{} {}`, "expected the end"},
		{`[]`, `at "": expected an object, found an array`},
		{`"x"`, `at "": expected an object, found the string "x"`},
		{`{"properties": 5}`, `at "/properties": expected an object, found the number 5`},
		{`{"properties": ["a"]}`, `at "/properties": expected an object, found an array`},
		{`{"properties": {"a/b": {"type": {}}}}`, `at "/properties/a~1b/type": expected the name of a type or an array of them, found an object`},
		{`{"anyOf": [{}, {"type": ["string", true]}]}`, `at "/anyOf/1/type/1": expected the name of a type, found a boolean`},
		{`{"items": {"enum": "x"}}`, `at "/items/enum": expected an array of values, found the string "x"`},
		{`{"allOf": {}}`, `at "/allOf": expected an array, found an object`},
		{`{"prefixItems": {}}`, `at "/prefixItems": expected an array, found an object`},
		{`{"patternProperties": true}`, `at "/patternProperties": expected an object, found a boolean`},
		{`{"$ref": 1}`, `at "/$ref": expected a reference as a string, found the number 1`},
		{strings.Repeat(`{"items":`, 20_000), "depth"},
	} {
		s, err := Parse([]byte(test.schema))
		if s != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60s: error %v, want %q", test.schema, err, test.want)
		}
	}
}

// TestParseSize parses schemas that are hard on a careless reader: the time must stay in proportion to their size.
func TestParseSize(t *testing.T) {
	const size = 20_000
	var chain, line, wide, knot strings.Builder
	for i := range size {
		fmt.Fprintf(&chain, `"%d": {"anyOf": [{"$ref": "#/$defs/%d"}, {"properties": {"k%d": {"type": "integer"}}}]}, `, i, i+1, i)
		fmt.Fprintf(&wide, `{"properties": {"k%d": {"const": "a"}}}, `, i)
	}
	for i := range size {
		fmt.Fprintf(&line, `"%d": {"$ref": "#/$defs/%d"}, `, i, i+1)
	}
	for i := range 200 {
		fmt.Fprintf(&knot, `"%d": {"anyOf": [%s{}]}, `, i, strings.Repeat(`{"$ref": "#/$defs/7"}, {"$ref": "#"}, `, 50))
	}
	for name, text := range map[string]string{
		"a chain of references":   `{"$ref": "#/$defs/0", "$defs": {` + chain.String() + `"` + fmt.Sprint(size) + `": {"type": "null"}}}`,
		"a line of references":    `{"$ref": "#/$defs/0", "$defs": {` + line.String() + `"` + fmt.Sprint(size) + `": {"type": "null", "properties": {}}}}`,
		"a wide choice":           `{"anyOf": [` + wide.String() + `{}]}`,
		"a knot of references":    `{"$ref": "#/$defs/0", "$defs": {` + knot.String() + `"x": {"type": "string"}}}`,
		"a tower of nested items": strings.Repeat(`{"items":`, 9_000) + `{}` + strings.Repeat(`}`, 9_000),
	} {
		start := time.Now()
		s := mustParse(t, text)
		if name == "a chain of references" && s.Kinds() != Object|Null {
			t.Errorf("%s: kinds %07b", name, s.Kinds())
		}
		if name == "a line of references" && s.Kinds() != Null {
			t.Errorf("%s: kinds %07b", name, s.Kinds())
		}
		for i := range 1000 {
			s.Property(fmt.Sprint("k", i)).Kinds()
		}
		if taken := time.Since(start); taken > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", name, taken, len(text))
		}
	}
}

func TestShared(t *testing.T) {
	s := mustParse(t, `{"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"patternProperties": {"a": {"type": "null"}}}]}`)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 1000 {
				if s.Property("a").Kinds() != Integer|Null {
					t.Error("a shared schema answered wrong")
				}
			}
		})
	}
	group.Wait()
}

func TestAllocations(t *testing.T) {
	s := mustParse(t, `{"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "patternProperties": {"^x": {}}}`)
	choice := mustParse(t, `{"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "boolean"}}}]}`)
	name := []byte("a")
	dst := make([]byte, 0, 1024)
	read := func(text string, s *Schema) func() {
		written := []byte(text)
		return func() { AppendValue(dst, written, s, SilentString) }
	}
	for what, step := range map[string]func(){
		"a property":           func() { s.Property(string(name)) },
		"a property of anyOf":  func() { choice.Property(string(name)) },
		"an integer":           read(" +1_000 ", s.Property("a")),
		"a string":             read("a \"b\"\n", s.Property("b")),
		"JSON":                 read(`{"a": [1, "b\n"]}`, s),
		"what fits no integer": read("many", s.Property("a")),
	} {
		if count := testing.AllocsPerRun(1000, step); count != 0 {
			t.Errorf("%s: %v allocations", what, count)
		}
	}
}
