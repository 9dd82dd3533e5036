package server_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tests of this file put the server in front of a real llama.cpp server, whose address is in PARLANCE_LLAMACPP_URL;
// .ci/engine starts one. Nothing is asserted about time, and hardly anything about what a small model says.

func realServer(t *testing.T, flags ...string) (url, engine string) {
	t.Helper()
	engine = os.Getenv("PARLANCE_LLAMACPP_URL")
	if engine == "" {
		t.Skip("PARLANCE_LLAMACPP_URL is not set")
	}
	return serve(t, append(flags, "--engine", "llamacpp", "--engine-url", engine, "--engine-timeout", "5m", "--tool-call-parser", "hermes", "--enable-auto-tool-choice")...), engine
}

const realQuestion = `"messages":[{"role":"user","content":"Count from one to five, in words."}],"temperature":0,"seed":1`

func TestRealAnswer(t *testing.T) {
	url, _ := realServer(t)
	status, data := post(t, url+"/v1/chat/completions", `{`+realQuestion+`,"max_tokens":20}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	text := get(t, data, "choices.0.message.content").(string)
	if text == "" || get(t, data, "usage.prompt_tokens").(float64) < 5 || get(t, data, "usage.completion_tokens").(float64) < 2 {
		t.Errorf("expected text and its usage, found %s", data)
	}
	status, data = post(t, url+"/v1/chat/completions", `{`+realQuestion+`,"max_tokens":20,"stream":true}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	if streamed := accumulate(t, events(t, data)); streamed.Content != text {
		t.Errorf("whole %q, streamed %q", text, streamed.Content)
	}
	// A stop string: the third word of what it says anyway.
	if words := strings.Fields(text); len(words) > 3 {
		status, data = post(t, url+"/v1/chat/completions", `{`+realQuestion+`,"max_tokens":20,"stop":[`+quote(words[2])+`]}`)
		if status != http.StatusOK || get(t, data, "choices.0.finish_reason") != "stop" || get(t, data, "choices.0.stop_reason") != words[2] {
			t.Errorf("expected the stop string %q, found %d: %s", words[2], status, data)
		}
	}
	status, data = post(t, url+"/tokenize", `{"messages":[{"role":"user","content":"Hi"}]}`)
	if status != http.StatusOK || !strings.Contains(get(t, data, "prompt").(string), "Hi") || get(t, data, "count").(float64) < 3 {
		t.Errorf("expected the prompt and its tokens, found %d: %s", status, data)
	}
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// TestRealCalls: a model that would never call a tool is held to it, whole and streamed.
func TestRealCalls(t *testing.T) {
	url, _ := realServer(t)
	tool := `{"type":"function","function":{"name":"get_weather","strict":true,"parameters":{"type":"object","properties":{"city":{"type":"string","enum":["Paris","Oslo"]}},"required":["city"],"additionalProperties":false}}}`
	for _, choice := range []string{`"required"`, `{"type":"function","function":{"name":"get_weather"}}`} {
		body := `{"messages":[{"role":"user","content":"Weather in Paris?"}],"temperature":0,"seed":1,"max_tokens":60,"parallel_tool_calls":false,"tools":[` + tool + `],"tool_choice":` + choice
		status, data := post(t, url+"/v1/chat/completions", body+"}")
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, data)
		}
		var arguments struct {
			City string `json:"city"`
		}
		text := get(t, data, "choices.0.message.tool_calls.0.function.arguments").(string)
		if err := json.Unmarshal([]byte(text), &arguments); err != nil || arguments.City != "Paris" && arguments.City != "Oslo" {
			t.Errorf("%s: expected a call by its schema, found %s", choice, data)
		}
		_, data = post(t, url+"/v1/chat/completions", body+`,"stream":true}`)
		if one := accumulate(t, events(t, data)); len(one.Calls) != 1 || one.Calls[0] != "get_weather "+text {
			t.Errorf("%s: whole %q, streamed %+v", choice, text, one)
		}
	}
}

// thinkingPrompt is a chat template, with two turns that show the model how to think, and its thought open.
func thinkingPrompt(question string) string {
	var out strings.Builder
	for _, city := range []string{"Rome", "Bern"} {
		out.WriteString("<|im_start|>user\nWhat is the weather in " + city + "?<|im_end|>\n<|im_start|>assistant\n<think>\nThey ask for the weather in " + city + ".\n</think>\n\nIt rains in " + city + ".<|im_end|>\n")
	}
	return out.String() + "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n<think>\n"
}

