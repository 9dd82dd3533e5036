package server_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// event is an event of the Messages interface, with all fields that any has.
type event struct {
	Name    string `json:"-"`
	Type    string
	Index   int
	Message struct {
		ID         string
		Content    []any
		StopReason *string `json:"stop_reason"`
		Usage      map[string]int
	}
	ContentBlock struct {
		Type, Text, Thinking, ID, Name string
		Input                          jsontext.Value
	} `json:"content_block"`
	Delta struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string  `json:"partial_json"`
		StopReason                      *string `json:"stop_reason"`
		StopSequence                    *string `json:"stop_sequence"`
	}
	Usage map[string]int
	Error struct{ Type, Message string }
}

// messageEvents posts a streamed request and gives the events, checked against the rules of every stream: names as types,
// one message_start first, blocks one after the other with rising numbers.
func messageEvents(t *testing.T, url, request string) []event {
	t.Helper()
	status, data := post(t, url+"/v1/messages", request)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	var out []event
	for frame := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		name, rest, ok := strings.Cut(frame, "\n")
		text, also := strings.CutPrefix(rest, "data: ")
		if !ok || !also {
			t.Fatalf("a frame without a name or data: %q", frame)
		}
		var e event
		if err := json.Unmarshal([]byte(text), &e, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if e.Name = strings.TrimPrefix(name, "event: "); e.Name != e.Type {
			t.Errorf("the event %q has the type %q", e.Name, e.Type)
		}
		out = append(out, e)
	}
	next, open := 0, false
	for i, e := range out {
		switch e.Type {
		case "message_start":
			if i != 0 || len(e.Message.Content) > 0 || e.Message.Usage == nil {
				t.Errorf("message_start at %d: %+v", i, e)
			}
		case "content_block_start":
			if open || e.Index != next {
				t.Errorf("block %d starts, expected %d, open %v", e.Index, next, open)
			}
			open, next = true, next+1
		case "content_block_delta", "content_block_stop":
			if !open || e.Index != next-1 {
				t.Errorf("%s of block %d, open %v, last %d", e.Type, e.Index, open, next-1)
			}
			open = e.Type == "content_block_delta"
		}
	}
	return out
}

