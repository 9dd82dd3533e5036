package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/server"
)

func TestUsageOfStreams(t *testing.T) {
	folder := recorded(t, map[string]any{"pieces": []string{"a", " b"}, "usage": map[string]int{"prompt_tokens": 3, "completion_tokens": 2, "cached_tokens": 1}})
	url := serve(t, "--replay", folder, "--enable-prompt-tokens-details")
	for fields, want := range map[string][]bool{ // which chunks have usage
		`"stream":true`: {false, false, false, false},
		`"stream":true,"stream_options":{"include_usage":true}`:                               {false, false, false, false, true},
		`"stream":true,"stream_options":{"continuous_usage_stats":true}`:                      {false, false, false, false},
		`"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`: {true, true, true, true, true},
	} {
		_, data := post(t, url+"/v1/chat/completions", hi+","+fields+"}")
		chunks := events(t, data)
		chunks = chunks[:len(chunks)-1]
		var found []bool
		for _, chunk := range chunks {
			found = append(found, strings.Contains(chunk, `"usage":{`))
		}
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Errorf("%s: expected usage in %v, found it in %v: %q", fields, want, found, chunks)
		}
	}
	forced := serve(t, "--replay", folder, "--enable-force-include-usage")
	_, data := post(t, forced+"/v1/chat/completions", hi+`,"stream":true}`)
	if strings.Count(string(data), `"usage":{`) != 5 {
		t.Errorf("expected usage in every chunk, found %s", data)
	}
	_, data = post(t, url+"/v1/chat/completions", hi+"}")
	expect(t, data, "usage.prompt_tokens_details.cached_tokens", 1)
}

func TestChoices(t *testing.T) {
	url := serve(t, "--replay", says(t, "a|b", "c|d"))
	_, data := post(t, url+"/v1/chat/completions", hi+`,"n":3,"seed":0}`)
	for i, text := range []string{"ab", "cd", "ab"} {
		expect(t, data, fmt.Sprintf("choices.%d.index", i), i)
		expect(t, data, fmt.Sprintf("choices.%d.message.content", i), text)
	}
	_, data = post(t, url+"/v1/chat/completions", hi+`,"n":3,"stream":true}`)
	chunks := events(t, data)
	for i := range 3 { // the roles of all choices come first, in order
		expect(t, []byte(chunks[i]), "choices.0.index", i)
		expect(t, []byte(chunks[i]), "choices.0.delta.role", "assistant")
	}
	if strings.Count(string(data), `"finish_reason":"stop"`) != 3 {
		t.Errorf("expected three ends, found %s", data)
	}
}

func TestLogprobs(t *testing.T) {
	token := func(text string, id int) map[string]any {
		return map[string]any{"text": text, "tokens": []int{id}, "logprobs": []any{map[string]any{"token": text, "id": id, "logprob": -0.5, "top": []any{map[string]any{"token": "other", "id": 9, "logprob": -1e9}}}}}
	}
	folder := recorded(t, map[string]any{"prompt_tokens": []int{7, 8}, "pieces": []any{token("<think>", 1), token("hm", 2), token("</think>", 3), token("ok", 4)}})
	url := serve(t, "--replay", folder, "--reasoning-parser", "qwen3")
	ask := hi + `,"logprobs":true,"top_logprobs":1,"return_token_ids":true`
	_, data := post(t, url+"/v1/chat/completions", ask+"}")
	expect(t, data, "choices.0.token_ids", "[1 2 3 4]")
	expect(t, data, "prompt_token_ids", "[7 8]")
	expect(t, data, "choices.0.logprobs.content.0.token", "<think>")
	expect(t, data, "choices.0.logprobs.content.3.logprob", -0.5)
	expect(t, data, "choices.0.logprobs.content.3.bytes", "[111 107]")
	expect(t, data, "choices.0.logprobs.content.3.top_logprobs.0.logprob", -9999)
	// In a stream every token is told of, markers too, with chunks that say nothing else if need be.
	_, data = post(t, url+"/v1/chat/completions", ask+`,"stream":true}`)
	if text := string(data); strings.Count(text, `"logprobs":{"content":[{"token"`) != 4 || !strings.Contains(text, `"token_ids":[3]`) || !strings.Contains(text, `"prompt_token_ids":[7,8]`) {
		t.Errorf("expected four tokens, found %s", text)
	}
	_, data = post(t, url+"/v1/chat/completions", ask+`,"return_tokens_as_token_ids":true}`)
	expect(t, data, "choices.0.logprobs.content.1.token", "token_id:2")
	// What would show the hidden thought is left out.
	for _, stream := range []string{"false", "true"} {
		_, data = post(t, url+"/v1/chat/completions", ask+`,"include_reasoning":false,"stream":`+stream+`}`)
		if strings.Contains(string(data), `"logprob"`) || strings.Contains(string(data), "token_ids\":[1") {
			t.Errorf("expected neither log probabilities nor ids, found %s", data)
		}
	}
	plain := serve(t, "--replay", says(t, "Hello"))
	status, data := post(t, plain+"/v1/chat/completions", hi+`,"logprobs":true,"stream":true}`)
	if problem := errorIs(status, data, 400, "BadRequestError", "logprobs"); problem != "" {
		t.Error(problem)
	}
}

