package render_test

import (
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

// TestSpelling: however a client spells the arguments of a call, they are written as the family spells JSON.
func TestSpelling(t *testing.T) {
	for _, test := range []struct{ arguments, spaced, compact string }{
		{``, `{}`, `{}`},
		{` { } `, `{}`, `{}`},
		{`{"b":1,"a":[1,{"d" : 2,"c":null}]}`, `{"b": 1, "a": [1, {"d": 2, "c": null}]}`, `{"a":[1,{"c":null,"d":2}],"b":1}`},
		{"{\n\t\"a\": 1.50e+3\n}", `{"a": 1.50e+3}`, `{"a":1.50e+3}`},
		{`{"\u00fc": "\u00E9\ud83d\ude00\/\u003c, : \u0022\u005c\u000a\u0001"}`, `{"ü": "é😀/<, : \"\\\n\u0001"}`, `{"ü":"é😀/<, : \"\\\n\u0001"}`},
		{`{"a": "\ud83d half", "b": "\\ud83d", "c": "\\\""}`, `{"a": "\ud83d half", "b": "\\ud83d", "c": "\\\""}`, `{"a":"\ud83d half","b":"\\ud83d","c":"\\\""}`},
		{`{"a":1,"a":2}`, `{"a": 1, "a": 2}`, `{"a":1,"a":2}`},
	} {
		for _, format := range []struct{ name, before, after, want string }{
			{"deepseek_v31", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>", test.spaced},
			{"xlam", `[{"name": "f", "arguments": `, "}]", test.spaced},
			{"inkling", `<|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":`, "}<|end_message|>", test.compact},
		} {
			r, err := render.For(format.name, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Render(&parlance.Message{Calls: []parlance.Call{{Name: "f", Arguments: test.arguments}}}, render.Options{})
			if want := format.before + format.want + format.after; err != nil || got != want {
				t.Errorf("%s: %s:\nexpected %s\nfound    %s, %v", format.name, test.arguments, want, got, err)
			}
		}
	}
}
