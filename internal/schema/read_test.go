package schema

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// of makes a node that allows these kinds.
func of(kinds Kinds) *Schema { return &Schema{kinds: kinds} }

func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func TestAppendValue(t *testing.T) {
	const every = Null | Integer | Number | Boolean | Object | Array | String
	for _, test := range []struct {
		kinds      Kinds
		text, want string
	}{
		// null
		{Null | Integer, "null", "null"},
		{Null | String, "NULL", "null"},
		{Null | String, " null ", `" null "`},
		{Null | Integer, " null ", "null"},
		{Null | Integer, "None", "null"},
		{Null | Integer, " None\n", "null"},
		{Null | Integer, "none", `"none"`},
		{Null | String, "None", `"None"`},
		{Integer, "None", `"None"`},
		{Integer, "null", "null"},
		{String, "null", `"null"`},
		// integer
		{Integer, "3", "3"},
		{Integer, " 3\n", "3"},
		{Integer, "+5", "5"},
		{Integer, "007", "7"},
		{Integer, "-007", "-7"},
		{Integer, "000", "0"},
		{Integer, "-0", "-0"},
		{Integer, "1_000", "1000"},
		{Integer, "1__000", `"1__000"`},
		{Integer, "_1", `"_1"`},
		{Integer, "1_", `"1_"`},
		{Integer, "４２", "42"},
		{Integer, "٣", "3"},
		{Integer, "𝟗", "9"},
		{Integer, "12345678901234567890", "12345678901234567890"},
		{Integer, "3.5", "3.5"},
		{Integer, "3.0", "3.0"},
		{Integer, "1e3", "1e3"},
		{Integer, "+3.5", `"+3.5"`},
		{Integer, "0x10", `"0x10"`},
		{Integer, "many", `"many"`},
		{Integer, "", `""`},
		{Integer, "+", `"+"`},
		{Integer, "1 000", `"1 000"`},
		{Integer, `"3"`, `"3"`},
		{Integer | String, "5", "5"},
		{Integer | String, "5.0", `"5.0"`},
		// number
		{Number, "1.50", "1.50"},
		{Number, "1e3", "1e3"},
		{Number, "1E+07", "1E+07"},
		{Number, "1e400", "1e400"},
		{Number, "-0.0", "-0.0"},
		{Number, "123456789.12345678901234567890", "123456789.12345678901234567890"},
		{Number, ".5", "0.5"},
		{Number, "5.", "5.0"},
		{Number, "-.5e-07", "-0.5e-07"},
		{Number, "+01_0.2_5", "10.25"},
		{Number, "1.e5", "1.0e5"},
		{Number, "１．５", `"１．５"`},
		{Number, "１.５", "1.5"},
		{Number, ".", `"."`},
		{Number, ".e5", `".e5"`},
		{Number, "1e", `"1e"`},
		{Number, "1._5", `"1._5"`},
		{Number, "NaN", `"NaN"`},
		{Number, "-Infinity", `"-Infinity"`},
		{Number, "inf", `"inf"`},
		{Number, "007", "7"},
		// boolean
		{Boolean, "true", "true"},
		{Boolean, " True ", "true"},
		{Boolean, "FALSE", "false"},
		{Boolean, "1", "true"},
		{Boolean, "0", "false"},
		{Boolean, "yes", `"yes"`},
		{Boolean, `"true"`, `"true"`},
		{Boolean | Integer, "1", "1"},
		{Boolean | String, "true", "true"},
		{Boolean, "2", "2"},
		// object and array
		{Object, `{"a":1.50}`, `{"a":1.50}`},
		{Object, "\n{\"a\" :\t[1 , 2]}\n", "{\"a\" :\t[1 , 2]}"},
		{Array, `[]`, `[]`},
		{Array, `{}`, `{}`},
		{Array, `1`, `1`},
		{Array, `"x"`, `"x"`},
		{Array, "[\"a\nb\", \"\x00\"]", `["a\nb", "\u0000"]`},
		{Array, `["\ud800", "\u00e9"]`, `["\ud800", "\u00e9"]`},
		{Array, `["\u12"`, `"[\"\\u12\""`},
		{Array, `[NaN]`, `"[NaN]"`},
		{Array, `[1e999]`, `[1e999]`},
		{Array, `[1 2]`, `"[1 2]"`},
		{Array, `[1`, `"[1"`},
		{Array, `None`, `"None"`},
		{Array | String, `[1]`, `[1]`},
		{Array | String, `[see above]`, `"[see above]"`},
		{Object | String, `{"a": 1, "a": 2}`, `{"a": 1, "a": 2}`},
		{Object, `a: b`, `"a: b"`},
		{Array | Null, `None`, `null`},
		// string
		{String, " a\n\"b\"\\ \x01 é", `" a\n\"b\"\\ \u0001 é"`},
		{every, "a", `"a"`},
		{every, "1", "1"},
		{every, "[1, 2]", "[1, 2]"},
	} {
		if got := string(AppendValue([]byte("x"), []byte(test.text), of(test.kinds), SilentString)); got != "x"+test.want {
			t.Errorf("%07b %q: %s, want %s", test.kinds, test.text, got[1:], test.want)
		}
	}
}

