package server_test

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The tests of this file leave responses alone that are being made: their clients go, or cancel them, or the server stops.

// patientEngine writes a word each time that it is told to, and counts the requests that it works on.
type patientEngine struct {
	url  string
	more chan string // a word; "" ends the answer
	busy atomic.Int32
}

func newPatientEngine(t *testing.T) *patientEngine {
	t.Helper()
	e := &patientEngine{more: make(chan string)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"m"}]}`) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		e.busy.Add(1)
		defer e.busy.Add(-1)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case word := <-e.more:
				if word == "" {
					io.WriteString(w, `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
					return
				}
				fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":%q}]}`+"\n\n", word)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	e.url = web.URL
	return e
}

func (e *patientEngine) flags() []string {
	return []string{"--engine", "openai-completions", "--engine-url", e.url, "--chat-template", "{{ messages[0].content }}"}
}

func (e *patientEngine) says(words ...string) {
	for _, word := range words {
		e.more <- word
	}
}

// nothingLeft waits until the engine is at rest and no goroutine of a response runs any more.
func (e *patientEngine) nothingLeft(t *testing.T, before int) {
	t.Helper()
	eventually(t, "the engine is at rest", func() bool { return e.busy.Load() == 0 })
	eventually(t, "no goroutine makes a response", func() bool {
		stacks := make([]byte, 1<<20)
		all := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(all, "server/responses.") && !strings.Contains(all, "server/generate.")
	})
	settled(t, before)
}

// leaving begins a request and gives what reads its events, and what makes its client leave.
func leaving(t *testing.T, url, body string) (next func(kind string) responseEvent, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(answer.Body)
	next = func(kind string) (e responseEvent) {
		data := until(t, lines, `"type":"`+kind+`"`)
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		return e
	}
	return next, func() {
		cancel()
		answer.Body.Close()
	}
}

// leavingGet follows a stream, and gives what makes its client leave.
func leavingGet(t *testing.T, url string) (lines *bufio.Reader, leave func()) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v %+v", err, answer)
	}
	return bufio.NewReader(answer.Body), func() { answer.Body.Close() }
}

// readBack reads a stored response.
func readBack(t *testing.T, url, id string) responseObject {
	t.Helper()
	status, data := fetch(t, "GET", url+"/v1/responses/"+id)
	return readObject(t, status, data)
}

// TestBackgroundOutlivesItsClient: a response in the background is made to its end and stored, whether its client went
// right after it was queued or in the middle of its stream.
func TestBackgroundOutlivesItsClient(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		e := newPatientEngine(t)
		url := serve(t, e.flags()...)
		before := runtime.NumGoroutine()
		var id string
		if streamed {
			next, leave := leaving(t, url, `{"model":"m","input":"Hi","background":true,"stream":true}`)
			id = next("response.created").Response.ID
			e.says("one")
			next("response.output_text.delta")
			leave()
		} else {
			id = wholeResponse(t, url, `{"model":"m","input":"Hi","background":true}`).ID
			http.DefaultClient.CloseIdleConnections()
			e.says("one")
		}
		e.says(" two", " three", "")
		eventually(t, "it is over", func() bool { return readBack(t, url, id).Status != "in_progress" })
		if o := readBack(t, url, id); o.Status != "completed" || len(o.Output) != 1 || o.Output[0].Content[0].Text != "one two three" || o.Output[0].Status != "completed" || o.Usage == nil {
			t.Errorf("streamed %v: %+v", streamed, o)
		}
		e.nothingLeft(t, before)
		_, data := fetch(t, "GET", url+"/v1/responses/"+id+"?stream=true")
		if all := readEvents(t, data, 0); all[0].Type != "response.created" || all[len(all)-1].Type != "response.completed" {
			t.Errorf("streamed %v: its events: %v", streamed, inShort(all))
		}
	}
}

