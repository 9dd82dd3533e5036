package conformance

import (
	"encoding/json/jsontext"
	"iter"
	"strings"
	"testing"
)

// fixed is an implementation that makes the same of every text: one answer whole, another streamed.
type fixed struct{ whole, stream Result }

func (fixed) Cuts() bool { return true }

func (f fixed) Run(trials iter.Seq[*Trial], done func(*Trial)) {
	for t := range trials {
		for _, k := range t.Chunkings {
			r := f.whole
			if k.Stream {
				r = f.stream
			}
			t.Answer(k, &r, nil)
		}
		done(t)
	}
}

func run(t *testing.T, implementation Implementation, c *Case) (out *Outcome) {
	t.Helper()
	Run(implementation, []*Case{c}, 3, func(o *Outcome) { out = o })
	if out == nil {
		t.Fatal("no outcome was reported")
	}
	return out
}

func wantOf(t *testing.T, data string) *Want {
	t.Helper()
	w := new(Want)
	if err := Decode([]byte(data), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWrongResultsFail holds the runner to each field: a right result passes, and every wrong one fails there.
func TestWrongResultsFail(t *testing.T) {
	object := `{"reasoning": "r", "content": "c", "tool_calls": [{"name": "f", "arguments": {"a": 1.50, "b": [true, null, "x"]}}]}`
	text := `{"reasoning": null, "content": null, "tool_calls": [{"name": "f", "arguments": "{\"a\": 1"}]}`
	none := `{"reasoning": "", "content": "c", "tool_calls": []}`
	call := func(name, arguments string) []ResultCall { return []ResultCall{{Name: name, Arguments: arguments}} }
	for _, test := range []struct {
		name, want string
		got        Result
		differs    string // the fields, "" if the result is right
	}{
		{"right", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"b":[true,null,"\u0078"],"a":15e-1}`)}, ""},
		{"blanks at the ends", object, Result{Reasoning: "\u2003 r\n", Content: "\u00a0c\u0085", ToolCalls: call("f", `{"a":1.5,"b":[true,null,"x"]}`)}, ""},
		{"last of repeated keys", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":7,"b":[true,null,"x"],"a":1.5}`)}, ""},
		{"right text", text, Result{ToolCalls: call("f", `{"a": 1`)}, ""},
		{"right without calls", none, Result{Content: "c"}, ""},

		{"reasoning", object, Result{Reasoning: "q", Content: "c", ToolCalls: call("f", `{"a":1.5,"b":[true,null,"x"]}`)}, "reasoning"},
		{"content", object, Result{Reasoning: "r", Content: "c c", ToolCalls: call("f", `{"a":1.5,"b":[true,null,"x"]}`)}, "content"},
		{"name", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("F", `{"a":1.5,"b":[true,null,"x"]}`)}, "call 1, name"},
		{"number", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.51,"b":[true,null,"x"]}`)}, "call 1, arguments"},
		{"number as string", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":"1.5","b":[true,null,"x"]}`)}, "call 1, arguments"},
		{"order of an array", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.5,"b":[null,true,"x"]}`)}, "call 1, arguments"},
		{"missing member", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.5}`)}, "call 1, arguments"},
		{"first of repeated keys", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.5,"b":[true,null,"x"],"a":7}`)}, "call 1, arguments"},
		{"no JSON", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.5,`)}, "call 1, arguments"},
		{"more than JSON", object, Result{Reasoning: "r", Content: "c", ToolCalls: call("f", `{"a":1.5,"b":[true,null,"x"]}}`)}, "call 1, arguments"},
		{"no call", object, Result{Reasoning: "r", Content: "c"}, "calls"},
		{"call too many", none, Result{Content: "c", ToolCalls: call("f", `{}`)}, "calls"},
		{"blank in the text", text, Result{ToolCalls: call("f", `{"a":1`)}, "call 1, arguments as text"},
		{"blank after the text", text, Result{ToolCalls: call("f", `{"a": 1 `)}, "call 1, arguments as text"},
		{"everything", object, Result{}, "reasoning content calls"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := wantOf(t, test.want)
			var fields []string
			for _, item := range want.Compare(&test.got) {
				fields = append(fields, item.Field)
			}
			if got := strings.Join(fields, " "); got != test.differs {
				t.Errorf("expected a difference in %q, found %q", test.differs, got)
			}
			o := run(t, fixed{test.got, test.got}, &Case{ID: test.name, Want: want})
			if o.Passed() != (test.differs == "") {
				t.Errorf("the outcome is wrong:\n%v", o)
			}
		})
	}
}

