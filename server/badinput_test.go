package server_test

import (
	"bufio"
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestBadInput holds status, type and param of every bad input of a chat request.
func TestBadInput(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--tool-call-parser", "hermes", "--enable-auto-tool-choice", "--max-schema-depth", "8", "--max-tools", "2")
	const own, schema = "BadRequestError", "Bad Request"
	tools := `"tools":[` + weather + `]`
	tests := []struct {
		name, fields string
		status       int
		kind, param  string // "" is null
	}{
		// Tools.
		{"no tools in the list", `"tools":[]`, 400, own, "tools"},
		{"tool of another type", `"tools":[{"type":"retrieval","function":{"name":"f"}}]`, 400, schema, "body.tools.0.type"},
		{"tool without a function", `"tools":[{"type":"function"}]`, 400, schema, "body.tools.0.function"},
		{"tool without a name", `"tools":[{"type":"function","function":{}}]`, 400, schema, "body.tools.0.function.name"},
		{"name is no string", `"tools":[{"type":"function","function":{"name":3}}]`, 400, schema, "body.tools.0.function.name"},
		{"parameters are no object", `"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`, 400, schema, "body.tools.0.function.parameters"},
		{"strict is no boolean", `"tools":[{"type":"function","function":{"name":"f","strict":"perhaps"}}]`, 400, schema, "body.tools.0.function.strict"},
		{"tool is no object", `"tools":["f"]`, 400, schema, "body.tools.0"},
		{"tools are no list", `"tools":"f"`, 400, schema, "body.tools"},
		{"too many tools", `"tools":[` + weather + "," + weather + "," + weather + `]`, 400, own, "tools"},
		{"schema too deep", `"tools":[{"type":"function","function":{"name":"f","parameters":` + strings.Repeat(`{"items":`, 9) + `{}` + strings.Repeat(`}`, 9) + `}}]`, 400, own, "tools.0.function.parameters"},
		// The choice of tools.
		{"auto without tools", `"tool_choice":"auto"`, 400, own, "tool_choice"},
		{"required without tools", `"tool_choice":"required"`, 400, own, "tool_choice"},
		{"required with null as tools", `"tool_choice":"required","tools":null`, 400, own, "tool_choice"},
		{"named without tools", `"tool_choice":{"type":"function","function":{"name":"f"}}`, 400, own, "tool_choice"},
		{"another word", tools + `,"tool_choice":"any"`, 400, own, "tool_choice"},
		{"a number", tools + `,"tool_choice":3`, 400, own, "tool_choice"},
		{"a list", tools + `,"tool_choice":["auto"]`, 400, own, "tool_choice"},
		{"the flat form of Responses", tools + `,"tool_choice":{"type":"function","name":"get_weather"}`, 400, own, "tool_choice.function"},
		{"function is no object", tools + `,"tool_choice":{"type":"function","function":"get_weather"}`, 400, own, "tool_choice.function"},
		{"function without a name", tools + `,"tool_choice":{"type":"function","function":{}}`, 400, own, "tool_choice.function.name"},
		{"empty name", tools + `,"tool_choice":{"type":"function","function":{"name":""}}`, 400, own, "tool_choice.function.name"},
		{"name is a number", tools + `,"tool_choice":{"type":"function","function":{"name":3}}`, 400, own, "tool_choice.function.name"},
		{"a tool that is not there", tools + `,"tool_choice":{"type":"function","function":{"name":"f"}}`, 400, own, "tool_choice"},
		{"W5: named, and a tool without a function", `"tools":[{"type":"function"}],"tool_choice":{"type":"function","function":{"name":"f"}}`, 400, own, "tool_choice"},
		{"W5: named, and another tool without a function", `"tools":[` + weather + `,{"type":"function"}],"tool_choice":{"type":"function","function":{"name":"get_weather"}}`, 400, schema, "body.tools.1.function"},
		{"allowed_tools without the object", tools + `,"tool_choice":{"type":"allowed_tools"}`, 400, own, "tool_choice.allowed_tools"},
		{"allowed_tools of another mode", tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"none","tools":[` + weather + `]}}`, 400, own, "tool_choice.allowed_tools.mode"},
		{"allowed_tools without tools", tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, 400, own, "tool_choice.allowed_tools.tools"},
		{"allowed_tools with a tool that is not there", tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`, 400, own, "tool_choice.allowed_tools.tools.0"},
		// Streams and log probabilities.
		{"options of no stream", `"stream_options":{"include_usage":true}`, 400, own, "stream_options"},
		{"options of a stream that is off", `"stream":false,"stream_options":{"include_usage":true}`, 400, own, "stream_options"},
		{"options are no object", `"stream":true,"stream_options":3`, 400, schema, "body.stream_options"},
		{"top_logprobs alone", `"top_logprobs":2`, 400, own, "top_logprobs"},
		{"all top_logprobs alone", `"top_logprobs":-1`, 400, own, "top_logprobs"},
		{"top_logprobs below", `"logprobs":true,"top_logprobs":-2`, 400, own, "top_logprobs"},
		{"top_logprobs is no number", `"logprobs":true,"top_logprobs":"x"`, 400, own, "top_logprobs"},
		{"prompt_logprobs in a stream", `"stream":true,"prompt_logprobs":1`, 400, own, "prompt_logprobs"},
		{"prompt_logprobs below", `"prompt_logprobs":-2`, 400, own, "prompt_logprobs"},
		{"logprob_token_ids alone", `"logprob_token_ids":[1]`, 400, own, "logprob_token_ids"},
		{"logprob_token_ids are a text", `"logprobs":true,"logprob_token_ids":"1"`, 400, schema, "body.logprob_token_ids"},
		{"echo is no boolean", `"echo":"perhaps"`, 400, schema, "body.echo"},
		{"documents are texts", `"documents":["a"]`, 400, schema, "body.documents.0"},
		// Sampling.
		{"no answers", `"n":0`, 400, own, "n"},
		{"several greedy answers", `"n":2,"temperature":0`, 400, own, "n"},
		{"n is no number", `"n":"two"`, 400, schema, "body.n"},
		{"cold", `"temperature":-0.1`, 400, own, "temperature"},
		{"hot", `"temperature":2.1`, 400, own, "temperature"},
		{"temperature is no number", `"temperature":"warm"`, 400, schema, "body.temperature"},
		{"top_p", `"top_p":0`, 400, own, "top_p"},
		{"top_k", `"top_k":-2`, 400, own, "top_k"},
		{"min_p", `"min_p":1.5`, 400, own, "min_p"},
		{"presence_penalty", `"presence_penalty":3`, 400, own, "presence_penalty"},
		{"frequency_penalty", `"frequency_penalty":-3`, 400, own, "frequency_penalty"},
		{"repetition_penalty", `"repetition_penalty":0`, 400, own, "repetition_penalty"},
		{"no tokens", `"max_tokens":0`, 400, own, "max_tokens"},
		{"fewer than no tokens", `"max_completion_tokens":-1`, 400, own, "max_tokens"},
		{"more at least than at most", `"max_tokens":3,"min_tokens":4`, 400, own, "min_tokens"},
		{"logit_bias of a word", `"logit_bias":{"hello":1}`, 400, schema, "body.logit_bias.hello"},
		{"five stop strings", `"stop":["a","b","c","d","e"]`, 400, own, "stop"},
		{"an empty stop string", `"stop":[""]`, 400, own, "stop"},
		{"stop is a number", `"stop":3`, 400, schema, "body.stop"},
		{"beams", `"use_beam_search":true`, 400, own, "use_beam_search"},
		{"parallel_tool_calls is no boolean", tools + `,"parallel_tool_calls":"perhaps"`, 400, schema, "body.parallel_tool_calls"},
		// Reasoning.
		{"include_reasoning is null", `"include_reasoning":null`, 400, schema, "body.include_reasoning"},
		{"another effort", `"reasoning_effort":"most"`, 400, schema, "body.reasoning_effort"},
		{"thinking budget below", `"thinking_token_budget":-2`, 400, own, "thinking_token_budget"},
		{"thinking budget is no number", `"thinking_token_budget":"x"`, 400, schema, "body.thinking_token_budget"},
		// Messages and templates.
		{"messages are null", `"messages":null`, 400, own, "messages"},
		{"messages are a string", `"messages":"Hi"`, 400, schema, "body.messages"},
		{"a message is a string", `"messages":["Hi"]`, 400, schema, "body.messages.0"},
		{"a message without a role", `"messages":[{"content":"Hi"}]`, 400, schema, "body.messages.0.role"},
		{"a tool call that is none", `"messages":[{"role":"assistant","tool_calls":[3]}]`, 400, own, "messages.0.tool_calls.0"},
		{"a tool call of another type", `"messages":[{"role":"assistant","tool_calls":[{"type":"custom","id":"1","custom":{}}]}]`, 400, own, "messages.0.tool_calls.0.type"},
		{"continued and begun", `"continue_final_message":true,"add_generation_prompt":true`, 400, own, "continue_final_message"},
		{"a template", `"chat_template":"{{ messages }}"`, 400, own, "chat_template"},
		{"a template in the arguments", `"chat_template_kwargs":{"chat_template":"{{ messages }}"}`, 400, own, "chat_template_kwargs.chat_template"},
		{"template arguments are a list", `"chat_template_kwargs":[]`, 400, schema, "body.chat_template_kwargs"},
		// Formats.
		{"another format", `"response_format":{"type":"xml"}`, 400, schema, "body.response_format.type"},
		{"json_schema without the object", `"response_format":{"type":"json_schema"}`, 400, own, "response_format"},
		{"json_schema without a schema", `"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`, 400, own, "response_format"},
		{"json_schema too deep", `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + strings.Repeat(`{"items":`, 9) + `{}` + strings.Repeat(`}`, 9) + `}}`, 400, own, "response_format"},
		{"structural tag of no shape", `"response_format":{"type":"structural_tag"}`, 400, own, "response_format"},
		{"structural tag without a begin", `"response_format":{"type":"structural_tag","structures":[{"end":"x"}],"triggers":["x"]}`, 400, own, "response_format"},
		{"no structured output", `"structured_outputs":{}`, 400, own, ""},
		{"two structured outputs", `"structured_outputs":{"regex":"a","choice":["a"]}`, 400, own, ""},
		{"structured output of nothing", `"structured_outputs":{"regex":""}`, 400, own, "structured_outputs"},
		{"structured output and a named tool", tools + `,"tool_choice":{"type":"function","function":{"name":"get_weather"}},"structured_outputs":{"regex":"a"}`, 400, own, ""},
		{"an expression that is none", `"structured_outputs":{"regex":"([a"},` + tools, 400, own, "structured_outputs"},
		{"two formats", `"response_format":{"type":"json_object"},"structured_outputs":{"regex":"a"}`, 400, own, "response_format"},
		// Messages.
		{"a content that is a number", `"messages":[{"role":"user","content":5}]`, 400, schema, "body.messages.0.content"},
		{"a content that is an object", `"messages":[{"role":"user","content":{"a":1}}]`, 400, schema, "body.messages.0.content"},
		{"a part that is a number", `"messages":[{"role":"user","content":["a",5]}]`, 400, schema, "body.messages.0.content.1"},
		{"a text that is a number", `"messages":[{"role":"user","content":[{"type":"text","text":5}]}]`, 400, schema, "body.messages.0.content.0.text"},
		{"a role that is null", `"messages":[{"role":"user","content":"a"},{"role":null,"content":"b"}]`, 400, schema, "body.messages.1.role"},
		{"a role that is a number", `"messages":[{"role":5,"content":"a"}]`, 400, schema, "body.messages.0.role"},
		{"a part that is null", `"messages":[{"role":"user","content":[null]}]`, 400, schema, "body.messages.0.content.0"},
		// The model.
		{"another model", `"model":"other"`, 404, "NotFoundError", "model"},
		{"the model is a number", `"model":3`, 400, schema, "body.model"},
	}
	for _, test := range tests {
		for _, stream := range []bool{false, true} {
			fields := test.fields
			if !strings.Contains(fields, `"messages"`) {
				fields += `,"messages":[{"role":"user","content":"Hi"}]`
			}
			if stream {
				if strings.Contains(fields, `"stream`) {
					continue
				}
				fields += `,"stream":true`
			}
			status, data := post(t, url+"/v1/chat/completions", "{"+fields+"}")
			if problem := errorIs(status, data, test.status, test.kind, test.param); problem != "" {
				t.Errorf("%s (stream %v): %s", test.name, stream, problem)
			}
		}
	}
}

