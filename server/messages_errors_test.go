package server_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

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
		"stop sequences":            {ask(false, `,"stop_sequences":["a","b","c","d","e"]`), "(parameter=stop_sequences)", 400},
		"stop empty":                {ask(false, `,"stop_sequences":[""]`), "(parameter=stop_sequences)", 400},
		"schema too deep":           {`{"model":"m","max_tokens":1,"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":` + strings.Repeat(`{"items":`, 99) + `{}` + strings.Repeat(`}`, 99) + `}],` + message + `}`, "(parameter=tools.1.input_schema)", 400},
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

// TestModelsOfAnthropic: a client of the interface lists models as Anthropic's service does, and reads its errors.
func TestModelsOfAnthropic(t *testing.T) {
	url := serve(t, "--api-key", "secret", "--served-model-name", "a/b,c", "--replay", says(t, "x"))
	for _, c := range []struct {
		path, key string
		status    int
		want      string
	}{
		{"/v1/models", "secret", 200, `{"data":[{"type":"model","id":"a/b","display_name":"a/b","created_at":"*"},{"type":"model","id":"c","display_name":"c","created_at":"*"}],"first_id":"a/b","has_more":false,"last_id":"c"}`},
		{"/v1/models?limit=1000", "secret", 200, `"has_more":false`},
		{"/v1/models/a%2Fb", "secret", 200, `{"type":"model","id":"a/b","display_name":"a/b","created_at":"*"}`},
		{"/v1/models/other", "secret", 404, `{"type":"error","error":{"type":"not_found_error",`},
		{"/v1/models", "wrong", 401, `{"type":"error","error":{"type":"authentication_error",`},
	} {
		request, err := http.NewRequest("GET", url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Api-Key", c.key)
		request.Header.Set("Anthropic-Version", "2023-06-01")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		found := regexp.MustCompile(`"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`).ReplaceAllString(string(data), `"created_at":"*"`)
		if answer.StatusCode != c.status || !strings.Contains(found, c.want) {
			t.Errorf("%s: status %d: %s", c.path, answer.StatusCode, found)
		}
	}
}
