package server_test

import (
	"strings"
	"testing"
)

// TestBadInputOfOtherRoutes holds status, type and param of what is wrong with requests of the routes beside the interfaces.
func TestBadInputOfOtherRoutes(t *testing.T) {
	url := serve(t, "--engine", "vllm", "--engine-url", fakeVLLM(t), "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--enable-auto-tool-choice")
	const own, schema = "BadRequestError", "Bad Request"
	chat := `"chat_request":{"messages":[{"role":"user","content":"Hi"}]}`
	choice := func(fields string) string {
		return `{` + chat + `,"generate_response":{"choices":[{"index":0,"token_ids":[97],"finish_reason":"stop"` + fields + `}]}}`
	}
	for _, test := range []struct{ path, body, kind, param string }{
		{"/tokenize", `{}`, schema, "body.prompt"},
		{"/tokenize", `{"prompt":null}`, schema, "body.prompt"},
		{"/tokenize", `{"prompt":["a"]}`, schema, "body.prompt"},
		{"/tokenize", `{"messages":null}`, schema, "body.messages"},
		{"/tokenize", `{"messages":"Hi"}`, schema, "body.messages"},
		{"/tokenize", `{"messages":[{"content":"Hi"}]}`, schema, "body.messages.0.role"},
		{"/tokenize", `{"messages":[{"role":"user","content":[{"type":"text","text":3}]}]}`, schema, "body.messages.0.content.0.text"},
		{"/tokenize", `{"messages":[],"tools":[{"function":3}]}`, schema, "body.tools.0.function"},
		{"/tokenize", `{"messages":[],"chat_template_kwargs":[]}`, schema, "body.chat_template_kwargs"},
		{"/tokenize", `{"messages":[],"chat_template":"x"}`, own, "chat_template"},
		{"/tokenize", `{"messages":[],"continue_final_message":true,"add_generation_prompt":true}`, own, "continue_final_message"},
		{"/detokenize", `{}`, schema, "body.tokens"},
		{"/detokenize", `{"tokens":null}`, schema, "body.tokens"},
		{"/detokenize", `{"tokens":[1.5]}`, schema, "body.tokens.0"},
		{"/detokenize", `{"tokens":[99999999999999999999]}`, schema, "body.tokens.0"},
		{"/v1/chat/completions/derender", choice(`,"index":-1`), own, "generate_response.choices.0.index"},
		{"/v1/chat/completions/derender", choice(`,"finish_reason":"tired"`), own, "generate_response.choices.0.finish_reason"},
		{"/v1/chat/completions/derender", choice(`,"token_ids":"a"`), own, "generate_response"},
		{"/v1/chat/completions/derender", strings.Replace(choice(""), `{`, `{"prompt_tokens":-1,`, 1), own, "prompt_tokens"},
		{"/v1/chat/completions/derender", strings.Replace(choice(""), `{`, `{"prompt_tokens":"some",`, 1), schema, "body.prompt_tokens"},
		{"/v1/chat/completions/derender", `{` + chat + `,"generate_response":null}`, own, "generate_response"},
		{"/v1/completions", `{}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":null}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":[]}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":[[]]}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":["a",3]}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":{"a":1}}`, schema, "body.prompt"},
		{"/v1/completions", `{"prompt":"a","max_tokens":0}`, own, "max_tokens"},
		{"/v1/completions", `{"prompt":"a","logprobs":-1}`, own, "logprobs"},
		{"/v1/completions", `{"prompt":"a","suffix":"b"}`, own, "suffix"},
		{"/v1/completions", `{"prompt":"a","suffix":3}`, schema, "body.suffix"},
		{"/v1/completions", `{"prompt":"a","prompt_logprobs":1}`, own, "prompt_logprobs"},
		{"/v1/completions", `{"prompt":"a","prompt_embeds":"AAAA"}`, own, "prompt_embeds"},
		{"/v1/completions", `{"prompt":"a","echo":true,"logprobs":1}`, own, "logprobs"},
		{"/v1/completions", `{"prompt":"a","n":0}`, own, "n"},
		{"/v1/completions", `{"prompt":"a","stream_options":{"include_usage":true}}`, own, "stream_options"},
		{"/v1/parse", `{"text":"a","tool_call_parser":"hermes","tools":3}`, own, "tools"},
		{"/v1/parse", `{"text":"a","tool_call_parser":"hermes","tool_choice":3}`, own, "tool_choice"},
		{"/v1/parse", `{"text":"a","tool_call_parser":"hermes","tool_choice":{"function":3}}`, own, "tool_choice"},
		{"/v1/parse", `{"text":"a","tool_call_parser":"nobody"}`, own, "tool_call_parser"},
		{"/v1/parse", `{"text":"a","reasoning_parser":"nobody"}`, own, "reasoning_parser"},
		{"/v1/parse", `{"text":"a","tool_call_parser":"hermes","finish_reason":"tired"}`, schema, "body.finish_reason"},
		{"/v1/parse", `{"completion":{"choices":[3]}}`, own, "completion.choices"},
	} {
		status, data := post(t, url+test.path, test.body)
		if problem := errorIs(status, data, 400, test.kind, test.param); problem != "" || strings.Contains(string(data), "Go ") {
			t.Errorf("%s %s: %s: %s", test.path, test.body, problem, data)
		}
	}
	if status, data := post(t, url+"/v1/chat/completions/derender", choice(`,"stop_reason":1e30`)); status != 200 || get(t, data, "choices.0.stop_reason") != nil {
		t.Errorf("a stop reason that is no token: status %d: %s", status, data)
	}
	if status, data := post(t, url+"/v1/parse", `{"text":"<think>a</think>b","tool_call_parser":"hermes","reasoning_parser":"None"}`); status != 200 || get(t, data, "message.content") != "<think>a</think>b" {
		t.Errorf("the reasoning parser none: status %d: %s", status, data)
	}
}