// errorIs tells what is different of an error, or "".
func errorIs(status int, data []byte, wantStatus int, kind, param string) string {
	var answer struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    int     `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &answer, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Sprintf("expected an error, found status %d: %.300s", status, data)
	}
	found := ""
	if answer.Error.Param != nil {
		found = *answer.Error.Param
	}
	if e := answer.Error; status != wantStatus || e.Code != wantStatus || e.Type != kind || found != param || e.Message == "" {
		return fmt.Sprintf("expected %d, %s, %q, found %d: %s", wantStatus, kind, param, status, data)
	}
	return ""
}

// TestGoodInput: what is odd and allowed.
func TestGoodInput(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--tool-call-parser", "hermes", "--enable-auto-tool-choice")
	tools := `"tools":[` + weather + `]`
	for _, fields := range []string{
		`"tools":null`, `"stream_options":{}`, `"n":null`, `"unknown_field":{"x":1}`, `"functions":[],"function_call":"auto"`,
		tools + `,"tool_choice":null`, tools + `,"tool_choice":{"function":{"name":"get_weather"}}`, `"parallel_tool_calls":null`, `"parallel_tool_calls":false`,
		`"logprobs":null,"top_logprobs":null`, `"top_logprobs":0`, `"temperature":"0.5"`, `"max_tokens":"7"`, `"seed":3.0`, `"stop":"x"`, `"stop":null`, `"stream":"no"`,
		`"thinking_token_budget":-1`, `"thinking_token_budget":null`, `"reasoning_effort":"high"`, `"response_format":{"type":"text"}`, `"response_format":null`,
		`"structured_outputs":{"regex":"a"}`, `"structured_outputs":{"json":"{}"}`, `"model":null`, `"model":"m"`,
		`"tools":[{"function":{"name":"f","strict":"yes","description":null,"parameters":null}}]`, `"chat_template_kwargs":{"a":null,"chat_template":null}`,
		`"continue_final_message":true,"add_generation_prompt":false`, `"temperature":1,"temperature":0.5`,
		tools + `,"tool_choice":"none","structured_outputs":{"choice":["a","b"]}`, tools + `,"tool_choice":null,"structured_outputs":{"regex":"a"}`,
	} {
		status, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],`+fields+`}`)
		if status != http.StatusOK {
			t.Errorf("%s: status %d: %s", fields, status, data)
		}
	}
}

