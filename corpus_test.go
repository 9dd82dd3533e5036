package parlance

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// sample is a text with the parser that reads it and the request it answers.
type sample struct {
	id      string
	parser  *Parser
	text    string
	request Request
	reason  FinishReason
}

// corpus are the samples of all cases.
var corpus = sync.OnceValue(func() []sample {
	return samples(func(string, string) bool { return true })
})

// samples are the samples of the cases whose parsers, by their tool and reasoning names, are wanted. Only their formats
// are compiled.
func samples(wanted func(tool, reasoning string) bool) []sample {
	var sets map[string]json.RawMessage
	read("conformance/cases/tools.json", &sets)
	files, err := filepath.Glob("conformance/cases/*.json")
	if err != nil {
		panic(err)
	}
	var out []sample
	for _, file := range files {
		if filepath.Base(file) == "tools.json" {
			continue
		}
		var cases []struct {
			ID        string          `json:"id"`
			Text      string          `json:"text"`
			Tool      string          `json:"tool_parser"`
			Reasoning string          `json:"reasoning_parser"`
			Tools     json.RawMessage `json:"tools"`
			Choice    json.RawMessage `json:"tool_choice"`
			Prompt    string          `json:"prompt"`
			Arguments map[string]any  `json:"chat_template_kwargs"`
			Finish    FinishReason    `json:"finish_reason"`
			Special   []string        `json:"special_tokens"`
			Template  json.RawMessage `json:"response_template"`
			Tokens    json.RawMessage `json:"tokens"`
		}
		read(file, &cases)
		for _, c := range cases {
			if c.Tokens != nil || !wanted(c.Tool, c.Reasoning) {
				continue
			}
			p, err := lookUp(c.Tool, c.Reasoning, c.Template)
			if err != nil {
				panic(err)
			}
			tools := c.Tools
			var set string
			if json.Unmarshal(tools, &set) == nil {
				tools = sets[set]
			}
			s := sample{id: c.ID, parser: p, text: c.Text, reason: c.Finish}
			s.request = Request{Prompt: c.Prompt, ChatTemplateKwargs: c.Arguments, SpecialTokens: c.Special}
			if s.request.Tools, err = ParseTools(tools); err != nil {
				panic(err)
			}
			if s.request.ToolChoice, err = ParseToolChoice(c.Choice); err != nil {
				panic(err)
			}
			out = append(out, s)
		}
	}
	return out
}

// templates are the response templates of the cases, by their text.
var templates sync.Map

// lookUp is Lookup, or LookupTemplate where there is a template.
func lookUp(tool, reasoning string, template json.RawMessage) (*Parser, error) {
	if template == nil {
		return Lookup(tool, reasoning)
	}
	kept, ok := templates.Load(string(template))
	if !ok {
		t, err := ParseResponseTemplate(template)
		if err != nil {
			return nil, err
		}
		kept, _ = templates.LoadOrStore(string(template), t)
	}
	return LookupTemplate(tool, reasoning, kept.(*ResponseTemplate))
}

func read(file string, into any) {
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		panic(file + ": " + err.Error())
	}
}

