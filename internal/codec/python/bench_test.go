package python

import (
	"strings"
	"testing"
)

// line is what the long strings of the benchmarks are made of.
const line = `The quick brown fox jumps over the lazy dog, then it rests; 12 of 9 say so.`

// BenchmarkPieces streams a string of 200 kB in pieces of 4 bytes; one operation is one piece.
func BenchmarkPieces(b *testing.B) {
	text := []byte(strings.Repeat(line, 200_000/len(line)))
	pieces := len(text) / 4
	out := make([]byte, 0, 2*len(text))
	var c Codec
	b.ReportAllocs()
	b.SetBytes(4)
	for i := range b.N {
		at := i % pieces
		if at == 0 {
			c.Start()
			_, out, _ = c.Step([]byte(`text="`), out[:0])
		}
		_, out, _ = c.Step(text[4*at:4*at+4], out)
	}
}

func BenchmarkWhole(b *testing.B) {
	for _, test := range []struct{ name, unit string }{
		{"plain string", line},
		{"string with escapes", line + `\n    it's \"so\"\t`},
		{"nested quotes", line + ` "x" `},
	} {
		b.Run(test.name, func(b *testing.B) {
			whole(b, `text="`+strings.Repeat(test.unit, 200_000/len(test.unit))+`")`)
		})
	}
	b.Run("dicts", func(b *testing.B) {
		whole(b, "items=["+strings.Repeat(`{"name": "Ada", 'age': 36, "tags": ["a", ('b'), None], "at": (1.5, -2)}, `, 3000)+"])")
	})
	b.Run("one group", func(b *testing.B) {
		whole(b, "text=("+strings.Repeat("\n  \""+line+"\"", 3000)+"))")
	})
	b.Run("unreadable", func(b *testing.B) {
		whole(b, "text=foo("+strings.Repeat("bar(1) + ", 20000)+"1))")
	})
}

func whole(b *testing.B, text string) {
	var c Codec
	p := []byte(text)
	out := make([]byte, 0, 2*len(text))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for range b.N {
		c.Start()
		_, out, _ = c.Step(p, out[:0])
		out = c.Close(out)
	}
}
