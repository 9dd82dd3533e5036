package parlance

import (
	"strings"
	"testing"
)

func BenchmarkContent(b *testing.B) {
	p, err := Lookup("hermes", "")
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 2000))
	b.SetBytes(4)
	s := p.Stream(Request{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Write(text[i : i+4])
		if i += 4; i+4 > len(text) {
			i = 0
		}
	}
}
