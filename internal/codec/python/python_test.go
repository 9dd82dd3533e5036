package python

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/internal/codec"
)

// texts are arguments up to and including the call's closing parenthesis, and the object they become.
var texts = []struct{ text, want string }{
	// The shape.
	{`)`, `{}`},
	{` )`, `{}`},
	{"\n  )", `{}`},
	{`city="Paris", days=3, metric=True)`, `{"city": "Paris", "days": 3, "metric": true}`},
	{"\n  path=\"a.txt\",\n  text=\"b\"\n)", `{"path": "a.txt", "text": "b"}`},
	{`a = 1 , b	=	2 ,)`, `{"a": 1, "b": 2}`},
	{`a=1,,, b=2,,)`, `{"a": 1, "b": 2}`},
	{`a=1, a=2)`, `{"a": 1, "a": 2}`},
	{`from=07, class='inbox', None=1)`, `{"from": 7, "class": "inbox", "None": 1}`},
	{`größe=1, 名=2, _=3, a1=4)`, `{"größe": 1, "名": 2, "_": 3, "a1": 4}`},

	// Junk between arguments.
	{`a=1, "Paris", b=2)`, `{"a": 1, "b": 2}`},
	{`a=1, *x, **{"q": 1, "r": (2)}, b=2)`, `{"a": 1, "b": 2}`},
	{`a= =1, b = =2)`, `{"a": "=1", "b": "=2"}`},
	{`a=1, b==2, c=3)`, `{"a": 1, "c": 3}`},
	{`a=1, b: 2, c=3)`, `{"a": 1, "c": 3}`},
	{`a=1, it's f"x, y", c=3)`, `{"a": 1, "c": 3}`},
	{`a=1, 7, d.e=4, word, word2 , c=3)`, `{"a": 1, "c": 3}`},
	{`a=1], c=3)`, `{"a": 1, "c": 3}`},
	{`a=1, ], c=3)`, `{"a": 1, "c": 3}`},
	{"a=1, # don't, b\n  b=2 # (\n, c=[ # x\n1]# y\n)", `{"a": 1, "b": 2, "c": [1]}`},
	{`a=1, “b”=2, c=3)`, `{"a": 1, "c": 3}`},

	// Numbers.
	{`a=1e3, b=19.990, c=123456789012345678901234567890, d=-2.5)`, `{"a": 1e3, "b": 19.990, "c": 123456789012345678901234567890, "d": -2.5}`},
	{`a=1_000, b=0x1F, c=0o17, d=0b1, e=07, f=.5, g=5., h=00, i=0X_ff)`, `{"a": 1000, "b": 31, "c": 15, "d": 1, "e": 7, "f": 0.5, "g": 5.0, "h": 0, "i": 255}`},
	{`a=+5, b=-.5, c=- 5, d=-+-5, e=1E+3, f=5.e3, g=1_0.0_1e1_0, h=007.50)`, `{"a": 5, "b": -0.5, "c": -5, "d": 5, "e": 1E+3, "f": 5.0e3, "g": 10.01e10, "h": 7.50}`},
	{`a=0xFFFFFFFFFFFFFFFFFFFF, b=-0x10)`, `{"a": 1208925819614629174706175, "b": -16}`},
	{`a=1__0, b=_1, c=1_, d=0x, e=., f=1e, g=3j, h=1.2.3, i=-, j=0xg, k=0x+1, l=1e+, m=5._5, n=0x1__0)`,
		`{"a": "1__0", "b": "_1", "c": "1_", "d": "0x", "e": ".", "f": "1e", "g": "3j", "h": "1.2.3", "i": "-", "j": "0xg", "k": "0x+1", "l": "1e+", "m": "5._5", "n": "0x1__0"}`},

	// Words.
	{`a=True, b=False, c=None, d=true, e=false, f=null)`, `{"a": true, "b": false, "c": null, "d": true, "e": false, "f": null}`},
	{`a=TRUE, b=foo, c=nan, d=-True)`, `{"a": "TRUE", "b": "foo", "c": "nan", "d": "-True"}`},

	// Strings.
	{`a="x", b='y', c="""x"y""", d='''it's''', e="", f='', g="""""", h='''''')`, `{"a": "x", "b": "y", "c": "x\"y", "d": "it's", "e": "", "f": "", "g": "", "h": ""}`},
	{"a=\"x\ny\tz\r\x00\x01\", b='''1\n2''')", `{"a": "x\ny\tz\r\u0000\u0001", "b": "1\n2"}`},
	{`a="\n\t\r\\\'\"\a\b\f\v\0\101\x41\u00e9\U0001F600")`, "{\"a\": \"\\n\\t\\r\\\\'\\\"\\u0007\\b\\f\\u000b\\u0000AAé😀\"}"},
	{`a="\d\/\N{BULLET}\é\x4\u12\U0011FFFF\U80000041\xzz\9")`, `{"a": "\\d\\/\\N{BULLET}\\é\\x4\\u12\\U0011FFFF\\U80000041\\xzz\\9"}`},
	{"a=\"x\\\ny\\\r\nz\\\rw\")", `{"a": "xyzw"}`},
	{`a="\1\12\1234\777\08")`, `{"a": "\u0001\nS4ǿ\u00008"}`},
	{`a="\ud83d\ude00", b="\ud83d", c="\ude00\ud83d", d="\ud83dx\ud83d\n\ud83d\ud83d\ude00\ud83d\x41\ud83d\q\ud83d\u12")`,
		`{"a": "😀", "b": "�", "c": "��", "d": "�x�\n�😀�A�\\q�\\u12"}`},
	{`a=r"\n\"x\\", b=R'\d', c=b"x", d=Rb'\x', e=u'\n', f=f"{a}", g=BR"\\", h=fr'\')`, `{"a": "\\n\\\"x\\\\", "b": "\\d", "c": "x", "d": "\\x", "e": "\n", "f": "{a}", "g": "\\\\", "h": "\\')"}`},
	{`a=ub"x", b=ff"x", c=rr'x')`, `{"a": "ub\"x\"", "b": "ff\"x\"", "c": "rr'x'"}`},
	{`a="日本\"語\"", b='"')`, `{"a": "日本\"語\"", "b": "\""}`},

	// Adjacent literals.
	{`a="x" "y", b='x' "y" '''z''', c="x""y", d="x"'y', e=("x"
 "y"), f="x" r"\d" rb'\e' f'z')`, `{"a": "xy", "b": "xyz", "c": "xy", "d": "xy", "e": "xy", "f": "x\\d\\ez"}`},
	{`a="x" "", b="" "y", c="x""", d="""x""""", e="x""""y""", f="x" """y"z""")`, `{"a": "x", "b": "y", "c": "x", "d": "x", "e": "xy", "f": "xy\"z"}`},
	{`a="\ud83d" "\ude00")`, `{"a": "��"}`},

	// Nested quotes.
	{`path='x', text='sed -n '1,9p' f.py')`, `{"path": "x", "text": "sed -n '1,9p' f.py"}`},
	{`a="say "hi"", b='say 'hi'' , c='''x'''', d='a' x)`, `{"a": "say \"hi\"", "b": "say 'hi'", "c": "x'", "d": "a' x)"}`},
	{`a='press 'b' to', b='a' bc', c='x' rx', d='''a ''' c''')`, `{"a": "press 'b' to", "b": "a' bc", "c": "x' rx", "d": "a ''' c"}`},
	{`a='x' b', c=1')`, `{"a": "x, c=1"}`},
	{`a="x" + "y", b=1)`, `{"a": "x\" + \"y", "b": 1}`},
	{`a="x""  y", b="x""  )`, `{"a": "x  y", "b": "x\""}`},
	{`a='''it''s ''x'' ''')`, `{"a": "it''s ''x'' "}`},
	{`a=r'x'y')`, `{"a": "x'y"}`},

	// Containers.
	{`a=[], b=(), c={}, d=[[]], e=(()), f=[()], g={1}, h=(1,), i=(1), j=((1),), k=[1,], l={1,}, m=(,))`,
		`{"a": [], "b": [], "c": {}, "d": [[]], "e": [], "f": [[]], "g": [1], "h": [1], "i": 1, "j": [1], "k": [1], "l": [1], "m": []}`},
	{`a=[1, "x", None, [2], (3, 4), {5, 6}, {"k": 7}, (8)])`, `{"a": [1, "x", null, [2], [3, 4], [5, 6], {"k": 7}, 8]}`},
	{`a={'lang': "en", "year": 2024, 'n' : {"m" :[1 ,2 ]} })`, `{"a": {"lang": "en", "year": 2024, "n": {"m": [1, 2]}}}`},
	{`a={1: 2, True: 3, None: 4, 1.50: 5, (1, 'x'): 6, ("k"): 7, ((8),): 9, "a" "b": 10, -0x10: 11, (): 12})`,
		`{"a": {"1": 2, "true": 3, "null": 4, "1.50": 5, "[1, \"x\"]": 6, "k": 7, "[8]": 9, "ab": 10, "-16": 11, "[]": 12}}`},
	{`a={(1, ("x",)): 2}, b={((("k"))): 1})`, `{"a": {"[1, [\"x\"]]": 2}, "b": {"k": 1}}`},
	{`a=("x"), b=(("x" "y")), c=((((1, 2)))), d=(("a", "b"), ("c")), e=([1]))`, `{"a": "x", "b": "xy", "c": [1, 2], "d": [["a", "b"], "c"], "e": [1]}`},
	{`a=[1,,2,], b={"k": , "l": 2,, }, c={"k":}, d=, e=)`, `{"a": [1, 2], "b": {"k": null, "l": 2}, "c": {"k": null}, "d": null, "e": null}`},
	{`a={"k": 1, "l"}, b={"k": 1, "l", "m": 2}, c={,}, d={: 1}, e={: 1, "k": 2}, f={"k": 1, : 2, "l": 3}, g={"a": 1, 2: [3]})`,
		`{"a": {"k": 1}, "b": {"k": 1, "m": 2}, "c": {}, "d": {}, "e": {"k": 2}, "f": {"k": 1, "l": 3}, "g": {"a": 1, "2": [3]}}`},
	{`a={**x}, b={**x, "k": 1}, c={"k": 1, **x, "l": 2}, d=[*x, 1])`, `{"a": {}, "b": {"k": 1}, "c": {"k": 1, "l": 2}, "d": ["*x", 1]}`},
	{`a={foo: 1, bar(1): 2, [3]: 4, {5}: 6, x y: 7, ([8],): 9})`,
		`{"a": {"foo": 1, "bar(1)": 2, "[3]": 4, "{5}": 6, "x y": 7, "[\"[8]\"]": 9}}`},
	{`a={[1], {2}}, b={{"k": 1}}, c={[1]: 2, "k": 3})`, `{"a": [[1], [2]], "b": [{"k": 1}], "c": [[1], "k"]}`},

	{`a={:] : 1, "k": 2}, b={"k": 1, :] : 2, "l": 3}, c={**x] : 1, "k": 2})`, `{"a": {"k": 2}, "b": {"k": 1, "l": 3}, "c": {"k": 2}}`},

	// Brackets that do not fit.
	{`a=[1, 2)`, `{"a": [1, 2]}`},
	{`a={"k": [1, (2}, b=3)`, `{"a": {"k": [1, 2]}, "b": 3}`},
	{`a=[(1], b={(1, 2}, c=[{"k": "v"], d=[{"k"])`, `{"a": [1], "b": [[1, 2]], "c": [{"k": "v"}], "d": [["k"]]}`},
	{`a=[1}, 2], b=[}, 3], c=(1], 2), d=}], e=}1)`, `{"a": [1, 2], "b": [3], "c": [1, 2], "d": null, "e": 1}`},
	{`a={"k": ] 1}, b={] "k": 1}, c={]: 1, "k": 2})`, `{"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 2}}`},

	// What cannot be read.
	{`days=foo(1), b=2)`, `{"days": "foo(1)", "b": 2}`},
	{`a=3 + 4 , b=f(x, "a, )", [1, {2: 3}])[0] , c=x if y else z)`, `{"a": "3 + 4", "b": "f(x, \"a, )\", [1, {2: 3}])[0]", "c": "x if y else z"}`},
	{`a=1 b=2, c=3)`, `{"a": "1 b=2", "c": 3}`},
	{`a=[foo(1, 2), 3 + 4, x for x in y], b={"k": lambda x: 1, "l": 12:30})`, `{"a": ["foo(1, 2)", "3 + 4", "x for x in y"], "b": {"k": "lambda x: 1", "l": "12:30"}}`},
	{`a=(1 + 2), b=(1 + 2) * 3, c=(1) + 2, d=((1) + 2, 3), e=((foo)), f=((foo), 1), g=(foo, 1))`,
		`{"a": "(1 + 2)", "b": "(1 + 2) * 3", "c": "(1) + 2", "d": ["(1) + 2", 3], "e": "((foo))", "f": ["(foo)", 1], "g": ["foo", 1]}`},
	{`a=[1, 2][0], b={"k": 1}["k"], c=(1, 2) + (3,), d=([1]) + 2, e=((1, 2)) x, f=[[1] x, 2])`, `{"a": [1, 2], "b": {"k": 1}, "c": [1, 2], "d": [1], "e": [1, 2], "f": [[1], 2]}`},
	{`a=don't know, b=5'10", c=f('it, s') x, d="""", e=""")`, `{"a": "don't know", "b": "5'10\"", "c": "f('it, s') x", "d": "\", e="}`},
	{`a=x('''it's, )''', "\",", '\\', 1), b=1)`, `{"a": "x('''it's, )''', \"\\\",\", '\\\\', 1)", "b": 1}`},
	{`a=x("", ''), b=#ff0000, c=:1, d=!)`, `{"a": "x(\"\", '')", "b": "#ff0000", "c": ":1", "d": "!"}`},
	{"a=x  \n y \t , b=1)", `{"a": "x  \n y", "b": 1}`},
	{`a={1 x: 2, (1) y: 3, "k": 1 z}, b={1, 2 x: 3}, c={(foo): 1, (foo) x: 2})`, `{"a": {"1 x": 2, "(1) y": 3, "k": "1 z"}, "b": [1, "2 x: 3"], "c": {"(foo)": 1, "(foo) x": 2}}`},
	{`a={(1, 2) x: 3, ("a" "b") y: 4}, b=("a": 1), c=["a": 1, 2])`, `{"a": {"[1, 2]": 3, "(\"a\" \"b\") y": 4}, "b": "a", "c": ["a", 2]}`},
	{"a=-\n5, b=- x, c=--)", `{"a": -5, "b": "- x", "c": "--"}`},
}

