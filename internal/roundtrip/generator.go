package roundtrip

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/parlance-llm/parlance"
)

// Generator makes messages at random. With the same seed it makes the same ones. It belongs to one goroutine.
type Generator struct {
	random  *rand.Rand
	markers []string
	// Tools are the tools that its calls call.
	Tools *parlance.Tools
}

// hole is a hole in a marker, which is filled with nothing.
var hole = regexp.MustCompile(`\{\w+\}`)

// NewGenerator makes a generator. markers are texts that it mixes into string values.
func NewGenerator(seed uint64, markers []string) *Generator {
	tools, err := parlance.ParseTools([]byte(declared))
	if err != nil {
		panic("roundtrip: " + err.Error())
	}
	var filled []string
	for _, marker := range markers {
		filled = append(filled, hole.ReplaceAllString(marker, ""))
	}
	return &Generator{random: rand.New(rand.NewPCG(seed, 1)), markers: filled, Tools: tools}
}

// declared are tools whose parameters have schemas of every shape that tells values apart.
const declared = `[
	{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {
		"city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"}, "level": {"type": "number"}}}}},
	{"type": "function", "function": {"name": "write-file.v2", "parameters": {"type": "object", "properties": {
		"path": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "array", "items": {"type": "string"}},
		"mode": {"enum": ["a", "w"]}, "owner": {"type": ["string", "null"]}}}}},
	{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {
		"query": {"type": "string"}, "filters": {"type": "object", "properties": {"lang": {"type": "string"}, "year": {"type": "integer"},
			"deep": {"type": "object", "properties": {"on": {"type": "boolean"}}}}},
		"ids": {"type": "array", "items": {"type": "integer"}}, "grid": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
		"any": {}, "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}}},
	{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
]`

// parameters are the names of the declared parameters with the kinds of values that their schemas want.
var parameters = map[string][][2]string{
	"get_weather":   {{"city", "string"}, {"days", "integer"}, {"metric", "boolean"}, {"level", "number"}},
	"write-file.v2": {{"path", "string"}, {"text", "string"}, {"lines", "strings"}, {"mode", "string"}, {"owner", "nullable"}},
	"search": {{"query", "string"}, {"filters", "filters"}, {"ids", "integers"}, {"grid", "grid"}, {"any", "any"},
		{"either", "any"}},
	"get_time": {},
}

var names = []string{"get_weather", "write-file.v2", "search", "get_time"}

// Message makes a message: reasoning and content where the trip can hold them, and up to four calls.
func (g *Generator) Message(t *Trip) *parlance.Message {
	m := &parlance.Message{}
	if t.Thoughts && g.random.IntN(3) > 0 {
		m.Reasoning = g.prose()
	}
	if g.random.IntN(3) > 0 {
		m.Content = g.prose()
	}
	if t.Calls {
		for range g.random.IntN(5) {
			m.Calls = append(m.Calls, g.Call())
		}
	}
	return m
}

// Segments puts the parts of a message into an order of their own, with content between the calls.
func (g *Generator) Segments(m *parlance.Message) {
	if m.Reasoning != "" {
		m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.Reasoning, Text: m.Reasoning})
	}
	if m.Content != "" {
		m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.Content, Text: m.Content})
	}
	for k := range m.Calls {
		m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.ToolCall, Call: k})
		if g.random.IntN(2) == 0 {
			m.Segments = append(m.Segments, parlance.Segment{Kind: parlance.Content, Text: g.prose()})
		}
	}
}

// Call makes a call of a declared tool, now and then with an argument that is not declared.
func (g *Generator) Call() parlance.Call {
	name := names[g.random.IntN(len(names))]
	var members []string
	for _, parameter := range parameters[name] {
		if g.random.IntN(4) > 0 {
			members = append(members, quote(parameter[0])+": "+g.value(parameter[1]))
		}
	}
	if g.random.IntN(12) == 0 {
		members = append(members, quote(undeclared[g.random.IntN(len(undeclared))])+": "+g.value("any"))
	}
	return parlance.Call{Name: name, Arguments: "{" + strings.Join(members, ", ") + "}"}
}

