package server

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json/v2"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/place"
	"github.com/parlance-llm/parlance/server/requestid"
)

// guard puts around all routes what all of them need: ids, logs, counters, CORS, and an answer when a handler panics.
func (s *Server) guard(next http.Handler) http.Handler {
	handler := s.observe(s.missing(next))
	handler = s.cors(handler)
	handler = requestid.Wrap(handler, s.config.RequestIDHeaders)
	if prefix := strings.TrimRight(s.config.RootPath, "/"); prefix != "" {
		inner := handler
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if rest, ok := strings.CutPrefix(r.URL.Path, prefix); ok && strings.HasPrefix(rest, "/") {
				http.StripPrefix(prefix, inner).ServeHTTP(w, r)
				return
			}
			inner.ServeHTTP(w, r) // the proxy has taken the path off
		})
	}
	return handler
}

func (s *Server) cors(next http.Handler) http.Handler {
	all := func(list []string) []string {
		if len(list) == 0 {
			return []string{"*"}
		}
		return list
	}
	methods := all(s.config.AllowedMethods)
	if slices.Contains(methods, "*") {
		methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	}
	// Browsers take no "*" beside credentials: the origin itself is told then, as by the reference's framework.
	var any func(string) bool
	if s.config.AllowCredentials && slices.Contains(all(s.config.AllowedOrigins), "*") {
		any = func(string) bool { return true }
	}
	return cors.New(cors.Options{
		AllowedOrigins: all(s.config.AllowedOrigins), AllowOriginFunc: any, AllowedMethods: methods, AllowedHeaders: all(s.config.AllowedHeaders),
		AllowCredentials: s.config.AllowCredentials, ExposedHeaders: []string{requestid.Header, generate.WarningHeader, "Request-Id", "Retry-After"},
		OptionsSuccessStatus: http.StatusOK,
	}).Handler(next)
}

// shapeOf is the shape of an error that belongs to no route: a client of the Messages interface, as one knows it by the
// path or by the header that all of them send, reads that interface's errors.
func shapeOf(r *http.Request) (shape apierror.Shape, anthropic bool) {
	path := strings.TrimRight(r.URL.Path, "/")
	if path == "/v1/messages" || strings.HasPrefix(path, "/v1/messages/") || r.Header.Get("Anthropic-Version") != "" {
		return apierror.ShapeAnthropic, true
	}
	return apierror.ShapeOpenAI, false
}

// missing answers what no route is for: in the Messages interface in its shape, else in the words of the reference's
// framework.
func (s *Server) missing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := s.mux.Handler(r)
		if at, ok := s.elsewhere(r, pattern); ok {
			http.Redirect(w, r, at, http.StatusTemporaryRedirect)
			return
		}
		if pattern != "" {
			next.ServeHTTP(w, r)
			return
		}
		status := &statusOnly{header: http.Header{}}
		handler.ServeHTTP(status, r)
		if status.code < http.StatusBadRequest { // a path that is written otherwise, and leads nowhere either
			status.code = http.StatusNotFound
		}
		if allowed := status.header.Values("Allow"); len(allowed) > 0 {
			w.Header()["Allow"] = allowed
		}
		if shape, anthropic := shapeOf(r); anthropic {
			err := apierror.New(apierror.NotFound, "", "%s is no route of this server", r.URL.Path)
			if status.code == http.StatusMethodNotAllowed {
				err = apierror.New(apierror.MethodNotAllowed, "", "%s does not take the method %s, only %s", r.URL.Path, r.Method, status.header.Get("Allow"))
			}
			w.Header().Set("request-id", requestid.From(r.Context()))
			shape.Write(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status.code)
		body, _ := json.Marshal(map[string]string{"detail": http.StatusText(status.code)})
		_, _ = w.Write(body)
	})
}

// elsewhere is where a request should have gone that came near a route: with slashes doubled or at the end, as base
// addresses of clients have them. pattern is the route that it has met.
func (s *Server) elsewhere(r *http.Request, pattern string) (at string, ok bool) {
	clean := path.Clean("/" + r.URL.Path)
	if clean == r.URL.Path || pattern != "" && clean+"/" == r.URL.Path {
		return "", false
	}
	near := &http.Request{Method: r.Method, Host: r.Host, URL: &url.URL{Path: clean, RawQuery: r.URL.RawQuery}}
	if _, pattern := s.mux.Handler(near); pattern == "" {
		return "", false
	}
	near.URL.Path = strings.TrimRight(s.config.RootPath, "/") + clean
	return near.URL.String(), true
}

