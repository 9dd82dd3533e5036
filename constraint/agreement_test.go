package constraint

import (
	"encoding/json/jsontext"
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/sample"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// meant is a call as a generated text means it.
type meant struct {
	name      string
	arguments string // "" where the text does not tell it by itself
}

// callsOf reads the calls that a text means off its marks.
func callsOf(text string, spans []sample.Span) (calls []meant) {
	for i, span := range spans {
		if span.Role != language.Call {
			continue
		}
		inner := within(spans[i+1:], span)
		call := meant{name: span.Name}
		for _, s := range inner {
			if s.Role == language.Arguments {
				call.arguments = text[s.Start:s.End]
			}
		}
		if call.arguments == "" && len(inner) > 0 && inner[0].Role == language.Parameter {
			call.arguments = members(text, inner)
		}
		calls = append(calls, call)
	}
	return calls
}

// within are the spans inside of another.
func within(spans []sample.Span, outer sample.Span) []sample.Span {
	for i, s := range spans {
		if s.Depth <= outer.Depth {
			return spans[:i]
		}
	}
	return spans
}

// members is the object that parameters mean, "" where one has no name of its own.
func members(text string, spans []sample.Span) string {
	var out []string
	for i, s := range spans {
		if s.Role != language.Parameter || s.Depth != spans[0].Depth {
			continue
		}
		if s.Name == "" {
			return ""
		}
		value := valueOf(text, within(spans[i+1:], s))
		if value == "" { // nothing is an empty list or an empty object, as the schema has it
			return ""
		}
		out = append(out, toolschema.Quote(s.Name)+": "+value)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// valueOf is the value that is written in a parameter. Parameters in it without a name are the elements of a list.
func valueOf(text string, inner []sample.Span) string {
	value := "{}"
	if len(inner) > 0 {
		written := text[inner[0].Start:inner[0].End]
		switch inner[0].Role {
		case language.Raw:
			value = toolschema.Quote(written)
		case language.Laid:
			value = toolschema.Quote(strings.TrimSuffix(strings.TrimPrefix(written, "\n"), "\n"))
		case language.XML:
			value = toolschema.Quote(html.UnescapeString(written))
		case language.JSON:
			value = written
			if word, ok := map[string]string{"True": "true", "False": "false", "None": "null"}[written]; ok {
				value = word
			}
		case language.XMLJSON:
			value = html.UnescapeString(written)
		case language.Parameter:
			if inner[0].Name != "" {
				return members(text, inner)
			}
			var elements []string
			for i, s := range inner {
				if s.Depth != inner[0].Depth {
					continue
				}
				element := valueOf(text, within(inner[i+1:], s))
				if element == "" {
					return ""
				}
				elements = append(elements, element)
			}
			value = "[" + strings.Join(elements, ", ") + "]"
		}
	}
	return value
}

// same tells whether two JSON texts are the same value; numbers are compared as they are written.
func same(t *testing.T, one, two string) bool {
	a, err := toolschema.Canonical(one)
	if err != nil {
		return false
	}
	b, err := toolschema.Canonical(two)
	if err != nil {
		t.Errorf("the text means %q, which is no JSON: %v", two, err)
	}
	return a == b
}

// agree writes random texts of a constraint and holds what the parser reads against what they mean.
func agree(t *testing.T, p *parlance.Parser, data []byte, r Request, prompt string, times int, random *rand.Rand) {
	t.Helper()
	c, err := New(p, r)
	if err != nil {
		t.Errorf("%s: %v", p.ToolName(), err)
		return
	}
	tools, err := parlance.ParseTools(data)
	if err != nil {
		t.Fatal(err)
	}
	s := sample.New(c.Language(), random)
	acceptor := c.acceptor()
	for range times {
		text, spans := s.Text(c.Language(), 20+random.IntN(400))
		if !acceptor.Accepts(text) {
			t.Errorf("%s %s: the acceptor refuses a text of the constraint: %q", p.ToolName(), r.ToolChoice.Mode, text)
			return
		}
		m := p.Parse(text, parlance.Request{Tools: tools, ToolChoice: r.ToolChoice, Prompt: prompt}, parlance.FinishStop)
		want := callsOf(text, spans)
		if slices.ContainsFunc(c.Notes(), func(note string) bool { return strings.Contains(note, "twice") }) && slices.ContainsFunc(want, func(call meant) bool { return call.arguments == "" }) {
			continue // two names that no grammar holds to be the same
		}
		if wrong := differs(t, m, want); wrong != "" {
			t.Errorf("%s %s: %s\ntext %q\nread %v\ncontent %q", p.ToolName(), r.ToolChoice.Mode, wrong, text, m.Calls, m.Content)
			return
		}
	}
}

func differs(t *testing.T, m *parlance.Message, want []meant) string {
	if len(m.Calls) != len(want) {
		return fmt.Sprintf("%d calls are meant, %d read", len(want), len(m.Calls))
	}
	for i, call := range m.Calls {
		switch {
		case call.Name != want[i].name:
			return fmt.Sprintf("%q is meant, %q read", want[i].name, call.Name)
		case !jsontext.Value(call.Arguments).IsValid(jsontext.AllowDuplicateNames(true)) || call.Malformed:
			return fmt.Sprintf("the arguments are no JSON: %q", call.Arguments)
		case want[i].arguments != "" && !same(t, call.Arguments, want[i].arguments):
			return fmt.Sprintf("the arguments %q are meant, %q read", want[i].arguments, call.Arguments)
		}
	}
	return ""
}

const weather = `[
	{"type":"function","function":{"name":"get_weather","strict":true,"parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"metric":{"type":"boolean"}},"required":["city"]}}},
	{"type":"function","function":{"name":"search","strict":true,"parameters":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"string"}},"where":{"type":"object","properties":{"lang":{"type":"string","enum":["de","en"]},"year":{"type":"number"}},"required":["lang"]}},"required":["query"]}}},
	{"type":"function","function":{"name":"free","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}},
	{"type":"function","function":{"name":"get_time","strict":true,"parameters":{"type":"object","properties":{}}}}]`

// Texts generated at random from the constraint are read back as exactly the calls that they mean, in every format.
func TestAgreement(t *testing.T) {
	tools, err := ParseTools([]byte(weather))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range toolNames(t) {
		if info, _ := parlance.Format(name); info.ResponseTemplate { // its grammar comes at run time
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := parlance.Lookup(name, "")
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for _, choice := range []parlance.ToolChoice{{Mode: "required"}, {Mode: "auto"}, {Mode: "function", Name: "search"}} {
				agree(t, p, []byte(weather), Request{Tools: tools, ToolChoice: choice}, "", 25, random)
			}
		})
	}
}
