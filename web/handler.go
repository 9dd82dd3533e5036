package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
)

//go:embed static
var static embed.FS

// MostText is the longest text that the playground reads, in bytes.
const MostText = 4 << 20

// Handler serves the playground under any prefix (with http.StripPrefix): the page at its root, the list of formats and
// of what else can be asked at api/formats, samples to try at api/samples, the reading interface at api/read, the
// constraint of a forced call at api/constraint and the tokens of a text at api/tokens. It keeps nothing and may be shared
// by goroutines.
func Handler(o Options) http.Handler {
	h := &handler{Options: o}
	h.detector = detect.For(h.registry())
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("web: the page is not embedded: " + err.Error())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/formats", h.serveFormats)
	mux.HandleFunc("GET /api/samples", serveSamples)
	mux.HandleFunc("POST /api/read", h.serveRead)
	mux.HandleFunc("POST /api/constraint", h.serveConstraint)
	mux.HandleFunc("POST /api/tokens", h.serveTokens)
	return withPolicy(mux)
}

// withPolicy forbids the page everything but itself: no other host is asked, and no script in a text can run.
func withPolicy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

type handler struct {
	Options
	detector *detect.Detector
}

func (h *handler) registry() *parlance.Registry {
	if h.Registry == nil {
		return parlance.Default()
	}
	return h.Registry
}

func (h *handler) serveFormats(w http.ResponseWriter, _ *http.Request) {
	type surface struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	}
	surfaces := []surface{}
	for _, s := range h.Surfaces {
		surfaces = append(surfaces, surface{s.Name, s.Title})
	}
	tokens := "none"
	if h.Tokens != nil {
		tokens = "all"
		if h.SpecialTokensOnly {
			tokens = "special"
		}
	}
	r := h.registry()
	answer(w, map[string]any{
		"tool_names": r.ToolNames(), "reasoning_names": r.ReasoningNames(), "formats": r.Formats(),
		"surfaces": surfaces, "dialects": dialects, "tokens": tokens,
	})
}

func (h *handler) serveRead(w http.ResponseWriter, r *http.Request) {
	var question Question
	if !readQuestion(w, r, &question, &question.Text) {
		return
	}
	reading, err := h.prepare(r.Context(), &question)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	flusher := http.NewResponseController(w)
	reading.run(func(line any) bool {
		return encoder.Encode(line) == nil && (flusher.Flush() == nil || r.Context().Err() == nil)
	})
}

// readQuestion reads a question, in which text is set then; what is wrong with it is answered, and false given.
func readQuestion(w http.ResponseWriter, r *http.Request, question any, text *string) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*MostText))
	if err := decoder.Decode(question); err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, fmt.Sprintf("the request must be a JSON object with the text to read: %v", err))
		return false
	}
	if len(*text) > MostText {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the text has %d bytes; the playground reads at most %d", len(*text), MostText))
		return false
	}
	return true
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has left
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message}) // the client has left
}
