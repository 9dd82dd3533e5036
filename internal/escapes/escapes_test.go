package escapes

import (
	"math/rand"
	"testing"
)

func whole(text string) string {
	var f Newlines
	return string(f.Close(f.Append(nil, []byte(text))))
}

func TestNewlines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`a\nb`, "a\nb"}, {`a\rb`, "a\nb"}, {`a\r\nb`, "a\nb"}, {`a\r\tb`, "a\n\\tb"}, {`a\\nb`, `a\\nb`}, {`\\\n`, `\\\n`},
		{"`a\\nb` c\\nd", "`a\\nb` c\nd"}, {"```\\n``\\n```\\n", "```\\n``\\n```\n"}, {`$\nu$ \n`, "$\\nu$ \n"},
		{`$$\nabla$$\n`, "$$\\nabla$$\n"}, {`\(\nu\)\n`, "\\(\\nu\\)\n"}, {`\[\nu\]\n`, "\\[\\nu\\]\n"},
		{`costs $5 and\nmore`, `costs $5 and\nmore`}, {`a\`, `a\`}, {`a\r`, "a\n"}, {`a\r\`, "a\n\\"}, {`\t\n`, "\\t\n"}, {"C:\\new", "C:\new"[:2] + "\n" + "ew"},
	} {
		if got := whole(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestPiecesMakeNoDifference(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 20000 {
		text := make([]byte, random.Intn(14))
		for i := range text {
			text[i] = "\\\\nr`$()[]x"[random.Intn(11)]
		}
		want := whole(string(text))
		var f Newlines
		var out []byte
		for rest := text; len(rest) > 0; {
			n := 1 + random.Intn(len(rest))
			out = f.Append(out, rest[:n])
			rest = rest[n:]
		}
		if got := string(f.Close(out)); got != want {
			t.Fatalf("%q in pieces: %q, want %q", text, got, want)
		}
	}
}
