package server_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of this file are of what a response goes on from: items, conversations, what is stored and what is left out.

func TestResponsesConversation(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":["My name is Ada","Hello Ada","What is my name"]},"text":"Ada"},{"match":{"contains":["My name is Ada"]},"text":"Hello Ada"},{"text":"?"}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	status, data := post(t, url+"/v1/conversations", `{"metadata":{"k":"v"}}`)
	var c struct{ ID, Object string }
	if err := json.Unmarshal(data, &c, json.MatchCaseInsensitiveNames(true)); err != nil || status != http.StatusOK || c.Object != "conversation" {
		t.Fatalf("%d %s", status, data)
	}
	// The items belong to the conversation also where the response itself is not stored.
	for _, want := range [][3]string{{"My name is Ada.", "false", "Hello Ada"}, {"What is my name?", "true", "Ada"}} {
		o := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","input":%q,"store":%s,"conversation":%q}`, want[0], want[1], c.ID))
		if got := o.Output[0].Content[0].Text; got != want[2] {
			t.Errorf("%q is answered with %q", want[0], got)
		}
		if status, _ := fetch(t, "GET", url+"/v1/responses/"+o.ID); (status == http.StatusOK) != (want[1] == "true") {
			t.Errorf("read back: %d", status)
		}
	}
	if _, data := fetch(t, "GET", url+"/v1/conversations/"+c.ID+"/items?order=asc&limit=3"); strings.Count(string(data), `"type":"message"`) != 3 || !bytes.Contains(data, []byte(`"has_more":true`)) {
		t.Errorf("%s", data)
	}
	if status, _ := fetch(t, "DELETE", url+"/v1/conversations/"+c.ID); status != http.StatusOK {
		t.Errorf("delete: %d", status)
	}
	if status, _ := post(t, url+"/v1/responses", fmt.Sprintf(`{"model":"m","input":"x","conversation":%q}`, c.ID)); status != http.StatusNotFound {
		t.Errorf("a conversation that is gone: %d", status)
	}
}

func TestResponsesInputItems(t *testing.T) {
	url := prompted(t, "system: Be brief.\n\nReally.\n", "user: one\ntwo\n", "assistant: yes", `"name":"f"`, "tool: out")
	request := `{"model":"m","instructions":"Be brief.","input":[{"role":"developer","content":"Really."},{"type":"message","role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"yes","annotations":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"out"}]},
		{"type":"additional_tools","role":"developer","tools":[` + flatTool + `]}]}`
	if o := wholeResponse(t, url, request); o.Output[0].Content[0].Text != "yes" {
		t.Errorf("the prompt is another: %+v", o)
	}
}

// TestResponsesItemReferences: a reference stands for what is stored, and says so or has nothing but an id.
func TestResponsesItemReferences(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":["the sea is salty","And why?"]},"text":"seen"},{"text":"the sea is salty"}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	first := wholeResponse(t, url, `{"model":"m","input":"Tell me of the sea."}`)
	for _, reference := range []string{`{"type":"item_reference","id":%q}`, `{"id":%q}`, `{"id":%q,"type":null}`} {
		second := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","input":[`+reference+`,{"role":"user","content":"And why?"}]}`, first.Output[0].ID))
		if got := second.Output[0].Content[0].Text; got != "seen" {
			t.Errorf("%s: %q", reference, got)
		}
		_, data := fetch(t, "GET", url+"/v1/responses/"+second.ID+"/input_items?order=asc")
		if !bytes.Contains(data, []byte("the sea is salty")) {
			t.Errorf("%s: %s", reference, data)
		}
	}
}