// TestBadLines: a stream of lines ends with an error at the first that is none.
func TestBadLines(t *testing.T) {
	url := serve(t)
	const first = `{"tool_call_parser":"hermes"}` + "\n"
	for lines, want := range map[string]string{
		`{"text":3}`: "body.text", `{"other":3}`: "text", `[]`: "body", `{"text":"a"`: "JSON decode error", "{\"text\":\"\xe2\x82\"}": "not UTF-8",
		`{"text":"a","finish_reason":"tired"}`: "body.finish_reason",
	} {
		status, data := post(t, url+"/v1/parse/stream", first+lines+"\n")
		if found := events(t, data); status != 200 || len(found) < 2 || found[len(found)-1] != "[DONE]" || !strings.Contains(found[len(found)-2], `"type":"Bad Request"`) || !strings.Contains(found[len(found)-2], want) {
			t.Errorf("%s: expected an error with %q, found %d: %s", lines, want, status, data)
		}
	}
	if status, data := post(t, url+"/v1/parse/stream", first+`{"text":"no","text":"yes"}`); status != 200 || !strings.Contains(string(data), `"text":"yes"`) {
		t.Errorf("a member twice: status %d: %s", status, data)
	}
}

// TestRepeatedMembers: a member that is repeated counts with its last value, wherever it stands, and whatever the engine.
func TestRepeatedMembers(t *testing.T) {
	flags := []string{"--tool-call-parser", "hermes", "--enable-auto-tool-choice"}
	url := serve(t, append([]string{"--replay", says(t, "Hello")}, flags...)...)
	for _, url := range []string{url, serve(t, append([]string{"--engine", "openai-chat", "--engine-url", url}, flags...)...)} {
		for _, fields := range []string{
			`"tools":[{"type":"function","type":"function","function":{"name":"f","parameters":{"type":"object","type":"object","properties":{"a":{"type":"number","type":"string"}}}}}]`,
			`"tools":[{"type":"function","function":{"name":"g","name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"string","type":"string"}}}}}],"parallel_tool_calls":false`,
			`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","type":"object"}}}`,
			`"chat_template_kwargs":{"a":{"b":1,"b":2}}`,
			`"messages":[],"messages":[{"role":"user","content":"x","content":[{"type":"text","text":"a","text":"b"}]}]`,
			`"n":3,"n":1`,
		} {
			if !strings.Contains(fields, `"messages"`) {
				fields += `,"messages":[{"role":"user","content":"Hi"}]`
			}
			if status, data := post(t, url+"/v1/chat/completions", "{"+fields+"}"); status != 200 {
				t.Errorf("%s: status %d: %s", fields, status, data)
			}
		}
	}
}