// told writes events down in short.
func told(events []event) (out []string) {
	for _, e := range events {
		switch e.Type {
		case "content_block_start":
			out = append(out, fmt.Sprintf("start %s%s", e.ContentBlock.Type, e.ContentBlock.Name))
		case "content_block_delta":
			text := e.Delta.Text + e.Delta.Thinking + e.Delta.PartialJSON
			if e.Delta.Type == "signature_delta" && len(e.Delta.Signature) == 32 {
				text = "…"
			}
			out = append(out, e.Delta.Type+" "+text)
		case "message_delta":
			line := "end " + *e.Delta.StopReason
			if e.Delta.StopSequence != nil {
				line += " " + *e.Delta.StopSequence
			}
			out = append(out, line)
		case "error":
			out = append(out, "error "+e.Error.Type)
		case "content_block_stop":
			out = append(out, "stop")
		default:
			out = append(out, e.Type)
		}
	}
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const claudeTool = `{"name":"get_weather","description":"","input_schema":{"properties":{"city":{"type":"string"}}}}`

func ask(stream bool, more string) string {
	return fmt.Sprintf(`{"model":"m","max_tokens":1000,"stream":%v,"messages":[{"role":"user","content":"Hi"}],"tools":[%s]%s}`, stream, claudeTool, more)
}

var (
	hermesServer   = []string{"--tool-call-parser", "hermes", "--enable-auto-tool-choice"}
	thinkingServer = append(hermesServer, "--reasoning-parser", "qwen3")
)

func TestMessagesStream(t *testing.T) {
	url := serve(t, append(thinkingServer, "--replay", says(t, `<think>|Need| it.|</think>|Let me look.|<tool_call>|`+"\n"+`{"name": "get_weather", "arguments": {"city":| "Paris"}}`+"\n"+`|</tool_call>`))...)
	same(t, told(messageEvents(t, url, ask(true, ""))),
		"message_start", "ping",
		"start thinking", "thinking_delta Need", "thinking_delta  it.", "signature_delta …", "stop",
		"start text", "text_delta Let me look.", "stop",
		"start tool_useget_weather", `input_json_delta {"city":`, `input_json_delta  "Paris"}`, "stop",
		"end tool_use", "message_stop")
}

// messageAnswer is a whole answer.
type messageAnswer struct {
	ID, Type, Role, Model string
	Content               []struct {
		Type, Text, Thinking, Signature, ID, Name string
		Input                                     jsontext.Value
	}
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        map[string]int
}

func messageWhole(t *testing.T, url, request string) messageAnswer {
	t.Helper()
	status, data := post(t, url+"/v1/messages", request)
	var a messageAnswer
	if err := json.Unmarshal(data, &a, json.MatchCaseInsensitiveNames(true)); err != nil || status != http.StatusOK {
		t.Fatalf("status %d: %s (%v)", status, data, err)
	}
	return a
}

func TestMessagesWhole(t *testing.T) {
	url := serve(t, append(thinkingServer, "--replay", says(t, `<think>Need it.</think>Let me look.<tool_call>`+"\n"+`{"name": "get_weather", "arguments": {"city": "Paris"}}`+"\n"+`</tool_call>`))...)
	a := messageWhole(t, url, ask(false, ""))
	if a.Type != "message" || a.Role != "assistant" || a.Model != "m" || *a.StopReason != "tool_use" || a.StopSequence != nil || !strings.HasPrefix(a.ID, "msg_") || len(a.Content) != 3 {
		t.Fatalf("%+v", a)
	}
	if c := a.Content[0]; c.Type != "thinking" || c.Thinking != "Need it." || len(c.Signature) != 32 {
		t.Errorf("%+v", c)
	}
	if c := a.Content[1]; c.Type != "text" || c.Text != "Let me look." {
		t.Errorf("%+v", c)
	}
	if c := a.Content[2]; c.Type != "tool_use" || c.Name != "get_weather" || c.ID == "" || string(c.Input) != `{"city": "Paris"}` && string(c.Input) != `{"city":"Paris"}` {
		t.Errorf("%+v %s", c, c.Input)
	}
}

// TestW27: a call that max_tokens has cut off is a partial tool_use, and no error.
func TestW27(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"text":"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": [1, 2, {\"a\": \"x","finish_reason":"length"}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	a := messageWhole(t, url, ask(false, ""))
	if *a.StopReason != "max_tokens" || len(a.Content) != 1 || a.Content[0].Type != "tool_use" {
		t.Fatalf("%+v", a)
	}
	var input map[string]any
	if err := json.Unmarshal(a.Content[0].Input, &input); err != nil || input["city"] != "Paris" || fmt.Sprint(input["days"]) != "[1 2 map[]]" {
		t.Errorf("%s %v", a.Content[0].Input, err)
	}
	got := told(messageEvents(t, url, ask(true, "")))
	if last := got[len(got)-2]; last != "end max_tokens" {
		t.Errorf("%v", got)
	}
}

// TestW28: content between calls stays between them, and no fragment of a call is lost.
func TestW28(t *testing.T) {
	call := func(city string) string {
		return `<tool_call>|{"name": "get_weather", "arguments": {"city": |"` + city + `"}}|</tool_call>`
	}
	url := serve(t, append(hermesServer, "--replay", says(t, "One| "+call("Paris")+" two| "+call("Oslo")+" three"))...)
	same(t, told(messageEvents(t, url, ask(true, ""))),
		"message_start", "ping", "start text", "text_delta One", "stop",
		"start tool_useget_weather", `input_json_delta {"city": `, `input_json_delta "Paris"}`, "stop",
		"start text", "text_delta   two", "stop",
		"start tool_useget_weather", `input_json_delta {"city": `, `input_json_delta "Oslo"}`, "stop",
		"start text", "text_delta   three", "stop",
		"end tool_use", "message_stop")
	var kinds []string
	for _, block := range messageWhole(t, url, ask(false, "")).Content {
		kinds = append(kinds, block.Type)
	}
	same(t, kinds, "text", "tool_use", "text", "tool_use", "text")
}

// TestW29: an empty answer has one empty text block, whole and streamed.
func TestW29(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, ""))...)
	same(t, told(messageEvents(t, url, ask(true, ""))), "message_start", "ping", "start text", "stop", "end end_turn", "message_stop")
	if a := messageWhole(t, url, ask(false, "")); len(a.Content) != 1 || a.Content[0].Type != "text" || a.Content[0].Text != "" || *a.StopReason != "end_turn" {
		t.Errorf("%+v", a)
	}
}

