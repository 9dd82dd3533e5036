package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json/v2"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// answeredOnce waits until the counters tell of a request on a route.
func answeredOnce(t *testing.T, url, route string) (counters string) {
	t.Helper()
	for range 500 {
		if _, counters = fetchText(t, url+"/metrics"); strings.Contains(counters, `parlance_http_requests_total{route="`+route+`"`) {
			return counters
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("expected a request on %s in the counters", route)
	return ""
}

// TestUnreadAnswer: a client that asks for a large answer and reads nothing of it is let go.
func TestUnreadAnswer(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		url := serve(t, "--replay", says(t, strings.Repeat("x", 32<<20)), "--write-timeout", "300ms")
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		body := hi + `,"stream":` + stream + `}`
		request, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		if err := request.Write(connection); err != nil {
			t.Fatal(err)
		}
		answeredOnce(t, url, "POST /v1/chat/completions")
	}
}

// TestModelsStall: an engine that does not tell its models holds up those who need to know them, no longer than they want
// to wait, and nobody else.
func TestModelsStall(t *testing.T) {
	answer := make(chan struct{})
	asked := make(chan struct{}, 100)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answer:
			io.WriteString(w, `{"data":[{"id":"up"}]}`)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"ok","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	url := inFront(t, web.URL)
	stays := make(chan []byte)
	go func() {
		response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(hi+"}"))
		if err != nil {
			stays <- []byte(err.Error())
			return
		}
		defer response.Body.Close()
		data, _ := io.ReadAll(response.Body)
		stays <- data
	}()
	<-asked
	ctx, leave := context.WithCancel(t.Context())
	var left sync.WaitGroup
	for range 20 {
		left.Go(func() {
			request, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/completions", strings.NewReader(`{"prompt":"Hi"}`))
			request.Header.Set("Content-Type", "application/json")
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
				t.Error("expected no answer while the engine is silent")
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	leave()
	left.Wait()
	if counters := answeredOnce(t, url, "POST /v1/completions"); strings.Contains(counters, `status="5`) {
		t.Errorf("expected no failure in the counters, found %s", counters)
	}
	close(answer)
	if data := <-stays; !strings.Contains(string(data), `"content":"ok"`) {
		t.Errorf("expected the answer, found %s", data)
	}
	if len(asked) > 0 {
		t.Errorf("expected the engine to be asked once, it was asked %d times", len(asked)+1)
	}
}

// TestPromptsAreAnsweredTogether: the engine works on all prompts of a request at once, and the answers keep their order.
func TestPromptsAreAnsweredTogether(t *testing.T) {
	var wait sync.WaitGroup
	wait.Add(3)
	engine := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Prompt string }
		if err := json.UnmarshalRead(r.Body, &body, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Error(err)
		}
		wait.Done()
		wait.Wait()
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"to `+body.Prompt+`","finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3}}`+"\n\n")
	})
	url := inFront(t, engine, "--engine-first-timeout", "20s")
	_, data := post(t, url+"/v1/completions", `{"prompt":["a","b","c"]}`)
	for i, text := range []string{"to a", "to b", "to c"} {
		expect(t, data, "choices."+string(rune('0'+i))+".text", text)
		expect(t, data, "choices."+string(rune('0'+i))+".index", i)
	}
	expect(t, data, "usage.prompt_tokens", 6)
	expect(t, data, "usage.completion_tokens", 9)
	wait.Add(3)
	_, data = post(t, url+"/v1/completions", `{"prompt":["a","b","c"],"stream":true}`)
	text := ""
	for _, chunk := range events(t, data) {
		if chunk != "[DONE]" {
			text += get(t, []byte(chunk), "choices.0.text").(string)
		}
	}
	if text != "to ato bto c" {
		t.Errorf("expected the answers in their order, found %s", data)
	}
}

// TestCompletionsAreHeld: a response format of a raw completion reaches the engine, and is checked as that of a chat.
func TestCompletionsAreHeld(t *testing.T) {
	var format any
	engine := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.UnmarshalRead(r.Body, &body); err != nil {
			t.Error(err)
		}
		format = body["response_format"]
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"{}","finish_reason":"stop"}]}`+"\n\n")
	})
	url := inFront(t, engine)
	for _, fields := range []string{`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}`, `"structured_outputs":{"json":{"type":"object"}}`} {
		format = nil
		if status, data := post(t, url+"/v1/completions", `{"prompt":"a",`+fields+`}`); status != 200 || format == nil {
			t.Errorf("%s: expected a format for the engine, found %v; status %d: %s", fields, format, status, data)
		}
	}
	for fields, param := range map[string]string{
		`"response_format":{"type":"xml"}`:                  "body.response_format.type",
		`"structured_outputs":{"regex":"a+"}`:               "structured_outputs", // the engine takes only schemas
		`"structured_outputs":{"regex":"a","choice":["a"]}`: "",
	} {
		status, data := post(t, url+"/v1/completions", `{"prompt":"a",`+fields+`}`)
		kind := "BadRequestError"
		if strings.HasPrefix(param, "body.") {
			kind = "Bad Request"
		}
		if problem := errorIs(status, data, 400, kind, param); problem != "" {
			t.Errorf("%s: %s", fields, problem)
		}
	}
}

// TestCompressedBodies are refused in words that say what is wrong.
func TestCompressedBodies(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"))
	var small bytes.Buffer
	writer := gzip.NewWriter(&small)
	io.WriteString(writer, hi+"}")
	writer.Close()
	for coding, status := range map[string]int{"gzip": 400, "zstd": 400, "identity": 200, "": 200} {
		body := hi + "}"
		if coding == "gzip" {
			body = small.String()
		}
		request, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		if coding != "" {
			request.Header.Set("Content-Encoding", coding)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != status || status != 200 && !strings.Contains(string(data), `content encoding \"`+coding) {
			t.Errorf("%q: expected status %d, found %d: %s", coding, status, response.StatusCode, data)
		}
	}
}

// TestNearRoutes: base addresses of clients have slashes doubled or at the end.
func TestNearRoutes(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--root-path", "/llm/", "--playground")
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, test := range []struct {
		method, path, at string
		status           int
	}{
		{"POST", "/v1//chat/completions", "/llm/v1/chat/completions", 307},
		{"POST", "/llm/v1//chat/completions?a=b", "/llm/v1/chat/completions?a=b", 307},
		{"POST", "/v1/chat/completions/", "/llm/v1/chat/completions", 307},
		{"GET", "/v1/./models", "/llm/v1/models", 307},
		{"GET", "/v1/models/", "", 200},
		{"GET", "/llm/v1/models/m", "", 200},
		{"GET", "/playground/", "", 200},
		{"GET", "/v1/chat/completions/", "", 404},
		{"GET", "//elsewhere.test/", "", 404},
		{"POST", "/v1/nothing/", "", 404},
	} {
		request, _ := http.NewRequest(test.method, url+test.path, strings.NewReader(hi+"}"))
		request.Header.Set("Content-Type", "application/json")
		response, err := stay.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != test.status || response.Header.Get("Location") != test.at {
			t.Errorf("%s %s: expected %d %q, found %d %q: %s", test.method, test.path, test.status, test.at, response.StatusCode, response.Header.Get("Location"), data)
		}
	}
}
