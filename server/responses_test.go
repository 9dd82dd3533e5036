package server_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// responseEvent is an event of the Responses interface, with the fields that the tests look at.
type responseEvent struct {
	Type           string
	SequenceNumber int    `json:"sequence_number"`
	OutputIndex    int    `json:"output_index"`
	ItemID         string `json:"item_id"`
	Delta, Text    string
	Arguments      string
	Input          string
	Item           responseItem
	Response       responseObject
}

type responseItem struct {
	Type, ID, Status, Name, Namespace, Arguments, Input string
	CallID                                              string  `json:"call_id"`
	EncryptedContent                                    *string `json:"encrypted_content"`
	Content                                             []struct{ Type, Text string }
}

type responseObject struct {
	ID, Status         string
	Model              string
	Output             []responseItem
	Error              *struct{ Code, Message string }
	IncompleteDetails  *struct{ Reason string } `json:"incomplete_details"`
	Text, Tools        jsontext.Value
	ToolChoice         jsontext.Value `json:"tool_choice"`
	PreviousResponseID *string        `json:"previous_response_id"`
	Usage              *struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Total   int `json:"total_tokens"`
		Details struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
}

// readEvents reads a stream of events, checked against the rules of every stream: names as types, numbers without gaps,
// an item added before anything about it, and done with the same id.
func readEvents(t *testing.T, data []byte, from int) (out []responseEvent) {
	t.Helper()
	open := map[int]string{}
	for frame := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		name, rest, _ := strings.Cut(frame, "\n")
		text, ok := strings.CutPrefix(rest, "data: ")
		var e responseEvent
		if err := json.Unmarshal([]byte(text), &e, json.MatchCaseInsensitiveNames(true)); err != nil || !ok {
			t.Fatalf("%q: %v", frame, err)
		}
		if e.Type != strings.TrimPrefix(name, "event: ") || e.SequenceNumber != from+len(out) {
			t.Errorf("%s: type %q, number %d, expected %d", name, e.Type, e.SequenceNumber, from+len(out))
		}
		switch {
		case e.Type == "response.output_item.added":
			open[e.OutputIndex] = e.Item.ID
		case e.Type == "response.output_item.done" && from == 0:
			if open[e.OutputIndex] != e.Item.ID {
				t.Errorf("item %d is done as %q, added as %q", e.OutputIndex, e.Item.ID, open[e.OutputIndex])
			}
		case e.ItemID != "" && from == 0 && open[e.OutputIndex] != e.ItemID:
			t.Errorf("%s of %q, open is %q", e.Type, e.ItemID, open[e.OutputIndex])
		}
		out = append(out, e)
	}
	return out
}

func streamResponse(t *testing.T, url, request string) []responseEvent {
	t.Helper()
	status, data := post(t, url+"/v1/responses", request)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	return readEvents(t, data, 0)
}

func wholeResponse(t *testing.T, url, request string) responseObject {
	t.Helper()
	status, data := post(t, url+"/v1/responses", request)
	return readObject(t, status, data)
}

func readObject(t *testing.T, status int, data []byte) (o responseObject) {
	t.Helper()
	if err := json.Unmarshal(data, &o, json.MatchCaseInsensitiveNames(true)); err != nil || status != http.StatusOK {
		t.Fatalf("status %d: %s (%v)", status, data, err)
	}
	return o
}

// fetch reads something with GET, or another method.
func fetch(t *testing.T, method, url string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var data bytes.Buffer
	if _, err := data.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, data.Bytes()
}