func TestReasoningField(t *testing.T) {
	folder := says(t, "<think>hm|</think>ok")
	for field, want := range map[string][2]bool{"reasoning": {true, false}, "reasoning_content": {false, true}, "both": {true, true}} {
		url := serve(t, "--replay", folder, "--reasoning-parser", "qwen3", "--reasoning-field", field)
		for _, stream := range []string{"false", "true"} {
			_, data := post(t, url+"/v1/chat/completions", hi+`,"stream":`+stream+`}`)
			text := string(data)
			if found := [2]bool{strings.Contains(text, `"reasoning":"hm"`), strings.Contains(text, `"reasoning_content":"hm"`)}; found != want {
				t.Errorf("%s, stream %s: found %v in %s", field, stream, found, text)
			}
		}
	}
}

func TestOldReasoningOfMessagesIsRenamed(t *testing.T) {
	url := serve(t, "--replay", says(t, "ok"), "--chat-template", "{% for m in messages %}{{ m.reasoning }};{% endfor %}{{ raise_exception('shown: ' ~ messages[0].reasoning ~ messages[1].reasoning) }}")
	_, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"assistant","content":"x","reasoning_content":"old"},{"role":"assistant","content":"x","reasoning_content":"old","reasoning":"new"}]}`)
	if !strings.Contains(string(data), "shown: oldnew") {
		t.Errorf("expected the template's own message, found %s", data)
	}
}

func TestEcho(t *testing.T) {
	url := serve(t, "--replay", says(t, " there"))
	found, _ := both(t, url, `"n":1`)
	is(t, found, answer{Content: " there", Finish: "stop"})
	body := `{"messages":[{"role":"assistant","content":"Hi"}],"echo":true,"add_generation_prompt":false,"continue_final_message":true`
	_, data := post(t, url+"/v1/chat/completions", body+"}")
	expect(t, data, "choices.0.message.content", "Hi there")
	_, data = post(t, url+"/v1/chat/completions", body+`,"stream":true}`)
	is(t, accumulate(t, events(t, data)), answer{Content: "Hi there", Finish: "stop"})
}

func TestAllowedTools(t *testing.T) {
	other := strings.ReplaceAll(weather, "get_weather", "get_time")
	s := script(t, goodCall)
	constrained(t, s, `"tools":[`+weather+","+other+`],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"get_weather"}}]}}`, hermes...)
	if tag := s.tag(t); !strings.Contains(tag, "get_weather") || strings.Contains(tag, "get_time") {
		t.Errorf("expected only the allowed tool, found %s", tag)
	}
}

func TestRequestMetrics(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--enable-per-request-metrics")
	_, data := post(t, url+"/v1/chat/completions", hi+"}")
	arrival, first, finished := get(t, data, "metrics.arrival_time").(float64), get(t, data, "metrics.first_token_time").(float64), get(t, data, "metrics.finished_time").(float64)
	if arrival < 1e9 || first < arrival || finished < first {
		t.Errorf("expected times in order, found %s", data)
	}
}

func TestTemplates(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(folder, name)
	}
	write("tokenizer_config.json", `{"chat_template":[{"name":"default","template":"{{ raise_exception('the default') }}"},{"name":"tool_use","template":"{{ raise_exception('for tools') }}"}]}`)
	file := write("mine.jinja", "{{ raise_exception('from the file') }}")
	for _, test := range []struct {
		flags  []string
		fields string
		says   string
	}{
		{[]string{"--model", folder}, `"n":1`, "the default"},
		{[]string{"--model", folder}, tools + `,"tool_choice":"none"`, "for tools"},
		{[]string{"--model", folder, "--chat-template", "tool_use"}, `"n":1`, "for tools"},
		{[]string{"--chat-template", file}, `"n":1`, "from the file"},
		{[]string{"--chat-template", "{{ raise_exception('inline') }}"}, `"n":1`, "inline"},
		{[]string{"--trust-request-chat-template"}, `"chat_template":"{{ raise_exception('brought') }}"`, "brought"},
		{[]string{"--chat-template", "{{ raise_exception(x) }}", "--default-chat-template-kwargs", `{"x":"from the server"}`}, `"chat_template_kwargs":{"x":null}`, "from the server"},
		{[]string{"--chat-template", "{{ raise_exception(x) }}", "--default-chat-template-kwargs", `{"x":"from the server"}`}, `"chat_template_kwargs":{"x":"from the request"}`, "from the request"},
		{[]string{"--chat-template", "{{ raise_exception(reasoning_effort ~ enable_thinking) }}", "--reasoning-effort-map", `{"high":"most"}`}, `"reasoning_effort":"high"`, "mostTrue"},
	} {
		url := serve(t, append(test.flags, "--replay", says(t, "x"), "--engine-model", "m")...)
		status, data := post(t, url+"/v1/chat/completions", hi+","+test.fields+"}")
		if status != http.StatusBadRequest || !strings.Contains(string(data), test.says) {
			t.Errorf("%v, %s: expected %q, found %d: %s", test.flags, test.fields, test.says, status, data)
		}
	}
	url := serve(t, "--replay", says(t, "Hello"), "--chat-template", "hermes")
	if status, data := post(t, url+"/v1/chat/completions", hi+"}"); status != http.StatusOK {
		t.Errorf("one of ours: status %d: %s", status, data)
	}
	c, err := configure(t, nil, "--chat-template", "no/such/file.jinja")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.New(c, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "VLLMValidationError: ") {
		t.Errorf("expected a VLLMValidationError, found %v", err)
	}
}

// TestStopsAreFoundHere: more stop strings than the engine takes, or one that is to be shown, are looked for by the server.
func TestStopsAreFoundHere(t *testing.T) {
	s := script(t, "one |two thr|ee four")
	url := serve(t, "--engine", "openai-completions", "--engine-url", s.url, "--chat-template", "{{ messages[0].content }}")
	found, _ := both(t, url, `"stop":["three"],"include_stop_str_in_output":true`)
	is(t, found, answer{Content: "one two three", Finish: "stop", Stop: "three"})
}

// TestEngineParameters: vLLM's own fields reach vLLM, and nobody else.
func TestEngineParameters(t *testing.T) {
	s := script(t, "ok")
	constrained(t, s, `"priority":3,"vllm_xargs":{"a":1}`)
	expect(t, s.asked[0], "priority", 3)
	expect(t, s.asked[0], "vllm_xargs.a", 1)
	url := serve(t, "--engine", "openai-completions", "--engine-url", s.url, "--chat-template", "{{ messages[0].content }}")
	if status, data := post(t, url+"/v1/chat/completions", hi+`,"priority":3}`); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	if text := string(s.asked[1]); strings.Contains(text, "priority") {
		t.Errorf("expected no priority, found %s", text)
	}
}

// TestCallIDs: an id fits the format, so that the call can come back in a conversation.
func TestCallIDs(t *testing.T) {
	for parser, pattern := range map[string]string{"hermes": "^chatcmpl-tool-[0-9a-f]{32}$", "mistral": "^[0-9A-Za-z]{9}$", "kimi_k2": `^functions\.get_weather:2$`} {
		url := serve(t, "--replay", says(t, `[{"name": "get_weather", "parameters": {}}]`), "--tool-call-parser", parser)
		history := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		_, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"},`+history+`],`+tools+`,"tool_choice":"required"}`)
		if id := fmt.Sprint(get(t, data, "choices.0.message.tool_calls.0.id")); !regexp.MustCompile(pattern).MatchString(id) {
			t.Errorf("%s: expected an id like %s, found %s", parser, pattern, id)
		}
	}
}

// TestCounters: vLLM's counters are there before anything is counted, and count as vLLM does: once a choice of a whole
// answer, once a step of a stream.
func TestCounters(t *testing.T) {
	url := hermesOn(t, says(t, "ok|"+goodCall))
	has := func(want string) {
		t.Helper()
		if _, text := fetchText(t, url+"/metrics"); !strings.Contains(text, want) {
			t.Errorf("expected %s in the counters", want)
		}
	}
	const name = `vllm:tool_call_parser_invocations_total{mode="%s",model_name="m",outcome="%s",request_type="%s"} `
	has(fmt.Sprintf(name+"0", "streaming", "no_tool_call", "responses"))
	post(t, url+"/v1/chat/completions", hi+`,"n":2,`+tools+`}`)
	has(fmt.Sprintf(name+"2", "non_streaming", "tool_call", "chat_completions"))
	post(t, url+"/v1/chat/completions", hi+`,"stream":true,`+tools+`}`)
	has(fmt.Sprintf(name+"1", "streaming", "no_tool_call", "chat_completions"))
	has(`vllm:request_success_total{finished_reason="stop",model_name="m"} 3`)
}