// prompted is what a server whose recordings show the prompt answers: the replay engine plays the recording that the
// prompt contains, so a prompt that lacks a text is answered with "no".
func prompted(t *testing.T, contains ...string) string {
	t.Helper()
	match, err := json.Marshal(contains)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, append(hermesServer, "--replay", record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":`+string(match)+`},"text":"yes"},{"text":"no"}]}`)))...)
}

// TestW26: results of tools keep their place and their error.
func TestW26(t *testing.T) {
	conversation := `,"messages":[{"role":"user","content":"Go."},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"redacted_thinking","data":"zzz"},{"type":"tool_use","id":"t1","name":"get_weather","input":{"city":"Paris"}},{"type":"tool_use","id":"t2","name":"get_weather","input":{}}]},
		{"role":"user","content":[{"type":"text","text":"first"},{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no network"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"sunny"},{"type":"text","text":"21"}]},{"type":"text","text":"then"}]}]`
	request := strings.Replace(ask(false, ""), `,"messages":[{"role":"user","content":"Hi"}]`, conversation, 1)
	url := prompted(t, "user: Go.", "get_weather", "user: first\ntool: Error: no network\ntool: sunny\n21\nuser: then")
	if a := messageWhole(t, url, request); len(a.Content) != 1 || a.Content[0].Text != "yes" {
		t.Errorf("the prompt is another: %+v", a)
	}
}

func TestMessagesSystemPrompt(t *testing.T) {
	url := prompted(t, "system: Be brief. Be kind.\nuser: Hi\nsystem: Now in French.\nuser: Go on")
	request := strings.Replace(ask(false, `,"system":[{"type":"text","text":"x-anthropic-billing-header: 7"},{"type":"text","text":"Be brief."},{"type":"text","text":" Be kind."}]`),
		`{"role":"user","content":"Hi"}`, `{"role":"user","content":"Hi"},{"role":"system","content":[{"type":"text","text":"Now in French."}]},{"role":"user","content":"Go on"}`, 1)
	if a := messageWhole(t, url, request); a.Content[0].Text != "yes" {
		t.Errorf("the prompt is another: %+v", a)
	}
}

func TestMessagesStopSequence(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "One, two,| three END four"))...)
	a := messageWhole(t, url, ask(false, `,"stop_sequences":["END"]`))
	if *a.StopReason != "stop_sequence" || *a.StopSequence != "END" || a.Content[0].Text != "One, two, three" {
		t.Errorf("%+v", a)
	}
	got := told(messageEvents(t, url, ask(true, `,"stop_sequences":["END"]`)))
	if got[len(got)-2] != "end stop_sequence END" {
		t.Errorf("%v", got)
	}
}

