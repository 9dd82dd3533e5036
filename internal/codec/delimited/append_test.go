package delimited

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct{ arguments, want string }{
		{`{}`, ``},
		{` {"city": "Paris", "days": 3, "metric": true, "x": null} `, `city:QParisQ,days:3,metric:true,x:null`},
		{`{"f": {"lang": "en", "y": [1, 2.50, [], {}, "a"]}}`, `f:{lang:QenQ,y:[1,2.50,[],{},QaQ]}`},
		{`{"a\n\"": "\u00e9\n\t\\\""}`, "a\n\":Qé\n\t\\\"Q"},
		{`{"": 1, "a:b": 2, "a,b": 3, " a": 4, "a ": 5, "{a": 6, "a}": 7, "page[size]": 8, "[a]": 9, "a)": 10}`,
			`QQ:1,Qa:bQ:2,Qa,bQ:3,Q aQ:4,Qa Q:5,Q{aQ:6,Qa}Q:7,page[size]:8,Q[a]Q:9,Qa)Q:10`},
		{`{"a": 1, "a": 1e400}`, `a:1,a:1e400`},
	} {
		got, err := Append([]byte("x"), []byte(test.arguments), quote)
		if want := "x" + written(test.want, quote); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", test.arguments, got, err, want)
		}
	}
}

func TestAppendErrors(t *testing.T) {
	for _, test := range []struct{ arguments, delimiter, want string }{
		{`{"a": {"b": ["x", "y<|\"|>z"]}}`, quote, `at "/a/b/1": the text holds the delimiter <|"|>`},
		{`{"a": {"b<|\"|>": 1}}`, quote, `the text holds the delimiter <|"|>`},
		{`{"a": "x'"}`, `''`, `at "/a": the text holds the delimiter ''`},
		{`[1]`, quote, `expected an object`},
		{`{"a": 1`, quote, `unexpected EOF`},
		{`{"a": 1} x`, quote, `expected nothing behind the object`},
		{``, quote, `EOF`},
		{`{"` + strings.Repeat("k", mostKey+1) + `": 1}`, quote, `a key of 4097 bytes`},
	} {
		got, err := Append([]byte("x"), []byte(test.arguments), test.delimiter)
		if err == nil || !strings.Contains(err.Error(), test.want) || string(got) != "x" {
			t.Errorf("%.60s: %q and error %v, want %s", test.arguments, got, err, test.want)
		}
	}
}

// randomValue makes a JSON value that is hard to write: texts of the syntax's own characters.
func randomValue(random *rand.Rand, depth int) any {
	switch kind := random.IntN(8); {
	case kind == 0 && depth < 4:
		return randomObject(random, depth+1)
	case kind == 1 && depth < 4:
		list := []any{}
		for range random.IntN(4) {
			list = append(list, randomValue(random, depth+1))
		}
		return list
	case kind == 2:
		return jsontext.Value(fmt.Sprintf("%d.%d0e%d", random.IntN(100), random.IntN(1000), random.IntN(9)))
	case kind == 3:
		return random.IntN(2) == 0
	case kind == 4:
		return nil
	}
	return randomString(random)
}

func randomObject(random *rand.Rand, depth int) map[string]any {
	object := map[string]any{}
	for range random.IntN(4) {
		object[randomString(random)] = randomValue(random, depth)
	}
	return object
}

func randomString(random *rand.Rand) string {
	var text strings.Builder
	for range random.IntN(6) {
		text.WriteString(pieces[random.IntN(len(pieces))])
	}
	return strings.ReplaceAll(strings.ReplaceAll(text.String(), "Q", "<|"), quote, "")
}

// TestRoundTrip writes random objects and reads them back, where no schema speaks.
func TestRoundTrip(t *testing.T) {
	var c Codec
	random := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		arguments, err := json.Marshal(randomObject(random, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, closer := range []byte{'}', ')'} {
			text, err := Append(nil, arguments, quote)
			if err != nil {
				if strings.Contains(err.Error(), "the text holds the delimiter") {
					continue
				}
				t.Fatal(err)
			}
			out, _ := (reading{quote, closer, nil, false}).read(t, &c, string(text)+string(closer))
			out = c.Close(out)
			if !sameJSON(t, arguments, out) {
				t.Fatalf("%s\nwritten %s\nread    %s", arguments, text, out)
			}
		}
	}
}

// sameJSON compares two texts with every number as it is written.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, text := range [][]byte{a, b} {
		err := json.Unmarshal(text, &values[i], json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
			if d.PeekKind() != '0' {
				return errors.ErrUnsupported
			}
			number, err := d.ReadValue()
			*v = "number " + string(number)
			return err
		})))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

func FuzzAppend(f *testing.F) {
	f.Add(`{"a": {"b": ["x", 1.50, null, true, {}]}, "": "<|"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		text, err := Append(nil, []byte(arguments), quote)
		if err != nil || !jsontext.Value(arguments).IsValid() { // a repeated name is written, but not compared here
			return
		}
		var c Codec
		out, taken := (reading{quote, '}', nil, false}).read(t, &c, string(text)+"}")
		if out = c.Close(out); taken != len(text)+1 || !sameJSON(t, []byte(arguments), out) {
			t.Fatalf("%q\nwritten %q\nread    %q", arguments, text, out)
		}
	})
}
