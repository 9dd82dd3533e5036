package server_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
)

// TestRandomAnswers asks for the outputs of the conformance cases with whatever a request can say at once, and holds that
// the answer is what the library makes of the output as far as the engine wrote it, that a streamed and a whole answer are
// the same, and that a stream is one that all clients can read. PARLANCE_SEED makes another choice.
func TestRandomAnswers(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("PARLANCE_SEED"), 10, 64)
	random := rand.New(rand.NewPCG(seed, 5))
	cases, err := conformance.Load("../conformance/cases")
	if err != nil {
		t.Fatal(err)
	}
	byParser := map[[2]string][]*conformance.Case{}
	for _, c := range cases {
		if c.Text != nil && *c.Text != "" && len(c.ResponseTemplate) == 0 && len(c.AddedTokens) == 0 && len(c.SpecialTokens) == 0 {
			pair := [2]string{c.ToolParser, c.ReasoningParser}
			byParser[pair] = append(byParser[pair], c)
		}
	}
	pairs := make([][2]string, 0, len(byParser))
	for pair := range byParser {
		if pair != [2]string{} {
			pairs = append(pairs, pair)
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, pair := range pairs {
		parser, err := parlance.Lookup(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		of := byParser[pair]
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		outputs := make([]*output, 0, 6)
		for _, c := range of[:min(6, len(of))] {
			outputs = append(outputs, newOutput(random, len(outputs), c))
		}
		recordings := make([]any, len(outputs))
		for i, o := range outputs {
			recordings[i] = o.recording()
		}
		flags := []string{"--replay", record(t, map[string]any{"model": "m", "recordings": recordings}), "--chat-template", "{{ messages[0].content }}", "--calls", "validated"}
		if pair[0] != "" {
			flags = append(flags, "--tool-call-parser", pair[0], "--enable-auto-tool-choice")
		}
		if pair[1] != "" {
			flags = append(flags, "--reasoning-parser", pair[1])
		}
		url := serve(t, flags...)
		// In front of it another one, which looks for stop strings itself where they are to be shown.
		front := serve(t, append(flags[2:], "--engine", "openai-completions", "--engine-url", url)...)
		for _, o := range outputs {
			for range 2 {
				q := newQuestion(random, o, parser, o.from.Tools)
				q.hold(t, url)
				if !q.ids && !q.forced { // what an engine of that kind cannot do
					q.hold(t, front)
				}
				if t.Failed() {
					t.Fatalf("%v, case %s, seed %d: %s", pair, o.from.ID, seed, q.fields)
				}
			}
		}
	}
}

// output is what a model writes, in pieces.
type output struct {
	from   *conformance.Case
	prompt string
	pieces []string
	finish string
}

func newOutput(random *rand.Rand, number int, c *conformance.Case) *output {
	o := &output{from: c, prompt: fmt.Sprintf("question %d\n%s", number, c.Prompt), finish: c.FinishReason}
	runes, most := []rune(*c.Text), 1+random.IntN(12)
	for len(runes) > 0 {
		n := min(len(runes), 1+random.IntN(most))
		o.pieces, runes = append(o.pieces, string(runes[:n])), runes[n:]
	}
	if o.finish == "" {
		o.finish = "stop"
	}
	return o
}

func (o *output) recording() any {
	pieces := make([]any, len(o.pieces))
	for i, piece := range o.pieces {
		pieces[i] = map[string]any{"text": piece, "tokens": []int{i}, "logprobs": []any{map[string]any{"token": piece, "id": i, "logprob": -0.5}}}
	}
	return map[string]any{"match": map[string]any{"prompt": o.prompt}, "pieces": pieces, "finish_reason": o.finish}
}

// question is a request for an output, with what must come of it.
type question struct {
	fields   string
	choices  int
	hidden   bool // log probabilities and token ids
	logprobs bool
	ids      bool
	usage    bool
	forced   bool // a call
	want     answer
	tokens   int // of a choice
}

func newQuestion(random *rand.Rand, o *output, parser *parlance.Parser, tools jsontext.Value) *question {
	yes := func() bool { return random.IntN(2) == 0 }
	prompt, _ := json.Marshal(o.prompt)
	q := &question{choices: 1, fields: `"messages":[{"role":"user","content":` + string(prompt) + `}]`}
	reading := parlance.Request{Prompt: o.prompt, Validated: true, ToolChoice: parlance.ToolChoice{Mode: "none"}}
	add := func(format string, arguments ...any) { q.fields += fmt.Sprintf(","+format, arguments...) }
	if kwargs := o.from.ChatTemplateKwargs; len(kwargs) > 0 && kwargs["force_nonempty_content"] == nil {
		data, _ := json.Marshal(kwargs)
		add(`"chat_template_kwargs":%s`, data)
		reading.ChatTemplateKwargs = kwargs
	}
	parallel := true
	if parser.ToolName() != "" && tools.Kind() == '[' {
		add(`"tools":%s`, tools)
		reading.Tools, _ = parlance.ParseTools(tools)
		reading.ToolChoice.Mode = "auto"
		switch random.IntN(6) {
		case 0:
			add(`"tool_choice":"none"`)
			reading.ToolChoice.Mode = "none"
		case 1:
			add(`"tool_choice":"required"`)
			reading.ToolChoice.Mode, q.forced = "required", true
		case 2:
			names := reading.Tools.Names()
			name := names[random.IntN(len(names))]
			add(`"tool_choice":{"type":"function","function":{"name":%q}}`, name)
			reading.ToolChoice, q.forced = parlance.ToolChoice{Mode: "function", Name: name}, true
		}
		if random.IntN(4) == 0 {
			add(`"parallel_tool_calls":false`)
			parallel = false
		}
	}
	text, finish := strings.Join(o.pieces, ""), parlance.FinishReason(o.finish)
	q.tokens, q.want.Finish = len(o.pieces), o.finish
	switch random.IntN(3) {
	case 0:
		q.tokens = 1 + random.IntN(len(o.pieces))
		add(`"max_tokens":%d`, q.tokens)
		if q.tokens < len(o.pieces) {
			text, finish, q.want.Finish = strings.Join(o.pieces[:q.tokens], ""), parlance.FinishLength, "length"
		}
	case 1:
		runes := []rune(text)
		from := random.IntN(len(runes))
		stop := string(runes[from:min(len(runes), from+1+random.IntN(9))])
		quoted, _ := json.Marshal(stop)
		add(`"stop":%s`, quoted)
		text = text[:strings.Index(text, stop)]
		before := len(text) + len(stop)
		if yes() {
			add(`"include_stop_str_in_output":true`)
			text += stop
		}
		for q.tokens = 0; before > 0; q.tokens++ {
			before -= len(o.pieces[q.tokens])
		}
		q.want.Finish, q.want.Stop, finish = "stop", stop, parlance.FinishLength
		if isMarker(parser, stop) {
			finish = parlance.FinishStop
		}
	}
	include := yes()
	if !include {
		add(`"include_reasoning":false`)
	}
	q.logprobs, q.ids, q.usage, q.hidden = yes(), yes(), yes(), !include
	if q.logprobs {
		add(`"logprobs":true`)
	}
	if q.ids {
		add(`"return_token_ids":true`)
	}
	if random.IntN(4) == 0 {
		q.choices = 2 + random.IntN(2)
		add(`"n":%d`, q.choices)
	}
	m := parser.Parse(text, reading, finish)
	q.want.Content = m.Content
	if include {
		q.want.Reasoning = m.Reasoning
	}
	cut := false
	for i, call := range m.Calls {
		if i > 0 && !parallel {
			break
		}
		q.want.Calls, cut = append(q.want.Calls, call.Name+" "+call.Arguments), call.Cut
	}
	if q.want.Finish == "stop" && len(q.want.Calls) > 0 && !cut && reading.ToolChoice.Mode != "function" {
		q.want.Finish = "tool_calls"
	}
	return q
}

// isMarker tells whether a stop string is markup of the format, which leaves out only closers (docs/server.md).
func isMarker(parser *parlance.Parser, stop string) bool {
	stop = strings.TrimSpace(stop)
	for _, format := range []func() (parlance.FormatInfo, bool){parser.ToolFormat, parser.ReasoningFormat} {
		if info, ok := format(); ok && (slices.Contains(info.Markers, stop) || stop == strings.TrimSpace(info.TurnEnd)) {
			return true
		}
	}
	return false
}

// hold asks, whole and streamed.
func (q *question) hold(t *testing.T, url string) {
	t.Helper()
	status, data := post(t, url+"/v1/chat/completions", "{"+q.fields+"}")
	if status != http.StatusOK {
		t.Errorf("status %d: %s", status, data)
		return
	}
	var whole struct {
		completion
		Prompt []int `json:"prompt_token_ids"`
	}
	var told struct {
		Choices []struct {
			Logprobs *struct{ Content []any } `json:"logprobs"`
			Tokens   []int                    `json:"token_ids"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &told, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if len(whole.Choices) != q.choices {
		t.Fatalf("expected %d choices, found %s", q.choices, data)
	}
	for i, choice := range whole.Choices {
		found := answer{Reasoning: choice.Message.Reasoning, Content: choice.Message.Content, Finish: choice.Finish, Stop: choice.Stop}
		for _, call := range choice.Message.ToolCalls {
			found.Calls = append(found.Calls, call.Function.Name+" "+*call.Function.Arguments)
		}
		if !reflect.DeepEqual(found, q.want) {
			t.Errorf("whole, choice %d:\nexpected %+v\nfound    %+v", i, q.want, found)
		}
		if shown := q.ids && !q.hidden; shown && len(told.Choices[i].Tokens) != q.tokens || !shown && told.Choices[i].Tokens != nil {
			t.Errorf("whole, choice %d: expected %d token ids (%v), found %v", i, q.tokens, shown, told.Choices[i].Tokens)
		}
		if shown := q.logprobs && !q.hidden; shown && (told.Choices[i].Logprobs == nil || len(told.Choices[i].Logprobs.Content) != q.tokens) || !shown && told.Choices[i].Logprobs != nil {
			t.Errorf("whole, choice %d: expected %d log probabilities (%v), found %v", i, q.tokens, shown, told.Choices[i].Logprobs)
		}
	}
	options := ""
	if q.usage {
		options = `,"stream_options":{"include_usage":true}`
	}
	status, data = post(t, url+"/v1/chat/completions", "{"+q.fields+`,"stream":true`+options+"}")
	if status != http.StatusOK {
		t.Errorf("streamed: status %d: %s", status, data)
		return
	}
	chunks := events(t, data)
	if q.usage {
		var last completion
		if err := json.Unmarshal([]byte(chunks[len(chunks)-2]), &last); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(last.Usage, whole.Usage) || len(last.Choices) != 0 {
			t.Errorf("expected the usage %+v, found %s", whole.Usage, chunks[len(chunks)-2])
		}
		chunks = slices.Delete(chunks, len(chunks)-2, len(chunks)-1)
	}
	q.streamed(t, chunks)
}

// streamed holds a stream of one or more choices.
func (q *question) streamed(t *testing.T, chunks []string) {
	t.Helper()
	of := make([][]string, q.choices)
	tokens, logprobs := make([]int, q.choices), make([]int, q.choices)
	for n, chunk := range chunks[:len(chunks)-1] {
		var c struct {
			Choices []struct {
				Index    int
				Delta    jsontext.Value
				Logprobs *struct{ Content []any }
				Tokens   []int  `json:"token_ids"`
				Finish   string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(chunk), &c, json.MatchCaseInsensitiveNames(true)); err != nil || len(c.Choices) != 1 {
			t.Fatalf("expected one choice, found %s (%v)", chunk, err)
		}
		choice := c.Choices[0]
		if n < q.choices && choice.Index != n {
			t.Errorf("expected the role of choice %d first, found %s", n, chunk)
		}
		tokens[choice.Index] += len(choice.Tokens)
		if choice.Logprobs != nil {
			logprobs[choice.Index] += len(choice.Logprobs.Content)
		}
		if string(choice.Delta) == "{}" && choice.Finish == "" {
			if len(choice.Tokens) == 0 && choice.Logprobs == nil {
				t.Errorf("expected no empty chunk, found %s", chunk)
			}
			continue // it tells of tokens only
		}
		of[choice.Index] = append(of[choice.Index], chunk)
	}
	for i := range of {
		if found := accumulate(t, append(of[i], chunks[len(chunks)-1])); !reflect.DeepEqual(found, q.want) {
			t.Errorf("streamed, choice %d:\nexpected %+v\nfound    %+v", i, q.want, found)
		}
		for name, count := range map[string]struct {
			asked bool
			found int
		}{"token ids": {q.ids, tokens[i]}, "log probabilities": {q.logprobs, logprobs[i]}} {
			want := 0
			if count.asked && !q.hidden {
				want = q.tokens
			}
			if count.found != want {
				t.Errorf("streamed, choice %d: expected %d %s, found %d", i, want, name, count.found)
			}
		}
	}
}