func TestAppendValuePython(t *testing.T) {
	for _, test := range []struct {
		kinds      Kinds
		text, want string
	}{
		{Object, `{'a': True, 'b': None}`, `{"a": true, "b": null}`},
		{Array, ` ['a', "b's"] `, `["a", "b's"]`},
		{Array, `(1, 2)`, `[1, 2]`},
		{Array, `[01, 1_000]`, `[1, 1000]`},
		{Array | String, `['a']`, `["a"]`},
		{Array | String, `(1)`, `"(1)"`},
		{Array | String, `'a'`, `"'a'"`},
		{Array, `True`, `"True"`},
		{Integer, `{'a': 1}`, `"{'a': 1}"`},
		{String, `{'a': 1}`, `"{'a': 1}"`},
	} {
		if got := string(AppendValue(nil, []byte(test.text), of(test.kinds), SilentString)); got != test.want {
			t.Errorf("%07b %q: %s, want %s", test.kinds, test.text, got, test.want)
		}
	}
}

func TestSilentValues(t *testing.T) {
	for _, test := range []struct {
		text                           string
		asString, asJSON, delim, naked string
	}{
		{"5", `"5"`, `5`, `"5"`, `5`},
		{"1.50", `"1.50"`, `1.50`, `"1.50"`, `1.50`},
		{"+5", `"+5"`, `"+5"`, `"+5"`, `"+5"`},
		{"true", `"true"`, `true`, `"true"`, `true`},
		{"null", `"null"`, `null`, `"null"`, `null`},
		{"None", `"None"`, `"None"`, `"None"`, `"None"`},
		{` {"a": 1} `, `" {\"a\": 1} "`, `{"a": 1}`, `" {\"a\": 1} "`, `" {\"a\": 1} "`},
		{`"x"`, `"\"x\""`, `"x"`, `"\"x\""`, `"\"x\""`},
		{"word", `"word"`, `"word"`, `"word"`, `"word"`},
		{"", `""`, `""`, `""`, `""`},
	} {
		for what, pair := range map[string][2]string{
			"SilentString": {string(AppendValue(nil, []byte(test.text), nil, SilentString)), test.asString},
			"SilentJSON":   {string(AppendValue(nil, []byte(test.text), nil, SilentJSON)), test.asJSON},
			"delimited":    {string(AppendTyped(nil, []byte(test.text), nil, true)), test.delim},
			"bare":         {string(AppendTyped(nil, []byte(test.text), nil, false)), test.naked},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%q, %s: %s, want %s", test.text, what, pair[0], pair[1])
			}
		}
	}
	for _, delimited := range []bool{true, false} {
		if got := string(AppendTyped(nil, []byte("3"), of(String), delimited)); got != `"3"` {
			t.Errorf("a string, delimited %v: %s", delimited, got)
		}
		if got := string(AppendTyped(nil, []byte("True"), of(Boolean), delimited)); got != `true` {
			t.Errorf("a boolean, delimited %v: %s", delimited, got)
		}
	}
}

// pieces are what random texts are made of: the text between them is what goes wrong.
var pieces = strings.Split("1|0|7|12|.|e|E|+|-|_|5.|.5|1e5|007|4|４|٣|null|None|true|True|false|NaN|inf|{|}|[|]|(|)|,|:|\"|'|\\|\\n|\\u00|a|b c|é|🌧|\n|\t|\x00|\x7f| |  |\"a\"|'a'|\"a\": |[1, 2]|{\"a\": 1}|{'a': 1}|<", "|")

func randomText(random *rand.Rand) string {
	var text strings.Builder
	for range random.IntN(8) {
		text.WriteString(pieces[random.IntN(len(pieces))])
	}
	return text.String()
}

