package engine

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parlance-llm/parlance"
)

const weatherTool = `[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]`

func mustOpen(t *testing.T, name string, o Options) Engine {
	t.Helper()
	e, err := Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// ask has a model of the bundled set answer, and reads the answer with the model's own parsers.
func ask(t *testing.T, e Engine, model Model, messages, tools string, kwargs map[string]any, constraint *Constraint) (*parlance.Message, string) {
	t.Helper()
	ctx := context.Background()
	prompt, err := e.ApplyTemplate(ctx, &Conversation{Model: model.ID, Messages: jsontext.Value(messages), Tools: jsontext.Value(tools), ChatTemplateKwargs: kwargs})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := e.Generate(ctx, &Request{Model: model.ID, Prompt: prompt, Constraint: constraint})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Collect(stream)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := parlance.Lookup(model.ToolCallParser, model.ReasoningParser)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := parlance.ParseTools([]byte(tools))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Parse(answer.Text, parlance.Request{Tools: declared, Prompt: prompt.Text, ChatTemplateKwargs: kwargs}, parlance.FinishStop), answer.Text
}

// The bundled set shows eight families, each with reasoning, one call, two calls, an answer from a tool's result, a forced
// call and a formatted answer, and each of them without a thought where the family can leave it out.
func TestBundledSet(t *testing.T) {
	e := mustOpen(t, "replay", Options{})
	models, err := e.Models(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	formats := map[string]bool{}
	user := func(text string) string { return fmt.Sprintf(`{"role": "user", "content": %q}`, text) }
	for _, model := range models {
		formats[model.ToolCallParser] = true
		for _, c := range []struct {
			name, messages string
			tools          string
			constraint     *Constraint
			calls          []string
			content        string
		}{
			{"one call", user("What is the weather in Paris?"), weatherTool, nil, []string{"Paris"}, ""},
			{"two calls", user("Compare Paris and Oslo."), weatherTool, nil, []string{"Paris", "Oslo"}, "I will look up both."},
			{"a result", user("What is the weather in Paris?") + `, {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "{\"celsius\": 18, \"sky\": \"clear\"}"}`,
				weatherTool, nil, nil, "It is 18 °C in Paris, under a clear sky."},
			{"a greeting", user("Hello!"), "", nil, nil, "Hello! I am a recording"},
			{"a greeting as parts", `{"role": "user", "content": [{"type": "text", "text": "Hello!"}]}`, "", nil, nil, "Hello! I am a recording"},
			{"a forced call", user("Go on."), weatherTool, &Constraint{Dialect: StructuralTag, Text: "{}"}, []string{"Paris"}, ""},
			{"a format", user("As JSON."), "", &Constraint{Dialect: JSONObject}, nil, `{"city": "Paris", "celsius": 18}`},
		} {
			for _, kwargs := range []map[string]any{nil, {"enable_thinking": false}} {
				m, text := ask(t, e, model, "["+c.messages+"]", c.tools, kwargs, c.constraint)
				var cities []string
				for _, call := range m.Calls {
					var arguments struct{ City string }
					if err := json.Unmarshal([]byte(call.Arguments), &arguments, json.MatchCaseInsensitiveNames(true)); err != nil || call.Name != "get_weather" {
						t.Errorf("%s, %s: call %+v: %v", model.ID, c.name, call, err)
					}
					cities = append(cities, arguments.City)
				}
				hasSwitch := map[string]bool{"qwen3-8b": true, "glm-4.7": true, "kimi-k2-thinking": true, "gemma-4-31b": true, "deepseek-v4": true}[model.ID]
				wantThought := kwargs == nil || !hasSwitch
				if !slices.Equal(cities, c.calls) || !strings.HasPrefix(m.Content, c.content) || (m.Reasoning != "") != wantThought || c.content == "" && m.Content != "" {
					t.Errorf("%s, %s, %v: R %q C %q T %q, from %q", model.ID, c.name, kwargs, m.Reasoning, m.Content, cities, text)
				}
			}
		}
	}
	if len(formats) != 8 {
		t.Errorf("%d formats: %v", len(formats), formats)
	}
}

func recordings(files map[string]string) Options {
	set := fstest.MapFS{}
	for name, text := range files {
		set[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Options{Recordings: set}
}

func TestReplayChunking(t *testing.T) {
	e := mustOpen(t, "replay", recordings(map[string]string{"a.json": `{"model": "m", "recordings": [{"pieces": ["He", {"text": "llo", "tokens": [5, 6]}, ""]}]}`}))
	stream, err := e.Generate(context.Background(), &Request{TokenIDs: true, Prompt: Prompt{Text: "12345"}})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var last Piece
	for piece, err := range Pieces(stream) {
		if err != nil {
			t.Fatal(err)
		}
		texts, last = append(texts, piece.Text), piece
	}
	if !slices.Equal(texts, []string{"He", "llo", "", ""}) || last.Finish != FinishStop || *last.Usage != (Usage{PromptTokens: 2, CompletionTokens: 4, Estimated: true}) {
		t.Errorf("%q, %+v", texts, last)
	}
}

func TestReplayLimits(t *testing.T) {
	e := mustOpen(t, "replay", recordings(map[string]string{"a.json": `{"model": "m", "recordings": [{"text": "one two three\n\nUser: four"}]}`}))
	for _, c := range []struct {
		request Request
		text    string
		finish  FinishReason
		stop    string
	}{
		{Request{}, "one two three\n\nUser: four", FinishStop, ""},
		{Request{MaxTokens: 2}, "one two", FinishLength, ""},
		{Request{Stop: []string{"\n\nUser:"}}, "one two three", FinishStop, "\n\nUser:"},
		{Request{Stop: []string{"\n\nUser:"}, IncludeStop: true}, "one two three\n\nUser:", FinishStop, "\n\nUser:"},
		{Request{Stop: []string{"\n\nUser:"}, MaxTokens: 5}, "one two three\n\nUser", FinishLength, ""},
	} {
		stream, err := e.Generate(context.Background(), &c.request)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Collect(stream)
		if err != nil || answer.Text != c.text || answer.Finish != c.finish || answer.StopString != c.stop {
			t.Errorf("%+v: %+v, %v", c.request, answer, err)
		}
	}
}

func TestReplayMatching(t *testing.T) {
	e := mustOpen(t, "replay", recordings(map[string]string{
		"a.json": `{"model": "m", "recordings": [
			{"match": {"contains": ["weather"]}, "text": "call"},
			{"match": {"contains": ["result"]}, "text": "answer"},
			{"match": {"prompt": "exactly weather"}, "text": "exact"},
			{"match": {"ends": "</off>"}, "text": "off"},
			{"match": {"constrained": true}, "text": "forced"},
			{"text": "first"}, {"text": "second"}]}`,
		"b.jsonl": `{"model": "n", "text": "n"}` + "\n\n" + `{"model": "m", "match": {"contains": ["lines"]}, "text": "lines"}`,
	}))
	get := func(r Request) string {
		stream, err := e.Generate(context.Background(), &r)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Collect(stream)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Text
	}
	for _, c := range []struct{ prompt, want string }{
		{"the weather", "call"}, {"the weather, the result", "answer"}, {"a result, then the weather", "call"},
		{"exactly weather", "exact"}, {"x</off>", "off"}, {"lines", "lines"}, {"other", "first"}, {"other", "second"}, {"other", "first"},
	} {
		if got := get(Request{Prompt: Prompt{Text: c.prompt}}); got != c.want {
			t.Errorf("%q: %q, want %q", c.prompt, got, c.want)
		}
	}
	if got := get(Request{Constraint: &Constraint{Dialect: JSONObject}}); got != "forced" {
		t.Errorf("constrained: %q", got)
	}
	seed := int64(1)
	for range 2 {
		if got := get(Request{Prompt: Prompt{Text: "other"}, Sampling: Sampling{Seed: &seed}}); got != "second" {
			t.Errorf("with a seed: %q", got)
		}
	}
	if got := get(Request{Model: "n"}); got != "n" {
		t.Errorf("model n: %q", got)
	}
}

func TestReplayErrors(t *testing.T) {
	e := mustOpen(t, "replay", recordings(map[string]string{"a.json": `{"model": "m", "recordings": [
		{"match": {"contains": ["full"]}, "error": {"status": 503, "message": "the queue is full"}},
		{"match": {"contains": ["cut"]}, "pieces": ["ha", "lf"], "error": {}},
		{"match": {"contains": ["stall"]}, "pieces": ["a", {"text": "b", "wait_ms": 600000}]}]}`}))
	generate := func(ctx context.Context, prompt string) (*Answer, error) {
		stream, err := e.Generate(ctx, &Request{Prompt: Prompt{Text: prompt}})
		if err != nil {
			return nil, err
		}
		return Collect(stream)
	}
	var failed *Error
	if _, err := generate(context.Background(), "full"); !errors.As(err, &failed) || failed.Kind != Overloaded || failed.Status != 503 || failed.Started {
		t.Errorf("full: %+v", failed)
	}
	answer, err := generate(context.Background(), "cut")
	if !errors.As(err, &failed) || failed.Kind != Broken || !failed.Started || answer.Text != "half" {
		t.Errorf("cut: %+v, %+v", failed, answer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	answer, err = generate(ctx, "stall")
	if !errors.As(err, &failed) || failed.Kind != Canceled || !errors.Is(err, context.DeadlineExceeded) || answer.Text != "a" {
		t.Errorf("stall: %+v, %+v", failed, answer)
	}
	if _, err := generate(context.Background(), "unknown"); !errors.As(err, &failed) || failed.Kind != Refused || failed.HTTPStatus() != 404 {
		t.Errorf("nothing fits: %+v", failed)
	}
	if _, err := e.Generate(context.Background(), &Request{Model: "x"}); !errors.As(err, &failed) || failed.Param != "model" || failed.HTTPStatus() != 404 {
		t.Errorf("unknown model: %+v", failed)
	}
	if _, err := e.Generate(context.Background(), &Request{Logprobs: true}); !errors.As(err, &failed) || failed.Kind != Unsupported || failed.HTTPStatus() != 400 {
		t.Errorf("logprobs: %+v", failed)
	}
	if _, err := e.Tokenize(context.Background(), "", "a", false); !errors.As(err, &failed) || failed.HTTPStatus() != 501 {
		t.Errorf("tokenize: %+v", failed)
	}
	stalled, err := e.Generate(context.Background(), &Request{Prompt: Prompt{Text: "stall"}})
	if err != nil {
		t.Fatal(err)
	}
	if piece, err := stalled.Next(); piece.Text != "a" || err != nil {
		t.Fatal(piece, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { stalled.Close() })
	if _, err := stalled.Next(); !errors.As(err, &failed) || failed.Kind != Canceled {
		t.Errorf("closed meanwhile: %v", err)
	}
}

func TestBadRecordings(t *testing.T) {
	for text, want := range map[string]string{
		`{"model": "m", "recordings": [{"id": 1}]}`: `a.json: expected the members of a recording, found "id"`,
		`{"model": 3}`: `a.json: model: expected a string, found a number`,
		`{"model": "m", "recordings": [{"pieces": [{"text": "a", "wait_ms": "x"}]}]}`: `recordings[0].pieces[0].wait_ms: expected a number, found a string`,
		`{"recordings": []}`:                                                     `a.json: expected the name of a model in "model"`,
		`{"model": "m", "recording": []}`:                                        `a.json: expected the members of a recording, found "recording"`,
		`{"model": "m", "recordings": [{"text": "a", "pieces": ["b"]}]}`:         `a.json: m: recording 0: expected text or pieces`,
		`{"model": "m", "recordings": [{"finish_reason": "done"}]}`:              `found "done"`,
		`{"model": "m", "recordings": [{"pieces": [{"txt": "a"}]}]}`:             `txt`,
		`{"model": "m", "recordings": [{"finish_reason": "stop", "error": {}}]}`: `found both`,
		`{"model": "m", "recordings": [{"text": "a"}], "recordings": []}`:        `duplicate`,
	} {
		if _, err := Open("replay", recordings(map[string]string{"a.json": text})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Open("replay", recordings(map[string]string{"a.txt": ""})); err == nil {
		t.Error("no files: expected an error")
	}
	o := recordings(map[string]string{"a.json": `{"model": "m", "recordings": []}`})
	o.Model = "x"
	if _, err := Open("replay", o); err == nil {
		t.Error("unknown standard model: expected an error")
	}
}