// TestBadBodies: what is no request at all.
func TestBadBodies(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--max-body-size", "1000")
	send := func(method, path, kind, body string) (int, []byte) {
		request, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, data
	}
	const path = "/v1/chat/completions"
	const good = `{"messages":[{"role":"user","content":"Hi"}]}`
	if status, data := send("POST", path, "application/json; charset=utf-8", good); status != http.StatusOK {
		t.Errorf("with parameters of the content type: status %d: %s", status, data)
	}
	if status, data := send("POST", path, "application/json", "\ufeff"+good); status != http.StatusOK {
		t.Errorf("with a byte order mark: status %d: %s", status, data)
	}
	for name, test := range map[string]struct{ kind, body, wantKind, param string }{
		"another content type": {"text/plain", good, "Bad Request", ""},
		"no content type":      {"", good, "Bad Request", ""},
		"no JSON":              {"application/json", `{"messages":[}`, "Bad Request", "body.13"},
		"nothing":              {"application/json", ``, "Bad Request", "body.0"},
		"a list":               {"application/json", `[]`, "Bad Request", "body"},
		"no UTF-8":             {"application/json", "{\"model\":\"\xff\"}", "Bad Request", ""},
		"no messages":          {"application/json", `{}`, "Bad Request", "body.messages"},
	} {
		status, data := send("POST", path, test.kind, test.body)
		if problem := errorIs(status, data, 400, test.wantKind, test.param); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
	status, data := send("POST", path, "application/json", `{"messages":[{"role":"user","content":"`+strings.Repeat("x", 2000)+`"}]}`)
	if problem := errorIs(status, data, 413, "RequestEntityTooLargeError", ""); problem != "" {
		t.Errorf("a large body: %s", problem)
	}
	// One that says how large it is need not arrive.
	connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if response, err := http.ReadResponse(bufio.NewReader(connection), nil); err != nil || response.StatusCode != 413 {
		t.Errorf("a large body that does not arrive: %+v, %v", response, err)
	}
	if status, data := send("GET", path, "", ""); status != 405 || string(data) != `{"detail":"Method Not Allowed"}` {
		t.Errorf("another method: status %d: %s", status, data)
	}
	if status, data := send("POST", "/v1/nothing", "application/json", good); status != 404 || string(data) != `{"detail":"Not Found"}` {
		t.Errorf("another path: status %d: %s", status, data)
	}
}

// TestBodyThatStops: a client that stops within its body has its answer, and its connection is closed; one that only
// pauses is served.
func TestBodyThatStops(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--read-body-timeout", "300ms")
	const good = `{"messages":[{"role":"user","content":"Hi"}]}`
	for rest, want := range map[string]int{good[10:]: 200, "": 408} {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		write := func(text string) {
			if _, err := io.WriteString(connection, text); err != nil {
				t.Error(err)
			}
		}
		write("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(good)) + "\r\n\r\n" + good[:10])
		time.Sleep(20 * time.Millisecond)
		write(rest)
		answer := bufio.NewReader(connection)
		response, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != want {
			t.Errorf("%d bytes more: status %d, want %d: %s, %v", len(rest), response.StatusCode, want, data, err)
		}
		if want != 200 {
			if problem := errorIs(response.StatusCode, data, want, "RequestTimeoutError", ""); problem != "" {
				t.Error(problem)
			}
			if _, err := answer.ReadByte(); err != io.EOF {
				t.Errorf("behind the answer: %v, want the end", err)
			}
		}
	}
}

// TestChoiceNeedsParser: what a server without parsers refuses, and what it says is missing.
func TestChoiceNeedsParser(t *testing.T) {
	folder := says(t, `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`)
	for _, test := range []struct {
		flags  []string
		choice string
		says   string // "" is a good answer
	}{
		{nil, `"auto"`, "--enable-auto-tool-choice and --tool-call-parser to be set"},
		{nil, `"required"`, `tool_choice="required" requires --tool-call-parser to be set`},
		{nil, `{"type":"function","function":{"name":"get_weather"}}`, `tool_choice=function "get_weather" requires --tool-call-parser to be set`},
		{nil, `"none"`, ""},
		// W1: forced calls need only the parser, and the message names what is missing.
		{[]string{"--tool-call-parser", "hermes"}, `"auto"`, `"auto" tool choice requires --enable-auto-tool-choice to be set`},
		{[]string{"--tool-call-parser", "hermes"}, `"required"`, ""},
		{[]string{"--tool-call-parser", "hermes"}, `{"type":"function","function":{"name":"get_weather"}}`, ""},
	} {
		url := serve(t, append(test.flags, "--replay", folder)...)
		status, data := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`],"tool_choice":`+test.choice+`}`)
		if test.says == "" {
			if status != http.StatusOK {
				t.Errorf("%v, %s: status %d: %s", test.flags, test.choice, status, data)
			}
			continue
		}
		if problem := errorIs(status, data, 400, "BadRequestError", "tool_choice"); problem != "" || !strings.Contains(strings.ReplaceAll(string(data), `\"`, `"`), test.says) {
			t.Errorf("%v, %s: expected %q, found %s %s", test.flags, test.choice, test.says, problem, data)
		}
	}
}
