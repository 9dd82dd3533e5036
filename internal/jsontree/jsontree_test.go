package jsontree

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"
)

func read(t testing.TB, text string) *Value {
	t.Helper()
	v, err := Read([]byte(text))
	if err != nil {
		t.Fatalf("%.100s: %v", text, err)
	}
	return v
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : [1.50, -2e+07, "x\n\u00e9\/"] , "a" : {"":null} } `: `{"b": [1.50, -2e+07, "x\né/"], "a": {"": null}}`,
		`[true,false,null,[],{}]`:                                     `[true, false, null, [], {}]`,
		`{"a": 1, "b": 2, "a": 3}`:                                    `{"a": 3, "b": 2}`,
		"\"a\xffb\"":                                                  `"a�b"`,
		`"\ud800"`:                                                    `"�"`,
		`"\ud83c\udf27🌧"`:                                             `"🌧🌧"`,
	} {
		if got := string(read(t, text).Append(nil)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	v := read(t, `{"a": [1, {}], "b": {"c": 2.0}}`)
	if v.Count() != 6 {
		t.Fatal(v.Count())
	}
	for pointer, number := range map[string]int32{"": 0, "/a": 1, "/a/0": 2, "/a/1": 3, "/b": 4, "/b/c": 5} {
		if found := v.Find("#" + pointer); found == nil || found.Number != number || found.Pointer() != pointer {
			t.Errorf("%q: %+v", pointer, found)
		}
	}
	if !v.Find("#/a/0").Whole() || v.Find("#/b/c").Whole() || read(t, "1e3").Whole() {
		t.Error("whole numbers are not told")
	}
}

// Objects with many members are looked up like those with few.
func TestManyMembers(t *testing.T) {
	for _, n := range []int{1, mostSearched, mostSearched + 1, 1000} {
		var text strings.Builder
		text.WriteString(`{"m0": null`)
		for i := 1; i < n; i++ {
			fmt.Fprintf(&text, `, "m%d": %d`, i, i)
		}
		text.WriteString(`, "m0": {"x": "first place, last value"}}`)
		v := read(t, text.String())
		if len(v.Members) != n || v.Members[0].Value != v.Member("m0") || v.Member("m0").Kind != '{' || v.Member("m0").Pointer() != "/m0" {
			t.Errorf("%d members: %d", n, len(v.Members))
		}
		for i := 1; i < n; i++ {
			name := fmt.Sprintf("m%d", i)
			if v.Members[i].Name != name || v.Member(name).Text != fmt.Sprint(i) {
				t.Errorf("%d members: %s", n, name)
			}
		}
		if v.Member("m") != nil {
			t.Errorf("%d members: a name that is not there", n)
		}
	}
}

func TestFind(t *testing.T) {
	v := read(t, `{"$defs": {"x/y~z w": {"n": 1}, "named": {"$anchor": "here", "n": 2}, "far": {"$id": "https://example.com/x", "n": 3}}, "list": [0, {"n": 4}], "text": "n", "gone": null}`)
	for reference, want := range map[string]string{
		"#/$defs/x~1y~0z%20w": "1", "#here": "2", "https://example.com/x": "3", "#/list/1": "4",
		"#/list/2": "", "#/list/-1": "", "#/list/x": "", "#/text/n": "", "#/missing/n": "", "#%zz": "", "#nowhere": "", "https://example.com/y": "",
	} {
		found := v.Find(reference)
		if got := found; want == "" != (got == nil) || got != nil && got.Member("n").Text != want {
			t.Errorf("%s: %+v", reference, found)
		}
	}
	if v.Find("#") != v || v.Keyword("gone") != nil || v.Member("gone") == nil {
		t.Error("the root, or null")
	}
	if got := v.Find("#/$defs/x~1y~0z%20w").Pointer(); got != "/$defs/x~1y~0z w" {
		t.Errorf("the pointer is %s", got)
	}
}

func TestErrors(t *testing.T) {
	for _, text := range []string{"", " ", "{", "[", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{1: 2}`, `{"a" 1}`, "[1,", "[1 2]", "[1,]", "tru", "01", "1 2", "{} x", `"a`, "\"a\nb\"", `"\x"`,
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)} {
		if v, err := Read([]byte(text)); err == nil {
			t.Errorf("%.50q is read as %s", text, v.Append(nil))
		}
	}
	if _, err := Read([]byte("{} 1")); err == nil || !strings.Contains(err.Error(), "expected the end after the JSON value") {
		t.Error(err)
	}
	read(t, strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000))
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{`{"a": [1, "b", null], "a": {"c": true}}`, `["\u00e9", -1.5e3]`, `{`, `"\xff"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Read(text)
		valid := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if (err == nil) != valid {
			t.Fatalf("%q: %v, valid %v", text, err, valid)
		}
		if err != nil {
			return
		}
		written := v.Append(nil)
		again, err := Read(written)
		if err != nil || string(again.Append(nil)) != string(written) {
			t.Fatalf("%q: written as %q, which is read otherwise: %v", text, written, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := []byte(`{"type": "object", "properties": {"path": {"type": "string", "description": "where"}, "count": {"type": "integer"}, "mode": {"type": "string", "enum": ["read", "write"]}, "options": {"type": "object", "properties": {"deep": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}}}}, "required": ["path", "mode"]}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(text); err != nil {
			b.Fatal(err)
		}
	}
}