// TestResponsesTruncation: with truncation auto what is oldest is left out, until the conversation fits the context of 400
// characters with room for the answer; without it nothing is.
func TestResponsesTruncation(t *testing.T) {
	url := serve(t, append(hermesServer, "--engine", "vllm", "--engine-url", fakeVLLM(t))...)
	long := strings.Repeat("x", 100)
	request := fmt.Sprintf(`{"model":"up","instructions":"Be brief.","input":[{"role":"user","content":"1%s"},
		{"role":"assistant","content":"2%[1]s"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"3"},
		{"role":"assistant","content":"4%[1]s"},{"role":"user","content":"5"}]`, long)
	whole := "system:Be brief.;user:1" + long + ";assistant:2" + long + ";tool:3;assistant:4" + long + ";user:5;"
	for _, c := range []struct{ more, prompt, warning string }{
		{`}`, whole, ""},
		{`,"truncation":"disabled"}`, whole, ""},
		{`,"truncation":"auto","max_output_tokens":10}`, whole, ""},
		{`,"truncation":"auto","max_output_tokens":60}`, strings.Replace(whole, "user:1"+long+";", "", 1), "1 messages"},
		{`,"truncation":"auto","max_output_tokens":190}`, "system:Be brief.;assistant:4" + long + ";user:5;", "3 messages"},
	} {
		answer, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(request+c.more))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if got := readObject(t, answer.StatusCode, data); got.Output[0].Content[0].Text != c.prompt {
			t.Errorf("%s: the prompt was %q, expected %q", c.more, got.Output[0].Content[0].Text, c.prompt)
		}
		if warnings := strings.Join(answer.Header["X-Parlance-Warning"], "; "); !strings.Contains(warnings, c.warning) || strings.Contains(warnings, "left out") != (c.warning != "") {
			t.Errorf("%s: warnings %q", c.more, warnings)
		}
	}
	// What the user said last stays, though it does not fit.
	status, data := post(t, url+"/v1/responses", `{"model":"up","truncation":"auto","input":[{"role":"user","content":"a"},{"role":"user","content":"`+long+long+long+long+`"}]}`)
	if got := readObject(t, status, data); got.Output[0].Content[0].Text != "user:"+long+long+long+long+";" {
		t.Errorf("%s", data)
	}
	// An engine that does not count says so.
	replay := serve(t, append(hermesServer, "--max-model-len", "400", "--replay", says(t, "x"))...)
	answer, err := http.Post(replay+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","truncation":"auto","input":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if warnings := strings.Join(answer.Header["X-Parlance-Warning"], "; "); answer.StatusCode != http.StatusOK || !strings.Contains(warnings, "truncation is not possible") {
		t.Errorf("%d %q", answer.StatusCode, warnings)
	}
	status, data = post(t, url+"/v1/responses/input_tokens", `{"model":"up","input":"Hi"}`)
	if status != http.StatusOK || string(data) != fmt.Sprintf(`{"object":"response.input_tokens","input_tokens":%d}`, len("user:Hi;")) {
		t.Errorf("%d %s", status, data)
	}
}

// TestResponsesGoOnWithoutInput: what goes on from a response or a conversation needs no input of its own.
func TestResponsesGoOnWithoutInput(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	first := wholeResponse(t, url, `{"model":"m","input":"Hi"}`)
	if o := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","previous_response_id":%q}`, first.ID)); o.Status != "completed" {
		t.Errorf("%+v", o)
	}
}

// TestConversationItems: one item of a conversation is read and removed; a response goes on from what is left.
func TestConversationItems(t *testing.T) {
	folder := record(t, jsontext.Value(`{"model":"m","recordings":[{"match":{"contains":["secret"]},"text":"it is there"},{"text":"it is gone"}]}`))
	url := serve(t, append(hermesServer, "--replay", folder)...)
	_, data := post(t, url+"/v1/conversations", `{"items":[{"role":"user","content":"a secret"},{"role":"user","content":"no more"}]}`)
	id := get(t, data, "id").(string)
	_, data = fetch(t, "GET", url+"/v1/conversations/"+id+"/items?order=asc")
	item := get(t, data, "data.0.id").(string)
	if status, data := fetch(t, "GET", url+"/v1/conversations/"+id+"/items/"+item); status != http.StatusOK || get(t, data, "content.0.text") != "a secret" || get(t, data, "id") != item {
		t.Errorf("%d %s", status, data)
	}
	for i, want := range []int{200, 404} {
		status, data := fetch(t, "DELETE", url+"/v1/conversations/"+id+"/items/"+item)
		if status != want || i == 0 && get(t, data, "id") != id {
			t.Errorf("%d %s, want %d", status, data, want)
		}
	}
	if status, data := fetch(t, "GET", url+"/v1/conversations/"+id+"/items/"+item); status != http.StatusNotFound {
		t.Errorf("%d %s", status, data)
	}
	if o := wholeResponse(t, url, fmt.Sprintf(`{"model":"m","input":"and?","conversation":%q}`, id)); o.Output[0].Content[0].Text != "it is gone" {
		t.Errorf("%+v", o)
	}
}