// TestW31: every error has the interface's own shape, those of the schema too.
func TestW31(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	message := `"messages":[{"role":"user","content":"Hi"}]`
	for name, c := range map[string]struct {
		body, says string
		status     int
	}{
		"no JSON":                   {`{`, "JSON", 400},
		"no object":                 {`[]`, "object", 400},
		"no model":                  {`{"max_tokens":1,` + message + `}`, "model", 400},
		"unknown model":             {`{"model":"other","max_tokens":1,` + message + `}`, "other", 404},
		"no max_tokens":             {`{"model":"m",` + message + `}`, "max_tokens", 400},
		"max_tokens 0":              {`{"model":"m","max_tokens":0,` + message + `}`, "max_tokens", 400},
		"no messages":               {`{"model":"m","max_tokens":1}`, "messages", 400},
		"empty messages":            {`{"model":"m","max_tokens":1,"messages":[]}`, "at least one message", 400},
		"role":                      {`{"model":"m","max_tokens":1,"messages":[{"role":"tool","content":"x"}]}`, "messages.0.role", 400},
		"no content":                {`{"model":"m","max_tokens":1,"messages":[{"role":"user"}]}`, "messages.0.content", 400},
		"content a number":          {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":7}]}`, "messages.0", 400},
		"block type":                {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"video"}]}]}`, "messages.0.content.0.type", 400},
		"block without text":        {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text"}]}]}`, "messages.0.content.0.text", 400},
		"result without id":         {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","content":"x"}]}]}`, "tool_use_id", 400},
		"use without input":         {`{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]}]}`, "input", 400},
		"result in an answer":       {`{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "assistant message", 400},
		"a document that is a file": {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","data":"x"}}]}]}`, "documents of text", 400},
		"system a number":           {`{"model":"m","max_tokens":1,"system":7,` + message + `}`, "system", 400},
		"tool without schema":       {`{"model":"m","max_tokens":1,"tools":[{"name":"f"}],` + message + `}`, "input_schema", 400},
		"tool without name":         {`{"model":"m","max_tokens":1,"tools":[{"input_schema":{}}],` + message + `}`, "tools.0.name", 400},
		"tool twice":                {`{"model":"m","max_tokens":1,"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}],` + message + `}`, "unique", 400},
		"tool of Anthropic's":       {`{"model":"m","max_tokens":1,"tools":[{"type":"web_search_20250305","name":"web_search"}],` + message + `}`, "tools.0.type", 400},
		"MCP servers":               {ask(false, `,"mcp_servers":[{"type":"url","url":"https://example.com","name":"a"}]`), "mcp_servers", 400},
		"choice without tools":      {`{"model":"m","max_tokens":1,"tool_choice":{"type":"any"},` + message + `}`, "tool_choice", 400},
		"choice of another tool":    {ask(false, `,"tool_choice":{"type":"tool","name":"other"}`), "tool_choice.name", 400},
		"choice without name":       {ask(false, `,"tool_choice":{"type":"tool"}`), "tool_choice.name", 400},
		"choice type":               {ask(false, `,"tool_choice":{"type":"must"}`), "tool_choice.type", 400},
		"choice a text":             {ask(false, `,"tool_choice":"auto"`), "tool_choice", 400},
		"budget small":              {ask(false, `,"thinking":{"type":"enabled","budget_tokens":10}`), "1024", 400},
		"budget missing":            {ask(false, `,"thinking":{"type":"enabled"}`), "budget_tokens", 400},
		"thinking type":             {ask(false, `,"thinking":{"type":"much"}`), "thinking.type", 400},
		"effort":                    {ask(false, `,"output_config":{"effort":"huge"}`), "output_config.effort", 400},
		"format":                    {ask(false, `,"output_config":{"format":{"type":"xml"}}`), "output_config.format.type", 400},
		"temperature":               {ask(false, `,"temperature":3`), "temperature", 400},
		"stop sequences":            {ask(false, `,"stop_sequences":["a","b","c","d","e"]`), "stop", 400},
		"stop empty":                {ask(false, `,"stop_sequences":[""]`), "stop", 400},
		"stream too":                {ask(true, `,"temperature":"hot"`), "temperature", 400},
	} {
		status, data := post(t, url+"/v1/messages", c.body)
		var shape struct {
			Type  string
			Error struct{ Type, Message string }
		}
		err := json.Unmarshal(data, &shape, json.MatchCaseInsensitiveNames(true))
		kind := map[int]string{400: "invalid_request_error", 404: "not_found_error"}[c.status]
		if err != nil || status != c.status || shape.Type != "error" || shape.Error.Type != kind || !strings.Contains(shape.Error.Message, c.says) {
			t.Errorf("%s: status %d: %s; want %d and %q", name, status, data, c.status, c.says)
		}
	}
}

