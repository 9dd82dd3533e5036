package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// ask posts a question and gives the lines of the answer.
func ask(t *testing.T, question any) (status int, lines []map[string]json.RawMessage) {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Handler(Options{}))
	defer server.Close()
	answer, err := http.Post(server.URL+"/api/read", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	scanner := bufio.NewScanner(answer.Body)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var line map[string]json.RawMessage
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%v in %s", err, scanner.Text())
		}
		lines = append(lines, line)
	}
	return answer.StatusCode, lines
}

// read gives the summary and the steps of an answer.
func read(t *testing.T, q Question) (summary Summary, steps []Step) {
	t.Helper()
	status, lines := ask(t, q)
	if status != http.StatusOK {
		t.Fatalf("%d: %v", status, lines)
	}
	for _, line := range lines {
		var some []Step
		if data, ok := line["summary"]; ok {
			if err := json.Unmarshal(data, &summary); err != nil {
				t.Fatal(err)
			}
		}
		if data, ok := line["steps"]; ok {
			if err := json.Unmarshal(data, &some); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, some...)
		}
	}
	return summary, steps
}

// TestSamplesRead: every sample is covered by its spans from end to end, and its deltas put together are the message,
// however it is cut.
func TestSamplesRead(t *testing.T) {
	server := httptest.NewServer(Handler(Options{}))
	defer server.Close()
	answer, err := http.Get(server.URL + "/api/samples")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var samples []sample
	if err := json.NewDecoder(answer.Body).Decode(&samples); err != nil || len(samples) < 8 {
		t.Fatal(len(samples), err)
	}
	for _, s := range samples {
		for _, chunk := range []int{0, 1, 5} {
			q := Question{Text: s.Text, ToolParser: s.ToolParser, ReasoningParser: s.ReasoningParser, Prompt: s.Prompt, Chunk: chunk, Seed: uint64(chunk / 5)}
			summary, steps := read(t, q)
			at := 0
			for _, span := range summary.Spans {
				if span.Start != at || span.End <= at || span.Says == "" {
					t.Fatalf("%s: a span %+v after %d", s.Title, span, at)
				}
				at = span.End
			}
			if at != units(s.Text) || steps[len(steps)-1].At != at {
				t.Errorf("%s: the spans end at %d, the steps at %d, the text at %d", s.Title, at, steps[len(steps)-1].At, units(s.Text))
			}
			var content, reasoning, arguments strings.Builder
			for _, step := range steps {
				for _, d := range step.Deltas {
					switch d.Kind {
					case "content":
						content.WriteString(d.Text)
					case "reasoning":
						reasoning.WriteString(d.Text)
					case "arguments":
						arguments.WriteString(d.Text)
					}
				}
			}
			all := ""
			for _, call := range summary.Message.Calls {
				all += call.Arguments
			}
			if content.String() != summary.Message.Content || reasoning.String() != summary.Message.Reasoning || arguments.String() != all {
				t.Errorf("%s, chunk %d: the deltas are not the message", s.Title, chunk)
			}
		}
	}
}

// TestMarkersAreNamed: a piece of markup is told with its marker and the rules that have it.
func TestMarkersAreNamed(t *testing.T) {
	summary, _ := read(t, Question{Text: "<think>a</think>b", ReasoningParser: "deepseek_r1"})
	first := summary.Spans[0]
	if first.Marker != "<think>" || len(first.Rules) != 1 || first.Rules[0] != "thought" || first.Start != 0 || first.End != len("<think>") {
		t.Errorf("%+v", first)
	}
}

// TestDetectsWhenAsked: auto takes the formats that the text looks like.
func TestDetectsWhenAsked(t *testing.T) {
	summary, _ := read(t, Question{Text: "<think>hm</think><tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>", ToolParser: "auto", ReasoningParser: "auto"})
	if summary.ToolParser == "" || summary.ReasoningParser == "" || len(summary.Message.Calls) != 1 || summary.Message.Reasoning != "hm" {
		t.Errorf("%+v", summary)
	}
	if status, lines := ask(t, Question{Text: "Hi.", ToolParser: "auto", ReasoningParser: "auto"}); status != http.StatusBadRequest || len(lines) != 1 {
		t.Errorf("%d %v", status, lines)
	}
}

func TestPlacesCountUTF16(t *testing.T) {
	summary, steps := read(t, Question{Text: "😀<think>é</think>", ReasoningParser: "qwen3", Chunk: 1})
	if last := summary.Spans[len(summary.Spans)-1]; last.End != 18 || steps[0].At != 2 {
		t.Errorf("%+v, %+v", summary.Spans, steps[0])
	}
}

func TestBadQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		question any
		status   int
		says     string
	}{
		"no object":        {"text", http.StatusBadRequest, "JSON object"},
		"no parser":        {Question{Text: "x"}, http.StatusBadRequest, "parser"},
		"unknown parser":   {Question{Text: "x", ToolParser: "hermess"}, http.StatusBadRequest, "hermes"},
		"broken tools":     {map[string]any{"text": "x", "tool_parser": "hermes", "tools": []any{map[string]any{"type": "function"}}}, http.StatusBadRequest, "function"},
		"finish reason":    {Question{Text: "x", ToolParser: "hermes", FinishReason: "tired"}, http.StatusBadRequest, "stop or length"},
		"negative chunk":   {Question{Text: "x", ToolParser: "hermes", Chunk: -1}, http.StatusBadRequest, "chunk"},
		"text too long":    {Question{Text: strings.Repeat("x", MostText+1), ToolParser: "hermes"}, http.StatusRequestEntityTooLarge, "at most"},
		"request too long": {Question{Text: strings.Repeat("x", 2*MostText+1), ToolParser: "hermes"}, http.StatusRequestEntityTooLarge, "large"},
	} {
		status, lines := ask(t, c.question)
		if status != c.status || len(lines) != 1 || !strings.Contains(string(lines[0]["error"]), c.says) {
			t.Errorf("%s: %d %s", name, status, lines)
		}
	}
}

func TestPageAndFormats(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix("/playground", Handler(Options{})))
	defer server.Close()
	for path, kind := range map[string]string{
		"/playground/": "text/html", "/playground/page.js": "text/javascript", "/playground/style.css": "text/css", "/playground/icon.svg": "image/svg+xml", "/playground/api/formats": "application/json",
	} {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'self'") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	if len(parlance.ToolNames()) == 0 {
		t.Error("no names")
	}
}

// post gives an answer of one of the smaller interfaces.
func post(t *testing.T, o Options, path string, question any) (status int, answer string) {
	t.Helper()
	data, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	Handler(o).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(data)))
	return recorder.Code, recorder.Body.String()
}

func TestConstraint(t *testing.T) {
	tools := json.RawMessage(`[{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]`)
	for _, test := range []struct {
		dialect, tool, reasoning string
		tools                    json.RawMessage
		status                   int
		says                     string
	}{
		{"gbnf", "hermes", "", tools, http.StatusOK, `\"add\\\"`},
		{"lark", "hermes", "qwen3", tools, http.StatusOK, "start:"},
		{"ebnf", "qwen3_coder", "", tools, http.StatusOK, "root ::="},
		{"structural_tag", "hermes", "", tools, http.StatusOK, "structural_tag"},
		{"json_schema", "hermes", "", tools, http.StatusOK, "add"},
		{"gbnf", "hermes", "", nil, http.StatusOK, "no tools"},
		{"gbnf", "", "qwen3", tools, http.StatusOK, "no tool parser"},
		{"gbnf", "hermess", "", tools, http.StatusOK, "hermes"},
		{"gbnf", "hermes", "", json.RawMessage(`[{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "objekt"}}}]`), http.StatusOK, "objekt"},
		{"gbnf", "hermes", "", json.RawMessage(`[{"type": "function"}]`), http.StatusOK, "function"},
		{"regex", "hermes", "", tools, http.StatusBadRequest, "regex"},
	} {
		status, answer := post(t, Options{}, "/api/constraint", map[string]any{"dialect": test.dialect, "tool_parser": test.tool, "reasoning_parser": test.reasoning, "tools": test.tools})
		if status != test.status || !strings.Contains(answer, test.says) {
			t.Errorf("%s of %s: %d %s", test.dialect, test.tool, status, answer)
		}
	}
}

// TestTokenPlaces: a character that tokens share ends with the last of them, and tokens that are not the text are refused.
func TestTokenPlaces(t *testing.T) {
	for _, test := range []struct {
		text   string
		tokens []Token
		ends   [][2]int
		ok     bool
	}{
		{"aé😀", []Token{{"a", 1}, {"\xc3", 2}, {"\xa9", 3}, {"😀", 4}}, [][2]int{{1, 1}, {2, 3}, {4, 4}}, true},
		{"", nil, [][2]int{}, true},
		{"ab", []Token{{"a", 1}}, nil, false},
		{"ab", []Token{{"b", 1}}, nil, false},
	} {
		ends, ok := places(test.text, test.tokens)
		if ok != test.ok || ok && !slices.Equal(ends, test.ends) {
			t.Errorf("%q: %v %v", test.text, ends, ok)
		}
	}
}
