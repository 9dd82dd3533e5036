package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/server"
)

// log is a log that several goroutines write and a test reads.
type log struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// logged starts a server in front of an engine, and gives its address and its log.
func logged(t *testing.T, engine string, flags ...string) (url string, lines *log) {
	t.Helper()
	c, err := configure(t, nil, append([]string{"--responses-store", "memory", "--engine", "openai-completions", "--engine-url", engine,
		"--chat-template", "{{ messages[0].content }}", "--engine-retries", "0"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	lines = &log{}
	s, err := server.New(c, slog.New(slog.NewTextHandler(lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return web.URL, lines
}

// TestFailuresAreLogged: clients are told nothing of the inside, and so the log tells what went wrong.
func TestFailuresAreLogged(t *testing.T) {
	const first = `data: {"choices":[{"index":0,"text":"first"}]}` + "\n\n"
	for name, test := range map[string]struct {
		answer         http.HandlerFunc
		status         int
		param, says    string // of the answer before the stream
		logged, reason string
	}{
		"a key that is wrong": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, `{"error":{"message":"Incorrect key","param":"key","code":401}}`)
		}, 502, "", "cannot be reached", "Incorrect key", ""},
		"a method that is none": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }, 502, "", "cannot be reached", "Method Not Allowed", ""},
		"calls that it reads": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `data: {"choices":[{"index":0,"text":"a","finish_reason":"tool_calls"}]}`+"\n\n")
		}, 502, "", "cannot be reached", "start it without its --tool-call-parser", ""},
		"an error in the middle": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, first+`data: {"error":{"message":"CUDA error","code":500}}`+"\n\n")
		}, 200, "", "Internal server error", "CUDA error", "error"},
		"the client's fault": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"message":"too long","param":"prompt","code":400}}`)
		}, 400, "prompt", "too long", "", ""},
	} {
		url, lines := logged(t, upstream(t, test.answer))
		status, data := post(t, url+"/v1/chat/completions", hi+`,"stream":true}`)
		if status != test.status || !strings.Contains(string(data), test.says) {
			t.Errorf("%s: expected status %d and %q, found %d: %s", name, test.status, test.says, status, data)
		}
		if test.status != 200 {
			if param := get(t, data, "error.param"); test.param == "" && param != nil || test.param != "" && param != test.param {
				t.Errorf("%s: expected %q as param, found %v", name, test.param, param)
			}
		}
		if text := lines.String(); test.logged != "" && (!strings.Contains(text, test.logged) || !strings.Contains(text, "level=WARN")) {
			t.Errorf("%s: expected %q in the log, found %s", name, test.logged, text)
		} else if test.logged == "" && strings.Contains(text, "level=WARN") {
			t.Errorf("%s: expected no warning in the log, found %s", name, text)
		}
		_, counters := fetchText(t, url+"/metrics")
		if test.reason != "" && !strings.Contains(counters, `vllm:request_success_total{finished_reason="`+test.reason+`",model_name="up"} 1`) {
			t.Errorf("%s: expected %q in the counters, found %s", name, test.reason, counters)
		}
	}
}

// TestLeavingIsNoFailure: a client that leaves is no error of the server, before the answer has begun as after that.
func TestLeavingIsNoFailure(t *testing.T) {
	for _, begun := range []bool{false, true} {
		came := make(chan struct{})
		url, lines := logged(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if begun {
				io.WriteString(w, `data: {"choices":[{"index":0,"text":"first"}]}`+"\n\n")
				w.(http.Flusher).Flush()
			}
			close(came)
			<-r.Context().Done()
		}))
		ctx, leave := context.WithCancel(t.Context())
		request, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(hi+`,"stream":true,"n":1}`))
		request.Header.Set("Content-Type", "application/json")
		go func() {
			if response, err := http.DefaultClient.Do(request); err == nil {
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}()
		<-came
		leave()
		counters := ""
		for range 200 {
			if _, counters = fetchText(t, url+"/metrics"); strings.Contains(counters, `route="POST /v1/chat/completions"`) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if text := lines.String(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") || !strings.Contains(text, "the client has left") {
			t.Errorf("begun %v: expected the log to say that the client has left, found %s", begun, text)
		}
		if strings.Contains(counters, `status="5`) || !strings.Contains(counters, `finished_reason="abort"`) {
			t.Errorf("begun %v: expected no failure in the counters, found %s", begun, counters)
		}
	}
}
