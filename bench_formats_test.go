package parlance

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// BenchmarkFormats streams, for every tool parser and every reasoning parser, a call with a long argument, a thought and
// content in chunks of 4 bytes. ns/chunk counts the writing of chunks alone, and so do the allocations. The limits are
// 50 ns for a chunk of a call and 30 ns for one of plain text on an idle core; a definition that may be above says why,
// under slow.
func BenchmarkFormats(b *testing.B) {
	d := parserNames()
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 450)
	tools, err := ParseTools([]byte(`[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]`))
	if err != nil {
		b.Fatal(err)
	}
	request := Request{Tools: tools, ChatTemplateKwargs: thinking.ChatTemplateKwargs}
	run := func(name string, p *Parser, text string) {
		b.Run(name, func(b *testing.B) { benchmarkChunks(b, p, request, text) })
	}
	for _, name := range slices.Sorted(maps.Keys(d.Call)) {
		if p, err := Lookup(name, ""); err == nil {
			run("call/"+name, p, strings.Replace(d.Call[name], "Paris", prose, 1))
			run("content/"+name, p, prose)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Thought)) {
		if p, err := Lookup("", name); err == nil {
			run("thought/"+name, p, strings.Replace(d.Thought[name][0], "hm", prose, 1))
		}
	}
}

func benchmarkChunks(b *testing.B, p *Parser, request Request, text string) {
	var chunks [][]byte
	for rest := []byte(text); len(rest) > 0; {
		n := min(4, len(rest))
		chunks = append(chunks, rest[:n])
		rest = rest[n:]
	}
	b.ReportAllocs()
	written := 0
	for b.Loop() {
		b.StopTimer()
		s := p.Stream(request)
		for _, chunk := range chunks[:min(100, len(chunks)/2)] { // the steady state: buffers have grown
			s.Write(chunk)
		}
		b.StartTimer()
		for _, chunk := range chunks[min(100, len(chunks)/2):] {
			s.Write(chunk)
			written++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(written), "ns/chunk")
}

// TestFewFormatsAreSlow: two families at most may miss the limits, and say why.
func TestFewFormatsAreSlow(t *testing.T) {
	var slow []string
	for _, info := range Formats() {
		if info.Slow != "" && !slices.Contains(slow, info.Extends) {
			slow = append(slow, info.Name)
		}
	}
	if len(slow) > 2 {
		t.Errorf("expected two families at most, found %q", slow)
	}
}