// TestValueIsJSON reads random text by every set of kinds: the result must be one JSON value that means what was
// written.
func TestValueIsJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		text := randomText(random)
		kinds := Kinds(random.IntN(128))
		check(t, text, kinds, AppendValue(nil, []byte(text), of(kinds), Silent(random.IntN(2))))
		check(t, text, kinds, AppendTyped(nil, []byte(text), of(kinds), random.IntN(2) == 0))
	}
}

func check(t *testing.T, text string, kinds Kinds, got []byte) {
	if !isJSON(got) {
		t.Fatalf("%07b %q: %q is no JSON", kinds, text, got)
	}
	trimmed := strings.TrimSpace(text)
	switch got[0] {
	case '"':
		var s string
		if err := json.Unmarshal(got, &s, jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatal(err)
		}
		if s != text && string(got) != trimmed {
			if escaped, ok := appendJSON(nil, []byte(text)); !ok || string(escaped) != string(got) {
				t.Fatalf("%07b %q: %q is another text", kinds, text, got)
			}
		}
	case '{', '[':
	case 'n', 't', 'f':
		word := map[string]string{"none": "null", "1": "true", "0": "false"}[strings.ToLower(trimmed)]
		if string(got) != strings.ToLower(trimmed) && string(got) != word {
			t.Fatalf("%07b %q: %s", kinds, text, got)
		}
	default:
		want, ok := exact(trimmed)
		if number, _ := exact(string(got)); !ok || number.Cmp(want) != 0 {
			t.Fatalf("%07b %q: %s is another number", kinds, text, got)
		}
	}
}

// exact is an independent reading of a number: big.Rat's.
func exact(text string) (*big.Rat, bool) {
	var plain strings.Builder
	for _, r := range strings.ReplaceAll(text, "_", "") {
		if digit, ok := decimal(r); ok {
			plain.WriteByte('0' + digit)
		} else {
			plain.WriteRune(r)
		}
	}
	return new(big.Rat).SetString(plain.String())
}

// TestDeepJSON: deep text is read to the bound, deeper text is a string, and neither takes long.
func TestDeepJSON(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if got := AppendValue(nil, deep(mostNested), of(Array), SilentString); got[0] != '[' || !isJSON(got) {
		t.Error("10,000 levels are not read")
	}
	if got := AppendValue(nil, deep(mostNested+1), of(Array), SilentString); got[0] != '"' {
		t.Error("10,001 levels are read")
	}
	AppendValue(nil, []byte(strings.Repeat("[", 1_000_000)), of(Array), SilentString)
}

func FuzzAppendValue(f *testing.F) {
	for i, piece := range pieces {
		f.Add(uint8(i), piece)
	}
	f.Add(uint8(Array), `["a", {"b": [1.50, "\u00e9"]}]`)
	f.Fuzz(func(t *testing.T, kinds uint8, text string) {
		got := AppendValue(nil, []byte(text), of(Kinds(kinds&127)), Silent(kinds>>7))
		if !isJSON(got) {
			t.Fatalf("%07b %q: %q is no JSON", kinds&127, text, got)
		}
		if utf8.ValidString(text) && len(text) < 1000 && !strings.ContainsAny(text, "eE") {
			check(t, text, Kinds(kinds&127), got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"properties": {"a": {"type": ["integer", "null"]}}}`, `{"anyOf": [{"$ref": "#"}, {"$ref": "#/anyOf/0"}]}`,
		`{"items": [{"const": 1}], "additionalItems": {"enum": [{}]}}`, `{"patternProperties": {"^x": {"$ref": "#/a~1b"}}, "a/b": {"nullable": true}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text))
		if err != nil && s != nil {
			t.Fatal("an error and a schema")
		}
		for range 3 {
			s.Declares("a")
			s.Item(0).Items().Kinds()
			s = s.Property("a")
		}
	})
}

func BenchmarkAppendValue(b *testing.B) {
	for _, bench := range []struct {
		kinds Kinds
		text  string
	}{
		{Integer, "3"}, {Null | Integer, "12345678901234567890"}, {Number, "+1_000.5"}, {Boolean, "True"}, {String, strings.Repeat("line of text\n", 1000)},
		{Object, `{"a": [` + strings.Repeat(`{"key": "value", "n": 12.5}, `, 1000) + `1]}`},
	} {
		name := bench.text
		if len(name) > 20 {
			name = fmt.Sprintf("%c-%dkB", name[0], len(name)/1000)
		}
		b.Run(name, func(b *testing.B) {
			s, text, dst := of(bench.kinds), []byte(bench.text), []byte(nil)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendValue(dst[:0], text, s, SilentString)
			}
		})
	}
}
