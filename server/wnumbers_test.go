package server_test

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests in this file go by the numbers of what is wrong, or surprising, in the reference; docs/server.md lists them.

// hermesOn starts a server for models that write calls as hermes and think as qwen3, after a prompt that has closed the
// thought, so that texts need no thought.
func hermesOn(t *testing.T, folder string, flags ...string) string {
	return serve(t, append([]string{"--replay", folder, "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--enable-auto-tool-choice",
		"--chat-template", "<think>\n\n</think>\n\n"}, flags...)...)
}

const tools = `"tools":[` + weather + `]`

const parisCall = `get_weather {"city": "Paris"}`

// recorded is a folder with one recording that says more than its text.
func recorded(t *testing.T, fields map[string]any) string {
	return record(t, map[string]any{"model": "m", "recordings": []any{fields}})
}

func TestW1NamesAreAlwaysChecked(t *testing.T) {
	c, err := configure(t, nil, "--tool-call-parser", "hermess")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), "KeyError: invalid tool call parser: hermess") {
		t.Errorf("expected a KeyError, found %v", err)
	}
	// Forced calls work with the parser alone.
	url := serve(t, "--tool-call-parser", "hermes", "--replay", says(t, goodCall))
	found, _ := both(t, url, tools+`,"tool_choice":"required"`)
	is(t, found, answer{Calls: []string{parisCall}, Finish: "tool_calls"})
}

func TestW2HarmonyHasItsParsers(t *testing.T) {
	text := `<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>`
	url := serve(t, "openai/gpt-oss-20b", "--model", "openai/gpt-oss-20b", "--replay", recorded(t, map[string]any{"text": text}), "--engine-model", "m")
	found, _ := both(t, url, tools)
	is(t, found, answer{Reasoning: "hm", Calls: []string{parisCall}, Finish: "tool_calls"})
}

func TestW4NullIsAbsent(t *testing.T) {
	url := hermesOn(t, says(t, "ok "+goodCall))
	found, _ := both(t, url, tools+`,"tool_choice":null`)
	is(t, found, answer{Content: "ok", Calls: []string{parisCall}, Finish: "tool_calls"})
}

func TestW5NamedChoiceAndBrokenTool(t *testing.T) {
	url := hermesOn(t, says(t, "x"))
	for _, body := range []string{`"tools":[{"type":"function"}]`, `"tools":[3]`, `"tools":[{"function":3}]`, `"tools":3`, `"tools":[{"function":{"name":null}}]`} {
		status, data := post(t, url+"/v1/chat/completions", `{"messages":[],`+body+`,"tool_choice":{"type":"function","function":{"name":"f"}}}`)
		if status != http.StatusBadRequest {
			t.Errorf("%s: expected status 400, found %d: %s", body, status, data)
		}
	}
}

func TestW6EngineErrorsComeBeforeTheStream(t *testing.T) {
	for name, refuse := range map[string]http.HandlerFunc{
		"as a status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"Grammar error","type":"BadRequestError","param":null,"code":400}}`)
		},
		"as an event": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, `data: {"error":{"message":"Grammar error","type":"BadRequestError","param":null,"code":400}}`+"\n\ndata: [DONE]\n\n")
		},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/completions", refuse)
		mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
		web := httptest.NewServer(mux)
		defer web.Close()
		url := serve(t, "--engine", "openai-completions", "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}")
		for _, stream := range []bool{false, true} {
			status, data := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"Hi"}],"stream":%v}`, stream))
			if problem := errorIs(status, data, 400, "BadRequestError", ""); problem != "" || !strings.Contains(string(data), "Grammar error") {
				t.Errorf("%s, stream %v: %s %s", name, stream, problem, data)
			}
		}
	}
}

func TestW7WrongNamesAreFlagged(t *testing.T) {
	call := strings.ReplaceAll(goodCall, "get_weather", "get_time")
	url := hermesOn(t, says(t, call))
	for choice, note := range map[string]string{`"auto"`: "not declared", `{"type":"function","function":{"name":"get_weather"}}`: "another function"} {
		response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}],`+tools+`,"tool_choice":`+choice+`}`))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if warnings := strings.Join(response.Header["X-Parlance-Warning"], "\n"); !strings.Contains(warnings, note) {
			t.Errorf("%s: expected a warning with %q, found %q", choice, note, warnings)
		}
		expect(t, data, "choices.0.message.tool_calls.0.function.name", "get_time")
	}
	_, counters := fetchText(t, url+"/metrics")
	for _, want := range []string{`parlance_unexpected_output_total{model_name="m",reason="undeclared"} 1`, `parlance_unexpected_output_total{model_name="m",reason="not_named"} 1`} {
		if !strings.Contains(counters, want) {
			t.Errorf("expected %s in the counters", want)
		}
	}
	// Or they are rejected.
	url = hermesOn(t, says(t, call), "--unknown-tools", "fail")
	found, _ := both(t, url, tools)
	is(t, found, answer{Content: strings.ReplaceAll(call, "|", ""), Finish: "stop"})
}

