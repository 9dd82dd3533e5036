package server_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server"
	"github.com/parlance-llm/parlance/server/config"
)

// star is a plug-in's format under a name.
func star(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	definition := "format: " + name + "\ntool: [" + name + "]\ngrammar: |\n  call = \"<star>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</star>\" .\n"
	if err := os.WriteFile(path, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlagsShow: an answer holds one text without a flag, and another with it. "" tells nothing of that case.
func TestFlagsShow(t *testing.T) {
	engine := fakeVLLM(t) // writes what it reads
	hello := says(t, "  Hello  ")
	const chat, whole = "/v1/chat/completions", hi + "}"
	for _, c := range []struct {
		flags         []string // the last one or two are those that are tried
		path, body    string
		without, with string
	}{
		{[]string{"--replay", hello, "--tool-call-parser", "hermes", "--white-space=exact"}, chat, whole, `"content":"Hello"`, `"content":"  Hello  "`},
		{[]string{"--replay", says(t, `<tool_call>{"name": "get_weather", "arguments": {"city": }}</tool_call>`), "--tool-call-parser", "hermes", "--enable-auto-tool-choice", "--calls=validated"},
			chat, hi + `,"stream":true,` + tools + `}`, `"name":"get_weather"`, `\"name\": \"get_weather\"`},
		{[]string{"--replay", says(t, "<think>Hm.</think>Yes."), `--structured-outputs-config={"reasoning_parser":"qwen3"}`}, chat, whole, `"reasoning":null`, `"reasoning":"Hm."`},
		{[]string{"--replay", hello, "--chat-template={{ messages[0].content is string }}", "--chat-template-content-format=openai"}, chat, hi + `,"return_prompt_text":true}`, `"prompt_text":"True"`, `"prompt_text":"False"`},
		{[]string{"--replay", hello, "--chat-template={{ nothing.at.all }}end", "--lenient-chat-template"}, chat, hi + `,"return_prompt_text":true}`, `"code":400`, `"prompt_text":"end"`},
		{[]string{"--engine=vllm", "--engine-url", engine, "--chat-template=effort {{ reasoning_effort }}", "--anthropic-disabled-thinking-effort=low"},
			"/v1/messages", `{"model":"up","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"thinking":{"type":"disabled"}}`, "effort none", "effort low"},
		{[]string{"--replay", hello, "--fingerprint-mode=none"}, chat, whole, `"system_fingerprint":"vllm-0.33.0-`, `"system_fingerprint":null`},
		{[]string{"--replay", hello, "--fingerprint-mode=hash"}, chat, whole, `"system_fingerprint":"vllm-0.33.0-`, `"system_fingerprint":"`},
		{[]string{"--replay", recorded(t, map[string]any{"pieces": []any{map[string]any{"text": "soon", "wait_ms": 3_600_000}}}), "--replay-speed=1e9"}, chat, whole, "", `"content":"soon"`},
		{[]string{"--replay", recorded(t, map[string]any{"pieces": []any{map[string]any{"text": "soon", "wait_ms": 3_600_000}}}), "--replay-speed=-1"}, chat, whole, "", `"content":"soon"`},
		{[]string{"--replay", hello, "--max-model-len=777"}, "/v1/models", "", `"max_model_len":null`, `"max_model_len":777`},
		{[]string{"--engine=vllm", "--engine-url", engine, "--engine-model=other"}, "/v1/models", "", `"data":[{"id":"up"`, `"data":[{"id":"other"`},
		{[]string{"--replay", hello, "--model=name-of-it"}, "/v1/models", "", `"id":"m"`, `"id":"name-of-it"`},
		{[]string{"--replay", says(t, `<star>{"name": "get_weather", "arguments": {}}</star>`), "--tool-call-parser=star", "--enable-auto-tool-choice", "--tool-parser-plugin=" + star(t, "star")},
			chat, hi + "," + tools + "}", "", `"name":"get_weather"`},
		{[]string{"--replay", says(t, `<star>{"name": "get_weather", "arguments": {}}</star>`), "--tool-call-parser=star", "--enable-auto-tool-choice", "--reasoning-parser-plugin=" + star(t, "star")},
			chat, hi + "," + tools + "}", "", `"name":"get_weather"`},
		{[]string{"--replay", says(t, `<star>{"name": "get_weather", "arguments": {}}</star>`), "--tool-call-parser=hermes", "--enable-auto-tool-choice", "--tool-parser-plugin=" + star(t, "hermes"), "--override-parsers"},
			chat, hi + "," + tools + "}", "", `"name":"get_weather"`},
		// Accepted only: these routes are always there.
		{[]string{"--replay", hello, "--enable-scale-out"}, "/v1/parse", `{"text":"Hi","tool_call_parser":"hermes"}`, `"content":"Hi"`, `"content":"Hi"`},
		{[]string{"--replay", hello, "--tokens-only"}, "/v1/parse", `{"text":"Hi","tool_call_parser":"hermes"}`, `"content":"Hi"`, `"content":"Hi"`},
	} {
		last := len(c.flags) - 1
		ask := func(flags []string, want, never string) {
			url := serve(t, flags...)
			var data []byte
			if c.body == "" {
				_, data = fetch(t, "GET", url+c.path)
			} else {
				_, data = post(t, url+c.path, c.body)
			}
			if !strings.Contains(string(data), want) || never != "" && never != want && !strings.HasPrefix(never, want) && strings.Contains(string(data), never) {
				t.Errorf("%q: expected %s, found %s", flags[min(last, len(flags)-1):], want, data)
			}
		}
		if c.without != "" {
			ask(c.flags[:last], c.without, "")
		}
		ask(c.flags, c.with, c.without)
	}
	// A plug-in takes no name that is there, unless it is allowed to.
	if c, err := configure(t, nil, "--tool-parser-plugin", star(t, "hermes")); err != nil {
		t.Fatal(err)
	} else if _, err := server.New(c, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "ValueError: --tool-parser-plugin: ") {
		t.Errorf("expected that the name is taken, found %v", err)
	}
}

// TestFlagsReachTheEngine: what the flags say of the engine is in the requests to it.
func TestFlagsReachTheEngine(t *testing.T) {
	for _, c := range []struct {
		engine, flag, fields string
		without, with        string // in the head and the body of the request
	}{
		{"openai-completions", "--engine-api-key=secret", "", `Authorization:[]`, `Authorization:[Bearer secret]`},
		{"openai-completions", "--engine-model=other", "", `"model":"up"`, `"model":"other"`},
		{"openai-completions", "--engine-max-tokens=77", "", `"max_tokens":4096`, `"max_tokens":77`},
		{"openai-completions", `--engine-extra-body={"seed":12345678901234567890}`, "", `"model":"up"`, `"seed":12345678901234567890`},
		{"vllm", "--tool-strict-level=function", tools, `"model":"up"`, `"structured_outputs":{"structural_tag":`},
		{"vllm", "--tool-strict-level=parameter", tools, `"model":"up"`, `\"city\":`},
		{"vllm", "--tool-strict-level=auto", tools, `"model":"up"`, `"model":"up"`},
	} {
		var asked string
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"up"}]}`) })
		mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			asked = "Authorization:[" + r.Header.Get("Authorization") + "]" + string(data)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, `data: {"choices":[{"index":0,"text":"ok","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		})
		web := httptest.NewServer(mux)
		flags := append([]string{"--engine", c.engine, "--engine-url", web.URL, "--chat-template", "{{ messages[0].content }}"}, hermes...)
		body := strings.TrimSuffix(hi+","+c.fields, ",") + "}"
		for _, step := range []struct {
			flags       []string
			want, never string
		}{{flags, c.without, c.with}, {append(flags, c.flag), c.with, ""}} {
			if status, data := post(t, serve(t, step.flags...)+"/v1/chat/completions", body); status != 200 {
				t.Errorf("%s: status %d: %s", c.flag, status, data)
			}
			if !strings.Contains(asked, step.want) || step.never != "" && step.never != step.want && strings.Contains(asked, step.never) {
				t.Errorf("%q: expected %s, found %s", step.flags[len(flags):], step.want, asked)
			}
		}
		web.Close()
	}
}

// TestConnectTimeout: a time in which nobody can connect is over before the engine is reached; none at all waits for ever.
func TestConnectTimeout(t *testing.T) {
	for timeout, want := range map[string]bool{"1ns": false, "0": true, "10s": true} {
		url := serve(t, "--engine", "vllm", "--engine-url", fakeVLLM(t), "--engine-retries", "0", "--engine-connect-timeout", timeout)
		status, data := post(t, url+"/v1/completions", `{"prompt":"a"}`)
		if (status == 200) != want || !want && status != http.StatusBadGateway && status != http.StatusGatewayTimeout && status != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d: %s", timeout, status, data)
		}
	}
}

// TestRecordFlag: what the engine writes is added to the file.
func TestRecordFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recorded.jsonl")
	address, end := run(t, "--responses-store", "memory", "--replay", says(t, "the answer"), "--record", file)
	post(t, "http://"+address+"/v1/chat/completions", hi+"}")
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "the answer") {
		t.Errorf("%s, %v", data, err)
	}
}

