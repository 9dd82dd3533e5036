package server_test

import (
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

// TestMessagesToolChanges: tools that are added and removed inside the conversation, or found by a search, are those that the
// prompt shows at its end.
func TestMessagesToolChanges(t *testing.T) {
	tool := func(name string) string { return strings.Replace(claudeTool, "get_weather", name, 1) }
	deferred := strings.Replace(tool("late"), `{"name"`, `{"defer_loading":true,"name"`, 1)
	reference := func(kind, name string) string {
		return `{"type":"` + kind + `","tool":{"type":"tool_reference","name":"` + name + `"}}`
	}
	defined := `{"type":"tool_addition","tool":{"type":"tool_definition","definition":` + tool("defined") + `}}`
	found := `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"get_weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"late"},{"type":"tool_reference","tool_name":"of another server"}]}]}`
	for name, c := range map[string]struct{ messages, tools string }{
		"as declared":       {`{"role":"user","content":"Hi"}`, "get_weather, late (deferred)"},
		"added":             {`{"role":"user","content":"Hi"},{"role":"system","content":[` + reference("tool_addition", "late") + `]}`, "get_weather, late"},
		"removed":           {`{"role":"user","content":"Hi"},{"role":"system","content":[` + reference("tool_removal", "get_weather") + `,{"type":"text","text":"so"}]}`, "late (deferred)"},
		"removed and added": {`{"role":"user","content":"Hi"},{"role":"system","content":[` + reference("tool_removal", "get_weather") + `,` + reference("tool_addition", "get_weather") + `]}`, "late (deferred), get_weather"},
		"defined":           {`{"role":"user","content":"Hi"},{"role":"system","content":[` + defined + `]}`, "get_weather, late (deferred), defined"},
		"found":             {`{"role":"user","content":"Hi"},` + found, "get_weather, late"},
	} {
		url := serve(t, append(hermesServer, "--engine", "vllm", "--engine-url", fakeVLLM(t), "--chat-template",
			`{% for t in tools %}{{ t.function.name }}{% if t.function.defer_loading %} (deferred){% endif %}{{ ", " if not loop.last }}{% endfor %}`)...)
		request := `{"model":"up","max_tokens":10,"tools":[` + claudeTool + `,` + deferred + `],"messages":[` + c.messages + `]}`
		if a := messageWhole(t, url, request); a.Content[0].Text != c.tools {
			t.Errorf("%s: the prompt shows %q, expected %q", name, a.Content[0].Text, c.tools)
		}
	}
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	for bad, says := range map[string]string{
		reference("tool_addition", "none"): "messages.1.content.0.tool.name",
		reference("tool_removal", "none"):  "messages.1.content.0.tool.name",
		`{"type":"tool_addition"}`:         "messages.1.content.0.tool",
		`{"type":"tool_addition","tool":{"type":"mcp_tool_reference","server_name":"a","name":"b"}}`: "messages.1.content.0.tool.type",
		`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"f"}}}`:       "definition.input_schema",
		`{"type":"image"}`: "messages.1.content.0.type",
	} {
		status, data := post(t, url+"/v1/messages", `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Hi"},{"role":"system","content":[`+bad+`]}]}`)
		if status != http.StatusBadRequest || !strings.Contains(string(data), says) {
			t.Errorf("%s: %d %s, expected %q", bad, status, data, says)
		}
	}
	// A tool that was removed cannot be chosen.
	status, data := post(t, url+"/v1/messages", ask(false, `,"messages":[{"role":"user","content":"Hi"},{"role":"system","content":[`+reference("tool_removal", "get_weather")+`]}],"tool_choice":{"type":"tool","name":"get_weather"}`))
	if status != http.StatusBadRequest {
		t.Errorf("%d %s", status, data)
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

// TestMessagesThinkingBudget: a budget reaches an engine that can limit thoughts; another answers without one, and says so.
// One that limits nothing, as agents send it, is no error.
func TestMessagesThinkingBudget(t *testing.T) {
	for _, c := range []struct {
		name, budget string
		flags        []string
		sent         string
		warned       bool
	}{
		{"limited", "1024", []string{"--engine-reasoning-parser"}, "1024", false},
		{"not limited", "1024", nil, "", true},
		{"more than max_tokens", "32000", []string{"--engine-reasoning-parser"}, "", false},
	} {
		sent := ""
		engine := fakeVLLMThat(t, func(body map[string]jsontext.Value) { sent = string(body["thinking_token_budget"]) })
		url := serve(t, append(append(thinkingServer, "--engine", "vllm", "--engine-url", engine), c.flags...)...)
		answer, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(`{"model":"up","max_tokens":2000,"messages":[{"role":"user","content":"Hi"}],"thinking":{"type":"enabled","budget_tokens":`+c.budget+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		warnings := strings.Join(answer.Header["X-Parlance-Warning"], "; ")
		if answer.StatusCode != http.StatusOK || sent != c.sent || strings.Contains(warnings, "budget_tokens") != c.warned {
			t.Errorf("%s: %d %s: the engine was sent %q, the client warned %q", c.name, answer.StatusCode, data, sent, warnings)
		}
	}
}