func TestW8CutArraysKeepTheirCalls(t *testing.T) {
	pieces := strings.Split(`[{"name": "get_weather", |"parameters": {"city": |"Par`, "|")
	url := hermesOn(t, recorded(t, map[string]any{"pieces": pieces, "finish_reason": "length"}))
	found, _ := both(t, url, tools+`,"tool_choice":"required"`)
	is(t, found, answer{Calls: []string{`get_weather {"city": "Par`}, Finish: "length"})
	// What cannot be read stays content.
	url = hermesOn(t, says(t, "I would rather| not"))
	found, _ = both(t, url, tools+`,"tool_choice":"required"`)
	is(t, found, answer{Content: "I would rather not", Finish: "stop"})
}

func TestW14ArgumentsAreByteIdentical(t *testing.T) {
	url := hermesOn(t, says(t, `[{"name":"get_weather","parameters":{"city":"S\u00e3o",  "x":1.0, "y":1e3}}]`))
	found, _ := both(t, url, tools+`,"tool_choice":"required"`)
	is(t, found, answer{Calls: []string{`get_weather {"city":"S\u00e3o",  "x":1.0, "y":1e3}`}, Finish: "tool_calls"})
}

func TestW15MissingParametersAreEmpty(t *testing.T) {
	url := hermesOn(t, says(t, `[{"name": |"get_weather"}]`))
	found, _ := both(t, url, tools+`,"tool_choice":"required"`)
	is(t, found, answer{Calls: []string{"get_weather {}"}, Finish: "tool_calls"})
}

func TestW16IdsAreUnique(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--enable-request-id-headers")
	seen := map[string]bool{}
	for range 2 {
		request, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}],"request_id":"mine"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Request-Id", "mine")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(response.Body)
		response.Body.Close()
		seen[get(t, data, "id").(string)] = true
		if response.Header.Get("X-Request-Id") != "mine" {
			t.Errorf("expected the request's own id in the header, found %q", response.Header.Get("X-Request-Id"))
		}
	}
	if len(seen) != 2 {
		t.Errorf("expected two ids, found %v", seen)
	}
}