// TestBackgroundCancelled: a cancelled response stops the engine, ends the stream of who follows it, and keeps what it said
// so far. A client that has left meanwhile changes nothing.
func TestBackgroundCancelled(t *testing.T) {
	e := newPatientEngine(t)
	url := serve(t, e.flags()...)
	before := runtime.NumGoroutine()
	next, leave := leaving(t, url, `{"model":"m","input":"Hi","background":true,"stream":true}`)
	id := next("response.created").Response.ID
	e.says("one")
	next("response.output_text.delta")
	follow, unfollow := leavingGet(t, url+"/v1/responses/"+id+"?stream=true")
	until(t, follow, `"delta":"one"`)
	leave()
	status, data := post(t, url+"/v1/responses/"+id+"/cancel", "")
	if o := readObject(t, status, data); o.Status != "cancelled" || o.Output[0].Content[0].Text != "one" || o.Output[0].Status != "incomplete" {
		t.Errorf("%s", data)
	}
	eventually(t, "the engine is at rest", func() bool { return e.busy.Load() == 0 })
	until(t, follow, `"status":"cancelled"`)
	if rest, err := io.ReadAll(follow); err != nil || strings.Contains(string(rest), "data:") {
		t.Errorf("the stream goes on: %q, %v", rest, err)
	}
	unfollow()
	if o := readBack(t, url, id); o.Status != "cancelled" {
		t.Errorf("%+v", o)
	}
	e.nothingLeft(t, before)
}

// TestStreamWhoseClientLeaves: a response that is no background's ends with its client. What it said so far is stored, since
// the client was told of it.
func TestStreamWhoseClientLeaves(t *testing.T) {
	e := newPatientEngine(t)
	url := serve(t, e.flags()...)
	before := runtime.NumGoroutine()
	go e.says("one") // nothing is sent before the first piece
	next, leave := leaving(t, url, `{"model":"m","input":"Hi","stream":true}`)
	id := next("response.created").Response.ID
	next("response.output_text.delta")
	leave()
	eventually(t, "the engine is at rest", func() bool { return e.busy.Load() == 0 })
	eventually(t, "it is stored", func() bool { status, _ := fetch(t, "GET", url+"/v1/responses/"+id); return status == http.StatusOK })
	if o := readBack(t, url, id); o.Status != "cancelled" || len(o.Output) != 1 || o.Output[0].Content[0].Text != "one" || o.Output[0].Status != "incomplete" {
		t.Errorf("%+v", o)
	}
	e.nothingLeft(t, before)
}

// TestStreamThatNobodyReads: a client that is there and does not read is one that has left.
func TestStreamThatNobodyReads(t *testing.T) {
	e := newPatientEngine(t)
	url := serve(t, append(e.flags(), "--write-timeout", "200ms")...)
	before := runtime.NumGoroutine()
	over := make(chan struct{})
	word := strings.Repeat("word ", 1<<14)
	go func() {
		for {
			select {
			case e.more <- word:
			case <-over:
				return
			}
		}
	}()
	next, leave := leaving(t, url, `{"model":"m","input":"Hi","stream":true}`)
	id := next("response.created").Response.ID
	eventually(t, "it is stored", func() bool { status, _ := fetch(t, "GET", url+"/v1/responses/"+id); return status == http.StatusOK })
	close(over)
	if o := readBack(t, url, id); o.Status != "cancelled" || len(o.Output) != 1 || !strings.HasPrefix(o.Output[0].Content[0].Text, "word word") || o.Output[0].Status != "incomplete" {
		t.Errorf("status %s, %d items", o.Status, len(o.Output))
	}
	leave()
	e.nothingLeft(t, before)
}

// TestBackgroundOnTwoServers: one of two servers on a store cancels what the other makes, and it stays cancelled whatever the
// engine still says. Meanwhile neither deletes it.
func TestBackgroundOnTwoServers(t *testing.T) {
	e := newPatientEngine(t)
	flags := append(e.flags(), "--responses-store", "sqlite:"+filepath.Join(t.TempDir(), "r.db"))
	one, other := serve(t, flags...), serve(t, flags...)
	id := wholeResponse(t, one, `{"model":"m","input":"Hi","background":true}`).ID
	e.says("one")
	for _, url := range []string{one, other} {
		if status, data := fetch(t, "DELETE", url+"/v1/responses/"+id); status != http.StatusBadRequest {
			t.Errorf("deleted while it is made: %d %s", status, data)
		}
	}
	status, data := post(t, other+"/v1/responses/"+id+"/cancel", "")
	if o := readObject(t, status, data); o.Status != "cancelled" {
		t.Errorf("%s", data)
	}
	e.says(" two", "")
	eventually(t, "it is over where it is made", func() bool { return readBack(t, one, id).Status == "cancelled" })
	if o := readBack(t, other, id); o.Status != "cancelled" || o.Output[0].Content[0].Text != "one two" {
		t.Errorf("%+v", o)
	}
}

