package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
)

// mostNames is how many names of calls are kept of a sample.
const mostNames = 16

// mostRead is how much of a sample is read, in bytes: every format reads it.
const mostRead = 1 << 20

// Samples tells which formats could have written the samples, which are whole outputs of one model, as the engine gave
// them (special tokens kept). A format is among the guesses for tools if it finds a whole call in one of them, and among
// those for reasoning if it finds a thought with its markers.
//
// Of a sample only the first mebibyte is read.
func Samples(samples ...string) Result { return standard().Samples(samples...) }

// Samples is as the function of the package.
func (d *Detector) Samples(samples ...string) Result {
	samples = slices.Clone(samples)
	for i, text := range samples {
		samples[i] = text[:min(len(text), mostRead)]
	}
	var r Result
	for _, f := range d.families {
		if len(f.ToolNames) > 0 {
			if g, ok := f.tools(samples); ok {
				r.Tools = append(r.Tools, g)
			}
		}
	}
	r.Tools = settle(r.Tools)
	// The thoughts are likely those of the format of the calls.
	own := map[string]bool{}
	if len(r.Tools) > 0 {
		for _, name := range r.Tools[0].family.ReasoningNames {
			own[name] = true
		}
	}
	for _, f := range d.families {
		for _, name := range f.ReasoningNames {
			if g, ok := f.reasoning(name, samples); ok {
				if own[name] {
					g.rank = append(g.rank, 1)
				} else {
					g.rank = append(g.rank, 0)
				}
				r.Reasoning = append(r.Reasoning, g)
			}
		}
	}
	r.Reasoning = settle(r.Reasoning)
	if len(r.Reasoning) > 0 && len(r.Tools) > 0 && !r.Tools[0].Sure {
		// What only the calls tell is no surer than they are.
		best := &r.Reasoning[0]
		last := len(best.rank) - 1
		best.Sure = best.Sure && !slices.ContainsFunc(r.Reasoning[1:], func(g Guess) bool {
			return slices.Equal(g.rank[:last], best.rank[:last]) && !sameWire(g, *best)
		})
	}
	for i := range r.Tools {
		d.unexplained(&r.Tools[i], r.Reasoning, samples)
	}
	return r
}

// unexplained adds what of the samples a guess leaves over, when a reasoning parser takes the thoughts out: the format's own if
// it is among the guesses, else the likeliest.
func (d *Detector) unexplained(g *Guess, reasoning []Guess, samples []string) {
	if g.left == 0 {
		return
	}
	left := g.left
	best := slices.IndexFunc(reasoning, func(r Guess) bool { return slices.Contains(g.family.ReasoningNames, r.Name) })
	if best = max(best, 0); best < len(reasoning) {
		if parser, err := d.registry.Lookup(g.Name, reasoning[best].Name); err == nil {
			var read reading
			for _, text := range samples {
				read.add(d.read(parser, text, g.family.tokens(samples)))
			}
			left = min(left, read.foreign+read.junk+read.broken)
		}
	}
	if left > 0 {
		g.Evidence = append(g.Evidence, Evidence{Source: FromSample, Offset: -1, Against: true,
			Says: fmt.Sprintf("%d bytes that look like markup, or belong to broken calls, are not explained", left)})
	}
}

// share is the share of the markers that occur in the samples.
func share(markers, samples []string) float64 {
	seen := 0
	for _, marker := range markers {
		for _, text := range samples {
			if indexMarker(text, marker) >= 0 {
				seen++
				break
			}
		}
	}
	return float64(seen) / float64(max(len(markers), 1))
}

// could tells whether a format's calls could stand in a text, as far as the literals tell.
func (f *family) could(text string) bool {
	if f.CallsBare || len(f.openers) < len(f.CallOpeners) {
		return true
	}
	for _, opener := range f.openers {
		if strings.Contains(text, opener) {
			return true
		}
	}
	return false
}

// tools reads the samples as the format's calls.
func (f *family) tools(samples []string) (Guess, bool) {
	g := Guess{family: f, Format: f.Name, Name: f.ToolNames[0]}
	var parser *parlance.Parser
	var read reading
	for i, text := range samples {
		if !f.could(text) {
			read.foreign += f.detector.markers.count(text)
			continue
		}
		if parser == nil {
			var err error
			if parser, err = f.detector.registry.Lookup(f.ToolNames[0], ""); err != nil {
				return g, false
			}
		}
		one := f.detector.read(parser, text, f.tokens(samples))
		read.add(one)
		if one.calls > 0 {
			what := fmt.Sprintf("a whole call of %s", one.name)
			if one.calls > 1 {
				what = fmt.Sprintf("%d whole calls, the first of %s", one.calls, one.name)
			}
			if len(samples) > 1 {
				what = fmt.Sprintf("sample %d: %s", i+1, what)
			}
			g.Evidence = append(g.Evidence, Evidence{Source: FromSample, Text: clip(text[one.from:one.to]), Offset: one.from, Says: what})
		}
	}
	if read.calls == 0 {
		return g, false
	}
	g.names = read.names
	g.left = read.foreign + read.junk + read.broken
	g.Score, g.seen = read.share(), share(f.markers, samples)
	g.whole = read.arguments || g.left == 0
	g.rank = []float64{float64(read.calls), -float64(g.left), float64(read.explained)}
	return g, true
}

