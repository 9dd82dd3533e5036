package server_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/server"
)

const hi = `{"messages":[{"role":"user","content":"Hi"}]`

// run runs a server as serve does, and gives its address and what ends it.
func run(t *testing.T, arguments ...string) (address string, end func() error) {
	t.Helper()
	c, err := configure(t, nil, append(arguments, "--host", "127.0.0.1", "--port", "0")...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	opened, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- s.Run(ctx, func(address string) { opened <- address }) }()
	end = sync.OnceValue(func() error { stop(); return <-done })
	t.Cleanup(func() { end() })
	select {
	case address = <-opened:
	case err := <-done:
		t.Fatal(err)
	}
	return address, end
}

// slow is a folder with an answer whose last piece is long in coming.
func slow(t *testing.T, wait time.Duration) string {
	return recorded(t, map[string]any{"pieces": []any{"first", map[string]any{"text": " last", "wait_ms": wait.Milliseconds()}}})
}

// open begins a stream and gives its lines.
func open(t *testing.T, ctx context.Context, url string) (*http.Response, *bufio.Reader) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(hi+`,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response, bufio.NewReader(response.Body)
}

// until reads lines up to one that contains a text.
func until(t *testing.T, lines *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, text) {
			return line
		}
		if err != nil {
			t.Fatalf("expected a line with %q: %v", text, err)
		}
	}
}

func TestDrainLetsAnswersEnd(t *testing.T) {
	address, end := run(t, "--replay", slow(t, 500*time.Millisecond))
	response, lines := open(t, t.Context(), "http://"+address)
	defer response.Body.Close()
	until(t, lines, "first")
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	until(t, lines, " last")
	until(t, lines, "[DONE]")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		t.Error("the port is still open")
	}
}

func TestDrainEndsWhatTakesTooLong(t *testing.T) {
	address, end := run(t, "--replay", slow(t, time.Hour), "--drain-timeout", "100ms")
	response, lines := open(t, t.Context(), "http://"+address)
	defer response.Body.Close()
	until(t, lines, "first")
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	until(t, lines, "shutting down")
	until(t, lines, "[DONE]")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCancellation: when the client leaves, the engine's work ends, and nothing of the answer stays.
func TestCancellation(t *testing.T) {
	left := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"first"}]}`+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	url := serve(t, "--engine", "openai-completions", "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}")
	before := runtime.NumGoroutine()
	ctx, leave := context.WithCancel(t.Context())
	response, lines := open(t, ctx, url)
	until(t, lines, "first")
	leave()
	response.Body.Close()
	select {
	case <-left:
	case <-time.After(20 * time.Second):
		t.Fatal("the engine was not told")
	}
	settled(t, before)
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	for range 200 {
		if runtime.NumGoroutine() <= before+4 { // connections that are kept have two each
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// TestFaults: whatever the engine does, the client gets a well-formed end or an error, and nothing hangs.
func TestFaults(t *testing.T) {
	chunk := func(text string) string { return `data: {"choices":[{"index":0,"text":"` + text + `"}]}` + "\n\n" }
	for name, test := range map[string]struct {
		engine func(w http.ResponseWriter)
		status int
		stream string // in the stream's answer
	}{
		"dies before it begins": {func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, 502, ""},
		"dies in the middle": {func(w http.ResponseWriter) {
			io.WriteString(w, chunk("first"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 502, `"type":"BadGatewayError"`},
		"closes without an end": {func(w http.ResponseWriter) { io.WriteString(w, chunk("first")) }, 502, `"type":"BadGatewayError"`},
		"sends garbage":         {func(w http.ResponseWriter) { io.WriteString(w, "data: {nonsense\n\n") }, 502, ""},
		"fails":                 {func(w http.ResponseWriter) { w.WriteHeader(500) }, 500, ""},
		"fails in the middle": {func(w http.ResponseWriter) {
			io.WriteString(w, chunk("first")+`data: {"error":{"message":"secret stack","code":500}}`+"\n\n")
		}, 500, `"type":"InternalServerError"`},
		"is full":     {func(w http.ResponseWriter) { w.WriteHeader(503) }, 503, ""},
		"has no such": {func(w http.ResponseWriter) { w.WriteHeader(401) }, 502, ""},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
		mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			test.engine(w)
		})
		web := httptest.NewUnstartedServer(mux)
		web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		web.Start()
		url := serve(t, "--engine", "openai-completions", "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}", "--engine-retries", "0")
		status, data := post(t, url+"/v1/chat/completions", hi+"}")
		if status != test.status || !strings.Contains(string(data), `"error"`) || strings.Contains(string(data), "secret") || strings.Contains(string(data), web.URL) {
			t.Errorf("%s: expected status %d and an error that tells nothing of the inside, found %d: %s", name, test.status, status, data)
		}
		status, data = post(t, url+"/v1/chat/completions", hi+`,"stream":true}`)
		if test.stream == "" {
			if status != test.status {
				t.Errorf("%s, streamed: expected status %d, found %d: %s", name, test.status, status, data)
			}
		} else if chunks := events(t, data); status != 200 || len(chunks) < 2 || chunks[len(chunks)-1] != "[DONE]" || !strings.Contains(chunks[len(chunks)-2], test.stream) || strings.Contains(string(data), "secret") {
			t.Errorf("%s, streamed: expected %s and an end mark, found %d: %s", name, test.stream, status, data)
		}
		web.Close()
	}
}

// TestStalls: an engine that stops talking is given up.
func TestStalls(t *testing.T) {
	for _, first := range []bool{true, false} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
		mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else it does not hear of the client's leaving
			w.Header().Set("Content-Type", "text/event-stream")
			if !first {
				io.WriteString(w, `data: {"choices":[{"index":0,"text":"first"}]}`+"\n\n")
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		})
		web := httptest.NewServer(mux)
		url := serve(t, "--engine", "openai-completions", "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}",
			"--engine-first-timeout", "200ms", "--engine-timeout", "200ms", "--engine-retries", "0")
		status, data := post(t, url+"/v1/chat/completions", hi+`,"stream":true}`)
		if first && status != http.StatusGatewayTimeout || !first && !strings.Contains(string(data), `"type":"GatewayTimeoutError"`) {
			t.Errorf("first %v: expected a time-out, found %d: %s", first, status, data)
		}
		web.Close()
	}
}

func TestKeepAlive(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(300 * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"late","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	url := serve(t, "--engine", "openai-completions", "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}", "--sse-keep-alive-interval", "0.05")
	_, data := post(t, url+"/v1/chat/completions", hi+`,"stream":true}`)
	if text := string(data); !strings.HasPrefix(text, ": keep-alive\n\n") || !strings.Contains(text, "late") || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("expected comments before the answer, found %s", text)
	}
}

func TestKeys(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--api-key", "one", "--api-key", "two")
	for _, test := range []struct {
		header, value, path string
		status              int
	}{
		{"", "", "/v1/models", 401}, {"Authorization", "Bearer three", "/v1/models", 401}, {"Authorization", "Basic one", "/v1/models", 401},
		{"Authorization", "Bearer one", "/v1/models", 200}, {"Authorization", "bearer two", "/v1/models", 200}, {"X-Api-Key", "one", "/v1/models", 200},
		{"Authorization", "Bearer ", "/v1/models", 401}, {"", "", "/health", 200}, {"", "", "/ready", 200}, {"", "", "/metrics", 200}, {"", "", "/version", 200},
	} {
		request, _ := http.NewRequest("GET", url+test.path, nil)
		if test.header != "" {
			request.Header.Set(test.header, test.value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s, %s %q: expected status %d, found %d", test.path, test.header, test.value, test.status, response.StatusCode)
		}
		if test.status == 401 {
			if problem := errorIs(401, data, 401, "AuthenticationError", ""); problem != "" {
				t.Error(problem)
			}
		}
	}
}

func TestTooManyAtOnce(t *testing.T) {
	url := serve(t, "--replay", slow(t, 2*time.Second), "--max-streams", "1")
	response, lines := open(t, t.Context(), url)
	defer response.Body.Close()
	until(t, lines, "first")
	status, data := post(t, url+"/v1/chat/completions", hi+"}")
	if problem := errorIs(status, data, 503, "ServiceUnavailableError", ""); problem != "" {
		t.Error(problem)
	}
	if status, _ := fetch(t, "GET", url+"/health"); status != 200 {
		t.Errorf("expected health all the same, found %d", status)
	}
}

func TestCORS(t *testing.T) {
	url := serve(t, "--replay", says(t, "Hello"), "--api-key", "k", "--allowed-origins", `["https://good.example"]`)
	for origin, allowed := range map[string]string{"https://good.example": "https://good.example", "https://bad.example": ""} {
		request, _ := http.NewRequest("OPTIONS", url+"/v1/chat/completions", nil)
		request.Header.Set("Origin", origin)
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if found := response.Header.Get("Access-Control-Allow-Origin"); found != allowed || allowed != "" && response.StatusCode != 200 {
			t.Errorf("%s: expected %q, found %q with status %d", origin, allowed, found, response.StatusCode)
		}
	}
}

// TestCredentials: browsers take no "*" beside credentials.
func TestCredentials(t *testing.T) {
	for flags, origin := range map[string]string{"--allow-credentials=false": "*", "--allow-credentials": "http://there.test"} {
		url := serve(t, "--replay", says(t, "Hello"), flags)
		request, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(hi+"}"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Origin", "http://there.test")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if found := response.Header.Get("Access-Control-Allow-Origin"); found != origin || (response.Header.Get("Access-Control-Allow-Credentials") == "true") != (origin != "*") {
			t.Errorf("%s: found the origin %q, %v", flags, found, response.Header)
		}
	}
}

// TestRootPath: with or without a slash at its beginning.
func TestRootPath(t *testing.T) {
	for _, path := range []string{"/llm", "llm", "/llm/"} {
		url := serve(t, "--replay", says(t, "Hello"), "--root-path", path)
		for _, route := range []string{"/v1/models", "/llm/v1/models"} {
			if status, text := fetchText(t, url+route); status != 200 {
				t.Errorf("%s, %s: status %d: %s", path, route, status, text)
			}
		}
		if status, _ := fetchText(t, url+"/llmv1/models"); status != 404 {
			t.Errorf("%s: status %d for another path", path, status)
		}
	}
}

// TestShownFlags: what flags say of answers is seen in them.
func TestShownFlags(t *testing.T) {
	folder := recorded(t, map[string]any{"pieces": []any{map[string]any{"text": "ok", "tokens": []int{7}, "logprobs": []any{map[string]any{"token": "ok", "id": 7, "logprob": -1}}}}})
	url := serve(t, "--replay", folder, "--response-role", "bot", "--return-tokens-as-token-ids", "--served-model-name", "a,b", "--engine-model", "m", "--fingerprint-mode", "custom", "--fingerprint-value", "mine")
	_, data := post(t, url+"/v1/chat/completions", hi+`,"model":"b","logprobs":true}`)
	expect(t, data, "model", "a")
	expect(t, data, "choices.0.message.role", "bot")
	expect(t, data, "choices.0.logprobs.content.0.token", "token_id:7")
	expect(t, data, "system_fingerprint", "mine")
	_, data = post(t, url+"/v1/chat/completions", hi+`,"stream":true}`)
	if !strings.Contains(string(data), `"role":"bot"`) {
		t.Errorf("expected the role in the stream, found %s", data)
	}
	// With tool_choice none the prompt shows tools, unless it is not to.
	for flag, shown := range map[string]bool{"--exclude-tools-when-tool-choice-none": false, "--disable-log-stats": true} {
		url := serve(t, flag, "--tool-call-parser", "hermes")
		_, data := post(t, url+"/v1/chat/completions", hi+`,"model":"qwen3-8b","return_prompt_text":true,"tool_choice":"none",`+tools+`}`)
		if prompt, _ := get(t, data, "prompt_text").(string); strings.Contains(prompt, "get_weather") != shown {
			t.Errorf("%s: expected tools in the prompt: %v, found %q", flag, shown, prompt)
		}
	}
}

func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write := func(file, kind string, data []byte) {
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(certFile, "CERTIFICATE", der)
	write(keyFile, "EC PRIVATE KEY", private)
	pool := x509.NewCertPool()
	certificate, _ := x509.ParseCertificate(der)
	pool.AddCert(certificate)
	own, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags          []string
		without, shown bool // whether a client is served that shows no certificate, and one that shows a known one
	}{
		{nil, true, true},
		{[]string{"--ssl-ca-certs", certFile}, true, true},
		{[]string{"--ssl-ca-certs", certFile, "--ssl-cert-reqs", "1"}, true, true},
		{[]string{"--ssl-ca-certs", certFile, "--ssl-cert-reqs", "2"}, false, true},
	} {
		address, end := run(t, append(c.flags, "--responses-store", "memory", "--ssl-certfile", certFile, "--ssl-keyfile", keyFile)...)
		for shows, served := range map[bool]bool{false: c.without, true: c.shown} {
			settings := &tls.Config{RootCAs: pool}
			if shows {
				settings.Certificates = []tls.Certificate{own}
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
			response, err := client.Get("https://" + address + "/version")
			if (err == nil) != served {
				t.Errorf("%q: a client that shows a certificate %v: %v", c.flags, shows, err)
			}
			if err != nil {
				continue
			}
			if data, _ := io.ReadAll(response.Body); string(data) != `{"version":"0.33.0"}` {
				t.Errorf("found %s", data)
			}
			response.Body.Close()
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	// A socket speaks TLS too.
	short, err := os.MkdirTemp("", "uds")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket, _ := run(t, "--responses-store", "memory", "--ssl-certfile", certFile, "--ssl-keyfile", keyFile, "--uds", filepath.Join(short, "s"))
	raw, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := tls.Client(raw, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}).Handshake(); err != nil {
		t.Error(err)
	}
}

// TestManyStreams: a thousand answers at once, each right. The memory is what server and clients of all streams hold while
// every one of them is open, the processor's time what both spend.
// processorTime is what this process has spent so far.
// TestTraces: spans under the names of the conventions, in the client's trace, and without a word of what was said.
func TestTraces(t *testing.T) {
	got := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got <- data
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	address, end := run(t, "--replay", says(t, goodCall), "--tool-call-parser", "hermes", "--enable-auto-tool-choice", "--otlp-traces-endpoint", collector.URL+"/v1/traces")
	request, _ := http.NewRequest("POST", "http://"+address+"/v1/chat/completions", strings.NewReader(hi+`,"temperature":0.5,`+tools+`}`))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := end(); err != nil {
		t.Fatal(err)
	}
	select {
	case data := <-got:
		text := string(data)
		for _, want := range []string{"chat m", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.temperature", "gen_ai.usage.output_tokens",
			"gen_ai.response.finish_reasons", "http.route", "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"} {
			if !strings.Contains(text, want) {
				t.Errorf("expected %q in the spans", want)
			}
		}
		if strings.Contains(text, "Paris") {
			t.Error("what the model wrote is in the spans")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no span came")
	}
}

// TestLogs: lines have the request's id and say nothing of what was said, unless they are asked to.
func TestLogs(t *testing.T) {
	for _, test := range []struct {
		flags           []string
		prompt, written bool
	}{
		{nil, false, false},
		{[]string{"--enable-log-requests"}, true, false},
		{[]string{"--enable-log-requests", "--enable-log-outputs"}, true, true},
	} {
		c, err := configure(t, nil, append(test.flags, "--replay", says(t, "the| answer"))...)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		s, err := server.New(c, slog.New(slog.NewJSONHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(`{"messages":[{"role":"user","content":"the question"}]}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Request-Id", "mine")
		s.Handler().ServeHTTP(httptest.NewRecorder(), request)
		text := log.String()
		if strings.Contains(text, "the question") != test.prompt || strings.Contains(text, "the answer") != test.written || strings.Count(text, `"request_id":"mine"`) < 2 {
			t.Errorf("%v: found %s", test.flags, text)
		}
	}
}

// TestTemplates: --chat-template takes a file, a template, the name of one of the model's, or of ours (W3).
