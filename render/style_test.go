package render_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/internal/roundtrip"
	"github.com/parlance-llm/parlance/render"
	"github.com/parlance-llm/parlance/templates"
)

// turnTools are the tools that the messages of testdata/turns.json call.
const turnTools = `[
	{"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object", "properties": {
		"city": {"type": "string", "description": "A city."}, "days": {"type": "integer"}, "metric": {"type": "boolean"}}, "required": ["city"]}}},
	{"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {"type": "object", "properties": {
		"query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}, "after": {"type": ["integer", "null"]},
		"filters": {"type": "object", "properties": {"lang": {"type": "string"}, "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}}}}}, "required": []}}},
	{"type": "function", "function": {"name": "get_time", "description": "The time.", "parameters": {"type": "object", "properties": {}, "required": []}}}
]`

// turnFile is testdata/turns.json: messages, and the turns that the chat templates of the families write for them, from
// the templates themselves or from what is known of them.
type turnFile struct {
	Messages map[string]turnMessage
	Formats  []struct {
		Format, Tool, Reasoning string
		Source                  string
		Closed                  string // a prompt behind which no thought is written
		Turns                   map[string]string
	}
}

type turnMessage struct {
	Reasoning, Content string
	Calls              []struct{ Name, Arguments string }
}

// message is the message, its calls with ids as Mistral has them.
func (t turnMessage) message() *parlance.Message {
	m := &parlance.Message{Reasoning: t.Reasoning, Content: t.Content}
	for k, c := range t.Calls {
		m.Calls = append(m.Calls, parlance.Call{ID: fmt.Sprintf("abcdefgh%d", k), Name: c.Name, Arguments: c.Arguments})
	}
	return m
}

// encoded is the message as the OpenAI interface has it.
func (t turnMessage) encoded() []byte {
	message := map[string]any{"role": "assistant", "content": t.Content}
	if t.Reasoning != "" {
		message["reasoning"] = t.Reasoning
	}
	var calls []any
	for _, c := range t.message().Calls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	data, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return data
}

func readTurns(t *testing.T) (file turnFile, tools *parlance.Tools) {
	t.Helper()
	data, err := os.ReadFile("testdata/turns.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if tools, err = parlance.ParseTools([]byte(turnTools)); err != nil {
		t.Fatal(err)
	}
	return file, tools
}

// styles compares, situation by situation, and holds the list of known differences against what was found.
type styles struct {
	t      *testing.T
	name   string
	listed []difference
	equal  int
	hit    map[string]bool
	hidden int // situations that the template does not show, so that there is nothing to compare
}

func (s *styles) compare(situation, want, got string) {
	if got == want {
		s.equal++
		return
	}
	for _, d := range s.listed {
		if slices.Contains(d.situations, situation) {
			s.hit[situation] = true
			return
		}
	}
	s.t.Errorf("%s: %s:\nexpected %q\nfound    %q", s.name, situation, want, got)
}

// report prints the row of the table, and fails for a listed difference that is gone.
func (s *styles) report() {
	reasons := ""
	for _, d := range s.listed {
		for _, situation := range d.situations {
			if !s.hit[situation] {
				s.t.Errorf("%s: %s: expected the listed difference (%s), found none: take it off the list", s.name, situation, d.reason)
			}
		}
		reasons += fmt.Sprintf("; %s differ: %s", strings.Join(d.situations, ", "), d.reason)
	}
	hidden := ""
	if s.hidden > 0 {
		hidden = fmt.Sprintf(", %d not shown by the template", s.hidden)
	}
	s.t.Logf("%-24s %2d equal%s%s", s.name, s.equal, hidden, reasons)
}

