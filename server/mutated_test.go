package server_test

import (
	"encoding/json/v2"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/internal/oddvalue"
	"github.com/parlance-llm/parlance/server"
)

// richRequests have about every member that the interfaces know. What stands in required must be there, and not null; of the
// outermost members those in objects alone may be any object.
var richRequests = []struct{ path, body, required, objects string }{
	{"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":"Hi","name":"n"},
		{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"c"}],"tools":[` + weather + `],"tool_choice":{"type":"function","function":{"name":"get_weather"}},
		"n":1,"logprobs":false,"top_logprobs":0,"logprob_token_ids":[],"max_tokens":9,"max_completion_tokens":9,"temperature":1,"top_p":1,"top_k":1,"min_p":0,"presence_penalty":0,"frequency_penalty":0,
		"repetition_penalty":1,"seed":1,"stop":["x"],"stop_token_ids":[],"logit_bias":{},"bad_words":[],"allowed_token_ids":[],"response_format":{"type":"text"},
		"chat_template_kwargs":{"a":1},"documents":[{"title":"t","text":"x"}],"echo":false,"include_reasoning":true,"reasoning_effort":"low","thinking_token_budget":-1,"parallel_tool_calls":true,
		"ignore_eos":false,"min_tokens":0,"skip_special_tokens":false,"include_stop_str_in_output":false,"add_generation_prompt":true,"continue_final_message":false,"return_token_ids":false,"use_beam_search":false}`,
		`messages messages.0.role messages.3.role messages.2.tool_calls.0.function messages.2.tool_calls.0.function.name tools.0.function tools.0.function.name tool_choice.function tool_choice.function.name response_format.type include_reasoning`,
		`chat_template_kwargs`},
	{"/v1/completions", `{"model":"m","prompt":["a","b"],"suffix":"","n":1,"echo":false,"max_tokens":9,"temperature":1,"stop":"x","seed":1,"logit_bias":{},"response_format":{"type":"text"},"return_token_ids":false}`,
		`prompt prompt.0`, ``},
	{"/v1/responses", `{"model":"m","instructions":"i","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"r"}]},
		{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"t","annotations":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"a","name":"get_weather","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"o"},
		{"type":"custom_tool_call","call_id":"b","name":"c","input":"x"},{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"o"}]}],
		"tools":[` + flatTool + `,{"type":"custom","name":"c","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: /a/"}},{"type":"namespace","name":"s","tools":[{"type":"function","name":"f","parameters":{}}]}],
		"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"get_weather"}]},"parallel_tool_calls":true,"max_output_tokens":9,"temperature":1,"top_p":1,"reasoning":{"effort":"low","summary":"auto"},
		"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},"store":false,"background":false,"include":["reasoning.encrypted_content"],"truncation":"disabled","max_tool_calls":9,
		"metadata":{"a":"b"},"chat_template_kwargs":{},"stop":["x"],"include_reasoning":true,"top_logprobs":0}`,
		`input input.0.role input.0.content.0.type input.0.content.0.text input.1.summary.0.type input.1.summary.0.text input.2.content.0.text input.3.call_id input.3.name input.4.call_id input.5.call_id input.5.name
		tools.0.type tools.0.name tools.1.name tools.1.format.definition tools.2.name tools.2.tools.0.type tools.2.tools.0.name tool_choice tool_choice.type tool_choice.mode tool_choice.tools tool_choice.tools.0.name
		text.format.type text.format.name text.format.schema`,
		`text reasoning chat_template_kwargs metadata`},
	{"/v1/messages", `{"model":"m","max_tokens":2000,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}},
		{"type":"search_result","content":[{"type":"text","text":"r"}]}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"a"},{"type":"tool_use","id":"u","name":"get_weather","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":[{"type":"text","text":"r"}],"is_error":false}]},{"role":"system","content":"s"},{"role":"user","content":"x"}],
		"tools":[{"name":"get_weather","input_schema":{"type":"object"},"strict":false}],"tool_choice":{"type":"tool","name":"get_weather","disable_parallel_tool_use":true},"thinking":{"type":"enabled","budget_tokens":1024},
		"stop_sequences":["x"],"temperature":1,"top_p":1,"top_k":1,"metadata":{"user_id":"u"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}}`,
		`model max_tokens messages messages.0.role messages.0.content messages.0.content.0.type messages.0.content.0.text messages.0.content.1.source messages.0.content.1.source.type messages.0.content.1.source.data
		messages.1.content.0.type messages.1.content.0.thinking messages.1.content.2.id messages.1.content.2.name messages.1.content.2.input messages.2.content.0.tool_use_id messages.2.content.0.content.0.type
		system.0.text tools.0.name tools.0.input_schema tool_choice.type tool_choice.name thinking.type thinking.budget_tokens output_config.format.type output_config.format.schema`,
		`metadata output_config`},
}

// besides are requests of the routes that stream nothing.
var besides = []struct{ path, body, required string }{
	{"/tokenize", `{"model":"up","prompt":"Hi","add_special_tokens":true,"return_token_strs":true}`, "prompt"},
	{"/tokenize", `{"model":"up","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"tools":[` + weather + `],"add_generation_prompt":true,"continue_final_message":false,"chat_template_kwargs":{"a":1},"return_token_strs":true}`,
		"messages messages.0.role tools.0.function tools.0.function.name"},
	{"/detokenize", `{"model":"up","tokens":[97,98]}`, "tokens tokens.0"},
	{"/v1/messages/count_tokens", `{"model":"up","system":"s","messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"auto"},"thinking":{"type":"adaptive"}}`,
		"model messages messages.0.role messages.0.content tools.0.name tools.0.input_schema tool_choice.type thinking.type"},
	{"/v1/responses/input_tokens", `{"model":"up","input":[{"role":"user","content":"Hi"}],"instructions":"i","tools":[` + flatTool + `],"text":{"format":{"type":"text"}}}`, "input input.0.role tools.0.type tools.0.name text.format.type"},
	{"/v1/parse", `{"text":"Hi","tool_call_parser":"hermes","reasoning_parser":"qwen3","tools":[` + weather + `],"tool_choice":"auto","prompt":"p","chat_template_kwargs":{"a":1},"include_reasoning":true,"finish_reason":"stop","white_space":"trim","calls":"eager","unknown_tools":"pass","trace":true}`,
		"text tools.0.function tools.0.function.name"},
	{"/v1/parse", `{"completion":{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]},"tool_call_parser":"hermes"}`, "completion completion.choices completion.choices.0"},
	{"/v1/chat/completions/derender", `{"generate_response":{"request_id":"r","choices":[{"index":0,"token_ids":[72,105],"finish_reason":"stop"}]},"chat_request":{"model":"up","messages":[{"role":"user","content":"Hi"}]},"prompt_tokens":3,"prompt_token_ids":[1]}`,
		"generate_response generate_response.choices.0 chat_request.messages chat_request.messages.0.role"},
	{"/v1/conversations", `{"metadata":{"a":"b"},"items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}`, "items.0.role items.0.content.0.type items.0.content.0.text"},
}