// feed gives a text to a new codec in pieces and returns what it appended, how much it took and what it said.
func feed(t testing.TB, c *Codec, pieces ...[]byte) (out []byte, n int, st codec.Status) {
	t.Helper()
	c.Start()
	for _, piece := range pieces {
		var taken int
		taken, out, st = c.Step(piece, out)
		n += taken
		if st != codec.More {
			return out, n, st
		}
		if taken != len(piece) {
			t.Fatalf("More, but %d of %d bytes were taken", taken, len(piece))
		}
	}
	return out, n, st
}

func TestTexts(t *testing.T) {
	for _, test := range texts {
		var c Codec
		out, n, st := feed(t, &c, []byte(test.text))
		if strings.HasSuffix(test.want, `)"}`) && st == codec.More {
			st, n = codec.Done, len(test.text) // a string swallows the parenthesis
		}
		if st != codec.Done || n != len(test.text) || !c.Certain() {
			t.Errorf("%s\n status %v after %d of %d bytes, certain %v", test.text, st, n, len(test.text), c.Certain())
		}
		if got := string(c.Close(out)); got != test.want {
			t.Errorf("%s\n got  %s\n want %s", test.text, got, test.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
	}{
		{`"x")`, 0}, {`x)`, 1}, {`x==1)`, 2}, {` x y=1)`, 3}, {`,x=1)`, 0}, {`1x=1)`, 0}, {`**x)`, 0},
		{`https://example.org)`, 5}, {`a.b=1)`, 1}, {`“x”=1)`, 9 - 2}, {`# c`, 0}, {`]`, 0}, {"\xff=1)", 1},
		{strings.Repeat(" ", 5000), 4096}, {strings.Repeat("x", 5000), 4096}, {"x" + strings.Repeat(" ", 5000), 4096},
	} {
		for size := range 4 {
			var c Codec
			out, n, st := feed(t, &c, cut([]byte(test.text), size)...)
			if st != codec.Refused || n != test.n || len(out) > 0 || c.Certain() {
				t.Errorf("%.20q in pieces of %d: %v after %d bytes, want %d; appended %q", test.text, size, st, n, test.n, out)
			}
			if n, _, st := c.Step([]byte("x=1)"), nil); n != 0 || st != codec.Refused {
				t.Errorf("%.20q: a refused codec goes on", test.text)
			}
			if got := string(c.Close(nil)); got != "{}" {
				t.Errorf("%.20q: closed as %s", test.text, got)
			}
		}
	}
}

// cut cuts a text into pieces of a size; zero is all at once.
func cut(text []byte, size int) (pieces [][]byte) {
	for size > 0 && len(text) > size {
		pieces = append(pieces, text[:size])
		text = text[size:]
	}
	return append(pieces, text)
}

// TestWhenItGoesOut holds what has been appended before the arguments are over.
func TestWhenItGoesOut(t *testing.T) {
	for _, test := range []struct{ text, out, cut, closed string }{
		{``, ``, ``, `{}`},
		{`city`, ``, ``, `{}`},
		{`city=`, ``, ``, `{}`},
		{`city= `, `{"city": `, `{"city": `, `{"city": null}`},
		{`city="`, `{"city": "`, `{"city": "`, `{"city": ""}`},
		{`city="Par`, `{"city": "Par`, `{"city": "Par`, `{"city": "Par"}`},
		{`city="Paris"`, `{"city": "Paris`, `{"city": "Paris"`, `{"city": "Paris"}`},
		{`city="Paris" `, `{"city": "Paris`, `{"city": "Paris"`, `{"city": "Paris"}`},
		{`city="Paris" r`, `{"city": "Paris`, `{"city": "Paris\" r`, `{"city": "Paris\" r"}`},
		{`city=""`, `{"city": "`, `{"city": ""`, `{"city": ""}`},
		{`city="Paris""`, `{"city": "Paris`, `{"city": "Paris\""`, `{"city": "Paris\""}`},
		{`city="Paris",`, `{"city": "Paris"`, `{"city": "Paris"`, `{"city": "Paris"}`},
		{`city="Paris", days`, `{"city": "Paris"`, `{"city": "Paris"`, `{"city": "Paris"}`},
		{`city="Paris", days=`, `{"city": "Paris"`, `{"city": "Paris", "days": `, `{"city": "Paris", "days": null}`},
		{`city="Paris", days=1`, `{"city": "Paris", "days": `, `{"city": "Paris", "days": `, `{"city": "Paris", "days": 1}`},
		{`city="Paris", days=1 `, `{"city": "Paris", "days": `, `{"city": "Paris", "days": `, `{"city": "Paris", "days": 1}`},
		{`city="Paris", days=1,`, `{"city": "Paris", "days": 1`, `{"city": "Paris", "days": 1`, `{"city": "Paris", "days": 1}`},
		{`a=1)`, `{"a": 1`, `{"a": 1`, `{"a": 1}`},
		{`a="x\`, `{"a": "x`, `{"a": "x`, `{"a": "x\\"}`},
		{`a="x\u00`, `{"a": "x`, `{"a": "x`, `{"a": "x\\u00"}`},
		{`a="x\ud83d`, `{"a": "x`, `{"a": "x`, "{\"a\": \"x\uFFFD\"}"},
		{`a="x\12`, `{"a": "x`, `{"a": "x\n`, `{"a": "x\n"}`},
		{`a=r"x\`, `{"a": "x\\`, `{"a": "x\\`, `{"a": "x\\"}`},
		{`a="""x""`, `{"a": "x`, `{"a": "x\"\"`, `{"a": "x\"\""}`},
		{`a="""x"""`, `{"a": "x`, `{"a": "x"`, `{"a": "x"}`},
		{`a=[`, `{"a": [`, `{"a": [`, `{"a": []}`},
		{`a=[1`, `{"a": [`, `{"a": [`, `{"a": [1]}`},
		{`a=[1,`, `{"a": [1`, `{"a": [1`, `{"a": [1]}`},
		{`a=[1, "x`, `{"a": [1, "x`, `{"a": [1, "x`, `{"a": [1, "x"]}`},
		{`a=(`, `{"a": `, `{"a": `, `{"a": []}`},
		{`a=("x`, `{"a": `, `{"a": `, `{"a": "x"}`},
		{`a=("x",`, `{"a": ["x"`, `{"a": ["x"`, `{"a": ["x"]}`},
		{`a={`, `{"a": `, `{"a": `, `{"a": {}}`},
		{`a={"k"`, `{"a": `, `{"a": `, `{"a": ["k"]}`},
		{`a={"k":`, `{"a": {"k": `, `{"a": {"k": `, `{"a": {"k": null}}`},
		{`a={"k": "v`, `{"a": {"k": "v`, `{"a": {"k": "v`, `{"a": {"k": "v"}}`},
		{`a={"k": 1, "l"`, `{"a": {"k": 1`, `{"a": {"k": 1`, `{"a": {"k": 1}}`},
		{`a={1,`, `{"a": [1`, `{"a": [1`, `{"a": [1]}`},
		{`a=fo`, `{"a": `, `{"a": `, `{"a": "fo"}`},
		{`a=fo(`, `{"a": "fo(`, `{"a": "fo(`, `{"a": "fo("}`},
		{`a=fo( x `, `{"a": "fo( x`, `{"a": "fo( x`, `{"a": "fo( x"}`},
		{`a=[1] x`, `{"a": [1]`, `{"a": [1]`, `{"a": [1]}`},
		{`a=(1)`, `{"a": `, `{"a": `, `{"a": 1}`},
		{`a=(fo`, `{"a": `, `{"a": `, `{"a": "fo"}`},
		{`a=1, # note`, `{"a": 1`, `{"a": 1`, `{"a": 1}`},
		{`a=[ # note`, `{"a": [`, `{"a": [`, `{"a": []}`},
		{`a=3 # note`, `{"a": `, `{"a": `, `{"a": 3}`},
		{`a=1, 7 b`, `{"a": 1`, `{"a": 1`, `{"a": 1}`},
	} {
		var c Codec
		out, _, _ := feed(t, &c, []byte(test.text))
		if string(out) != test.out {
			t.Errorf("%s\n appended %s\n want     %s", test.text, out, test.out)
		}
		closing := c
		if got := string(c.Cut(bytes.Clone(out))); got != test.cut {
			t.Errorf("%s\n cut  %s\n want %s", test.text, got, test.cut)
		}
		if got := string(closing.Close(bytes.Clone(out))); got != test.closed {
			t.Errorf("%s\n closed %s\n want   %s", test.text, got, test.closed)
		}
	}
}

// TestStartForgets holds that a codec used again is as good as a new one.
func TestStartForgets(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var used Codec
	for range 3000 {
		first, second := mutated(random), mutated(random)
		feed(t, &used, first)
		used.Start()
		got, n, st := feed(t, &used, second)
		var fresh Codec
		want, m, want2 := feed(t, &fresh, second)
		if !bytes.Equal(used.Close(got), fresh.Close(want)) || n != m || st != want2 {
			t.Fatalf("%q after %q", second, first)
		}
	}
}

// TestStartFreesMemory holds that one unusual call does not keep its memory.
func TestStartFreesMemory(t *testing.T) {
	var c Codec
	feed(t, &c, []byte("a="+strings.Repeat("(", maximumDepth)+strings.Repeat("x", 200_000)))
	c.Start()
	if total := cap(c.raw) + cap(c.held) + cap(c.scratch) + cap(c.pending) + cap(c.levels) + cap(c.name) + cap(c.wait); total > 100_000 {
		t.Errorf("%d bytes kept", total)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	piece := []byte("abcd")
	var c Codec
	c.Start()
	out := make([]byte, 0, 1<<20)
	_, out, _ = c.Step([]byte(`a="`), out)
	if got := testing.AllocsPerRun(1, func() {
		for range 10_000 {
			_, out, _ = c.Step(piece, out)
		}
	}); got > 0 {
		t.Errorf("%v allocations in 10,000 pieces", got)
	}
}

func ExampleCodec() {
	var c Codec
	c.Start()
	var out []byte
	for _, piece := range []string{`city="Pa`, `ris", da`, `ys=3)`} {
		_, out, _ = c.Step([]byte(piece), out)
		fmt.Println(string(out))
	}
	fmt.Println(string(c.Close(out)))
	// Output:
	// {"city": "Pa
	// {"city": "Paris"
	// {"city": "Paris", "days": 3
	// {"city": "Paris", "days": 3}
}