// inShort writes events down in short.
func inShort(events []responseEvent) (out []string) {
	for _, e := range events {
		line := strings.TrimPrefix(e.Type, "response.")
		switch {
		case e.Item.Type != "":
			line += " " + e.Item.Type + " " + e.Item.Status
		case strings.HasSuffix(e.Type, ".delta"):
			line += " " + e.Delta
		case strings.HasSuffix(e.Type, ".done"):
			line += " " + e.Text + e.Arguments + e.Input
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

const flatTool = `{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}`

func respond(more string) string {
	return fmt.Sprintf(`{"model":"m","input":"Hi","tools":[%s]%s}`, flatTool, more)
}

const thoughtAndCall = `<think>|Need| it.|</think>|<tool_call>|` + "\n" + `{"name": "get_weather", "arguments": {"city":| "Paris"}}` + "\n" + `|</tool_call>`

func TestResponsesStream(t *testing.T) {
	url := serve(t, append(thinkingServer, "--replay", says(t, thoughtAndCall))...)
	events := streamResponse(t, url, respond(`,"stream":true`))
	same(t, inShort(events),
		"created", "in_progress",
		"output_item.added reasoning in_progress", "content_part.added", "reasoning_text.delta Need", "reasoning_text.delta  it.", "reasoning_text.done Need it.", "content_part.done", "output_item.done reasoning completed",
		"output_item.added function_call in_progress", `function_call_arguments.delta {"city":`, `function_call_arguments.delta  "Paris"}`, `function_call_arguments.done {"city": "Paris"}`, "output_item.done function_call completed",
		"completed")
	first, last := events[0].Response, events[len(events)-1].Response
	if first.Status != "in_progress" || first.ID != last.ID || last.Status != "completed" || len(last.Output) != 2 || last.Usage == nil || last.Usage.Total != last.Usage.Input+last.Usage.Output || last.Usage.Details.Reasoning == 0 {
		t.Errorf("%+v\n%+v", first, last)
	}
}

// TestResponsesWholeAsStreamed: a whole response has the items of the stream.
func TestResponsesWholeAsStreamed(t *testing.T) {
	url := serve(t, append(thinkingServer, "--replay", says(t, thoughtAndCall+"| and so on"))...)
	events := streamResponse(t, url, respond(`,"stream":true`))
	whole := wholeResponse(t, url, respond(""))
	streamed := events[len(events)-1].Response
	if len(whole.Output) != 3 || whole.Status != "completed" || !strings.HasPrefix(whole.ID, "resp_") {
		t.Fatalf("%+v", whole)
	}
	for i := range whole.Output {
		a, b := whole.Output[i], streamed.Output[i]
		a.ID, b.ID, a.CallID, b.CallID = "", "", "", ""
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("item %d: %+v whole, %+v streamed", i, a, b)
		}
	}
}

// TestW11: the response tells text, tools and tool_choice as the request said them, whatever forces the call.
func TestW11(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, `<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>`))...)
	o := wholeResponse(t, url, respond(`,"tool_choice":"required","text":{"format":{"type":"text"},"verbosity":"low"}`))
	compact := func(v jsontext.Value) string { _ = v.Compact(); return string(v) }
	if compact(o.Text) != `{"format":{"type":"text"},"verbosity":"low"}` || compact(o.ToolChoice) != `"required"` || compact(o.Tools) != "["+flatTool+"]" {
		t.Errorf("text %s, tool_choice %s, tools %s", o.Text, o.ToolChoice, o.Tools)
	}
	if o := wholeResponse(t, url, respond("")); compact(o.Text) != `{"format":{"type":"text"}}` || compact(o.ToolChoice) != `"auto"` {
		t.Errorf("text %s, tool_choice %s", o.Text, o.ToolChoice)
	}
}

