package parlance

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/internal/grammar"
)

//go:generate go run ./internal/cmd/fuzztargets

// escape stands before the number of a marker in a fuzzed text, so that the fuzzer can put markers in whole.
const escape = 1

// fuzz holds the outputs of a format against the contract. The text is made of the fuzzer's bytes and of the markers of
// the format's definition; seed says how it is cut, mode what the request says.
func fuzz(f *testing.F, format string) {
	d, err := Default().library().Definition(format)
	if err != nil {
		f.Fatal(err)
	}
	seeds := samples(func(tool, reasoning string) bool {
		return slices.Contains(d.Tool, tool) || slices.ContainsFunc(d.Reasoning, func(n grammar.ReasoningName) bool { return n.Name == reasoning })
	})
	parsers := parsersOf(f, d, seeds)
	markers := parsers[len(parsers)-1].markersFor(&Request{})
	mode := byte(0)
	for _, s := range seeds {
		f.Add([]byte(withMarkers(s.text, markers)), int64(len(s.text)), mode)
		mode++
	}
	for i := range min(len(markers), 255) {
		f.Add([]byte{escape, byte(i), 'x', escape, byte(i)}, int64(i), mode)
	}
	tools, err := ParseTools([]byte(`[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
		"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": ["array", "null"], "items": {"type": "number"}}, "d": {"type": "object"}, "e": {}}}}}]`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed int64, mode byte) {
		if len(data) > 4096 {
			t.Skip()
		}
		s := sample{id: format, parser: parsers[(int(mode>>4)+int(seed&0xFF))%len(parsers)], reason: FinishStop}
		if mode&1 != 0 {
			s.reason = FinishLength
		}
		if mode&2 != 0 {
			s.request.Tools = tools
		}
		switch mode & 12 {
		case 4:
			s.request.ToolChoice = ToolChoice{Mode: "required"}
		case 8:
			s.request.ToolChoice = ToolChoice{Mode: "function", Name: "f"}
		case 12:
			s.request.Prompt = d.Turn.Begin + expand(data[:len(data)/2], markers)
			data = data[len(data)/2:]
		}
		check(t, s, expand(data, markers), rand.New(rand.NewSource(seed)))
	})
}

// parsersOf are the ways in which a definition is used: either half alone, and both; of a format that reads templates
// those of its samples.
func parsersOf(t testing.TB, d *grammar.Definition, seeds []sample) (out []*Parser) {
	if d.From != "" {
		for _, s := range seeds {
			if !slices.Contains(out, s.parser) {
				out = append(out, s.parser)
			}
		}
		return out
	}
	tools, reasonings := append([]string{""}, d.Tool...), []string{""}
	for _, name := range d.Reasoning {
		reasonings = append(reasonings, name.Name)
	}
	for _, tool := range tools {
		for _, reasoning := range reasonings {
			if tool == "" && reasoning == "" {
				continue
			}
			p, err := Lookup(tool, reasoning)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
	}
	return out
}

// expand puts the markers in.
func expand(data []byte, markers []string) string {
	var out strings.Builder
	for i := 0; i < len(data); i++ {
		if data[i] == escape && i+1 < len(data) && len(markers) > 0 {
			i++
			out.WriteString(markers[int(data[i])%len(markers)])
			continue
		}
		out.WriteByte(data[i])
	}
	return out.String()
}

// withMarkers writes the markers in a text as their numbers.
func withMarkers(text string, markers []string) string {
	for i, marker := range markers {
		if len(marker) > 2 && i < 256 {
			text = strings.ReplaceAll(text, marker, string([]byte{escape, byte(i)}))
		}
	}
	return text
}

// TestEveryFormatIsFuzzed: the targets are generated; a format without one is missed here.
func TestEveryFormatIsFuzzed(t *testing.T) {
	for _, info := range Formats() {
		if !slices.Contains(fuzzed, info.Name) {
			t.Errorf("no fuzz target for %s: run go generate", info.Name)
		}
	}
}