// TestBackgroundTakesAPlace: a response in the background is one of those that are answered at once, until it is over.
func TestBackgroundTakesAPlace(t *testing.T) {
	e := newPatientEngine(t)
	url := serve(t, append(e.flags(), "--max-streams", "1")...)
	id := wholeResponse(t, url, `{"model":"m","input":"Hi","background":true}`).ID
	if status, data := post(t, url+"/v1/responses", `{"model":"m","input":"Hi"}`); status != http.StatusServiceUnavailable {
		t.Errorf("a second one: %d %s", status, data)
	}
	if _, counters := fetchText(t, url+"/metrics"); !strings.Contains(counters, "\nvllm:num_requests_running 1\n") {
		t.Error("it is not counted as running")
	}
	e.says("one", "")
	eventually(t, "it is over", func() bool { return readBack(t, url, id).Status == "completed" })
	eventually(t, "the place is free", func() bool {
		status, _ := post(t, url+"/v1/messages", `{"model":"m","max_tokens":0,"messages":[]}`)
		return status == http.StatusBadRequest
	})
}

// TestBackgroundAndTheEndOfTheServer: a server that stops lets responses in the background end for as long as it drains. One
// that takes longer is failed, told so to who follows it, and stored so.
func TestBackgroundAndTheEndOfTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		drain, status string
		words         []string
	}{
		"in time": {"30s", "completed", []string{" two", ""}},
		"late":    {"200ms", "failed", nil},
	} {
		e := newPatientEngine(t)
		file := filepath.Join(t.TempDir(), "r.db")
		flags := append(e.flags(), "--responses-store", "sqlite:"+file)
		address, end := run(t, append(flags, "--drain-timeout", c.drain)...)
		url := "http://" + address
		id := wholeResponse(t, url, `{"model":"m","input":"Hi","background":true}`).ID
		follow, unfollow := leavingGet(t, url+"/v1/responses/"+id+"?stream=true")
		e.says("one")
		until(t, follow, `"delta":"one"`)
		ended := make(chan error, 1)
		go func() { ended <- end() }()
		go e.says(c.words...)
		until(t, follow, `"type":"response.`+c.status+`"`)
		unfollow()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the server does not end", name)
		}
		eventually(t, "the engine is at rest", func() bool { return e.busy.Load() == 0 })
		o := readBack(t, serve(t, flags...), id)
		if o.Status != c.status || !strings.HasPrefix(o.Output[0].Content[0].Text, "one") {
			t.Errorf("%s: %+v", name, o)
		}
		if c.status == "failed" && (o.Error == nil || !strings.Contains(o.Error.Message, "shutting down")) {
			t.Errorf("%s: %+v", name, o.Error)
		}
	}
}

// TestManyItemsInTheBackground: what it takes to make a response grows with its items, and no faster. Memory is counted.
func TestManyItemsInTheBackground(t *testing.T) {
	took := func(calls int) float64 {
		url := serve(t, append(hermesServer, "--replay", says(t, strings.Repeat(strings.ReplaceAll(goodCall, "|", "")+"|", calls)))...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, data := post(t, url+"/v1/responses", `{"model":"m","input":"Hi","background":true,"stream":true,"tools":[`+flatTool+`]}`)
		runtime.ReadMemStats(&after)
		if status != 200 || strings.Count(string(data), "event: response.output_item.done") != calls {
			t.Fatalf("%d calls: status %d: %.300s", calls, status, data)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	took(100)
	if few, many := took(400), took(1600); many > 8*few {
		t.Errorf("400 take %.0f bytes, 1600 take %.0f", few, many)
	}
}