// markers are the literals of a parser's definitions.
func (p *Parser) markers() (out []string) {
	for _, d := range []*grammar.Definition{p.toolHalf, p.reasoningHalf} {
		if d == nil {
			continue
		}
		for _, rule := range d.Rules {
			grammar.Walk(rule.Body, func(e grammar.Expression) bool {
				switch e := e.(type) {
				case *grammar.Literal:
					out = append(out, e.Text)
				case *grammar.Codec:
					if e.Delimiter != "" {
						out = append(out, e.Delimiter)
					}
				}
				return true
			})
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// markersFor are the same with the holes filled as for a request.
func (p *Parser) markersFor(r *Request) (out []string) {
	for _, marker := range p.markers() {
		for name := range p.holes() {
			marker = strings.ReplaceAll(marker, "{"+name+"}", p.suffix(r))
		}
		out = append(out, marker)
	}
	return out
}

// mutate makes another text of a sample's: cut, spliced with another of the same parser, with markers and stray
// characters put in, and pieces taken out or doubled.
func mutate(random *rand.Rand, s sample, others []sample) string {
	text := s.text
	markers := s.parser.markersFor(&s.request)
	for range 1 + random.Intn(4) {
		at := random.Intn(len(text) + 1)
		switch random.Intn(9) {
		case 0:
			text = text[:at]
		case 1, 2:
			marker := markers[random.Intn(len(markers))]
			text = text[:at] + marker + text[at:]
		case 3:
			marker := markers[random.Intn(len(markers))]
			text = text[:at] + marker[:random.Intn(len(marker)+1)] + text[at:]
		case 4:
			to := at + random.Intn(len(text)-at+1)
			text = text[:at] + text[to:]
		case 5:
			to := at + random.Intn(len(text)-at+1)
			text = text[:to] + text[at:]
		case 6:
			other := others[random.Intn(len(others))].text
			from := random.Intn(len(other) + 1)
			text = text[:at] + other[from:from+random.Intn(len(other)-from+1)] + text[at:]
		case 7:
			text = text[:at] + []string{"{", "}", "[", "]", "\"", ",", "\\", "\n", " ", "<", ">", "'", "=", "(", ")", "é", "\xff", ":"}[random.Intn(18)] + text[at:]
		case 8:
			text = strings.Replace(text, "\n", []string{"", " ", "\n\n"}[random.Intn(3)], 1+random.Intn(3))
		}
		if len(text) > 20000 {
			text = text[:20000]
		}
	}
	return text
}

// soup makes a text of nothing but markers, halves of markers, words, white space and pieces of the samples.
func soup(random *rand.Rand, s sample, others []sample) string {
	markers := s.parser.markersFor(&s.request)
	words := []string{"x", "get_weather", "city", "{}", "{\"name\": \"f\", \"arguments\": {\"a\": 1}}", "{\"city\": \"Bonn\"}", "[", "]", "{", "}", "(", ")", "f(a=1)", ",", "\"", "'", ":", "=", ">", "<", "\n", " ", "\n\n", "1", "null", "true", "é", "name=\"f\"", "to=f", "\\", "\\n", "|"}
	var out strings.Builder
	for range 1 + random.Intn(12) {
		switch marker := markers[random.Intn(len(markers))]; random.Intn(10) {
		case 0, 1, 2, 3:
			out.WriteString(marker)
		case 4:
			out.WriteString(marker[:random.Intn(len(marker)+1)])
		case 5:
			other := others[random.Intn(len(others))].text
			from := random.Intn(len(other) + 1)
			out.WriteString(other[from : from+random.Intn(min(len(other)-from, 40)+1)])
		default:
			out.WriteString(words[random.Intn(len(words))])
		}
	}
	return out.String()
}

// streamed reads a text in pieces and gives the message and the trace.
func streamed(t testing.TB, s sample, text string, piece func() int) *Message {
	t.Helper()
	request := s.request
	request.Trace = true
	stream := s.parser.Stream(request)
	var c Collector
	for rest := []byte(text); len(rest) > 0; {
		n := min(max(piece(), 1), len(rest))
		// A buffer of its own for each piece, overwritten afterwards: nothing may point into an earlier one.
		buffer := slices.Clone(rest[:n])
		c.Add(stream.Write(buffer))
		for i := range buffer {
			buffer[i] = '#'
		}
		rest = rest[n:]
	}
	c.Add(stream.Close(s.reason))
	m := c.Message()
	m.Trace = stream.Trace()
	return m
}

func byParser(samples []sample) map[*Parser][]sample {
	out := map[*Parser][]sample{}
	for _, s := range samples {
		out[s.parser] = append(out[s.parser], s)
	}
	return out
}

// byFormat groups samples by the formats of their parsers; one with two halves stands in two groups. Formats that arrive
// with a template are one group, whatever the template.
func byFormat(samples []sample) map[string][]sample {
	out := map[string][]sample{}
	for _, s := range samples {
		for _, d := range s.parser.halves() {
			out[d.Format] = append(out[d.Format], s)
		}
	}
	return out
}