// TestItemsAreListedInFull: a message that a request has in short is listed as clients read it.
func TestItemsAreListedInFull(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	items := `[{"role":"user","content":"a \"b\""},{"role":"assistant","content":"c"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}],"id":"msg_mine","status":"incomplete"},{"type":"function_call","call_id":"e","name":"f","arguments":"{}"}]`
	want := []string{
		`{"content":[{"text":"a \"b\"","type":"input_text"}],"role":"user","status":"completed","type":"message"}`,
		`{"content":[{"annotations":[],"text":"c","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`,
		`{"content":[{"text":"d","type":"input_text"}],"id":"msg_mine","role":"developer","status":"incomplete","type":"message"}`,
		`{"arguments":"{}","call_id":"e","name":"f","type":"function_call"}`,
	}
	_, data := post(t, url+"/v1/conversations", `{"items":`+items+`}`)
	conversation := url + "/v1/conversations/" + get(t, data, "id").(string) + "/items"
	response := url + "/v1/responses/" + wholeResponse(t, url, `{"model":"m","input":`+items+`}`).ID + "/input_items"
	for _, list := range []string{conversation, response} {
		_, data := fetch(t, "GET", list+"?order=asc")
		for i, want := range want {
			item, ok := get(t, data, fmt.Sprintf("data.%d", i)).(map[string]any)
			if !ok || item["id"] == "" {
				t.Fatalf("%s: %s", list, data)
			}
			if item["id"] != "msg_mine" {
				delete(item, "id")
			}
			if found, _ := json.Marshal(item, json.Deterministic(true)); string(found) != want {
				t.Errorf("%s: expected %s, found %s", list, want, found)
			}
		}
	}
}

// TestBadConversations: what is wrong with them is told with its place, and a stream is asked for in words.
func TestBadConversations(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "x"))...)
	_, data := post(t, url+"/v1/conversations", `{}`)
	one := "/v1/conversations/" + get(t, data, "id").(string)
	for _, c := range []struct{ path, body, kind, param string }{
		{"/v1/conversations", `{"metadata":{"a":1}}`, "Bad Request", "body.metadata.a"},
		{"/v1/conversations", `{"metadata":[]}`, "Bad Request", "body.metadata"},
		{"/v1/conversations", `{"items":[3]}`, "Bad Request", "body.items.0"},
		{"/v1/conversations", `{"items":[{"type":"nothing"}]}`, "BadRequestError", "items.0.type"},
		{one, `{"metadata":{"a":1}}`, "Bad Request", "body.metadata.a"},
		{one + "/items", `{"items":[{"role":"user","content":"a"},{"role":"user"}]}`, "BadRequestError", "items.1"},
		{one + "/items", `{"items":[]}`, "BadRequestError", "items"},
	} {
		status, data := post(t, url+c.path, c.body)
		if problem := errorIs(status, data, 400, c.kind, c.param); problem != "" {
			t.Errorf("%s %s: %s", c.path, c.body, problem)
		}
	}
	_, data = post(t, url+"/v1/responses", `{"model":"m","input":"Hi","background":true}`)
	made := url + "/v1/responses/" + get(t, data, "id").(string)
	for query, want := range map[string]string{"stream=true": "event: ", "stream=True": "event: ", "stream=1": "event: ", "stream=false": "{", "stream=0": "{", "": "{", "stream=perhaps": `{"error"`, "stream=": `{"error"`} {
		if _, data := fetch(t, "GET", made+"?"+query); !strings.HasPrefix(string(data), want) {
			t.Errorf("%s: expected %s, found %.100s", query, want, data)
		}
	}
}

// TestResponsesWithoutStore: nothing is kept, and what needs the store says so.
func TestResponsesWithoutStore(t *testing.T) {
	url := serve(t, append(hermesServer, "--responses-store", "none", "--replay", says(t, "x"))...)
	o := wholeResponse(t, url, respond(""))
	if o.Status != "completed" {
		t.Errorf("%+v", o)
	}
	for _, more := range []string{`,"background":true`, `,"previous_response_id":"a"`, `,"conversation":"a"`} {
		if status, data := post(t, url+"/v1/responses", respond(more)); status != http.StatusBadRequest || !bytes.Contains(data, []byte("--responses-store")) {
			t.Errorf("%s: %d %s", more, status, data)
		}
	}
	if status, _ := fetch(t, "GET", url+"/v1/responses/"+o.ID); status != http.StatusNotFound {
		t.Errorf("read back: %d", status)
	}
}

// TestResponsesOutliveTheServer: another server on the same file gives the response out.
func TestResponsesOutliveTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.db")
	first := serve(t, append(hermesServer, "--responses-store", "sqlite:"+file, "--replay", says(t, "x"))...)
	o := wholeResponse(t, first, respond(""))
	second := serve(t, append(hermesServer, "--responses-store", "sqlite:"+file, "--replay", says(t, "x"))...)
	status, data := fetch(t, "GET", second+"/v1/responses/"+o.ID)
	if got := readObject(t, status, data); got.Output[0].Content[0].Text != "x" {
		t.Errorf("%s", data)
	}
}
