package python

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/internal/codec"
)

// TestShortLimits holds what happens to short things that are too long (ruling 41).
func TestShortLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	blanks := strings.Repeat(" ", shortLimit)
	digits := strings.Repeat("7", shortLimit-1)
	for _, test := range []struct{ text, want string }{
		{`a="x"` + blanks + `"y")`, `{"a": "xy"}`},
		{`a="x"` + blanks + ` "y")`, `{"a": "x"}`},
		{`a="x""` + blanks + `y", b="x""` + blanks + ` y", c=1)`, `{"a": "x` + blanks + `y", "b": "x\"", "c": 1}`},
		{`a=1` + blanks + `x)`, `{"a": "1` + blanks + `x"}`},
		{`a=1` + blanks + ` x)`, `{"a": 1}`},
		{`a=` + digits + `7)`, `{"a": ` + digits + `7}`},
		{`a=` + digits + `77)`, `{"a": "` + digits + `77"}`},
		{`a=1, ` + strings.Repeat("k", shortLimit+1) + `=2, b=3)`, `{"a": 1, "b": 3}`},
		{`a=f()` + blanks + `, b=f()` + blanks + ` )`, `{"a": "f()", "b": "f()` + blanks + ` "}`},
	} {
		var c Codec
		out, _, _ := feed(t, &c, []byte(test.text))
		if got := string(c.Close(out)); got != test.want {
			t.Errorf("%.30s…: got %.60s…%.30s", test.text, got, got[max(0, len(got)-30):])
		}
	}
	for _, text := range []string{`a="x"` + blanks + ` "y")`, `a=` + digits + `77)`, `a=f()` + blanks + ` )`} {
		check(t, []byte(text), 0, random)
	}
}

func TestLimit(t *testing.T) {
	for _, test := range []struct {
		limit      int
		text, want string
	}{
		{8, `a=("abcdefghijk", 2), b=1)`, `{"a": "(\"abcdefghijk\", 2)", "b": 1}`},
		{8, `a=("abc", "defghijk"), b=1)`, `{"a": ["abc", "defghijk"], "b": 1}`},
		{8, `a={"abcdefghijk": 2}, b=1)`, `{"a": "{\"abcdefghijk\": 2}", "b": 1}`},
		{8, `a={"k": 1, "abcdefghijk": 2, "l": 3}, b=1)`, `{"a": {"k": 1, "l": 3}, "b": 1}`},
		{8, `a={"k": 1, (1, "defghijk"): 2, "l": 3}, b=1)`, `{"a": {"k": 1, "l": 3}, "b": 1}`},
		{8, `a=[1, (([{"abcdefghijk": 2}])), 3], b=1)`, `{"a": [1, "(([{\"abcdefghijk\": 2}]))", 3], "b": 1}`},
		{8, `a=('a\'bcdef),ghijk', 2), b=1)`, `{"a": "('a\\'bcdef),ghijk', 2)", "b": 1}`},
		{8, `a=('''a'b"c),ghijk''', 2), b=1)`, `{"a": "('''a'b\"c),ghijk''', 2)", "b": 1}`},
		{8, `a=(f(abcdefgh, 1), 2), b=1)`, `{"a": "(f(abcdefgh, 1), 2)", "b": 1}`},
		{8, `a=1         , b=1)`, `{"a": "1", "b": 1}`},
		{8, `a=(  1       ), b=1)`, `{"a": "(  1       )", "b": 1}`},
		{5000, `a=(1` + strings.Repeat(" ", 6000) + `), b=1)`, `{"a": "(1` + strings.Repeat(" ", 6000) + `)", "b": 1}`},
	} {
		c := &Codec{Limit: test.limit}
		out, _, st := feed(t, c, []byte(test.text))
		if got := string(c.Close(out)); got != test.want || st != codec.Done {
			t.Errorf("%s\n got  %s\n want %s", test.text, got, test.want)
		}
		if cap(c.raw) > 2*test.limit+16 || cap(c.held) > 2*test.limit+256 {
			t.Errorf("%s: %d and %d bytes held", test.text, cap(c.raw), cap(c.held))
		}
	}
}

