package engine

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wire is how an engine's server speaks, for a server that only speaks.
type wire struct {
	name, path string
	// piece is an event with more text; text is JSON text without its quotes. all is everything so far, n the count of pieces.
	piece func(text, all string, n int) string
	// finish ends the answer.
	finish func(all string, n int) string
	done   string
	// failed is an error in the stream, with a status of 400 where the engine writes one.
	failed string
	kind   Kind
}

func sse(data string) string { return "data: " + data + "\n\n" }

var wires = []wire{
	{
		name: "openai-completions", path: "/v1/completions", done: sse("[DONE]"),
		piece: func(text, _ string, _ int) string {
			return sse(`{"choices":[{"index":0,"text":"` + text + `","finish_reason":null}]}`)
		},
		finish: func(string, int) string { return sse(`{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`) },
		failed: sse(`{"error":{"message":"bad grammar","type":"BadRequestError","param":null,"code":400}}`), kind: Refused,
	},
	{
		name: "openai-chat", path: "/v1/chat/completions", done: sse("[DONE]"),
		piece: func(text, _ string, _ int) string {
			return sse(`{"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}`)
		},
		finish: func(string, int) string { return sse(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) },
		failed: sse(`{"error":{"message":"bad grammar","code":400}}`), kind: Refused,
	},
	{
		name: "vllm", path: "/v1/completions", done: sse("[DONE]"),
		piece: func(text, _ string, n int) string {
			return sse(fmt.Sprintf(`{"choices":[{"index":0,"text":"%s","token_ids":[%d]}]}`, text, n))
		},
		finish: func(string, int) string {
			return sse(`{"choices":[{"index":0,"text":"","finish_reason":"stop","stop_reason":null}]}`)
		},
		failed: sse(`{"error":{"message":"bad grammar","type":"BadRequestError","param":null,"code":400}}`), kind: Refused,
	},
	{
		name: "sglang", path: "/generate", done: sse("[DONE]"),
		piece: func(_, all string, n int) string {
			return sse(fmt.Sprintf(`{"text":"%s","output_ids":%s,"meta_info":{"finish_reason":null,"prompt_tokens":2,"completion_tokens":%d}}`, all, ids(n), n))
		},
		finish: func(all string, n int) string {
			return sse(fmt.Sprintf(`{"text":"%s","output_ids":%s,"meta_info":{"finish_reason":{"type":"stop","matched":2},"prompt_tokens":2,"completion_tokens":%d}}`, all, ids(n+1), n+1))
		},
		failed: sse(`{"text":"","output_ids":[],"meta_info":{"finish_reason":{"type":"abort","message":"bad grammar","status_code":400},"prompt_tokens":2,"completion_tokens":0}}`), kind: Refused,
	},
	{
		name: "llamacpp", path: "/completion",
		piece: func(text, _ string, n int) string {
			return sse(fmt.Sprintf(`{"index":0,"content":"%s","tokens":[%d],"stop":false,"tokens_predicted":%d,"tokens_evaluated":2}`, text, n, n))
		},
		finish: func(_ string, n int) string {
			return sse(fmt.Sprintf(`{"content":"","tokens":[],"stop":true,"stop_type":"eos","stopping_word":"","tokens_predicted":%d,"tokens_evaluated":2}`, n+1))
		},
		failed: sse(`{"error":{"code":400,"message":"bad grammar","type":"invalid_request_error"}}`), kind: Refused,
	},
	{
		name: "ollama", path: "/api/generate",
		piece: func(text, _ string, _ int) string {
			return `{"model":"m","response":"` + text + `","done":false}` + "\n"
		},
		finish: func(_ string, n int) string {
			return fmt.Sprintf(`{"response":"","done":true,"done_reason":"stop","prompt_eval_count":2,"eval_count":%d}`+"\n", n)
		},
		failed: `{"error":"bad grammar"}` + "\n", kind: Failed,
	},
}

