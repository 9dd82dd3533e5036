package server_test

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// scripted is an engine's server that says what it is told to, and keeps what it was asked.
type scripted struct {
	url string

	mutex sync.Mutex
	asked [][]byte
	says  []string // the answers in turn; the last one stays
}

// script starts one that speaks as vLLM does. A piece of an answer ends at every "|".
func script(t *testing.T, says ...string) *scripted {
	t.Helper()
	s := &scripted{says: says}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"object":"list","data":[{"id":"up","object":"model","max_model_len":4000}]}`)
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"count":2,"tokens":[1,2],"token_strs":["<user>","<assistant><think>"],"max_model_len":4000}`)
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"prompt":"<user><assistant>"}`)
	})
	mux.HandleFunc("POST /v1/completions", s.complete)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *scripted) complete(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	s.mutex.Lock()
	s.asked = append(s.asked, data)
	text := s.says[min(len(s.asked), len(s.says))-1]
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for piece := range strings.SplitSeq(text, "|") {
		quoted, _ := json.Marshal(piece)
		fmt.Fprintf(w, `data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":%s}]}`+"\n\n", quoted)
	}
	io.WriteString(w, `data: {"id":"c","choices":[{"index":0,"text":"","finish_reason":"stop"}]}`+"\n\n"+`data: {"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}`+"\n\ndata: [DONE]\n\n")
}

// tag is the structural tag of the last request, "" if there was none.
func (s *scripted) tag(t *testing.T) string {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var asked struct {
		Structured struct {
			Tag string `json:"structural_tag"`
		} `json:"structured_outputs"`
	}
	if err := json.Unmarshal(s.asked[len(s.asked)-1], &asked); err != nil {
		t.Fatal(err)
	}
	return asked.Structured.Tag
}

// constrained asks a server on the scripted engine, and gives the answer and its warnings.
func constrained(t *testing.T, s *scripted, fields string, flags ...string) ([]byte, []string) {
	t.Helper()
	url := serve(t, append(flags, "--engine", "vllm", "--engine-url", s.url)...)
	response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}],`+fields+`}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s %v", response.StatusCode, data, err)
	}
	return data, response.Header["X-Parlance-Warning"]
}

var hermes = []string{"--tool-call-parser", "hermes", "--enable-auto-tool-choice"}

const goodCall = `<tool_call>|{"name": "get_weather", "arguments": {"city": "Paris"}}|</tool_call>`

func TestW9ArgumentsAreHeldToObjects(t *testing.T) {
	s := script(t, goodCall)
	constrained(t, s, `"tools":[{"type":"function","function":{"name":"get_weather"}}],"tool_choice":"required"`, hermes...)
	if tag := s.tag(t); !strings.Contains(tag, "get_weather") || !strings.Contains(tag, `"object"`) || strings.Contains(tag, `"json_schema":true`) {
		t.Errorf("expected a tag whose arguments are an object, found %s", tag)
	}
}

func TestW10ReferencesKeepTheirTargets(t *testing.T) {
	tool := `{"type":"function","function":{"name":"get_weather","strict":true,"parameters":{"type":"object","properties":{"city":{"$ref":"#/definitions/city"},"days":{"$ref":"#/properties/city"}},"definitions":{"city":{"enum":["Paris","Oslo"]}}}}}`
	s := script(t, goodCall)
	constrained(t, s, `"tools":[`+tool+`],"tool_choice":"required"`, hermes...)
	if tag := s.tag(t); strings.Count(tag, "Oslo") == 0 || strings.Contains(tag, "#/definitions/city") && !strings.Contains(tag, `"definitions"`) {
		t.Errorf("expected the cities in the tag, found %s", tag)
	}
}