// TestW21: allowed_tools narrows the tools, whole and streamed.
func TestW21(t *testing.T) {
	other := strings.ReplaceAll(flatTool, "get_weather", "get_time")
	url := serve(t, append(hermesServer, "--replay", record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":["get_time"]},"text":"both"},{"text":"one"}]}`)))...)
	request := fmt.Sprintf(`{"model":"m","input":"Hi","tools":[%s,%s]`, flatTool, other)
	text := func(more string) string { return wholeResponse(t, url, request+more).Output[0].Content[0].Text }
	if got := text(`}`); got != "both" {
		t.Errorf("without allowed_tools: %s", got)
	}
	allowed := `,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"get_weather"}]}`
	if got := text(allowed + "}"); got != "one" {
		t.Errorf("with allowed_tools: %s", got)
	}
	events := streamResponse(t, url, request+allowed+`,"stream":true}`)
	if got := events[len(events)-1].Response.Output[0].Content[0].Text; got != "one" {
		t.Errorf("streamed: %s", got)
	}
}

// TestW22: tools without a tool parser are refused, as in Chat Completions.
func TestW22(t *testing.T) {
	url := serve(t, "--replay", says(t, "x"))
	status, data := post(t, url+"/v1/responses", respond(""))
	if status != http.StatusBadRequest || !bytes.Contains(data, []byte("--tool-call-parser")) {
		t.Errorf("%d %s", status, data)
	}
}

// TestW23: previous_response_id brings back everything: the input, the reasoning, the call and its output.
func TestW23(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[
		{"match":{"contains":["user: first question","tool: sunny","get_weather","user: and now?"]},"text":"</think>all is there"},
		{"match":{"contains":["first question"]},"text":"I think.</think>Let me see.<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>"},
		{"text":"</think>nothing is there"}]}`))
	url := serve(t, append(thinkingServer, "--replay", folder)...)
	first := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","input":"first question","tools":[%s]}`, flatTool))
	if len(first.Output) != 3 {
		t.Fatalf("%+v", first)
	}
	call := first.Output[2]
	second := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","previous_response_id":%q,"tools":[%s],"input":[{"type":"function_call_output","call_id":%q,"output":"sunny"},{"role":"user","content":"and now?"}]}`, first.ID, flatTool, call.CallID))
	if got := second.Output[len(second.Output)-1].Content[0].Text; got != "all is there" || *second.PreviousResponseID != first.ID {
		t.Errorf("%q, %+v", got, second)
	}
	status, data := fetch(t, "GET", url+"/v1/responses/"+second.ID+"/input_items?order=asc")
	if status != http.StatusOK || !bytes.Contains(data, []byte("sunny")) || bytes.Contains(data, []byte("first question")) {
		t.Errorf("its own items: %d %s", status, data)
	}
	if status, data := post(t, url+"/v1/responses", `{"model":"m","input":"x","previous_response_id":"resp_none"}`); status != http.StatusNotFound || !bytes.Contains(data, []byte("resp_none")) {
		t.Errorf("%d %s", status, data)
	}
}

// TestW24: an engine that breaks off makes a failed response, told as such, and stored as such.
func TestW24(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"pieces":["Hi"],"error":{"status":500,"message":"boom"}}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	events := streamResponse(t, url, respond(`,"stream":true`))
	last := events[len(events)-1]
	if last.Type != "response.failed" || events[len(events)-2].Type != "error" || last.Response.Status != "failed" || last.Response.Error == nil || last.Response.Error.Code != "server_error" || strings.Contains(last.Response.Error.Message, "boom") {
		t.Errorf("%+v", last)
	}
	if status, data := fetch(t, "GET", url+"/v1/responses/"+last.Response.ID); readObject(t, status, data).Status != "failed" {
		t.Errorf("stored: %s", data)
	}
	if status, _ := post(t, url+"/v1/responses", respond("")); status != http.StatusInternalServerError {
		t.Errorf("whole: status %d", status)
	}
}

