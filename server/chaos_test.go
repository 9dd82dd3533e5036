package server_test

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/server"
)

// moody is an engine that does what the prompt says: it answers, or does one of the things that engines do instead. Every
// answer tells of the prompt, so that nothing of one can pass for another's.
func moody(t *testing.T) string {
	t.Helper()
	return upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Prompt string `json:"prompt"`
		}
		if err := json.UnmarshalRead(r.Body, &body); err != nil {
			t.Error(err)
		}
		number, mood, _ := strings.Cut(body.Prompt, " ")
		flush := http.NewResponseController(w).Flush
		say := func(text, more string) {
			data, _ := json.Marshal(text)
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":%s%s}]}`+"\n\n", data, more)
			flush()
		}
		if mood == "full" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if mood == "refuses" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"no %s","type":"BadRequestError","param":"prompt","code":400}}`, number)
			return
		}
		say("<think>thought "+number, "")
		for i := range 20 {
			switch {
			case mood == "dies" && i == 5:
				panic(http.ErrAbortHandler)
			case mood == "garbage" && i == 5:
				io.WriteString(w, "data: \xff\xfe{]\n\n")
				return
			case mood == "stalls" && i == 5:
				<-r.Context().Done()
				return
			case mood == "ends" && i == 5:
				return
			}
			say(" and "+number, "")
		}
		say("</think>", "")
		say("answer ", "")
		say(number, "")
		say("<tool_call>{\"name\": \"get_weather\", \"argum", "")
		say("ents\": {\"city\": \""+number+"\"}}</tool_call>", "")
		say("", `,"finish_reason":"stop"`)
		if mood == "quiet" {
			return // no end mark, and no usage
		}
		io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":40}}`+"\n\n")
		io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":40}}`+"\n\ndata: [DONE]\n\n")
	})
}

var items = regexp.MustCompile(`item\d+\.`)

// TestChaos: hundreds of requests at once to an engine of all moods, half of whose clients leave sooner or later. Who stays
// has its own answer, or an error of the right kind; nothing of it all stays behind, and the server goes on.
func TestChaos(t *testing.T) {
	engine := moody(t)
	lines := &log{}
	c, err := configure(t, nil, "--responses-store", "memory", "--engine", "openai-completions", "--engine-url", engine, "--chat-template", "{{ messages[0].content }}",
		"--engine-retries", "0", "--engine-timeout", "1s", "--tool-call-parser", "hermes", "--reasoning-parser", "deepseek_r1", "--enable-auto-tool-choice")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(c, slog.New(slog.NewTextHandler(lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	if status, data := post(t, web.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"0 well"}]}`); status != 200 {
		t.Fatalf("status %d: %s", status, data)
	}
	before := runtime.NumGoroutine()
	statuses := map[string]int{"well": 200, "quiet": 200, "full": 503, "refuses": 400, "dies": 502, "garbage": 502, "stalls": 504, "ends": 502}
	moods := []string{"well", "quiet", "full", "refuses", "dies", "garbage", "stalls", "ends"}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	var wait sync.WaitGroup
	for i := range 500 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			mood, number, stream, leaves := moods[i%len(moods)], fmt.Sprintf("item%d.", i), random.IntN(2) == 0, random.IntN(2) == 0
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if leaves {
				timer := time.AfterFunc(time.Duration(random.IntN(40))*time.Millisecond, leave)
				defer timer.Stop()
			}
			body := fmt.Sprintf(`{"messages":[{"role":"user","content":"%s %s"}],%s,"stream":%v,"n":%d}`, number, mood, tools, stream, 1+random.IntN(2))
			request, _ := http.NewRequestWithContext(ctx, "POST", web.URL+"/v1/chat/completions", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			response, err := client.Do(request)
			if err != nil {
				if !leaves {
					t.Error(err)
				}
				return
			}
			defer response.Body.Close()
			data, err := io.ReadAll(response.Body)
			if leaves && err != nil {
				return
			}
			if err != nil {
				t.Errorf("%s: %v", body, err)
			}
			text := string(data)
			for _, item := range items.FindAllString(text, -1) {
				if item != number {
					t.Errorf("%s: found %s of another request in %s", body, item, text)
				}
			}
			want := statuses[mood]
			begun := stream && mood != "full" && mood != "refuses"
			switch {
			case response.StatusCode != 200 && (begun || response.StatusCode != want || !strings.Contains(text, `"error":{`)):
				t.Errorf("%s: status %d: %s", body, response.StatusCode, text)
			case response.StatusCode == 200 && want != 200 && (!begun || !strings.Contains(text, `"code":`+fmt.Sprint(want)) || !strings.HasSuffix(text, "data: [DONE]\n\n")):
				t.Errorf("%s: expected the error %d, found %s", body, want, text)
			case want == 200 && (strings.Contains(text, `"error"`) || !strings.Contains(text, `"tool_calls"`) || !strings.Contains(text, number)):
				t.Errorf("%s: expected an answer, found %s", body, text)
			}
		})
	}
	wait.Wait()
	if text := lines.String(); strings.Contains(text, "panic") || strings.Contains(text, "level=ERROR") {
		t.Errorf("found in the log: %s", text)
	}
	client.CloseIdleConnections()
	settled(t, before)
	if status, data := post(t, web.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"0 well"}]}`); status != 200 {
		t.Errorf("afterwards: status %d: %s", status, data)
	}
	if _, counters := fetchText(t, web.URL+"/metrics"); !strings.Contains(counters, "vllm:num_requests_running 0") {
		t.Errorf("expected no running requests, found %s", counters)
	}
}

// TestDrainUnderLoad: a server that is told to stop in the middle of it all ends in time. Whoever it has begun to answer has
// an end, or an error that says why.
func TestDrainUnderLoad(t *testing.T) {
	address, end := run(t, "--responses-store", "memory", "--engine", "openai-completions", "--engine-url", moody(t), "--chat-template", "{{ messages[0].content }}",
		"--engine-retries", "0", "--engine-timeout", "1m", "--reasoning-parser", "deepseek_r1", "--drain-timeout", "300ms")
	var wait, begun sync.WaitGroup
	begun.Add(60)
	for i := range 60 {
		wait.Go(func() {
			mood := []string{"well", "stalls", "dies"}[i%3]
			response, err := http.Post("http://"+address+"/v1/chat/completions", "application/json",
				strings.NewReader(fmt.Sprintf(`{"messages":[{"role":"user","content":"%d %s"}],"stream":true}`, 1000+i, mood)))
			begun.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			data, err := io.ReadAll(response.Body)
			if err != nil || !strings.HasSuffix(string(data), "data: [DONE]\n\n") {
				t.Errorf("%s: expected an end, found %s, %v", mood, data, err)
			}
			if mood == "stalls" && !strings.Contains(string(data), "shutting down") {
				t.Errorf("expected to be told of the end, found %s", data)
			}
		})
	}
	begun.Wait()
	if err := end(); err != nil {
		t.Error(err)
	}
	wait.Wait()
}
