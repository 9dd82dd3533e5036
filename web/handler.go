package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/parlance-llm/parlance"
)

//go:embed static
var static embed.FS

// MostText is the longest text that the playground reads, in bytes.
const MostText = 4 << 20

// Handler serves the playground under any prefix (with http.StripPrefix): the page at its root, the list of formats at
// api/formats, samples to try at api/samples, and the reading interface at api/read. It keeps nothing and may be shared by goroutines.
func Handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("web: the page is not embedded: " + err.Error())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/formats", serveFormats)
	mux.HandleFunc("GET /api/samples", serveSamples)
	mux.HandleFunc("POST /api/read", serveRead)
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

func serveFormats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"tool_names": parlance.ToolNames(), "reasoning_names": parlance.ReasoningNames(), "formats": parlance.Formats(),
	}) // the client has left
}

func serveRead(w http.ResponseWriter, r *http.Request) {
	var question Question
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*MostText))
	if err := decoder.Decode(&question); err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, fmt.Sprintf("the request must be a JSON object with the text to read: %v", err))
		return
	}
	if len(question.Text) > MostText {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the text has %d bytes; the playground reads at most %d", len(question.Text), MostText))
		return
	}
	reading, err := question.prepare()
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

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message}) // the client has left
}