// TestTurns: what is written for a message is what the chat template of the family writes for the turn, byte for byte.
func TestTurns(t *testing.T) {
	file, tools := readTurns(t)
	for _, f := range file.Formats {
		trip, err := roundtrip.NewTrip(f.Format, f.Tool, f.Reasoning)
		if err != nil {
			t.Fatal(err)
		}
		s := &styles{t: t, name: f.Format, listed: formatDifferences[f.Format], hit: map[string]bool{}}
		for _, situation := range slices.Sorted(maps.Keys(f.Turns)) {
			m := file.Messages[situation].message()
			request := trip.Request(tools)
			if m.Reasoning == "" && f.Closed != "" {
				request.Prompt = f.Closed
			}
			got, err := trip.Renderer.Render(m, render.Options{Request: request})
			if err != nil {
				got = err.Error()
			}
			s.compare(situation, f.Turns[situation], got)
			if difference := trip.Difference(m, trip.Renderer.Parser().Parse(got, request, parlance.FinishStop)); err == nil && difference != "" {
				t.Errorf("%s: %s: read back: %s", f.Format, situation, difference)
			}
		}
		s.report()
	}
}

// TestTemplates: the same for the templates of our own.
func TestTemplates(t *testing.T) {
	file, tools := readTurns(t)
	for _, name := range templates.Names() {
		trip := templateTrip(t, name)
		source, _ := templates.Source(name)
		template, err := chattemplate.Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		s := &styles{t: t, name: name, listed: templateDifferences[name], hit: map[string]bool{}}
		for _, situation := range slices.Sorted(maps.Keys(file.Messages)) {
			s.template(template, &trip, situation, file.Messages[situation], tools)
		}
		s.report()
	}
}

// templateTrip is the format that a template shows.
func templateTrip(t *testing.T, name string) roundtrip.Trip {
	t.Helper()
	f, ok := templateFormats[name]
	if !ok {
		t.Fatalf("expected the format that the template %s shows", name)
	}
	trip, err := roundtrip.NewTrip(f.format, f.tool, f.reasoning)
	if err != nil {
		t.Fatal(err)
	}
	return trip
}

// templateTurn renders a message behind a question, and gives the prompt before it and the turn up to its end. Thinking
// is on where the message has reasoning. The error is the template's, which may refuse a message.
func templateTurn(template *chattemplate.Template, trip *roundtrip.Trip, written turnMessage) (prompt, turn string, err error) {
	const question = `{"role": "user", "content": "Hi"}`
	on := written.Reasoning != ""
	chat := chattemplate.Chat{Messages: []byte("[" + question + "]"), Tools: []byte(turnTools), Kwargs: fmt.Appendf(nil, `{"thinking": %t, "enable_thinking": %t}`, on, on)}
	if prompt, turn, err = template.Turn(chat, written.encoded()); err != nil {
		return "", "", err
	}
	chat.Messages = []byte("[" + question + ", " + string(written.encoded()) + "]")
	whole, err := template.RenderChat(chat)
	if err != nil {
		return "", "", err
	}
	// Turn takes off what the template writes behind every content, which is more than the end of the turn where an answer
	// stands in a frame.
	definition, _, _ := trip.Renderer.Parser().Definitions()
	if rest, ok := strings.CutPrefix(whole.Prompt, prompt); ok && definition.Turn.End != "" {
		if at := strings.LastIndex(rest, definition.Turn.End); at >= 0 {
			turn = rest[:at]
		}
	}
	return prompt, turn, nil
}

// TestEveryFormatHasATurn: a new format says how its family writes a turn, but for those whose grammar comes with the
// checkpoint.
func TestEveryFormatHasATurn(t *testing.T) {
	file, _ := readTurns(t)
	known := map[string]bool{}
	for _, f := range file.Formats {
		known[f.Format] = true
	}
	for name := range templateFormats {
		trip := templateTrip(t, name)
		known[trip.Format] = true
		if _, reasoning, _ := trip.Renderer.Parser().Definitions(); reasoning != nil {
			known[reasoning.Format] = true
		}
	}
	for _, f := range parlance.Formats() {
		if !known[f.Name] && !f.ResponseTemplate {
			t.Errorf("expected turns of %s in testdata/turns.json, found none", f.Name)
		}
	}
}