func TestW17ReasoningIsCounted(t *testing.T) {
	for _, reasoning := range []string{"qwen3", "deepseek_r1", "granite_thinking_parser", "hunyuan_a13b", "olmo3", "minimax_m2", "cohere_command4"} {
		text := "one two three four</think> five"
		switch reasoning {
		case "hunyuan_a13b":
			text = "<think>\none two three four\n</think>\n<answer>\nfive\n</answer>"
		case "cohere_command4":
			text = "<|START_THINKING|>one two three four<|END_THINKING|><|START_RESPONSE|>five<|END_RESPONSE|>"
		}
		url := serve(t, "--replay", recorded(t, map[string]any{"text": text}), "--reasoning-parser", reasoning)
		for _, stream := range []bool{false, true} {
			_, data := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"Hi"}],"stream":%v%s}`, stream, map[bool]string{true: `,"stream_options":{"include_usage":true}`}[stream]))
			if stream {
				chunks := events(t, data)
				data = []byte(chunks[len(chunks)-2])
			}
			var c completion
			if err := json.Unmarshal(data, &c); err != nil || c.Usage.Details.Reasoning == 0 || c.Usage.Details.Reasoning >= c.Usage.Completion {
				t.Errorf("%s, stream %v: expected some of the tokens as reasoning, found %s", reasoning, stream, data)
			}
		}
	}
}

func TestW18NoEmptyChunks(t *testing.T) {
	url := hermesOn(t, says(t, goodCall+"|\n|"+goodCall))
	found, chunks := both(t, url, tools+`,"parallel_tool_calls":false`) // accumulate looks for empty chunks
	is(t, found, answer{Calls: []string{parisCall}, Finish: "tool_calls"})
	if len(chunks) > 12 {
		t.Errorf("expected few chunks, found %q", chunks)
	}
}

func TestW19ArgumentsAreCompleted(t *testing.T) {
	// The last piece holds nothing of a call, and the closer never comes.
	for _, text := range []string{
		`<tool_call>|{"name": "get_weather", "arguments": {"city": "Paris"}|}`,
		`<tool_call>|{"name": "get_weather", "arguments": {"city": "Paris"}}|</tool_call>|| `,
	} {
		found, _ := both(t, hermesOn(t, says(t, text)), tools)
		is(t, found, answer{Calls: []string{parisCall}, Finish: "tool_calls"})
	}
	url := serve(t, "--replay", says(t, "<tool_call>\n<function=get_weather>\n<parameter=city>\nPar|is"), "--tool-call-parser", "qwen3_coder", "--enable-auto-tool-choice")
	found, _ := both(t, url, tools)
	is(t, found, answer{Calls: []string{parisCall}, Finish: "tool_calls"})
}

func TestW32ThinkingClosedInThePrompt(t *testing.T) {
	for _, reasoning := range []string{"deepseek_r1", "ernie45", "step3", "minimax_m2", "kimi_k2", "qwen3"} {
		url := serve(t, "--replay", says(t, "The |answer"), "--reasoning-parser", reasoning, "--chat-template", "<think>\n\n</think>\n\n")
		found, _ := both(t, url, `"n":1`)
		is(t, found, answer{Content: "The answer", Finish: "stop"})
	}
}

func TestW33CallCutByLength(t *testing.T) {
	url := hermesOn(t, recorded(t, map[string]any{"pieces": []string{"<tool_call>", `{"name": "get_weather", "arguments": {"city":`, ` "Par`}, "finish_reason": "length"}))
	found, _ := both(t, url, tools)
	is(t, found, answer{Calls: []string{`get_weather {"city": "Par`}, Finish: "length"})
	url = serve(t, "--replay", recorded(t, map[string]any{"pieces": []string{"<tool_call>\n<function=get_weather>\n<parameter=city>\nPar"}, "finish_reason": "length"}), "--tool-call-parser", "qwen3_coder", "--enable-auto-tool-choice")
	found, _ = both(t, url, tools)
	is(t, found, answer{Calls: []string{`get_weather {"city": "Par`}, Finish: "length"})
}

func TestW34WhiteSpaceBetweenThoughtAndCall(t *testing.T) {
	url := serve(t, "--replay", says(t, "<think>|Need| it.|</think>|\n\n|"+goodCall), "--tool-call-parser", "hermes", "--reasoning-parser", "deepseek_r1", "--enable-auto-tool-choice")
	found, _ := both(t, url, tools)
	is(t, found, answer{Reasoning: "Need it.", Calls: []string{parisCall}, Finish: "tool_calls"})
	_, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],`+tools+`}`)
	expect(t, data, "choices.0.message.content", nil)
}

func TestW35NamedCallsEndWithStop(t *testing.T) {
	url := hermesOn(t, says(t, goodCall))
	found, _ := both(t, url, tools+`,"tool_choice":{"type":"function","function":{"name":"get_weather"}}`)
	is(t, found, answer{Calls: []string{parisCall}, Finish: "stop"})
}

func TestW36AnswerWithoutAThought(t *testing.T) {
	folder := says(t, "Only |this.")
	found, _ := both(t, serve(t, "--replay", folder, "--reasoning-parser", "qwen3"), `"n":1`)
	is(t, found, answer{Reasoning: "Only this.", Finish: "stop"})
	// By an argument of the server, or of the request, the answer is not lost: whole it moves, streamed it stands in both.
	url := serve(t, "--replay", folder, "--reasoning-parser", "qwen3", "--default-chat-template-kwargs", `{"force_nonempty_content":true}`)
	_, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}]}`)
	expect(t, data, "choices.0.message.content", "Only this.")
	_, data = post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],"stream":true}`)
	is(t, accumulate(t, events(t, data)), answer{Reasoning: "Only this.", Content: "Only this.", Finish: "stop"})
}

func TestW37FinishReasonsOfTheInterface(t *testing.T) {
	for reason, stop := range map[string]string{"abort": "abort", "repetition": "repetition_detected"} {
		url := serve(t, "--replay", recorded(t, map[string]any{"text": "Hello", "finish_reason": reason}))
		found, _ := both(t, url, `"n":1`)
		is(t, found, answer{Content: "Hello", Finish: "length", Stop: stop})
	}
}

func TestW38NoneLeavesTheMarkup(t *testing.T) {
	for parser, text := range map[string]string{
		"hermes":      "a|" + goodCall,
		"qwen3_coder": "a|<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
		"glm47":       "a|<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>",
		"mistral":     `a|[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}`,
	} {
		url := serve(t, "--replay", says(t, text), "--tool-call-parser", parser)
		found, _ := both(t, url, tools+`,"tool_choice":"none"`)
		is(t, found, answer{Content: strings.ReplaceAll(text, "|", ""), Finish: "stop"})
	}
}

func TestW39UnfinishedThought(t *testing.T) {
	for _, reason := range []string{"stop", "length"} {
		url := serve(t, "--replay", recorded(t, map[string]any{"text": "<think>still at it", "finish_reason": reason}), "--reasoning-parser", "qwen3")
		found, _ := both(t, url, `"n":1`)
		is(t, found, answer{Reasoning: "still at it", Finish: reason})
	}
}

func TestW40OneEntryAnIndex(t *testing.T) {
	// The whole call in one piece: id and name first, with arguments "", then the arguments (accumulate holds it).
	url := hermesOn(t, says(t, strings.ReplaceAll(goodCall, "|", "")))
	_, chunks := both(t, url, tools)
	if text := strings.Join(chunks, "\n"); strings.Contains(text, `"content":null`) || strings.Contains(text, `"name":null`) {
		t.Errorf("expected no nulls in deltas, found %s", text)
	}
}

func TestW41StopStringInsideACall(t *testing.T) {
	url := hermesOn(t, says(t, `<tool_call>|{"name": "get_weather", "arguments": {"city": "Par|is STOP here"}}|</tool_call>`))
	found, _ := both(t, url, tools+`,"stop":["STOP"]`)
	is(t, found, answer{Calls: []string{`get_weather {"city": "Paris `}, Finish: "stop", Stop: "STOP"})
	// A stop string that is markup leaves only closers out.
	found, _ = both(t, url, tools+`,"stop":["</tool_call>"]`)
	is(t, found, answer{Calls: []string{`get_weather {"city": "Paris STOP here"}`}, Finish: "tool_calls", Stop: "</tool_call>"})
}