// slowly makes a folder with one answer that takes its time.
func slowly(t *testing.T, pieces int, wait int) string {
	return record(t, jsontext.Value(`{"model":"m","recordings":[{"pieces":[`+strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"text":"word ","wait_ms":%d},`, wait), pieces), ",")+`]}]}`))
}

// eventually asks until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to be: %s", what)
		}
	}
}

// TestW25: a response in the background is queued, in progress and over; its events can be followed, and gone on with.
func TestW25(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", slowly(t, 40, 10))...)
	o := wholeResponse(t, url, respond(`,"background":true`))
	if o.Status != "queued" && o.Status != "in_progress" {
		t.Errorf("%+v", o)
	}
	read := func() responseObject {
		status, data := fetch(t, "GET", url+"/v1/responses/"+o.ID)
		return readObject(t, status, data)
	}
	eventually(t, "in_progress with output", func() bool { now := read(); return now.Status == "in_progress" && len(now.Output) > 0 })
	status, data := fetch(t, "GET", url+"/v1/responses/"+o.ID+"?stream=true&starting_after=2")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, data)
	}
	events := readEvents(t, data, 3)
	if last := events[len(events)-1]; last.Type != "response.completed" || last.Response.Output[0].Content[0].Text != strings.Repeat("word ", 39)+"word" {
		t.Errorf("%+v", last)
	}
	if now := read(); now.Status != "completed" {
		t.Errorf("%+v", now)
	}
	status, again := fetch(t, "GET", url+"/v1/responses/"+o.ID+"?stream=true")
	if all := readEvents(t, again, 0); status != http.StatusOK || all[0].Type != "response.created" || all[1].Type != "response.queued" || len(all) != len(events)+3 {
		t.Errorf("stored events: %d, %v", status, inShort(all))
	}
}

// TestW25Failure: one that fails is failed, and its stream ends.
func TestW25Failure(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"pieces":["Hi"],"error":{"status":500,"message":"boom"}}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	status, data := post(t, url+"/v1/responses", respond(`,"background":true,"stream":true`))
	if events := readEvents(t, data, 0); status != http.StatusOK || events[len(events)-1].Type != "response.failed" {
		t.Errorf("%d %s", status, data)
	}
}

func TestResponsesCancelAndDelete(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", slowly(t, 1000, 20))...)
	o := wholeResponse(t, url, respond(`,"background":true`))
	eventually(t, "in_progress", func() bool {
		status, data := fetch(t, "GET", url+"/v1/responses/"+o.ID)
		return readObject(t, status, data).Status == "in_progress"
	})
	if status, data := fetch(t, "DELETE", url+"/v1/responses/"+o.ID); status != http.StatusBadRequest {
		t.Errorf("deleted while it is made: %d %s", status, data)
	}
	status, data := post(t, url+"/v1/responses/"+o.ID+"/cancel", `{}`)
	if readObject(t, status, data).Status != "cancelled" {
		t.Errorf("%s", data)
	}
	if status, data := post(t, url+"/v1/responses/"+o.ID+"/cancel", `{}`); readObject(t, status, data).Status != "cancelled" {
		t.Errorf("cancelled twice: %d %s", status, data)
	}
	if status, data := fetch(t, "DELETE", url+"/v1/responses/"+o.ID); status != http.StatusOK || !bytes.Contains(data, []byte(`"deleted":true`)) {
		t.Errorf("%d %s", status, data)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, _ := fetch(t, method, url+"/v1/responses/"+o.ID); status != http.StatusNotFound {
			t.Errorf("%s of one that is gone: %d", method, status)
		}
	}
}

func TestResponsesCustomAndNamespacedTools(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t,
		`<tool_call>{"name": "apply_patch", "arguments": {"input": "*** Begin|\n+a \"q\" \u00fc|\n"}}</tool_call><tool_call>{"name": "files__read", "arguments": {"path": "x"}}</tool_call>`))...)
	tools := `[{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: \"x\""}},{"type":"namespace","name":"files","tools":[{"type":"function","name":"read","parameters":{}}]},{"type":"web_search"}]`
	request := `{"model":"m","input":"Hi","tools":` + tools
	events := streamResponse(t, url, request+`,"stream":true}`)
	last := events[len(events)-1].Response
	want := "*** Begin\n+a \"q\" ü\n"
	if c := last.Output[0]; c.Type != "custom_tool_call" || c.Name != "apply_patch" || c.Input != want || c.CallID == "" {
		t.Errorf("%+v", c)
	}
	if c := last.Output[1]; c.Type != "function_call" || c.Name != "read" || c.Namespace != "files" {
		t.Errorf("%+v", c)
	}
	streamed := ""
	for _, e := range events {
		if e.Type == "response.custom_tool_call_input.delta" {
			streamed += e.Delta
		}
	}
	if streamed != want {
		t.Errorf("the deltas are %q", streamed)
	}
}

func TestResponsesIncomplete(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"text":"One two <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Pa","finish_reason":"length"}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	events := streamResponse(t, url, respond(`,"stream":true,"max_output_tokens":100`))
	last := events[len(events)-1]
	if last.Type != "response.incomplete" || last.Response.Status != "incomplete" || last.Response.IncompleteDetails.Reason != "max_output_tokens" {
		t.Errorf("%+v", last)
	}
	if items := last.Response.Output; items[0].Status != "completed" || items[1].Status != "incomplete" || items[1].Arguments != `{"city": "Pa` {
		t.Errorf("%+v", items)
	}
}