func TestStreamIsComparedWithItsOwnWant(t *testing.T) {
	whole, stream := Result{Content: "whole"}, Result{Content: "stream"}
	c := &Case{ID: "x", Input: Input{Text: new("<a>")}, Want: wantOf(t, `{"content": "whole"}`), WantStream: wantOf(t, `{"content": "stream"}`)}
	if o := run(t, fixed{whole, stream}, c); !o.Passed() {
		t.Error(o)
	}
	o := run(t, fixed{whole, whole}, c)
	if len(o.Failed) != o.Tried-1 || o.Failed[0].Chunking.String() != "streamed, all at once" {
		t.Error(o)
	}
	if o := run(t, fixed{stream, stream}, c); len(o.Failed) != 1 || o.Failed[0].Chunking.Stream {
		t.Error(o)
	}
}

func TestOneWrongChunkingFailsTheCase(t *testing.T) {
	c := &Case{ID: "x", Input: Input{Text: new("ab <tool> cd")}, Want: wantOf(t, `{"content": "ab <tool> cd"}`)}
	for i := range Chunkings(c, 3, true) {
		t.Run(Chunkings(c, 3, true)[i].String(), func(t *testing.T) {
			o := run(t, wrongOnce(i), c)
			if o.Passed() || len(o.Failed) != 1 || o.Failed[0].Chunking.String() != Chunkings(c, 3, true)[i].String() {
				t.Error(o)
			}
		})
	}
}

// wrongOnce gives the text back as content, but for one chunking.
type wrongOnce int

func (wrongOnce) Cuts() bool { return true }

func (w wrongOnce) Run(trials iter.Seq[*Trial], done func(*Trial)) {
	for t := range trials {
		for i, k := range t.Chunkings {
			r := Result{Content: t.Case.Written()}
			if i == int(w) {
				r.Content = "wrong"
			}
			t.Answer(k, &r, nil)
		}
		done(t)
	}
}

func TestCanonical(t *testing.T) {
	same := [][]string{
		{"1.50", "1.5", "15e-1", "0.15E+1", "150e-2"},
		{"0", "-0", "0.000", "0e99", "-0.0e-7"},
		{"100", "1e2", "1E+2", "1000e-1"},
		{"1e400", "10e399", "0.1e401"},
		{"12345678901234567890", "1.2345678901234567890e19"},
		{"1e99999999999999999999999", "10e99999999999999999999998"},
		{"-3", "-3.0"},
		{`"aé"`, `"\u0061\u00e9"`},
		{`{"a":1,"b":2}`, `{ "b" : 2.0, "a" : 1 }`, `{"a":{},"b":2,"a":1}`},
		{`[]`, `[ ]`}, {`{}`, `{ }`}, {`null`}, {`true`}, {`false`}, {`[1,2]`}, {`[2,1]`}, {`""`}, {`"null"`}, {`"1"`},
		{"12345678901234567168"}, {"1e401"}, {"-1e400"}, {"1"},
	}
	seen := map[string]string{}
	for _, group := range same {
		var first string
		for i, text := range group {
			got, err := canonical([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if i == 0 {
				first = got
				if other, taken := seen[got]; taken {
					t.Errorf("%s and %s are not equal, but both became %s", other, text, got)
				}
				seen[got] = text
			} else if got != first {
				t.Errorf("%s and %s are equal, but became %s and %s", group[0], text, first, got)
			}
		}
	}
	for _, text := range []string{"", " ", "{", `{"a":`, `{"a":1`, "[1,", `"a`, "1 2", "{}}", "nul", "01", "'a'", `{"a" 1}`} {
		if got, err := canonical([]byte(text)); err == nil {
			t.Errorf("%q is no JSON, but became %s", text, got)
		}
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if got, err := canonical([]byte(deep)); err != nil || got != deep {
		t.Error("a deep array came back changed:", err)
	}
}

func TestDifferenceIsReadable(t *testing.T) {
	w := wantOf(t, `{"content": "`+strings.Repeat("word ", 100)+`end", "tool_calls": [{"name": "f", "arguments": {"a": 1.0}}]}`)
	got := Result{Content: strings.Repeat("word ", 100) + "And", ToolCalls: []ResultCall{{Name: "f", Arguments: `{"a": 2}`}}}
	d := w.Compare(&got)
	if len(d) != 2 || !strings.HasSuffix(d[0].Expected, `word end"`) || !strings.HasPrefix(d[0].Expected, `…"`) || len(d[0].Found) > 200 {
		t.Errorf("%q", d)
	}
	if d[1].Expected != `{"a":1.0}` || d[1].Found != `{"a": 2}` {
		t.Errorf("%q", d)
	}
}

func TestWantRefusesOtherArguments(t *testing.T) {
	for _, arguments := range []string{"3", "null", "[]", "true"} {
		err := Decode([]byte(`{"tool_calls": [{"name": "f", "arguments": `+arguments+`}]}`), new(Want))
		if err == nil || !strings.HasPrefix(err.Error(), "tool_calls[0].arguments: expected an object or a string, found ") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	data, err := Encode(WantArguments{Object: jsontext.Value(`{"a":1.50}`)})
	if err != nil || string(data) != `{"a":1.50}` {
		t.Errorf("%s %v", data, err)
	}
}
