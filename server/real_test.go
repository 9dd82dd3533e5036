package server_test

import (
	"context"
	"encoding/json/v2"
	"net/http"
	"os"
	"strings"
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
