package python

import (
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/internal/codec"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{`{}`, ``},
		{``, ``},
		{" \n", ``},
		{` { } `, ``},
		{`{"city":"Paris","days":3,"metric":true,"x":null,"y":false}`, `city="Paris", days=3, metric=True, x=None, y=False`},
		{`{"a":[1,[],{},{"k":"v","l":[true,null]},"x"],"b":{}}`, `a=[1, [], {}, {"k": "v", "l": [True, None]}, "x"], b={}`},
		{`{"n":1e3,"m":-0.50,"o":123456789012345678901234567890,"p":1E+2,"q":-0}`, `n=1e3, m=-0.50, o=123456789012345678901234567890, p=1E+2, q=-0`},
		{`{"s":"a\"b\\c\/d\n\u0000\u00e9\ud83d\ude00'"}`, `s="a\"b\\c/d\n\u0000é😀'"`},
		{`{"a":1,"a":2,"from":"","größe":1}`, `a=1, a=2, from="", größe=1`},
	} {
		got, err := Append([]byte("f("), []byte(test.object))
		if err != nil || string(got) != "f("+test.want {
			t.Errorf("%s\n got  %s, %v\n want f(%s", test.object, got, err, test.want)
		}
	}
	for object, want := range map[string]string{
		`[1]`: "found [", `"x"`: "found string", `1`: "found number", `{"a":1`: "ends or breaks", `{"a":1} 2`: "follows", `{"a":}`: "breaks", `{'a':1}`: "breaks", `}`: "breaks",
		`{"a b":1}`: `"a b"`, `{"":1}`: `""`, `{"1a":1}`: `"1a"`, `{"a":{"b c":1},"d-e":2}`: `"d-e"`,
	} {
		got, err := Append([]byte("f("), []byte(object))
		if err == nil || !strings.Contains(err.Error(), want) || string(got) != "f(" {
			t.Errorf("%s: %s, %v, want an error with %s", object, got, err, want)
		}
	}
}

// TestRoundTrip holds that a Codec reads back what Append wrote (design, contract 7).
func TestRoundTrip(t *testing.T) {
	for _, object := range []string{
		`{}`,
		`{"a": 1, "b": [1, -0.50, 1E+3, [], {}], "c": {"k": null, "": true, "a b": {"x": []}}}`,
		`{"a": "it's \"quoted\", 'so' ) ] } : \\ \\n \n \u0000 \u001f \u007f é 😀", "b": "", "c": "\"", "d": "\\", "e": "\"\"\"", "f": "x\" \"y"}`,
	} {
		text, err := Append(nil, []byte(object))
		if err != nil {
			t.Fatal(err)
		}
		var c Codec
		out, _, st := feed(t, &c, append(text, ')'))
		object = strings.ReplaceAll(object, `\u007f`, "\x7f")
		if got := string(c.Close(out)); got != object || st != codec.Done || c.fault {
			t.Errorf("%s\n written %s\n read    %s", object, text, got)
		}
	}
	for _, test := range texts {
		var c Codec
		out, _, _ := feed(t, &c, []byte(test.text))
		object := string(c.Close(out))
		text, err := Append(nil, []byte(object))
		if err != nil {
			t.Fatal(err)
		}
		out, _, _ = feed(t, &c, append(text, ')'))
		if got := string(c.Close(out)); got != object {
			t.Errorf("%s\n written %s\n read    %s", object, text, got)
		}
	}
}
