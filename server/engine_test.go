package server

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/config"
)

// What the flags say of the engine reaches it, and what it answers is written down.
func TestEngineFlags(t *testing.T) {
	var body map[string]any
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		if err := json.UnmarshalRead(r.Body, &body); err != nil {
			t.Error(err)
		}
		io.WriteString(w, `data: {"choices":[{"index":0,"text":"hello","finish_reason":"stop"}]}`+"\n\n")
	}))
	defer upstream.Close()
	file := filepath.Join(t.TempDir(), "recorded.jsonl")
	e, err := openEngine(&config.Config{Engine: "openai-completions", EngineURL: upstream.URL, EngineModel: "m", EngineMaxTokens: 77,
		EngineExtra: map[string]jsontext.Value{"skip_special_tokens": jsontext.Value("false")}, Record: file}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := e.Generate(t.Context(), &engine.Request{Prompt: engine.Prompt{Text: "hi"}})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := engine.Collect(stream); err != nil || answer.Text != "hello" {
		t.Errorf("%+v, %v", answer, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if body["skip_special_tokens"] != false || body["max_tokens"] != 77.0 {
		t.Errorf("%v", body)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), `"hello"`) {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := openEngine(&config.Config{Engine: "replay", Record: t.TempDir()}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "--record") {
		t.Errorf("a folder to record to: %v", err)
	}
	if _, err := openEngine(&config.Config{Engine: "vllm", EngineURL: "nowhere"}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "expected an address") {
		t.Errorf("a bad address: %v", err)
	}
}