// TestMutatedRequestsBesides is TestMutatedRequests for the other routes.
func TestMutatedRequestsBesides(t *testing.T) {
	handler := handlerOf(t, append(hermesServer, "--reasoning-parser", "qwen3", "--engine", "vllm", "--engine-url", fakeVLLM(t), "--chat-template", "{% for m in messages %}{{ m.content }}{% endfor %}")...)
	for _, rich := range besides {
		var body any
		if err := json.Unmarshal([]byte(rich.body), &body); err != nil {
			t.Fatal(err)
		}
		if status, data := send(t, handler, rich.path, body); status != 200 {
			t.Fatalf("%s: status %d: %s", rich.path, status, data)
		}
		required := map[string]bool{}
		for _, place := range strings.Fields(rich.required) {
			required[place] = false
		}
		oddvalue.Each(body, oddValues, func(place string, odd any) {
			status, data := send(t, handler, rich.path, body)
			_, must := required[place]
			if required[place] = true; odd == nil && must && status != 400 {
				t.Errorf("%s: %s is null: status %d: %s", rich.path, place, status, data)
			}
			if status >= 500 || status >= 400 && !strings.Contains(data, `"message":"`) || strings.Contains(data, "found .") || strings.Contains(data, "found  ") || strings.Contains(data, "Go ") {
				t.Errorf("%s: %s is %v: status %d: %s", rich.path, place, odd, status, data)
			}
		})
		for place, met := range required {
			if !met {
				t.Errorf("%s: %s is not in the request", rich.path, place)
			}
		}
	}
}

// send asks a handler.
func send(t *testing.T, handler http.Handler, path string, body any) (int, string) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest("POST", path, strings.NewReader(string(data)))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