// TestRealThinkFirst: by way of the route of completions the engine takes nothing but a JSON schema, which holds from the
// first token on. So the model thinks in one request and calls in a second, and the client sees one answer.
func TestRealThinkFirst(t *testing.T) {
	engine := os.Getenv("PARLANCE_LLAMACPP_URL")
	if engine == "" {
		t.Skip("PARLANCE_LLAMACPP_URL is not set")
	}
	target, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var asked []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/completions" {
			data, _ := io.ReadAll(r.Body)
			mutex.Lock()
			asked = append(asked, string(data))
			mutex.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(data))
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()
	server := serve(t, "--engine", "openai-completions", "--engine-url", between.URL, "--engine-timeout", "5m", "--chat-template", thinkingPrompt("{{ messages[-1].content }}"),
		"--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--enable-auto-tool-choice")
	const question = "What is the weather in Paris?"
	var tokens struct {
		Tokens []int `json:"tokens"`
	}
	if _, data := post(t, engine+"/tokenize", `{"content":`+quote(thinkingPrompt(question))+`}`); json.Unmarshal(data, &tokens) != nil || len(tokens.Tokens) == 0 {
		t.Fatalf("the engine does not count tokens: %s", data)
	}
	tool := `{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string","enum":["Paris","Oslo"]},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city","days"],"additionalProperties":false}}}`
	for _, choice := range []string{`"required"`, `{"type":"function","function":{"name":"get_weather"}}`} {
		body := `{"messages":[{"role":"user","content":` + quote(question) + `}],"temperature":0,"seed":1,"max_tokens":120,"parallel_tool_calls":false,"tools":[` + tool + `],"tool_choice":` + choice
		asked = nil
		status, data := post(t, server+"/v1/chat/completions", body+"}")
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, data)
		}
		if len(asked) != 2 || strings.Contains(asked[0], "json_schema") || !strings.Contains(asked[1], "json_schema") || !strings.Contains(asked[1], `</think>"`) {
			t.Fatalf("expected a free request for the thought and a held one behind it, found %s", asked)
		}
		reasoning, _ := get(t, data, "choices.0.message.reasoning").(string)
		if !strings.Contains(reasoning, "Paris") || strings.Contains(reasoning, "</think>") {
			t.Errorf("expected the thought, found %q", reasoning)
		}
		var arguments struct {
			City string `json:"city"`
			Days int    `json:"days"`
		}
		text := get(t, data, "choices.0.message.tool_calls.0.function.arguments").(string)
		if err := json.Unmarshal([]byte(text), &arguments, json.RejectUnknownMembers(true)); err != nil || arguments.City != "Paris" && arguments.City != "Oslo" || arguments.Days < 1 || arguments.Days > 9 {
			t.Errorf("%s: expected a call by its schema, found %s", choice, data)
		}
		if content, _ := get(t, data, "choices.0.message.content").(string); content != "" {
			t.Errorf("expected no content, found %q", content)
		}
		finish := map[bool]string{true: "tool_calls", false: "stop"}[choice[0] == '"'] // of a named function it stays stop
		expect(t, data, "choices.0.finish_reason", finish)
		usage := func(data []byte) (prompt, completion int) {
			total := int(get(t, data, "usage.total_tokens").(float64))
			prompt, completion = int(get(t, data, "usage.prompt_tokens").(float64)), int(get(t, data, "usage.completion_tokens").(float64))
			if total != prompt+completion {
				t.Errorf("%d tokens and %d are %d", prompt, completion, total)
			}
			return prompt, completion
		}
		// The tokens of the thought are guessed from its length: the engine was not asked to go on until it told.
		prompt, completion := usage(data)
		if off := prompt - len(tokens.Tokens); off < -8 || off > 8 || completion < 20 || completion > 130 {
			t.Errorf("expected the %d tokens of the prompt and those of thought and call together, found %d and %d", len(tokens.Tokens), prompt, completion)
		}
		asked = nil
		_, streamed := post(t, server+"/v1/chat/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`)
		chunks := events(t, streamed)
		if len(asked) != 2 || len(chunks) < 3 {
			t.Fatalf("expected two requests, found %s and %q", asked, chunks)
		}
		if again, more := usage([]byte(chunks[len(chunks)-2])); again != prompt || more != completion {
			t.Errorf("whole %d and %d tokens, streamed %d and %d", prompt, completion, again, more)
		}
		one := accumulate(t, append(chunks[:len(chunks)-2:len(chunks)-2], "[DONE]"))
		if len(one.Calls) != 1 || one.Calls[0] != "get_weather "+text || strings.TrimSpace(one.Reasoning) != strings.TrimSpace(reasoning) || one.Content != "" || one.Finish != finish {
			t.Errorf("%s: whole %q and %q, streamed %+v", choice, reasoning, text, one)
		}
		t.Logf("%s: %q, then %s; %d and %d tokens", choice, reasoning, text, prompt, completion)
	}
}

// TestRealCancellation: a client that leaves in the middle leaves the engine's slot free.
func TestRealCancellation(t *testing.T) {
	url, engine := realServer(t)
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(`{"messages":[{"role":"user","content":"Tell a long story."}],"max_tokens":1500,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 64)
	if _, err := response.Body.Read(buffer); err != nil {
		t.Fatal(err)
	}
	leave()
	response.Body.Close()
	for range 300 {
		if _, slots := fetch(t, "GET", engine+"/slots"); !strings.Contains(string(slots), `"is_processing":true`) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("a slot of the engine is still busy")
}