// statusOnly is a response of which only the head is kept.
type statusOnly struct {
	header http.Header
	code   int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (s *statusOnly) WriteHeader(code int)        { s.code = code }

// observe logs and counts every request, and answers for a handler that panics.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		watched := &watched{ResponseWriter: w, status: http.StatusOK, control: http.NewResponseController(w), pause: s.config.WriteTimeout}
		watched.limit(0) // the one of the request before may be over
		defer watched.limit(watched.pause)
		route := "other"
		if _, pattern := s.mux.Handler(r); pattern != "" {
			route = pattern
		}
		ctx, end := s.tracer.Request(r, route)
		r = r.WithContext(ctx)
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				s.logger.Error("panic", "request_id", requestid.From(r.Context()), "route", route, "panic", p, "stack", string(debug.Stack()))
				if shape, _ := shapeOf(r); !watched.wrote {
					shape.Write(watched, apierror.New(apierror.Internal, "", "Internal server error"))
				}
			}
			took := time.Since(start)
			s.metrics.Answered(route, watched.status, took)
			end(watched.status)
			level := slog.LevelInfo
			if route == "GET /health" || route == "GET /metrics" || route == "GET /ready" {
				level = slog.LevelDebug
			}
			line := s.logger
			if watched.failed != "" {
				level, line = slog.LevelWarn, line.With("error", watched.failed)
			}
			line.Log(context.WithoutCancel(r.Context()), level, "request", "request_id", requestid.From(r.Context()), "method", r.Method, "path", r.URL.Path,
				"status", watched.status, "seconds", took.Seconds(), "client", clientOf(r))
			if p != nil && watched.wrote && watched.status < http.StatusInternalServerError {
				panic(http.ErrAbortHandler) // what has been written of an answer must not look whole
			}
		}()
		next.ServeHTTP(watched, r)
	})
}

func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// watched is a response whose status is noted.
type watched struct {
	http.ResponseWriter
	status int
	wrote  bool
	failed string // what was wrong, if the client is not to blame
	// pause is how long a client may leave a write unread.
	control *http.ResponseController
	pause   time.Duration
}

// limit lets the writes that come take no longer than d; 0 lets them take as long as they take.
func (w *watched) limit(d time.Duration) {
	deadline := time.Time{}
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = w.control.SetWriteDeadline(deadline) // not every ResponseWriter has deadlines
}

// Note implements apierror.Noter.
func (w *watched) Note(e *apierror.Error) {
	if e.Status() >= http.StatusInternalServerError {
		w.failed = e.Log()
	}
}

func (w *watched) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes in parts, so that a client which reads slowly is not taken for one that does not read.
func (w *watched) Write(p []byte) (written int, err error) {
	w.wrote = true
	for {
		part := p[written:min(len(p), written+partSize)]
		w.limit(w.pause)
		n, err := w.ResponseWriter.Write(part)
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

const partSize = 64 << 10

// Unwrap gives http.ResponseController what it needs.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w *watched) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// patient is a body whose client may pause for a while, but not for ever: it would hold a place and the end of the server.
type patient struct {
	io.ReadCloser
	control *http.ResponseController
	pause   time.Duration
}

func (p *patient) Read(data []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(p.pause))
	n, err := p.ReadCloser.Read(data)
	if err == nil || errors.Is(err, io.EOF) { // else what is left of the body is not waited for either
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// serves is converses for a handler that reads the body of a request before it answers.
func (s *Server) serves(pattern string, handler http.Handler, shape apierror.Shape) {
	s.converses(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pause := s.config.ReadBodyTimeout; pause > 0 && r.Body != http.NoBody {
			r.Body = &patient{r.Body, http.NewResponseController(w), pause}
		}
		handler.ServeHTTP(w, r)
	}), shape)
}

// converses puts a handler on a route, behind the keys of the server. Errors of the guard have the interface's shape, or that
// of the client's if its header says that it reads Anthropic's. The body of a request may take as long as it likes.
func (s *Server) converses(pattern string, handler http.Handler, shape apierror.Shape) {
	s.mux.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.mayCome(r) {
			shape := shape
			if own, anthropic := shapeOf(r); anthropic {
				shape = own
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			shape.Write(w, apierror.New(apierror.Unauthorized, "", "Unauthorized: expected an API key that this server knows"))
			return
		}
		handler.ServeHTTP(w, r)
	}))
}

// generates is serves for a route that asks the engine for text: how many are answered at once has a limit.
func (s *Server) generates(pattern string, handler http.Handler, shape apierror.Shape) {
	s.serves(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.streams != nil {
			select {
			case s.streams <- struct{}{}:
			default:
				err := apierror.New(apierror.Overloaded, "", "The server answers as many requests as it may (%d)", cap(s.streams))
				err.RetryAfter = time.Second
				shape.Write(w, err)
				return
			}
		}
		over := s.metrics.Running()
		ctx, done := place.With(r.Context(), func() {
			if over(); s.streams != nil {
				<-s.streams
			}
		})
		defer done()
		r = r.WithContext(ctx)
		handler.ServeHTTP(w, r)
	}), shape)
}

// mayCome tells whether a request has a key that the server knows. How long that takes tells nothing of the keys.
func (s *Server) mayCome(r *http.Request) bool {
	if len(s.keys) == 0 {
		return true
	}
	var given [][sha256.Size]byte
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		given = append(given, sha256.Sum256([]byte(strings.TrimSpace(token))))
	}
	if key := r.Header.Get("X-Api-Key"); key != "" { // as Anthropic's clients send it
		given = append(given, sha256.Sum256([]byte(key)))
	}
	ok := 0
	for _, key := range given {
		for _, known := range s.keys {
			ok |= subtle.ConstantTimeCompare(key[:], known[:])
		}
	}
	return ok == 1
}