// TestResponsesEncryptedReasoning: what is given out as encrypted comes back as the same reasoning.
func TestResponsesEncryptedReasoning(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":["user: go on"]},"text":"</think>x"},{"text":"I think.</think>Yes."}]}`))
	url := serve(t, append(thinkingServer, "--replay", folder)...)
	o := wholeResponse(t, url, `{"model":"m","input":"Hi","store":false,"include":["reasoning.encrypted_content"]}`)
	secret := o.Output[0].EncryptedContent
	if secret == nil || *secret == "" {
		t.Fatalf("%+v", o)
	}
	request := `{"model":"m","input":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":%q},{"role":"user","content":"go on"}]}`
	if status, data := post(t, url+"/v1/responses", fmt.Sprintf(request, *secret)); status != http.StatusOK {
		t.Errorf("%d %s", status, data)
	}
	if status, data := post(t, url+"/v1/responses", fmt.Sprintf(request, "gAAAAAB…")); status != http.StatusBadRequest || !bytes.Contains(data, []byte("encrypted_content")) {
		t.Errorf("%d %s", status, data)
	}
}

// TestBadResponsesRequests: what is wrong is told with its place.
func TestBadResponsesRequests(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	for name, c := range map[string]struct {
		body, says string
		status     int
	}{
		"no JSON":                   {`{`, "JSON", 400},
		"no input":                  {`{"model":"m"}`, "input", 400},
		"input a number":            {`{"model":"m","input":7}`, "input", 400},
		"input without items":       {`{"model":"m","input":[]}`, "at least one item", 400},
		"item a text":               {`{"model":"m","input":["x"]}`, "input.0", 400},
		"unknown model":             {`{"model":"other","input":"x"}`, "other", 404},
		"unknown item":              {`{"model":"m","input":[{"type":"computer_call"}]}`, "computer_call", 400},
		"item without role":         {`{"model":"m","input":[{"content":"x"}]}`, "input.0", 400},
		"item with a wrong role":    {`{"model":"m","input":[{"role":"boss","content":"x"}]}`, "role", 400},
		"unknown part":              {`{"model":"m","input":[{"role":"user","content":[{"type":"input_file"}]}]}`, "input.0", 400},
		"output without call_id":    {`{"model":"m","input":[{"type":"function_call_output","output":"x"}]}`, "call_id", 400},
		"prompt":                    {`{"model":"m","input":"x","prompt":{"id":"p"}}`, "prompt", 400},
		"nested function":           {`{"model":"m","input":"x","tools":[{"type":"function","function":{"name":"f"}}]}`, "tools.0.function", 400},
		"tool without type":         {`{"model":"m","input":"x","tools":[{"name":"f"}]}`, "tools.0.type", 400},
		"tool without name":         {`{"model":"m","input":"x","tools":[{"type":"function"}]}`, "tools.0.name", 400},
		"tool twice":                {`{"model":"m","input":"x","tools":[` + flatTool + `,` + flatTool + `]}`, "unique", 400},
		"tool choice null":          {respond(`,"tool_choice":null`), "tool_choice", 400},
		"tool choice word":          {respond(`,"tool_choice":"must"`), "tool_choice", 400},
		"tool choice of another":    {respond(`,"tool_choice":{"type":"function","name":"other"}`), "other", 400},
		"hosted tool choice":        {respond(`,"tool_choice":{"type":"web_search_preview"}`), "web_search_preview", 400},
		"required without tools":    {`{"model":"m","input":"x","tool_choice":"required"}`, "tools", 400},
		"allowed tools mode":        {respond(`,"tool_choice":{"type":"allowed_tools","mode":"x","tools":[{"type":"function","name":"get_weather"}]}`), "mode", 400},
		"allowed tools empty":       {respond(`,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}`), "tools", 400},
		"background without store":  {respond(`,"background":true,"store":false`), "store", 400},
		"previous and conversation": {respond(`,"previous_response_id":"a","conversation":"b"`), "together", 400},
		"max_output_tokens":         {respond(`,"max_output_tokens":0`), "max_output_tokens", 400},
		"temperature":               {respond(`,"temperature":9`), "temperature", 400},
		"top_logprobs":              {respond(`,"top_logprobs":-1`), "top_logprobs", 400},
		"effort":                    {respond(`,"reasoning":{"effort":"huge"}`), "reasoning.effort", 400},
		"format":                    {respond(`,"text":{"format":{"type":"xml"}}`), "text.format.type", 400},
		"format without schema":     {respond(`,"text":{"format":{"type":"json_schema","name":"a"}}`), "text.format.schema", 400},
		"include":                   {respond(`,"include":["everything"]`), "everything", 400},
		"structured outputs":        {respond(`,"structured_outputs":{}`), "structured outputs", 400},
		"two formats":               {respond(`,"structured_outputs":{"regex":"a"},"text":{"format":{"type":"json_object"}}`), "together", 400},
		"reference to nothing":      {`{"model":"m","input":[{"type":"item_reference","id":"msg_none"}]}`, "msg_none", 404},
		"reference without id":      {`{"model":"m","input":[{"type":"item_reference"}]}`, "input.0.id", 400},
		"truncation":                {respond(`,"truncation":"some"`), "truncation", 400},
		"metadata":                  {respond(`,"metadata":{"a":1}`), "metadata.a", 400},
		"type a number":             {`{"model":"m","input":[{"type":3,"role":"user","content":"x"}]}`, "1 validation error", 400},
		"schema too deep":           {`{"model":"m","input":"x","tools":[{"type":"function","name":"f","parameters":` + strings.Repeat(`{"items":`, 99) + `{}` + strings.Repeat(`}`, 99) + `}]}`, "(parameter=tools.0.parameters)", 400},
		"stream a text":             {respond(`,"stream":"perhaps"`), "stream", 400},
	} {
		status, data := post(t, url+"/v1/responses", c.body)
		var shape struct {
			Error struct {
				Message, Type string
				Code          int
			}
		}
		err := json.Unmarshal(data, &shape, json.MatchCaseInsensitiveNames(true))
		if err != nil || status != c.status || shape.Error.Code != c.status || !strings.Contains(shape.Error.Message, c.says) {
			t.Errorf("%s: status %d: %s; want %d and %q", name, status, data, c.status, c.says)
		}
	}
	for path, want := range map[string]int{"/v1/responses/none": 404, "/v1/conversations/none/items/none": 404, "/v1/responses/none/input_items": 404, "/v1/responses/none?starting_after=x": 400, "/v1/conversations/none": 404, "/v1/conversations/none/items": 404} {
		if status, data := fetch(t, "GET", url+path); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, data, want)
		}
	}
}

// TestResponsesStructuredOutputs: vLLM's own field reaches the engine as a constraint.
func TestResponsesStructuredOutputs(t *testing.T) {
	held := ""
	url := serve(t, append(hermesServer, "--engine", "vllm", "--engine-url", fakeVLLMThat(t, func(body map[string]jsontext.Value) { held = string(body["structured_outputs"]) }))...)
	if o := wholeResponse(t, url, `{"model":"up","input":"Hi","structured_outputs":{"choice":["yes","no"]}}`); o.Status != "completed" {
		t.Errorf("%+v", o)
	}
	if !strings.Contains(held, `"choice":["yes","no"]`) {
		t.Errorf("the engine was asked with %s", held)
	}
}