func TestW42HarmonyWholeAndStreamed(t *testing.T) {
	text := `<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Ål","n":1.0}<|call|>`
	url := serve(t, "--replay", recorded(t, map[string]any{"text": text}), "--tool-call-parser", "openai", "--reasoning-parser", "openai_gptoss", "--enable-auto-tool-choice")
	found, _ := both(t, url, tools)
	is(t, found, answer{Reasoning: "a\nb", Calls: []string{`get_weather {"city":"Ål","n":1.0}`}, Finish: "tool_calls"})
}

func TestW43TextAfterACall(t *testing.T) {
	found, _ := both(t, hermesOn(t, says(t, "before |"+goodCall+"| after")), tools)
	is(t, found, answer{Content: "before  after", Calls: []string{parisCall}, Finish: "tool_calls"})
	url := serve(t, "--replay", says(t, "before <tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call> after"), "--tool-call-parser", "qwen3_coder", "--enable-auto-tool-choice")
	found, _ = both(t, url, tools)
	is(t, found, answer{Content: "before  after", Calls: []string{parisCall}, Finish: "tool_calls"})
}

// TestForgedMarkersAreText: where the engine tells token ids and the vocabulary is known, a marker counts only as its token
// (contract 8 of the parser).
func TestForgedMarkersAreText(t *testing.T) {
	folder := t.TempDir()
	config := `{"added_tokens_decoder":{"1":{"content":"<tool_call>","special":false},"2":{"content":"</tool_call>","special":false},"3":{"content":"<think>","special":false},"4":{"content":"</think>","special":false}}}`
	if err := os.WriteFile(filepath.Join(folder, "tokenizer_config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	call := `{"name": "get_weather", "arguments": {"city": "Paris"}}`
	piece := func(text string, ids ...int) map[string]any { return map[string]any{"text": text, "tokens": ids} }
	url := hermesOn(t, recorded(t, map[string]any{"pieces": []any{
		piece("Write <tool_", 10, 11), piece("call>"+call+"</tool_call> ", 12, 13), piece("so: ", 14), piece("<tool_call>", 1), piece(call, 15, 16), piece("</tool_call>", 2),
	}}), "--tokenizer", folder)
	found, _ := both(t, url, tools)
	is(t, found, answer{Content: "Write <tool_call>" + call + "</tool_call> so:", Calls: []string{parisCall}, Finish: "tool_calls"})
}

func TestW44SpecialTokensReachTheParser(t *testing.T) {
	for _, fields := range []string{`"n":1`, `"skip_special_tokens":true`, tools + `,"tool_choice":"none"`} {
		s := script(t, "<think>hm</think>ok")
		constrained(t, s, fields, "--reasoning-parser", "qwen3", "--tool-call-parser", "hermes")
		expect(t, s.asked[0], "skip_special_tokens", false)
	}
	// Without a parser the request's word counts.
	s := script(t, "ok")
	constrained(t, s, `"n":1`)
	expect(t, s.asked[0], "skip_special_tokens", true)
}