// TestMutatedRequests: whatever stands in the place of a member, a request is answered or refused in the interface's words,
// the same whole and streamed; and what is required may not be null.
func TestMutatedRequests(t *testing.T) {
	handler := handlerOf(t, append(hermesServer, "--reasoning-parser", "qwen3", "--replay", says(t, "Hello"))...)
	ask := func(path string, body any, stream bool) (int, string) {
		if root, ok := body.(map[string]any); ok && stream {
			root["stream"] = true
			defer delete(root, "stream")
		}
		return send(t, handler, path, body)
	}
	for _, rich := range richRequests {
		var body any
		if err := json.Unmarshal([]byte(rich.body), &body); err != nil {
			t.Fatal(err)
		}
		if status, data := ask(rich.path, body, false); status != 200 {
			t.Fatalf("%s: status %d: %s", rich.path, status, data)
		}
		required := map[string]bool{}
		for _, place := range strings.Fields(rich.required) {
			required[place] = false
		}
		oddvalue.Each(body, oddValues, func(place string, odd any) {
			status, data := ask(rich.path, body, false)
			if also, streamed := ask(rich.path, body, true); also != status {
				t.Errorf("%s: %s is %v: status %d, but streamed %d: %s %s", rich.path, place, odd, status, also, data, streamed)
			}
			_, must := required[place]
			if required[place] = true; odd == nil && must && status != 400 {
				t.Errorf("%s: %s is null: status %d: %s", rich.path, place, status, data)
			}
			if object, ok := odd.(map[string]any); ok && len(object) > 0 && status == 200 && !strings.Contains(place, ".") && !slices.Contains(strings.Fields(rich.objects), place) {
				t.Errorf("%s: %s is an object: status %d: %s", rich.path, place, status, data)
			}
			if status == 200 {
				return
			}
			if status >= 500 || strings.Contains(data, "found .") || strings.Contains(data, "found  ") {
				t.Errorf("%s: %s is %v: status %d: %s", rich.path, place, odd, status, data)
			}
			var shape struct {
				Type  string
				Error struct {
					Message, Type string
					Code          int
				}
			}
			if err := json.Unmarshal([]byte(data), &shape, json.MatchCaseInsensitiveNames(true)); err != nil || shape.Error.Message == "" || shape.Error.Type == "" ||
				(rich.path == "/v1/messages") != (shape.Type == "error") || rich.path != "/v1/messages" && shape.Error.Code != status {
				t.Errorf("%s: %s is %v: status %d: %s", rich.path, place, odd, status, data)
			}
		})
		for place, met := range required {
			if !met {
				t.Errorf("%s: %s is not in the request", rich.path, place)
			}
		}
	}
}

// oddValues are what the places of requests are tried with.
var oddValues = []any{nil, true, -1.0, 1.5, 1e300, "", "\ufffd😀", []any{}, []any{nil}, map[string]any{}, map[string]any{"type": nil}}

// handlerOf is a server without a port.
func handlerOf(t *testing.T, arguments ...string) http.Handler {
	t.Helper()
	c, err := configure(t, nil, append([]string{"--responses-store", "memory"}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler()
}

// TestLongRequests: what it takes to read a request grows with its length, and no faster. Memory is counted, not time.
func TestLongRequests(t *testing.T) {
	handler := handlerOf(t, append(hermesServer, "--replay", says(t, "Hello"), "--max-tools", "0")...)
	for name, c := range map[string]struct{ path, before, each, after string }{
		"chat messages":      {"/v1/chat/completions", `{"model":"m","messages":[`, `{"role":"user","content":"some text"}`, `]}`},
		"chat parts":         {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[`, `{"type":"text","text":"some text"}`, `]}]}`},
		"chat calls":         {"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","tool_calls":[`, `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`, `]}]}`},
		"chat tools":         {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[`, `{"type":"function","function":{"name":"f%d","parameters":{}}}`, `]}`},
		"responses items":    {"/v1/responses", `{"model":"m","store":false,"input":[`, `{"role":"user","content":"some text"}`, `]}`},
		"responses parts":    {"/v1/responses", `{"model":"m","store":false,"input":[{"role":"user","content":[`, `{"type":"input_text","text":"some text"}`, `]}]}`},
		"responses calls":    {"/v1/responses", `{"model":"m","store":false,"input":[`, `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`, `]}`},
		"responses tools":    {"/v1/responses", `{"model":"m","store":false,"input":"Hi","tools":[`, `{"type":"function","name":"f%d","parameters":{}}`, `]}`},
		"conversation items": {"/v1/conversations", `{"items":[`, `{"role":"user","content":"some text"}`, `]}`},
		"messages":           {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[`, `{"role":"user","content":"some text"}`, `]}`},
		"messages blocks":    {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[`, `{"type":"text","text":"some text"}`, `]}]}`},
		"messages uses":      {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":[`, `{"type":"tool_use","id":"a","name":"f","input":{}}`, `]}]}`},
		"messages results":   {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[`, `{"type":"tool_result","tool_use_id":"a","content":"some text"}`, `]}]}`},
		"messages tools":     {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}],"tools":[`, `{"name":"f%d","input_schema":{}}`, `]}`},
		"messages system":    {"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}],"system":[`, `{"type":"text","text":"some text"}`, `]}`},
		"completions tokens": {"/v1/completions", `{"model":"m","prompt":"Hi","max_tokens":2,"stop_token_ids":[`, `7`, `]}`},
	} {
		took := func(n int) float64 {
			var items []string
			for i := range n {
				items = append(items, strings.ReplaceAll(c.each, "%d", strconv.Itoa(i)))
			}
			body := c.before + strings.Join(items, ",") + c.after
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			request := httptest.NewRequest("POST", c.path, strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			runtime.ReadMemStats(&after)
			if answer.Code != 200 && !strings.Contains(answer.Body.String(), "stop") {
				t.Fatalf("%s: status %d: %.500s", name, answer.Code, answer.Body)
			}
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		took(400)
		if few, many := took(400), took(1600); many > 6*few {
			t.Errorf("%s: 400 take %.0f bytes, 1600 take %.0f", name, few, many)
		}
	}
}
