package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// upstream is a server of the kind openai-completions, whose answers are made by a handler.
func upstream(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		answer(w, r)
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return web.URL
}

// inFront starts a server in front of an engine of the kind openai-completions.
func inFront(t *testing.T, engine string, flags ...string) string {
	t.Helper()
	return serve(t, append([]string{"--engine", "openai-completions", "--engine-url", engine, "--chat-template", "{{ messages[0].content }}", "--engine-retries", "0"}, flags...)...)
}

// TestUsageBehindTheEnd: most engines count the tokens in an event behind the one with the finish reason, some twice, some
// never.
func TestUsageBehindTheEnd(t *testing.T) {
	const (
		first = `data: {"choices":[{"index":0,"text":"Hello there"}]}` + "\n\n"
		last  = `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n"
		count = `data: {"choices":[],"usage":{"prompt_tokens":111,"completion_tokens":22}}` + "\n\n"
		done  = "data: [DONE]\n\n"
	)
	for name, test := range map[string]struct {
		stream             string
		prompt, completion int
	}{
		"behind the end":             {first + last + count + done, 111, 22},
		"twice":                      {first + last + count + count + done, 111, 22},
		"with the end":               {first + strings.Replace(last, `]}`, `],"usage":{"prompt_tokens":111,"completion_tokens":22}}`, 1) + done, 111, 22},
		"before, and behind the end": {first + strings.Replace(count, "22", "2", 1) + last + count + done, 111, 22},
		"never":                      {first + last + done, 3, 3}, // guessed from the length
		"never, and no end mark":     {first + last, 3, 3},
	} {
		url := inFront(t, upstream(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, test.stream) }))
		const asks = `{"messages":[{"role":"user","content":"What is it?"}]`
		for path, asks := range map[string]string{
			"/v1/chat/completions": asks, "/v1/completions": `{"prompt":"What is it?"`,
		} {
			_, data := post(t, url+path, asks+"}")
			expect(t, data, "usage.prompt_tokens", test.prompt)
			expect(t, data, "usage.completion_tokens", test.completion)
			_, data = post(t, url+path, asks+`,"stream":true,"stream_options":{"include_usage":true}}`)
			chunks := events(t, data)
			expect(t, []byte(chunks[len(chunks)-2]), "usage.prompt_tokens", test.prompt)
			expect(t, []byte(chunks[len(chunks)-2]), "usage.completion_tokens", test.completion)
		}
		if t.Failed() {
			t.Fatalf("usage that came %s", name)
		}
	}
}