// TestSocket: the server listens on a Unix socket, and on nothing else.
func TestSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "uds") // the name of a socket may not be long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	address, _ := run(t, "--responses-store", "memory", "--uds", socket)
	if address != socket {
		t.Fatalf("it listens on %s", address)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	response, err := client.Get("http://socket/version")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, _ := io.ReadAll(response.Body); string(data) != `{"version":"0.33.0"}` {
		t.Errorf("found %s", data)
	}
}

// TestHeadThatStops: a client that never ends the head of its request loses its connection.
func TestHeadThatStops(t *testing.T) {
	address, _ := run(t, "--responses-store", "memory", "--read-header-timeout", "50ms")
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = connection.SetReadDeadline(time.Now().Add(8 * time.Second)) // without the flag it takes 10
	if data, err := io.ReadAll(bufio.NewReader(connection)); err != nil || strings.Contains(string(data), "200") {
		t.Errorf("found %q, %v", data, err)
	}
}

// TestRetention: what is older than it is kept for is gone.
func TestRetention(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.db")
	store := []string{"--replay", says(t, "x"), "--responses-store", "sqlite:" + file}
	for _, c := range []struct {
		retention string
		kept      bool
	}{{"0", true}, {"1h", true}, {"1ns", false}} {
		address, end := run(t, store...)
		o := wholeResponse(t, "http://"+address, `{"model":"m","input":"Hi"}`)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		address, end = run(t, append(store, "--responses-retention", c.retention)...)
		status := 0
		for range 400 { // the store is looked through once the server runs
			if status, _ = fetch(t, "GET", "http://"+address+"/v1/responses/"+o.ID); status == 404 || c.kept {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if (status == 200) != c.kept {
			t.Errorf("%s: status %d", c.retention, status)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllowed: browsers may use the methods and send the headers that the flags name, and no others.
func TestAllowed(t *testing.T) {
	url := serve(t, "--allowed-methods", `["GET"]`, "--allowed-headers", `["X-Mine"]`)
	all := serve(t)
	for _, c := range []struct {
		url, method, header string
		allowed             bool
	}{
		{url, "GET", "x-mine", true}, {url, "POST", "x-mine", false}, {url, "GET", "x-other", false},
		{all, "GET", "x-mine", true}, {all, "POST", "x-mine", true}, {all, "DELETE", "x-other", true},
	} {
		request, _ := http.NewRequest("OPTIONS", c.url+"/v1/models", nil)
		request.Header.Set("Origin", "https://there.example")
		request.Header.Set("Access-Control-Request-Method", c.method)
		request.Header.Set("Access-Control-Request-Headers", c.header)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if found := response.Header.Get("Access-Control-Allow-Origin"); (found != "") != c.allowed {
			t.Errorf("%s with %s: expected %v, found %v", c.method, c.header, c.allowed, response.Header)
		}
	}
}

// TestEveryFlagIsTested: every flag of serve stands in a test of this package, of its configuration or of the command.
func TestEveryFlagIsTested(t *testing.T) {
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "config/*_test.go", "../internal/cli/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(data)
		}
	}
	named := regexp.MustCompile("[\"`]--([a-z-]+)").FindAllStringSubmatch(tests.String(), -1)
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Register(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.ContainsFunc(named, func(found []string) bool { return found[1] == f.Name }) {
			t.Errorf("no test has --%s", f.Name)
		}
	})
}
