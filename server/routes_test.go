package server_test

import (
	"bufio"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakeVLLM is an engine's server whose tokens are characters, numbered as Unicode does. What it writes is its prompt.
func fakeVLLM(t *testing.T) string {
	t.Helper()
	return fakeVLLMThat(t, func(map[string]jsontext.Value) {})
}

// fakeVLLMThat shows what it is asked for.
func fakeVLLMThat(t *testing.T, asked func(map[string]jsontext.Value)) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"object":"list","data":[{"id":"up","object":"model","max_model_len":400}]}`)
	})
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Prompt   string
			Messages []struct{ Role, Content string }
		}
		if err := json.UnmarshalRead(r.Body, &in, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Error(err)
		}
		for _, m := range in.Messages {
			in.Prompt += m.Role + ":" + m.Content + ";"
		}
		var ids []int
		var texts []string
		for _, r := range in.Prompt {
			ids, texts = append(ids, int(r)), append(texts, string(r))
		}
		json.MarshalWrite(w, map[string]any{"count": len(ids), "tokens": ids, "token_strs": texts, "max_model_len": 400})
	})
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]jsontext.Value
		if err := json.UnmarshalRead(r.Body, &in); err != nil {
			t.Error(err)
		}
		asked(in)
		var prompt string
		var tokens []rune
		if json.Unmarshal(in["prompt"], &prompt) != nil {
			_ = json.Unmarshal(in["prompt"], &tokens)
			prompt = string(tokens)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":%q,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", prompt)
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Tokens []rune }
		if err := json.UnmarshalRead(r.Body, &in, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Error(err)
		}
		json.MarshalWrite(w, map[string]any{"prompt": string(in.Tokens)})
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return web.URL
}

// ids are the tokens of a text for fakeVLLM.
func ids(text string) string {
	var out []string
	for _, r := range text {
		out = append(out, fmt.Sprint(int(r)))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// get decodes a field path of JSON, dotted; numbers are indexes.
func get(t *testing.T, data []byte, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	for _, name := range strings.Split(path, ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[name]
		case []any:
			i := 0
			fmt.Sscan(name, &i)
			if i >= len(at) {
				t.Fatalf("%s is not there: %s", path, data)
			}
			value = at[i]
		default:
			t.Fatalf("%s is not there: %s", path, data)
		}
	}
	return value
}

func expect(t *testing.T, data []byte, path string, want any) {
	t.Helper()
	if found := get(t, data, path); fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("%s: expected %v, found %v in %s", path, want, found, data)
	}
}

func TestCompletionsAreRaw(t *testing.T) {
	url := serve(t, "--replay", says(t, "<tool_call>| raw"), "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3")
	status, data := post(t, url+"/v1/completions", `{"model":"m","prompt":["a","b"],"n":2,"echo":true}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "object", "text_completion")
	for i, text := range []string{"a<tool_call> raw", "a<tool_call> raw", "b<tool_call> raw", "b<tool_call> raw"} {
		expect(t, data, fmt.Sprintf("choices.%d.text", i), text)
		expect(t, data, fmt.Sprintf("choices.%d.index", i), i)
		expect(t, data, fmt.Sprintf("choices.%d.finish_reason", i), "stop")
	}
	if id := get(t, data, "id").(string); !strings.HasPrefix(id, "cmpl-") {
		t.Errorf("expected an id that begins with cmpl-, found %s", id)
	}
	_, data = post(t, url+"/v1/completions", `{"prompt":"a","stream":true,"stream_options":{"include_usage":true}}`)
	chunks := events(t, data)
	if len(chunks) < 4 || chunks[len(chunks)-1] != "[DONE]" {
		t.Fatalf("expected pieces, usage and an end, found %q", chunks)
	}
	text := ""
	for _, chunk := range chunks[:len(chunks)-2] {
		text += get(t, []byte(chunk), "choices.0.text").(string)
	}
	if text != "<tool_call> raw" {
		t.Errorf("expected the raw text, found %q", text)
	}
	expect(t, []byte(chunks[len(chunks)-2]), "choices", "[]")
	for _, bad := range []string{`{"prompt":[]}`, `{"prompt":3}`, `{"prompt":["a",3]}`, `{}`, `{"prompt":"a","max_tokens":0}`, `{"prompt":"a","logprobs":-1}`, `{"prompt":"a","suffix":"b"}`, `{"prompt":"a","stream_options":{"include_usage":true}}`} {
		if status, data := post(t, url+"/v1/completions", bad); status != http.StatusBadRequest {
			t.Errorf("%s: expected status 400, found %d: %s", bad, status, data)
		}
	}
}

