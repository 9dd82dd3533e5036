package server_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestImagesArePassedOn: images of both interfaces reach an engine that takes messages, in their place, with what tools gave
// back as a message of the user behind it.
func TestImagesArePassedOn(t *testing.T) {
	var asked struct{ Messages jsontext.Value }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"m"}]}`) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if err := json.UnmarshalRead(r.Body, &asked, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	url := serve(t, append(hermesServer, "--engine", "openai-chat", "--engine-url", web.URL)...)
	image := func(url string) string { return `{"type":"image_url","image_url":{"url":"` + url + `"}}` }
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"and"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}`,
			`[{"role":"user","content":[` + image("data:image/png;base64,AAAA") + `,{"type":"text","text":"and"},` + image("https://example.com/a.png") + `]}]`},
		{"/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"type":"text","text":"well?"}]}]}`,
			`[{"role":"tool","content":"seen","tool_call_id":"t"},{"role":"user","content":[` + image("data:image/png;base64,AAAA") + `,{"type":"text","text":"well?"}]}]`},
		{"/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png","detail":"low"},{"type":"input_text","text":"and"}]}]}`,
			`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}},{"type":"text","text":"and"}]}]`},
		{"/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"seen"},{"type":"input_image","image_url":"https://example.com/a.png"}]}]}`,
			`[{"role":"tool","content":"seen","tool_call_id":"c"},{"role":"user","content":[` + image("https://example.com/a.png") + `]}]`},
	} {
		asked.Messages = nil
		if status, data := post(t, url+c.path, c.body); status != http.StatusOK {
			t.Errorf("%s: %d %s", c.body, status, data)
			continue
		}
		found, want := asked.Messages.Clone(), jsontext.Value(c.want)
		if err := found.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if err := want.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if string(found) != string(want) {
			t.Errorf("%s: the engine was shown\n%s, expected\n%s", c.path, found, want)
		}
	}
}
