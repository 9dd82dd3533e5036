package server_test

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"
)

// TestPromptAlone: echo with max_tokens 0 shows the prompt and nothing else, counted by the engine.
func TestPromptAlone(t *testing.T) {
	asked := ""
	vllm := serve(t, "--engine", "vllm", "--engine-url", fakeVLLMThat(t, func(body map[string]jsontext.Value) { asked = string(body["max_tokens"]) }))
	for _, c := range []struct{ url, prompt, texts string }{
		{serve(t, "--replay", says(t, "not| shown")), `"a wörld"`, "a wörld"},
		{serve(t, "--replay", says(t, "not| shown")), `["a","b"],"n":2`, "a a b b"},
		{vllm, `"a"`, "a"},
		{vllm, ids("abc"), "abc"},
	} {
		body := `{"prompt":` + c.prompt + `,"echo":true,"max_tokens":0,"stop":"n"`
		status, data := post(t, c.url+"/v1/completions", body+"}")
		if status != 200 {
			t.Fatalf("%s: status %d: %s", body, status, data)
		}
		var texts []string
		for i := range get(t, data, "choices").([]any) {
			texts = append(texts, get(t, data, fmt.Sprintf("choices.%d.text", i)).(string))
			expect(t, data, fmt.Sprintf("choices.%d.finish_reason", i), "length")
			expect(t, data, fmt.Sprintf("choices.%d.stop_reason", i), nil)
		}
		if found := strings.Join(texts, " "); found != c.texts {
			t.Errorf("%s: expected %q, found %q", body, c.texts, found)
		}
		expect(t, data, "usage.completion_tokens", 0)
		expect(t, data, "usage.total_tokens", get(t, data, "usage.prompt_tokens"))
		_, data = post(t, c.url+"/v1/completions", body+`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
		chunks := events(t, data)
		var streamed []string
		for _, chunk := range chunks[:len(chunks)-2] {
			streamed = append(streamed, get(t, []byte(chunk), "choices.0.text").(string))
			expect(t, []byte(chunk), "usage.completion_tokens", 0)
		}
		if found := strings.Join(streamed, " "); found != c.texts && len(texts) == 1 || strings.Count(string(data), `"finish_reason":"length"`) != len(texts) {
			t.Errorf("%s: streamed %s", body, data)
		}
		expect(t, []byte(chunks[len(chunks)-2]), "usage.completion_tokens", 0)
	}
	if asked != "1" {
		t.Errorf("the engine was asked for %s tokens", asked)
	}
}

// TestTextOffsets: log probabilities tell where each token stands, in characters, the same whole and streamed.
func TestTextOffsets(t *testing.T) {
	piece := func(text string) map[string]any {
		return map[string]any{"text": text, "tokens": []int{1}, "logprobs": []any{map[string]any{"token": text, "id": 1, "logprob": -1}}}
	}
	url := serve(t, "--replay", recorded(t, map[string]any{"pieces": []any{piece("wö"), piece("r😀"), piece("ld")}}))
	status, data := post(t, url+"/v1/completions", `{"prompt":"a","logprobs":9}`)
	if problem := errorIs(status, data, 400, "BadRequestError", "logprobs"); problem != "" {
		t.Error(problem)
	}
	_, data = post(t, url+"/v1/completions", `{"prompt":"a","logprobs":0}`)
	expect(t, data, "choices.0.logprobs.text_offset", "[0 2 4]")
	_, data = post(t, url+"/v1/completions", `{"prompt":"a","logprobs":0,"stream":true}`)
	var offsets []any
	for _, chunk := range events(t, data) {
		if chunk != "[DONE]" {
			offsets = append(offsets, get(t, []byte(chunk), "choices.0.logprobs.text_offset").([]any)...)
		}
	}
	if found := fmt.Sprint(offsets); found != "[0 2 4]" {
		t.Errorf("streamed: found the offsets %s", found)
	}
}
