package engine

import (
	"bufio"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance"
)

// The tests of this file speak with a real llama.cpp server, whose address is in PARLANCE_LLAMACPP_URL; .ci/engine starts
// one. Nothing is asserted about time, and hardly anything about what a small model says.

func realEngine(t *testing.T) (Engine, string) {
	url := os.Getenv("PARLANCE_LLAMACPP_URL")
	if url == "" {
		t.Skip("PARLANCE_LLAMACPP_URL is not set")
	}
	return mustOpen(t, "llamacpp", Options{URL: url, PieceTimeout: 5 * time.Minute}), url
}

func greedy() Sampling {
	zero, seed := 0.0, int64(1)
	return Sampling{Temperature: &zero, Seed: &seed}
}

func realPrompt(t *testing.T, e Engine, question string) Prompt {
	t.Helper()
	messages, err := json.Marshal([]map[string]string{{"role": "user", "content": question}})
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := e.ApplyTemplate(t.Context(), &Conversation{Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	return prompt
}

// idle waits until no slot of the server is busy.
func idle(t *testing.T, url string) {
	t.Helper()
	for range 600 {
		response, err := http.Get(url + "/slots")
		if err != nil {
			t.Fatal(err)
		}
		var slots []struct {
			Processing bool `json:"is_processing"`
		}
		err = json.UnmarshalRead(response.Body, &slots, lenient)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		busy := false
		for _, slot := range slots {
			busy = busy || slot.Processing
		}
		if !busy && len(slots) > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("a slot of the engine is still busy")
}

func TestRealStream(t *testing.T) {
	e, url := realEngine(t)
	if err := e.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	prompt := realPrompt(t, e, "Name three fruits.")
	if !strings.HasSuffix(prompt.Text, "<|im_start|>assistant\n") {
		t.Errorf("prompt %q", prompt.Text)
	}
	stream, err := e.Generate(t.Context(), &Request{Prompt: prompt, Sampling: greedy(), MaxTokens: 12, Logprobs: true, TopLogprobs: 2, ContinuousUsage: true})
	if err != nil {
		t.Fatal(err)
	}
	var text, tokens strings.Builder
	n, counted := 0, 0
	var last Piece
	for piece, err := range Pieces(stream) {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Text != "" {
			n++
		}
		text.WriteString(piece.Text)
		for _, logprob := range piece.Logprobs {
			tokens.WriteString(logprob.Token)
			if logprob.ID < 0 || len(logprob.Top) != 2 || logprob.Logprob > 0 {
				t.Errorf("%+v", logprob)
			}
		}
		if piece.Usage == nil || piece.Usage.CompletionTokens < counted {
			t.Errorf("usage %+v behind %d tokens", piece.Usage, counted)
		} else {
			counted = piece.Usage.CompletionTokens
		}
		last = piece
	}
	if n < 5 || text.String() != tokens.String() || last.Finish != FinishLength || counted != 12 {
		t.Errorf("%d pieces, %q, tokens %q, last %+v", n, text.String(), tokens.String(), last)
	}
	idle(t, url)
}

func TestRealStopString(t *testing.T) {
	e, _ := realEngine(t)
	prompt := realPrompt(t, e, "Count from one to nine, in digits.")
	prompt.Text += "1, 2, 3,"
	stream, err := e.Generate(t.Context(), &Request{Prompt: prompt, Sampling: greedy(), MaxTokens: 40, Stop: []string{"6"}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Collect(stream)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Finish != FinishStop || answer.StopString != "6" || strings.Contains(answer.Text, "6") || !strings.Contains(answer.Text, "5") {
		t.Errorf("%+v", answer)
	}
}

// The end of the model's turn: its token is made likely, and shows only if it is preserved.
func TestRealSpecialTokens(t *testing.T) {
	e, _ := realEngine(t)
	tokens, err := e.Tokenize(t.Context(), "", "<|im_end|>é", false)
	if err != nil || len(tokens) < 2 || tokens[0].Text != "<|im_end|>" {
		t.Fatal(tokens, err)
	}
	var list []int
	for _, token := range tokens {
		list = append(list, token.ID)
	}
	if text, err := e.Detokenize(t.Context(), "", list); err != nil || text != "<|im_end|>é" {
		t.Errorf("%q, %v", text, err)
	}
	for _, preserved := range [][]string{nil, {"<|im_end|>", "no token"}} {
		sampling := greedy()
		sampling.LogitBias = map[int]float64{tokens[0].ID: 100}
		stream, err := e.Generate(t.Context(), &Request{Prompt: realPrompt(t, e, "Hi."), Sampling: sampling, MaxTokens: 5, PreservedTokens: preserved})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Collect(stream)
		if err != nil || answer.Finish != FinishStop || answer.StopString != "" || (answer.Text == "<|im_end|>") != (preserved != nil) {
			t.Errorf("preserved %q: %+v, %v", preserved, answer, err)
		}
	}
}

// hermesCall is a grammar of one call.
const hermesCall = `root ::= "<tool_call>\n" obj "\n</tool_call>"
obj  ::= "{\"name\": \"get_weather\", \"arguments\": " args "}"
args ::= "{\"city\": " str ", \"days\": " int "}"
str  ::= "\"" ch{1,20} "\""
ch   ::= [^"\\\x00-\x1F]
int  ::= [1-9] [0-9]{0,1}
`

func TestRealCallUnderAGrammar(t *testing.T) {
	e, _ := realEngine(t)
	parser, err := parlance.Lookup("hermes", "")
	if err != nil {
		t.Fatal(err)
	}
	constraint := &Constraint{Dialect: GBNF, Text: hermesCall}
	stream, err := e.Generate(t.Context(), &Request{Prompt: realPrompt(t, e, "What is the weather in Paris?"), Sampling: greedy(), MaxTokens: 120, Constraint: constraint})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Collect(stream)
	if err != nil {
		t.Fatal(err)
	}
	m := parser.Parse(answer.Text, parlance.Request{}, parlance.FinishStop)
	if answer.Finish != FinishStop || len(m.Calls) != 1 || m.Calls[0].Name != "get_weather" || m.Content != "" || !jsontext.Value(m.Calls[0].Arguments).IsValid() {
		t.Errorf("%+v from %q", m, answer.Text)
	}
}

// A constraint that sleeps lets the model count, until it says what wakes it.
func TestRealLazyConstraint(t *testing.T) {
	e, _ := realEngine(t)
	prompt := realPrompt(t, e, "Count from one to nine, in digits.")
	prompt.Text += "1, 2, 3,"
	for _, trigger := range []Trigger{{Text: "5"}, {Text: "(5)", Pattern: true}} {
		stream, err := e.Generate(t.Context(), &Request{Prompt: prompt, Sampling: greedy(), MaxTokens: 30,
			Constraint: &Constraint{Dialect: GBNF, Text: `root ::= "5" "! <tool_call>"`, Triggers: []Trigger{trigger}}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Collect(stream)
		if err != nil || answer.Text != " 4, 5! <tool_call>" || answer.Finish != FinishStop {
			t.Errorf("%+v: %+v, %v", trigger, answer, err)
		}
	}
}

func TestRealConstraintsOfOtherKinds(t *testing.T) {
	e, _ := realEngine(t)
	_, err := e.Generate(t.Context(), &Request{Prompt: Prompt{Text: "a"}, MaxTokens: 3, Constraint: &Constraint{Dialect: GBNF, Text: "root ::= ("}})
	if failed := wantError(t, err, Refused, false, "grammar"); failed.HTTPStatus() != http.StatusBadRequest {
		t.Errorf("status %d", failed.HTTPStatus())
	}
	stream, err := e.Generate(t.Context(), &Request{Prompt: realPrompt(t, e, "A number?"), Sampling: greedy(), MaxTokens: 30,
		Constraint: &Constraint{Dialect: JSONSchema, Text: `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9}},"required":["n"],"additionalProperties":false}`}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Collect(stream)
	var object struct{ N int }
	if err == nil {
		err = json.Unmarshal([]byte(answer.Text), &object, json.MatchCaseInsensitiveNames(true))
	}
	if err != nil || object.N < 1 || object.N > 9 {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestRealClientLeaves(t *testing.T) {
	e, url := realEngine(t)
	idle(t, url)
	before := predicted(t, url)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := e.Generate(ctx, &Request{Prompt: realPrompt(t, e, "Tell a long story."), MaxTokens: 1500, Sampling: Sampling{IgnoreEOS: true}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Next(); err != nil {
			t.Fatal(err)
		}
		cancel()
		for err == nil {
			_, err = stream.Next()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	idle(t, url)
	if n := predicted(t, url) - before; n > 1000 {
		t.Errorf("the engine went on to %d tokens of 3,000 after the clients had left", n)
	}
}

// predicted is how many tokens the server has generated.
func predicted(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "llamacpp:tokens_predicted_total "); ok {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
	}
	t.Fatal("the engine does not tell how many tokens it has generated")
	return 0
}

func TestRealModels(t *testing.T) {
	e, _ := realEngine(t)
	models, err := e.Models(t.Context())
	if err != nil || len(models) != 1 || models[0].ID == "" || models[0].MaxTokens == 0 || models[0].OwnedBy != "llamacpp" {
		t.Errorf("%+v, %v", models, err)
	}
	template, err := e.Template(t.Context(), "")
	if err != nil || !strings.Contains(template.Source, "<|im_start|>") || template.EOS != "<|im_end|>" {
		t.Errorf("%+v, %v", template, err)
	}
	_, err = e.Generate(t.Context(), &Request{Prompt: Prompt{Tokens: slices.Repeat([]int{5}, models[0].MaxTokens+10)}, MaxTokens: 1})
	wantError(t, err, Refused, false, "context")
}

// The same server by its OpenAI routes.
func TestRealOpenAIRoutes(t *testing.T) {
	e, url := realEngine(t)
	for name, request := range map[string]*Request{
		"openai-completions": {Prompt: realPrompt(t, e, "Name a fruit.")},
		"openai-chat": {Conversation: &Conversation{Messages: jsontext.Value(`[{"role":"user","content":"Name a fruit."}]`),
			Tools: jsontext.Value(weatherTool)}},
	} {
		request.MaxTokens, request.Sampling = 8, greedy()
		generic := mustOpen(t, name, Options{URL: url})
		stream, err := generic.Generate(t.Context(), request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer, err := Collect(stream)
		if err != nil || answer.Text == "" || answer.Finish == "" || answer.Usage == nil || answer.Usage.CompletionTokens == 0 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
}