// undeclared are names of arguments that no tool declares; some are more than letters.
var undeclared = []string{"extra", "extra", "Größe", "a-b", "a.b", "page[size]", "two words", "x=y", "a:b", "<k>", `"q"`, "5", "class", "&", ""}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic("roundtrip: " + err.Error())
	}
	return string(data)
}

var prose = []string{"Let me look.", "I'll check the weather in Zürich", "first, then second", "a < b && b > a", "x = 1; y = 2", "日本語のテキスト",
	"line one\nline two", "«naïve» – done…", "🙂👩‍👩‍👧", "100 % sure", "see `code` and \"quotes\"", "tab\there", "<b>bold</b>", "it's 5 o'clock", "-", "a_b"}

func (g *Generator) prose() string {
	var parts []string
	for range 1 + g.random.IntN(3) {
		parts = append(parts, prose[g.random.IntN(len(prose))])
	}
	return strings.Join(parts, " ")
}

var strange = []string{"", " ", "\n", "\nx\n", " x ", "5", "007", "1.50", "true", "null", "None", "[1, 2]", `{"a": 1}`, "{", "]", "'", `"`, `\`, `\n`, "a\\",
	"a, b", "k=v", "a:b", "<x>", "</x>", "&amp;", "&", "e\u0301", "\u2028", "\u0000", "\r\n", "\t", "😀", "x</", "<|", "|>", "```", "]]>", "<![CDATA[", "#", "(", ")", "\u007f"}

func (g *Generator) text() string {
	var out strings.Builder
	for range g.random.IntN(4) {
		switch g.random.IntN(4) {
		case 0:
			out.WriteString(strange[g.random.IntN(len(strange))])
		case 1:
			if len(g.markers) > 0 {
				marker := g.markers[g.random.IntN(len(g.markers))]
				if g.random.IntN(2) == 0 {
					marker = marker[:1+g.random.IntN(len(marker))]
				}
				out.WriteString(marker)
				break
			}
			fallthrough
		default:
			out.WriteString(prose[g.random.IntN(len(prose))])
		}
	}
	return strings.ToValidUTF8(out.String(), "")
}

var integers = []string{"0", "-1", "7", "42", "9007199254740993", "-9223372036854775809", "123456789012345678901234567890"}

var numbers = []string{"0.1", "1.50", "-2.5e-3", "1e30", "3", "0.30000000000000004", "1E5", "-0.0", "2.2250738585072014e-308"}

// value makes a JSON value of a kind.
func (g *Generator) value(kind string) string {
	list := func(kind string) string {
		var elements []string
		for range g.random.IntN(4) {
			elements = append(elements, g.value(kind))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	switch kind {
	case "string":
		return quote(g.text())
	case "integer":
		return integers[g.random.IntN(len(integers))]
	case "number":
		return numbers[g.random.IntN(len(numbers))]
	case "boolean":
		return []string{"true", "false"}[g.random.IntN(2)]
	case "nullable":
		if g.random.IntN(2) == 0 {
			return "null"
		}
		return g.value("string")
	case "strings":
		return list("string")
	case "integers":
		return list("integer")
	case "grid":
		return fmt.Sprintf("[%s, %s]", list("number"), list("number"))
	case "filters":
		return fmt.Sprintf(`{"lang": %s, "year": %s, "deep": {"on": %s}}`, g.value("string"), g.value("integer"), g.value("boolean"))
	}
	switch g.random.IntN(7) {
	case 0:
		return "null"
	case 1:
		return g.value("boolean")
	case 2:
		return g.value("integer")
	case 3:
		return fmt.Sprintf(`{"a": %s, "b": [%s, {}]}`, g.value("string"), g.value("number"))
	case 4:
		return list("string")
	}
	return g.value("string")
}