// TestMessagesErrorsEverywhere: what no handler of the interface answers has its shape too.
func TestMessagesErrorsEverywhere(t *testing.T) {
	url := serve(t, append(hermesServer, "--max-body-size", "1000", "--replay", says(t, "x"))...)
	for name, c := range map[string]struct {
		method, path, content, version, body string
		status                               int
		kind                                 string
	}{
		"another method":       {"GET", "/v1/messages", "", "", "", 405, "invalid_request_error"},
		"another method, too":  {"DELETE", "/v1/messages/count_tokens", "", "", "", 405, "invalid_request_error"},
		"no route":             {"POST", "/v1/messages/batches", "application/json", "", "{}", 404, "not_found_error"},
		"no route of theirs":   {"GET", "/v1/files", "", "2023-06-01", "", 404, "not_found_error"},
		"a large body":         {"POST", "/v1/messages", "application/json", "", `{"model":"` + strings.Repeat("m", 2000) + `"}`, 413, "request_too_large"},
		"another content type": {"POST", "/v1/messages", "text/plain", "", "{}", 400, "invalid_request_error"},
		"nothing":              {"POST", "/v1/messages", "application/json", "", "", 400, "invalid_request_error"},
		"no UTF-8":             {"POST", "/v1/messages/count_tokens", "application/json", "", "{\"model\":\"\xff\"}", 400, "invalid_request_error"},
	} {
		request, err := http.NewRequest(c.method, url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.content != "" {
			request.Header.Set("Content-Type", c.content)
		}
		if c.version != "" {
			request.Header.Set("Anthropic-Version", c.version)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		var shape struct {
			Type  string
			Error struct{ Type, Message string }
		}
		err = json.Unmarshal(data, &shape, json.MatchCaseInsensitiveNames(true))
		if err != nil || answer.StatusCode != c.status || shape.Type != "error" || shape.Error.Type != c.kind || shape.Error.Message == "" {
			t.Errorf("%s: status %d: %s; want %d and %s", name, answer.StatusCode, data, c.status, c.kind)
		}
		if answer.Header.Get("Request-Id") == "" {
			t.Errorf("%s: no request-id", name)
		}
		if c.status == 405 && answer.Header.Get("Allow") != "POST" {
			t.Errorf("%s: allowed is %q", name, answer.Header.Get("Allow"))
		}
	}
}

// TestFilteredAnswers: what a filter of the engine's ended is said in each interface's word for it.
func TestFilteredAnswers(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", recorded(t, map[string]any{"text": "Half of", "finish_reason": "content_filter"}))...)
	found, _ := both(t, url, `"n":1`)
	is(t, found, answer{Content: "Half of", Finish: "content_filter"})
	if a := messageWhole(t, url, ask(false, "")); *a.StopReason != "refusal" || a.Content[0].Text != "Half of" {
		t.Errorf("%+v", a)
	}
	if got := told(messageEvents(t, url, ask(true, ""))); got[len(got)-2] != "end refusal" {
		t.Errorf("%v", got)
	}
	if o := wholeResponse(t, url, respond("")); o.Status != "incomplete" || o.IncompleteDetails.Reason != "content_filter" {
		t.Errorf("%+v", o)
	}
}

// TestMessagesErrorInStream: an engine that breaks off ends the stream with an error event, the open block stopped.
func TestMessagesErrorInStream(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"pieces":["Hi"],"error":{"status":500,"message":"boom"}}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	same(t, told(messageEvents(t, url, ask(true, ""))), "message_start", "ping", "start text", "text_delta Hi", "stop", "error api_error")
}

func TestMessagesNeedAKey(t *testing.T) {
	url := serve(t, append(hermesServer, "--api-key", "secret", "--replay", says(t, "x"))...)
	status, data := post(t, url+"/v1/messages", ask(false, ""))
	if status != http.StatusUnauthorized || !bytes.Contains(data, []byte(`"authentication_error"`)) {
		t.Errorf("%d %s", status, data)
	}
	request, err := http.NewRequest("POST", url+"/v1/messages", strings.NewReader(ask(false, "")))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Api-Key", "secret")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if data, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		t.Errorf("%d %s", answer.StatusCode, data)
	}
}

// TestCountTokens: without a tokenizer the engine cannot count, and the answer says so in the interface's shape.
func TestCountTokensWithoutTokenizer(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	status, data := post(t, url+"/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`)
	if status != http.StatusNotImplemented || !bytes.Contains(data, []byte(`"type":"error"`)) || !bytes.Contains(data, []byte("tokenizer")) {
		t.Errorf("%d %s", status, data)
	}
}