func TestDepth(t *testing.T) {
	const deep = 10_000
	repeat := strings.Repeat
	for _, test := range []struct{ name, text, want string }{
		{"lists", repeat("[", deep) + "1" + repeat("]", deep), repeat("[", deep) + "1" + repeat("]", deep)},
		{"groups", repeat("(", deep) + "1" + repeat(")", deep), "1"},
		{"tuples", repeat("(", deep) + "1" + repeat(",)", deep), repeat("[", deep) + "1" + repeat("]", deep)},
		{"sets", repeat("[{", deep) + "1" + repeat(",}]", deep), repeat("[[", deep) + "1" + repeat("]]", deep)},
		{"dicts", repeat(`{"k":`, deep) + "1" + repeat("}", deep), repeat(`{"k": `, deep) + "1" + repeat("}", deep)},
		{"mixed", repeat(`[({"k":`, deep) + "(1)" + repeat("},)]", deep), repeat(`[[{"k": `, deep) + "1" + repeat("}]]", deep)},
		{"forgotten closers", repeat(`[({"k":`, deep) + "(1", repeat(`[[{"k": `, deep) + "1" + repeat("}]]", deep)},
		{"as many as there can be", repeat("[", maximumDepth) + repeat("]", maximumDepth), repeat("[", maximumDepth) + repeat("]", maximumDepth)},
		{"one more", repeat("[", maximumDepth+1) + repeat("]", maximumDepth+1), repeat("[", maximumDepth) + `"[]"` + repeat("]", maximumDepth)},
		{"many more", repeat("(", 800_000) + repeat(")", 800_000), `"` + repeat("(", 800_000) + repeat(")", 800_000) + `"`},
	} {
		want := `{"a": ` + test.want + `, "b": 1}`
		if test.name == "forgotten closers" {
			// A group that no comma decides is a single value.
			want = `{"a": ` + strings.ReplaceAll(strings.ReplaceAll(test.want, "[[", "["), "}]]", "}]") + `}`
			test.text += ")"
		} else {
			test.text += ", b=1)"
		}
		var c Codec
		text := "a=" + test.text
		out, _, _ := feed(t, &c, cut([]byte(text), 7)...)
		if got := string(c.Close(out)); got != want {
			t.Errorf("%s:\n got  %.60s…%.60s\n want %.60s…%.60s", test.name, got, got[max(0, len(got)-60):], want, want[len(want)-60:])
		}
		if c.work > 12*len(text) {
			t.Errorf("%s: %d steps for %d bytes", test.name, c.work, len(text))
		}
	}
}

// TestLinearWork counts what is done for texts made to be hard: ten times the text is about ten times the
// work, and not a hundred times.
func TestLinearWork(t *testing.T) {
	repeat := strings.Repeat
	for name, text := range map[string]func(n int) string{
		"plain":             func(n int) string { return `"` + repeat("x", n) + `"` },
		"quotes":            func(n int) string { return `"` + repeat(`"x`, n/2) },
		"quotes, blanks":    func(n int) string { return `"` + repeat(`"    b x`, n/8) },
		"double quotes":     func(n int) string { return `"` + repeat(`"" `, n/3) },
		"escapes":           func(n int) string { return `"` + repeat(`\ud83d\u1`, n/9) },
		"lists":             func(n int) string { return repeat("[", n) },
		"lists closed":      func(n int) string { return repeat("[", n/2) + repeat("]", n/2) },
		"groups":            func(n int) string { return repeat("(", n/2) + "1" + repeat(")", n/2) },
		"groups, junk":      func(n int) string { return repeat("(", n/4) + "1" + repeat(")+1", n/4) },
		"groups, quoted":    func(n int) string { return repeat("((", n/8) + "1" + repeat(")+1,1)", n/8) },
		"groups, raw":       func(n int) string { return repeat("(", n/2) + "x y" + repeat(")", n/2) },
		"groups, requoted":  func(n int) string { return repeat("((", n/12) + "x y" + repeat("+x, 1))+x", n/12) },
		"group in lists":    func(n int) string { return repeat("([", n/4) + repeat("])", n/4) },
		"keys in keys":      func(n int) string { return repeat("{", n/5) + "1" + repeat(":1}", n/5) },
		"tuples in keys":    func(n int) string { return repeat(`{("\"",):`, n/10) },
		"keys":              func(n int) string { return "{" + repeat(`("a",(1)):1,`, n/12) },
		"keys in a group":   func(n int) string { return "({" + repeat(`("a"):1,`, n/8) },
		"keys, no colon":    func(n int) string { return `{"k":1,` + repeat(`"a",`, n/4) },
		"wrong closers":     func(n int) string { return repeat("[", n/2) + repeat("}", n/2) },
		"wrong closers too": func(n int) string { return repeat("{1:[", n/6) + repeat("}", n/6) },
		"sets":              func(n int) string { return repeat("{", n/2) + repeat("}", n/2) },
		"unreadable":        func(n int) string { return "[" + repeat("f(x) ,", n/6) },
		"numbers":           func(n int) string { return "[" + repeat("0x1F,", n/5) },
		"zeros":             func(n int) string { return "[" + repeat(repeat("0", 4000)+",", n/4000) },
		"blanks":            func(n int) string { return "[1" + repeat(" ", n) + "]" },
		"comments":          func(n int) string { return "[" + repeat("# x\n", n/4) },
	} {
		for _, limit := range []int{0, 1000} {
			count := func(n int) int {
				c := &Codec{Limit: limit}
				out, _, _ := feed(t, c, cut([]byte("a="+text(n)), 64)...)
				c.Close(out)
				return c.work
			}
			small, large := count(20_000), count(200_000)
			if large > 20*small || large > 20*200_000 {
				t.Errorf("%s (limit %d): %d steps for 20 kB, %d for 200 kB", name, limit, small, large)
			}
		}
	}
}