func TestW12EveryFamilyIsHeld(t *testing.T) {
	for _, name := range []string{"dots", "gemma4", "inkling", "k2_horizon", "minimax_m3", "muse", "muse_glimmer", "musespark1x", "poolside_v1", "mistral"} {
		s := script(t, "prose")
		_, warnings := constrained(t, s, `"tools":[`+weather+`],"tool_choice":"required"`, "--tool-call-parser", name)
		if tag := s.tag(t); !strings.Contains(tag, "get_weather") {
			t.Errorf("%s: expected a constraint, found %q", name, tag)
		}
		// An engine that does not heed it is noticed.
		if len(warnings) == 0 || !strings.Contains(strings.Join(warnings, "\n"), "did not hold the model") {
			t.Errorf("%s: expected a warning, found %q", name, warnings)
		}
	}
	// An engine that takes only JSON schemas is given one, and the plain JSON is read as the call.
	s := script(t, `[{"name": "get_weather",| "parameters": {"city": "Paris"}}]`)
	url := serve(t, "--engine", "openai-completions", "--engine-url", s.url, "--tool-call-parser", "gemma4", "--chat-template", "{{ messages[0].content }}")
	status, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`],"tool_choice":"required"}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "choices.0.message.tool_calls.0.function.arguments", `{"city": "Paris"}`)
	if !strings.Contains(string(s.asked[0]), `"json_schema"`) {
		t.Errorf("expected a JSON schema, found %s", s.asked[0])
	}
	// One that passes over the field is noticed.
	for _, choice := range []string{`"required"`, `{"type":"function","function":{"name":"get_weather"}}`} {
		for text, heeded := range map[string]bool{"It rains.": false, ` [{"name"`: false, ` [{"name": "get_weather", "parameters": {}}]`: choice[0] == '"', `{"city": "Paris"}`: choice[0] == '{'} {
			s := script(t, text)
			url := serve(t, "--engine", "openai-completions", "--engine-url", s.url, "--tool-call-parser", "gemma4", "--chat-template", "{{ messages[0].content }}")
			response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`],"tool_choice":`+choice+`}`))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			warned := strings.Contains(strings.Join(response.Header["X-Parlance-Warning"], "\n"), "did not hold the model")
			if warned == heeded {
				t.Errorf("%s, %q: warned %v", choice, text, warned)
			}
		}
	}
}

func TestW13CallsOrFormattedText(t *testing.T) {
	s := script(t, `{"answer": 4}`)
	data, _ := constrained(t, s, `"tools":[`+weather+`],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}}}`, hermes...)
	if tag := s.tag(t); !strings.Contains(tag, "get_weather") || !strings.Contains(tag, "answer") {
		t.Errorf("expected calls and the format in the tag, found %s", tag)
	}
	expect(t, data, "choices.0.message.content", `{"answer": 4}`)
	s = script(t, goodCall)
	data, _ = constrained(t, s, `"tools":[`+weather+`],"response_format":{"type":"json_object"}`, hermes...)
	expect(t, data, "choices.0.message.tool_calls.0.function.name", "get_weather")
}

func TestW20HidingIsPresentationOnly(t *testing.T) {
	flags := []string{"--tool-call-parser", "hermes", "--reasoning-parser", "qwen3"}
	fields := `"tools":[` + weather + `],"tool_choice":"required"`
	s := script(t, "hm</think>\n\n"+goodCall)
	shown, _ := constrained(t, s, fields, flags...)
	with := s.tag(t)
	hidden, _ := constrained(t, s, fields+`,"include_reasoning":false`, flags...)
	if without := s.tag(t); with == "" || with != without {
		t.Errorf("expected the same constraint, found\n%s\n%s", with, without)
	}
	for _, data := range [][]byte{shown, hidden} {
		expect(t, data, "choices.0.message.tool_calls.0.function.name", "get_weather")
		expect(t, data, "choices.0.finish_reason", "tool_calls")
	}
	expect(t, shown, "choices.0.message.reasoning", "hm")
	expect(t, hidden, "choices.0.message.reasoning", nil)
}

// TestThinkFirst: where a constraint holds from the first token, an open thought is made in a request of its own.
func TestThinkFirst(t *testing.T) {
	s := script(t, "let me| see</th|ink>| ignored", `[{"name": "get_weather", "parameters": {"city": "Paris"}}]`)
	url := serve(t, "--engine", "openai-completions", "--engine-url", s.url, "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--chat-template", "{{ messages[0].content }}<think>")
	for _, stream := range []bool{false, true} {
		s.asked = nil
		status, data := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"Hi"}],"max_tokens":50,"stream":%v,"tools":[`+weather+`],"tool_choice":"required"}`, stream))
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, data)
		}
		if len(s.asked) != 2 || strings.Contains(string(s.asked[0]), "json_schema") || !strings.Contains(string(s.asked[1]), "json_schema") {
			t.Fatalf("expected a free request and a held one, found %s", s.asked)
		}
		expect(t, s.asked[1], "prompt", "Hi<think>let me see</think>")
		if stream {
			if text := string(data); !strings.Contains(text, `"reasoning":"let me"`) || !strings.Contains(text, `"name":"get_weather"`) || strings.Contains(text, "ignored") {
				t.Errorf("found %s", text)
			}
			continue
		}
		expect(t, data, "choices.0.message.reasoning", "let me see")
		expect(t, data, "choices.0.message.tool_calls.0.function.arguments", `{"city": "Paris"}`)
	}
}

func TestConstraintRefused(t *testing.T) {
	url := serve(t, append(hermes, "--replay", says(t, "x"))...)
	for _, test := range []struct{ fields, param string }{
		{`"tools":[` + weather + `,` + weather + `],"tool_choice":"required"`, "tools.1.function.name"},
		{`"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{"$ref":"#/nowhere"}},"required":["a"]}}}],"tool_choice":"required"`, "tools.0.function.parameters"},
	} {
		status, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],`+test.fields+`}`)
		if problem := errorIs(status, data, 400, "BadRequestError", test.param); problem != "" {
			t.Errorf("%s: %s", test.fields, problem)
		}
	}
}