func TestTokenize(t *testing.T) {
	url := serve(t, "--engine", "vllm", "--engine-url", fakeVLLM(t), "--enable-tokenizer-info-endpoint")
	status, data := post(t, url+"/tokenize", `{"prompt":"añ","return_token_strs":true}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "count", 2)
	expect(t, data, "tokens", "[97 241]")
	expect(t, data, "token_strs", "[a ñ]")
	expect(t, data, "max_model_len", 400)
	status, data = post(t, url+"/tokenize", `{"messages":[{"role":"user","content":"Hi"}],"tools":[]}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "count", len("user:Hi;"))
	status, data = post(t, url+"/detokenize", `{"tokens":[97,241]}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "prompt", "añ")
	for _, bad := range []string{`{}`, `{"tokens":["a"]}`, `{"tokens":3}`} {
		if status, data := post(t, url+"/detokenize", bad); status != http.StatusBadRequest {
			t.Errorf("%s: expected status 400, found %d: %s", bad, status, data)
		}
	}
	replay := serve(t)
	for path, body := range map[string]string{"/tokenize": `{"prompt":"a"}`, "/detokenize": `{"tokens":[1]}`} {
		if status, data := post(t, replay+path, body); status != http.StatusNotImplemented || !strings.Contains(string(data), "replay") {
			t.Errorf("%s: expected status 501 that names the engine, found %d: %s", path, status, data)
		}
	}
}

const hermesCall = `<think>hm</think>ok <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>`

func TestParse(t *testing.T) {
	url := serve(t)
	text, _ := json.Marshal(hermesCall)
	status, data := post(t, url+"/v1/parse", `{"text":`+string(text)+`,"tool_call_parser":"hermes","reasoning_parser":"qwen3","trace":true,"tools":[`+weather+`]}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "message.reasoning", "hm")
	expect(t, data, "message.content", "ok")
	expect(t, data, "message.tool_calls.0.function.name", "get_weather")
	expect(t, data, "message.tool_calls.0.function.arguments", `{"city": "Paris"}`)
	expect(t, data, "finish_reason", "tool_calls")
	expect(t, data, "segments.2.tool_call", 0)
	expect(t, data, "trace.0.became", "markup")
	status, data = post(t, url+"/v1/parse", `{"model":"qwen3-8b","completion":{"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":`+string(text)+`,"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"plain"},"finish_reason":"length"}],"usage":{"prompt_tokens":1}}}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "id", "cmpl-1")
	expect(t, data, "object", "chat.completion")
	expect(t, data, "usage.prompt_tokens", 1)
	expect(t, data, "choices.0.message.tool_calls.0.function.name", "get_weather")
	expect(t, data, "choices.0.finish_reason", "tool_calls")
	expect(t, data, "choices.1.message.reasoning", "plain") // nothing opened or closed the thought: the family starts inside
	expect(t, data, "choices.1.finish_reason", "length")
	for _, bad := range []string{`{}`, `{"text":"a"}`, `{"text":"a","tool_call_parser":"nobody"}`, `{"text":"a","completion":{},"model":"qwen3-8b"}`, `{"completion":{},"model":"qwen3-8b"}`, `{"text":"a","model":"qwen3-8b","tools":[{}]}`, `{"text":"a","model":"qwen3-8b","white_space":"some"}`} {
		if bad == `{"text":"a"}` {
			continue // the first model has a parser
		}
		if status, data := post(t, url+"/v1/parse", bad); status != http.StatusBadRequest {
			t.Errorf("%s: expected status 400, found %d: %s", bad, status, data)
		}
	}
}

// TestParseStream holds that the answer comes while the question is still being asked.
func TestParseStream(t *testing.T) {
	url := serve(t)
	in, out := io.Pipe()
	request, err := http.NewRequest("POST", url+"/v1/parse/stream", in)
	if err != nil {
		t.Fatal(err)
	}
	go io.WriteString(out, `{"tool_call_parser":"hermes","reasoning_parser":"qwen3"}`+"\n"+`{"text":"<think>hm"}`+"\n")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	next := func() string {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				return data
			}
		}
	}
	if found := next(); found != `{"kind":"reasoning","text":"hm"}` {
		t.Fatalf("expected the thought, found %s", found)
	}
	io.WriteString(out, `{"text":"</think><tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1"}`+"\n")
	if found := []byte(next()); get(t, found, "kind") != "tool_call" || get(t, found, "name") != "f" || get(t, found, "id") == "" {
		t.Fatalf("expected the call, found %s", found)
	}
	if found := next(); found != `{"kind":"arguments","text":"{\"a\": 1","tool_call":0}` {
		t.Fatalf("expected its arguments, found %s", found)
	}
	io.WriteString(out, `{"finish_reason":"length"}`+"\n")
	out.Close()
	if found := next(); found != `{"kind":"tool_call_end","tool_call":0,"cut":true}` {
		t.Fatalf("expected the end of the call, found %s", found)
	}
	if found := next(); found != `{"kind":"finish","finish_reason":"length"}` {
		t.Fatalf("expected the end, found %s", found)
	}
	if found := next(); found != "[DONE]" {
		t.Fatalf("expected the end mark, found %s", found)
	}
}

func TestDerender(t *testing.T) {
	url := serve(t, "--engine", "vllm", "--engine-url", fakeVLLM(t), "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--enable-auto-tool-choice")
	chat := `"chat_request":{"messages":[{"role":"user","content":"Hi"}],"tools":[` + weather + `]}`
	status, data := post(t, url+"/v1/chat/completions/derender", `{"generate_response":{"choices":[{"index":0,"token_ids":`+ids(hermesCall)+`,"finish_reason":"stop"}]},`+chat+`,"prompt_token_ids":[1,2]}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	expect(t, data, "choices.0.message.reasoning", "hm")
	expect(t, data, "choices.0.message.tool_calls.0.function.arguments", `{"city": "Paris"}`)
	expect(t, data, "choices.0.finish_reason", "tool_calls")
	expect(t, data, "usage.prompt_tokens", 2)
	expect(t, data, "usage.completion_tokens", len(hermesCall))
	// In chunks of seven tokens, with the state going to and fro, the same comes out.
	state, reasoning, content, arguments, finish := "null", "", "", "", ""
	id := ""
	for from := 0; from < len(hermesCall); from += 7 {
		to, end := from+7, `null`
		if to >= len(hermesCall) {
			to, end = len(hermesCall), `"stop"`
		}
		status, data := post(t, url+"/v1/chat/completions/derender", `{"stream":true,"generate_chunk":{"choices":[{"index":0,"token_ids":`+ids(hermesCall[from:to])+`,"finish_reason":`+end+`}]},`+chat+`,"prompt_token_ids":[1,2],"stream_state":`+state+`}`)
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, data)
		}
		var answer struct {
			Chunk *struct {
				ID      string `json:"id"`
				Choices []struct {
					Delta struct {
						Reasoning, Content string
						ToolCalls          []struct {
							ID       string
							Function struct{ Name, Arguments string }
						} `json:"tool_calls"`
					}
					FinishReason string `json:"finish_reason"`
				}
			}
			State any `json:"stream_state"`
		}
		if err := json.Unmarshal(data, &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		text, _ := json.Marshal(answer.State)
		state = string(text)
		if answer.Chunk == nil {
			continue
		}
		if id != "" && id != answer.Chunk.ID {
			t.Errorf("the id changed from %s to %s", id, answer.Chunk.ID)
		}
		id = answer.Chunk.ID
		choice := answer.Chunk.Choices[0]
		reasoning, content, finish = reasoning+choice.Delta.Reasoning, content+choice.Delta.Content, choice.FinishReason
		for _, call := range choice.Delta.ToolCalls {
			arguments += call.Function.Name + call.Function.Arguments
		}
	}
	if reasoning != "hm" || content != "ok" || arguments != `get_weather{"city": "Paris"}` || finish != "tool_calls" {
		t.Errorf("in chunks: found %q, %q, %q, %q", reasoning, content, arguments, finish)
	}
	for _, test := range []struct{ body, param string }{
		{`{"generate_response":{"choices":[{"index":0,"token_ids":[97],"finish_reason":"stop"}]}}`, "chat_request"},
		{`{"stream":true,"generate_chunk":{"choices":[]},` + chat + `}`, "prompt_token_ids"},
		{`{"stream":true,"generate_chunk":{"choices":[{"index":0},{"index":1}]},` + chat + `,"prompt_token_ids":[]}`, "generate_chunk.choices"},
		{`{"stream":true,"generate_chunk":{"choices":[]},"chat_request":{"messages":[],"stop":"x"},"prompt_token_ids":[]}`, "chat_request.stop"},
		{`{"stream":true,"generate_chunk":{"choices":[]},` + chat + `,"prompt_token_ids":[],"stream_state":3}`, "stream_state"},
		{`{"stream":true,"generate_chunk":{"choices":[{"index":0,"token_ids":[98]}]},` + chat + `,"prompt_token_ids":[],"stream_state":{"id":"x","token_ids":[97],"tool_call_ids":["y"]}}`, "stream_state"},
		{`{"generate_response":{"choices":[{"index":0,"token_ids":` + ids(strings.Repeat("a", 401)) + `,"finish_reason":"stop"}]},` + chat + `}`, "token_ids"},
		{`{"generate_response":3,` + chat + `}`, "generate_response"},
	} {
		status, data := post(t, url+"/v1/chat/completions/derender", test.body)
		if problem := errorIs(status, data, 400, "BadRequestError", test.param); problem != "" {
			t.Errorf("%.120s: %s", test.body, problem)
		}
	}
}