// reading is what a parser makes of samples, in numbers.
type reading struct {
	calls     int // whole calls with valid arguments
	explained int // bytes of markup and arguments, white space apart
	foreign   int // bytes in the trays that are markers of some format
	junk      int // bytes inside calls that mean nothing there
	broken    int // bytes of calls that could not be read
	from, to  int // the first call
	name      string
	names     []string // of the first calls
	thought   int      // bytes of reasoning
	arguments bool     // a whole call has arguments
}

func (r *reading) add(o reading) {
	r.calls += o.calls
	r.explained += o.explained
	r.foreign += o.foreign
	r.junk += o.junk
	r.broken += o.broken
	r.thought += o.thought
	r.names = append(r.names, o.names...)
	r.arguments = r.arguments || o.arguments
}

func (r *reading) share() float64 {
	return float64(r.explained) / float64(max(r.explained+r.foreign+r.junk+r.broken, 1))
}

// read reads one sample.
func (d *Detector) read(p *parlance.Parser, text string, tokens []string) (r reading) {
	m := p.Parse(text, parlance.Request{Trace: true, SpecialTokens: tokens}, parlance.FinishStop)
	r.from, r.to = -1, 0
	bad := map[int]bool{}
	for i, call := range m.Calls {
		var object map[string]json.RawMessage
		if call.Malformed || call.Cut || call.Name == "" || json.Unmarshal([]byte(call.Arguments), &object) != nil {
			bad[i] = true
			r.broken += len(call.Arguments)
			continue
		}
		if r.calls == 0 {
			r.name = call.Name
		}
		if len(r.names) < mostNames {
			r.names = append(r.names, call.Name)
		}
		r.calls++
		r.arguments = r.arguments || len(object) > 0
	}
	for _, span := range m.Trace {
		switch span.Became {
		case "markup", "arguments":
			if span.Call >= 0 && bad[span.Call] {
				continue
			}
			r.explained += solid(text[span.Start:span.End])
			if r.from < 0 {
				r.from = span.Start
			}
			r.to = span.End
		case "junk":
			r.junk += span.End - span.Start
		case "content":
			r.foreign += d.markers.count(text[span.Start:span.End])
		case "reasoning":
			r.foreign += d.markers.count(text[span.Start:span.End])
			r.thought += span.End - span.Start
		}
	}
	if r.from < 0 {
		r.from = 0
	}
	return r
}

// indexMarker finds a marker in a text. One that was cut off at a hole is not found in a longer word, and not at the end.
func indexMarker(text, marker string) int {
	for from := 0; ; {
		k := strings.Index(text[from:], marker)
		if k < 0 {
			return -1
		}
		end := from + k + len(marker)
		if !isLetter(text[end-1]) || end < len(text) && !isLetter(text[end]) {
			return from + k
		}
		from += k + 1
	}
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_' }

// solid is the number of bytes that are no white space.
func solid(text string) (bytes int) {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\n', '\t', '\r':
		default:
			bytes++
		}
	}
	return bytes
}

// reasoning reads the samples as the format's thoughts.
func (f *family) reasoning(name string, samples []string) (Guess, bool) {
	g := Guess{family: f, Format: f.Name, Name: name}
	telling := f.thoughts
	if len(telling) == 0 {
		telling = f.markers
	}
	var read reading
	found := false
	for _, text := range samples {
		at, marker := -1, ""
		for _, m := range telling {
			if k := indexMarker(text, m); k >= 0 && (at < 0 || k < at) {
				at, marker = k, m
			}
		}
		if at < 0 {
			continue
		}
		parser, err := f.detector.registry.Lookup("", name)
		if err != nil {
			return g, false
		}
		one := f.detector.read(parser, text, f.tokens(samples))
		read.add(one)
		if one.thought > 0 {
			found = true
			g.Evidence = append(g.Evidence, Evidence{Source: FromSample, Text: marker, Offset: at, Says: fmt.Sprintf("a thought of %d bytes", one.thought)})
		}
	}
	if !found {
		return g, false
	}
	g.Score, g.seen = read.share(), share(telling, samples)
	g.rank = []float64{-float64(read.foreign), float64(read.explained)}
	return g, true
}

// clip shortens a text for people.
func clip(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-20], "") + " … " + strings.ToValidUTF8(text[len(text)-15:], "")
}
