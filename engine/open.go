package engine

import (
	"encoding/json/jsontext"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sort"
	"strings"
	"time"
)

// Options say which engine is meant and how to speak with it. The zero value is good for replay; the others need a URL.
type Options struct {
	// URL is the address of the engine's server, http://127.0.0.1:8000 say. A path at its end, /v1 too, is left as it is
	// written for proxies that serve engines under paths; a /v1 that the engine's own routes do not have is taken off.
	URL string
	// APIKey is sent as a bearer token, Header with every request.
	APIKey string
	Header http.Header
	// Model is the model that answers a request that names none; "" asks the engine for its first.
	Model string
	// ConnectTimeout bounds the making of a connection (10 s), FirstPieceTimeout the wait for the first piece of an answer
	// (10 min; engines queue, and some load the model first), PieceTimeout the wait for each further one (2 min),
	// RouteTimeout everything that is not an answer (30 s). Zero means what stands in brackets, less than zero no bound.
	ConnectTimeout, FirstPieceTimeout, PieceTimeout, RouteTimeout time.Duration
	// Retries is how often a request is tried again that failed before anything of the answer arrived, because no
	// connection came about or the engine was overloaded (2; less than zero none). RetryDelay is the wait before the first
	// of them (200 ms); it doubles, and an engine's own Retry-After counts instead, up to MaxRetryDelay (5 s).
	Retries                   int
	RetryDelay, MaxRetryDelay time.Duration
	// Extra are further fields of every request for an answer, as in Request; skip_special_tokens for an engine of the
	// generic kinds that knows it, say.
	Extra map[string]jsontext.Value
	// ReasoningParser says that the engine itself (vllm, sglang) was started with --reasoning-parser, and so lets constraints
	// begin behind the thought.
	ReasoningParser bool
	// DefaultMaxTokens is the limit for a request without one where the engine neither goes to the end of the context by
	// itself nor tells how long it is (4096).
	DefaultMaxTokens int
	// Recordings are the files that replay reads, instead of the ones built in: all *.json and *.jsonl in it.
	Recordings fs.FS
	// ReplaySpeed divides the waits that recordings tell; 0 is as recorded, less than zero leaves them out.
	ReplaySpeed float64
	// Transport takes the place of the package's own, for tests and proxies.
	Transport http.RoundTripper
	// Logger hears of retries and of what an engine does against its API. Text of prompts and answers never goes there.
	Logger *slog.Logger
}

// engines makes each engine under its name.
var engines = map[string]func(Options) (Engine, error){
	"replay":             openReplay,
	"openai-completions": openCompletions,
	"openai-chat":        openChat,
	"vllm":               openVLLM,
	"sglang":             openSGLang,
	"llamacpp":           openLlamaCpp,
	"ollama":             openOllama,
}

// Names are the names that Open knows, sorted.
func Names() []string {
	names := make([]string, 0, len(engines))
	for name := range engines {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Open gives the engine of a name. It speaks with nobody yet: an engine that cannot be reached shows in Health.
func Open(name string, o Options) (Engine, error) {
	open, ok := engines[name]
	if !ok {
		return nil, fmt.Errorf("engine: expected one of %s, found %q", strings.Join(Names(), ", "), name)
	}
	return open(o.withDefaults())
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.ConnectTimeout, 10*time.Second)
	set(&o.FirstPieceTimeout, 10*time.Minute)
	set(&o.PieceTimeout, 2*time.Minute)
	set(&o.RouteTimeout, 30*time.Second)
	set(&o.RetryDelay, 200*time.Millisecond)
	set(&o.MaxRetryDelay, 5*time.Second)
	if o.Retries == 0 {
		o.Retries = 2
	}
	if o.DefaultMaxTokens == 0 {
		o.DefaultMaxTokens = 4096
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