func ids(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// whole is a whole answer of pieces.
func (w *wire) whole(pieces ...string) string {
	var b strings.Builder
	all := ""
	for i, piece := range pieces {
		all += piece
		b.WriteString(w.piece(piece, all, i+1))
	}
	b.WriteString(w.finish(all, len(pieces)))
	b.WriteString(w.done)
	return b.String()
}

// fakeServer answers the generating route with a handler, and counts connections and requests. Other routes are a 404, but
// for the list of models.
type fakeServer struct {
	*httptest.Server
	connections, requests atomic.Int32
	mutex                 sync.Mutex
	bodies                map[string][]jsontext.Value
}

func newFakeServer(t testing.TB, routes map[string]http.HandlerFunc) *fakeServer {
	s := &fakeServer{bodies: map[string][]jsontext.Value{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mutex.Lock()
		s.bodies[r.URL.Path] = append(s.bodies[r.URL.Path], body)
		s.mutex.Unlock()
		route, ok := routes[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"detail":"Not Found"}`)
			return
		}
		route(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *fakeServer) body(path string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if list := s.bodies[path]; len(list) > 0 {
		return string(list[len(list)-1])
	}
	return ""
}

func answering(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, text)
	}
}

// models lets an engine that asks find one.
var models = answering(`{"object":"list","data":[{"id":"m","object":"model","created":5,"owned_by":"test","max_model_len":100}]}`)

func (w *wire) server(t testing.TB, handler http.HandlerFunc) *fakeServer {
	return newFakeServer(t, map[string]http.HandlerFunc{w.path: handler, "/v1/models": models, "/abort_request": answering("")})
}

func (w *wire) open(t *testing.T, s *fakeServer, o Options) Engine {
	o.URL, o.RetryDelay = s.URL, time.Millisecond
	if o.Model == "" {
		o.Model = "m"
	}
	return mustOpen(t, w.name, o)
}

func (w *wire) request() *Request {
	r := &Request{MaxTokens: 10, Prompt: Prompt{Text: "hi", Tokens: []int{1, 2}}}
	switch w.name {
	case "openai-chat":
		r.Prompt = Prompt{}
		r.Conversation = &Conversation{Messages: jsontext.Value(`[{"role":"user","content":"hi"}]`)}
	case "openai-completions", "ollama":
		r.Prompt.Tokens = nil
	}
	return r
}

func (w *wire) generate(t *testing.T, e Engine) (*Answer, error) {
	t.Helper()
	stream, err := e.Generate(t.Context(), w.request())
	if err != nil {
		return nil, err
	}
	return Collect(stream)
}

func eachWire(t *testing.T, test func(t *testing.T, w *wire)) {
	for i := range wires {
		t.Run(wires[i].name, func(t *testing.T) {
			if t.Name() != "TestNothingIsLeftRunning/"+wires[i].name {
				t.Parallel()
			}
			test(t, &wires[i])
		})
	}
}

func wantError(t *testing.T, err error, kind Kind, started bool, message string) *Error {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Kind != kind || failed.Started != started || !strings.Contains(err.Error(), message) {
		t.Errorf("%v (%+v), want %v, started %v, %q", err, failed, kind, started, message)
		return &Error{}
	}
	return failed
}

func TestWholeAnswer(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		s := w.server(t, answering(w.whole("Hel", "lo", " wörld")))
		e := w.open(t, s, Options{})
		for range 3 {
			answer, err := w.generate(t, e)
			if err != nil || answer.Text != "Hello wörld" || answer.Finish != FinishStop {
				t.Fatalf("%+v, %v", answer, err)
			}
		}
		if n := s.connections.Load(); n != 1 {
			t.Errorf("%d connections for three answers, want one", n)
		}
	})
}

// Pieces arrive while the engine is still writing.
func TestPiecesArriveAtOnce(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		goOn := make(chan struct{})
		s := w.server(t, func(rw http.ResponseWriter, r *http.Request) {
			all := ""
			for i, text := range []string{"a", "b", "c"} {
				all += text
				io.WriteString(rw, w.piece(text, all, i+1))
				rw.(http.Flusher).Flush()
				<-goOn
			}
			io.WriteString(rw, w.finish(all, 3)+w.done)
		})
		stream, err := w.open(t, s, Options{}).Generate(t.Context(), w.request())
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		for _, want := range []string{"a", "b", "c", ""} {
			piece, err := stream.Next()
			if err != nil || piece.Text != want {
				t.Fatalf("%q, %v, want %q", piece.Text, err, want)
			}
			if want != "" {
				goOn <- struct{}{}
			}
		}
	})
}

func TestStreamsAsServersWriteThem(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		text := w.whole("Hel", "lo")
		variants := map[string]string{
			"no done":  strings.TrimSuffix(text, w.done),
			"comments": ": keep-alive\n\n" + strings.ReplaceAll(text, "\n\n", "\n\n: ping\n\n"),
			"crlf":     strings.ReplaceAll(text, "\n", "\r\n"),
			"no space": strings.ReplaceAll(text, "data: ", "data:"),
			"blanks":   strings.ReplaceAll(text, "}\n", "} \n"),
			"no end":   strings.TrimRight(strings.TrimSuffix(text, w.done), "\n"),
			"events":   strings.ReplaceAll(text, "data:", "event: message\nid: 1\nretry: 5\ndata:"),
		}
		for name, text := range variants {
			if w.name == "ollama" && (name == "comments" || name == "events") {
				continue // its lines are not events
			}
			answer, err := w.generate(t, w.open(t, w.server(t, answering(text)), Options{}))
			if err != nil || answer.Text != "Hello" || answer.Finish != FinishStop {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
		}
	})
}

// A character that is cut in two, each half written as it is, is whole again; what can be no character is replaced.
func TestHalfCharacters(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		for _, c := range []struct {
			pieces []string
			want   string
		}{
			{[]string{"a\xf0\x9f", "\x98\x80b"}, "a😀b"},
			{[]string{"\xf0", "\x9f", "\x98", "\x80"}, "😀"},
			{[]string{"é\xc3", "\xa9"}, "éé"},
			{[]string{"a\xff", "b"}, "a\uFFFDb"},
			{[]string{"a\xf0\x9f", "b"}, "a\uFFFDb"},
			{[]string{"a\xf0\x9f"}, "a\uFFFD"},
		} {
			stream, err := w.open(t, w.server(t, answering(w.whole(c.pieces...))), Options{}).Generate(t.Context(), w.request())
			if err != nil {
				t.Fatal(err)
			}
			answer, err := Collect(stream)
			if err != nil || answer.Text != c.want {
				t.Errorf("%q: %q, %v, want %q", c.pieces, answer.Text, err, c.want)
			}
		}
	})
}

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func TestStatuses(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		for _, c := range []struct {
			status     int
			body       string
			kind       Kind
			message    string
			typ, param string
			requests   int32
		}{
			{400, `{"error":{"message":"too long","type":"BadRequestError","param":"prompt","code":400}}`, Refused, "too long", "BadRequestError", "prompt", 1},
			{400, `{"object":"error","message":"too long","type":"BadRequest","param":null,"code":400}`, Refused, "too long", "BadRequest", "", 1},
			{400, `{"error":"too long"}`, Refused, "too long", "", "", 1},
			{422, `{"error":"too long","error_type":"validation"}`, Refused, "too long", "validation", "", 1},
			{422, `{"detail":[{"loc":["body","n"],"msg":"too long"}]}`, Refused, "too long", "", "", 1},
			{404, `{"object":"error","message":"there is no model a","type":"NotFoundError"}`, Refused, "there is no model a", "NotFoundError", "", 1},
			{404, `{"detail":"Not Found"}`, Unsupported, "the engine has no route /", "", "", 1},
			{401, `not yours`, Refused, "not yours", "", "", 1},
			{500, `{"error":{"message":"it died"}}`, Failed, "it died", "", "", 1},
			{503, `{"error":{"message":"loading"}}`, Overloaded, "loading", "", "", 3},
			{429, ``, Overloaded, "Too Many Requests", "", "", 3},
			{502, `<html>Bad Gateway</html>`, Unreachable, "Bad Gateway", "", "", 3},
			{301, ``, Broken, "expected status 200, found 301", "", "", 1},
		} {
			s := w.server(t, status(c.status, "", c.body))
			_, err := w.generate(t, w.open(t, s, Options{}))
			failed := wantError(t, err, c.kind, false, c.message)
			if failed.Status != c.status || failed.Type != c.typ || failed.Param != c.param {
				t.Errorf("%d %s: %+v", c.status, c.body, failed)
			}
			asked := s.requests.Load()
			if w.name == "openai-chat" {
				asked-- // for the models, once
			}
			if asked != c.requests {
				t.Errorf("%d: asked %d times, want %d", c.status, asked, c.requests)
			}
		}
	})
}

func TestRetries(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		for name, first := range map[string]http.HandlerFunc{
			"overloaded": status(503, "", ""),
			"cut":        cut(""),
			"ended":      answering(""),
		} {
			var n atomic.Int32
			s := w.server(t, func(rw http.ResponseWriter, r *http.Request) {
				if n.Add(1) <= 2 {
					first(rw, r)
					return
				}
				io.WriteString(rw, w.whole("ok"))
			})
			answer, err := w.generate(t, w.open(t, s, Options{}))
			if err != nil || answer.Text != "ok" {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
		}
		s := w.server(t, status(503, "", ""))
		_, err := w.generate(t, w.open(t, s, Options{Retries: -1}))
		wantError(t, err, Overloaded, false, "503")
	})
}

// cut breaks the connection behind some text.
func cut(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestRetryAfterCountsButIsBounded(t *testing.T) {
	w := &wires[0]
	var n atomic.Int32
	s := w.server(t, func(rw http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			status(429, "3600", "")(rw, r)
			return
		}
		io.WriteString(rw, w.whole("ok"))
	})
	answer, err := w.generate(t, w.open(t, s, Options{MaxRetryDelay: time.Millisecond}))
	if err != nil || answer.Text != "ok" {
		t.Errorf("%+v, %v", answer, err)
	}
	n.Store(0)
	_, err = w.generate(t, w.open(t, s, Options{MaxRetryDelay: time.Millisecond, Retries: -1}))
	if failed := wantError(t, err, Overloaded, false, ""); failed.RetryAfter != time.Hour {
		t.Errorf("retry after %v", failed.RetryAfter)
	}
}

// An error behind the first piece is never retried, and what came before it stands.
func TestBreaksInMidStream(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		begun := w.piece("ha", "ha", 1) + w.piece("lf", "half", 2)
		for _, c := range []struct {
			name    string
			handler http.HandlerFunc
			kind    Kind
			message string
		}{
			{"cut", cut(begun), Broken, "broke off"},
			{"ended", answering(begun), Broken, "without a finish reason"},
			{"done without a reason", answering(begun + sse("[DONE]")), Broken, ""},
			{"garbage", answering(begun + sse("{garbage")), Broken, "not what it should be"},
			{"wrong type", answering(begun + sse(`{"choices":5,"content":5,"text":5,"response":5}`)), Broken, "not what it should be"},
			{"error", answering(begun + w.failed), w.kind, "bad grammar"},
			{"error as a text", answering(begun + strings.TrimPrefix(sse(`{"error":"it died"}`), map[bool]string{true: "data: ", false: ""}[w.name == "ollama"])), Failed, "it died"},
		} {
			s := w.server(t, c.handler)
			answer, err := w.generate(t, w.open(t, s, Options{}))
			wantError(t, err, c.kind, true, c.message)
			if answer == nil || answer.Text != "half" {
				t.Errorf("%s: %+v", c.name, answer)
			}
		}
		s := w.server(t, answering(w.failed))
		_, err := w.generate(t, w.open(t, s, Options{}))
		wantError(t, err, w.kind, false, "bad grammar")
	})
}

func TestTimeouts(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		stall := func(text string) http.HandlerFunc {
			return func(rw http.ResponseWriter, r *http.Request) {
				io.WriteString(rw, text)
				rw.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		}
		_, err := w.generate(t, w.open(t, w.server(t, stall("")), Options{FirstPieceTimeout: 20 * time.Millisecond}))
		wantError(t, err, TimedOut, false, "took too long")
		answer, err := w.generate(t, w.open(t, w.server(t, stall(w.piece("a", "a", 1))), Options{PieceTimeout: 20 * time.Millisecond}))
		wantError(t, err, TimedOut, true, "took too long")
		if answer == nil || answer.Text != "a" {
			t.Errorf("%+v", answer)
		}
		// One that has said why it ended, and then stalls, has ended.
		answer, err = w.generate(t, w.open(t, w.server(t, stall(w.piece("a", "a", 1)+w.finish("a", 1))), Options{}))
		if err != nil || answer.Text != "a" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}

// A slow reader runs into no timeout: the clock runs only while somebody waits.
func TestTheClockStopsForASlowReader(t *testing.T) {
	w := &wires[0]
	s := w.server(t, answering(w.whole("a", "b", "c")))
	stream, err := w.open(t, s, Options{PieceTimeout: 200 * time.Millisecond}).Generate(t.Context(), w.request())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if answer, err := Collect(stream); err != nil || answer.Text != "abc" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// The engine learns that a client has left: by the end of the context, by Close, and while it waits for the first piece.
func TestCancel(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		gone := make(chan struct{}, 1)
		text := w.piece("a", "a", 1)
		s := w.server(t, func(rw http.ResponseWriter, r *http.Request) {
			io.WriteString(rw, text)
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
			gone <- struct{}{}
		})
		e := w.open(t, s, Options{})
		noticed := func(how string) {
			t.Helper()
			select {
			case <-gone:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: the engine was not told", how)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := e.Generate(ctx, w.request())
		if err != nil {
			t.Fatal(err)
		}
		if piece, err := stream.Next(); err != nil || piece.Text != "a" {
			t.Fatal(piece, err)
		}
		cancel()
		noticed("context, nobody reading")
		_, err = stream.Next()
		wantError(t, err, Canceled, true, "")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not a context's error", err)
		}

		stream, err = e.Generate(t.Context(), w.request())
		if err != nil {
			t.Fatal(err)
		}
		stream.Close()
		noticed("Close")

		ctx, cancel = context.WithCancel(t.Context())
		stream, err = e.Generate(ctx, w.request())
		if err != nil {
			t.Fatal(err)
		}
		stream.Next()
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err = stream.Next()
		wantError(t, err, Canceled, true, "")
		noticed("context, reading")

		text = ""
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = e.Generate(ctx, w.request())
		if failed := wantError(t, err, Canceled, false, ""); failed.HTTPStatus() != http.StatusGatewayTimeout {
			t.Errorf("status %d", failed.HTTPStatus())
		}
		noticed("before the first piece")
		if w.name == "sglang" {
			for range 100 {
				if s.body("/abort_request") != "" {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			var sent, aborted struct{ Rid string }
			json.Unmarshal([]byte(s.body("/generate")), &sent, json.MatchCaseInsensitiveNames(true))
			json.Unmarshal([]byte(s.body("/abort_request")), &aborted, json.MatchCaseInsensitiveNames(true))
			if sent.Rid == "" || aborted.Rid == "" {
				t.Errorf("sent %q, aborted %q", sent.Rid, aborted.Rid)
			}
		}
	})
}

// A reader that does not read slows the engine down: nothing is read ahead but what the connection holds.
func TestBackPressure(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		var written atomic.Int64
		text := strings.Repeat("x", 1000)
		s := w.server(t, func(rw http.ResponseWriter, r *http.Request) {
			event := w.piece(text, text, 1)
			for i := 0; i < 100_000 && r.Context().Err() == nil; i++ {
				if _, err := io.WriteString(rw, event); err != nil {
					return
				}
				rw.(http.Flusher).Flush()
				written.Add(int64(len(event)))
			}
		})
		stream, err := w.open(t, s, Options{}).Generate(t.Context(), w.request())
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		last := int64(-1)
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			now := written.Load()
			if now == last {
				break
			}
			last = now
		}
		if last > 50<<20 {
			t.Errorf("%d bytes were taken from an engine whose answer nobody reads", last)
		}
	})
}

func TestNothingIsLeftRunning(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		s := w.server(t, answering(w.whole("a", "b")))
		e := w.open(t, s, Options{})
		before := runtime.NumGoroutine()
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				stream, err := e.Generate(t.Context(), w.request())
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					stream.Close()
				} else if answer, err := Collect(stream); err != nil || answer.Text != "ab" {
					t.Errorf("%+v, %v", answer, err)
				}
			})
		}
		group.Wait()
		e.Close()
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	})
}

func TestUnreachable(t *testing.T) {
	eachWire(t, func(t *testing.T, w *wire) {
		s := w.server(t, answering(""))
		e := w.open(t, s, Options{})
		s.Close()
		_, err := w.generate(t, e)
		if failed := wantError(t, err, Unreachable, false, ""); failed.HTTPStatus() != http.StatusBadGateway {
			t.Errorf("status %d", failed.HTTPStatus())
		}
		if err := e.Health(t.Context()); err == nil {
			t.Error("healthy")
		}
	})
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8000", "ftp://host", "http://"} {
		if _, err := Open("vllm", Options{URL: address}); err == nil {
			t.Errorf("%q: expected an error", address)
		}
	}
	for _, c := range []struct{ address, api, base string }{
		{"http://h:1", "http://h:1/v1", "http://h:1"},
		{"http://h:1/", "http://h:1/v1", "http://h:1"},
		{"http://h:1/v1/", "http://h:1/v1", "http://h:1"},
		{"https://h/a/v1", "https://h/a/v1", "https://h/a"},
		{"https://h/api/v4", "https://h/api/v4", "https://h/api/v4"},
	} {
		client, err := newClient("test", Options{URL: c.address})
		if err != nil || client.api != c.api || client.base != c.base {
			t.Errorf("%s: %+v, %v", c.address, client, err)
		}
	}
}
