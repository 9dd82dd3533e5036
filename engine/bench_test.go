package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// canned answers every request with the same text, without a network.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

// BenchmarkStream reads answers of 1,000 pieces of 4 characters; the figures are for one piece.
func BenchmarkStream(b *testing.B) {
	const pieces = 1000
	list := make([]string, pieces)
	for i := range list {
		list[i] = "word"
	}
	for i := range wires {
		w := &wires[i]
		if w.name == "sglang" {
			// What grows with every piece is the engine's choice; see the one below.
			continue
		}
		b.Run(w.name, func(b *testing.B) {
			benchmarkStream(b, w, w.whole(list...), pieces)
		})
	}
	b.Run("sglang", func(b *testing.B) {
		benchmarkStream(b, wireOf("sglang"), sglangEvents(true, `{"type":"stop"}`, list...), pieces)
	})
}

func benchmarkStream(b *testing.B, w *wire, text string, pieces int) {
	e, err := Open(w.name, Options{URL: "http://engine", Model: "m", Transport: canned(text)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text) / pieces))
	b.ResetTimer()
	for n := 0; n < b.N; n += pieces {
		r := w.request()
		r.MaxTokens = 10
		stream, err := e.Generate(b.Context(), r)
		if err != nil {
			// openai-chat asks for the models first, and gets the answer's text: it cannot be measured so.
			b.Skip(err)
		}
		if _, err := Collect(stream); err != nil {
			b.Fatal(err)
		}
	}
}
