package server_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/server"
)

// starts gives the error with which a server with these arguments starts, and what it logs.
func starts(t *testing.T, arguments ...string) (log string, err error) {
	t.Helper()
	c, err := configure(t, nil, append([]string{"--responses-store", "memory"}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	_, err = server.New(c, slog.New(slog.NewTextHandler(&text, nil)))
	return text.String(), err
}

// TestAutoParsers: "auto" finds the parsers in the model's files or name, says why, and refuses when unsure.
func TestAutoParsers(t *testing.T) {
	template, err := os.ReadFile("../templates/deepseek_v31.jinja")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "model")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "chat_template.jinja"), template, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "added_tokens.json"), []byte(`{"<｜tool▁calls▁begin｜>": 5, "<｜tool▁calls▁end｜>": 6, "<｜tool▁call▁begin｜>": 7, "<｜tool▁call▁end｜>": 8, "<｜tool▁sep｜>": 9, "<think>": 10, "</think>": 11}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if log, err := starts(t, "--model", folder, "--tool-call-parser", "auto"); err != nil || !strings.Contains(log, "deepseek_v31") {
		t.Errorf("a folder: %v\n%s", err, log)
	}
	if log, err := starts(t, "--model", "zai-org/GLM-4.6", "--tool-call-parser", "auto", "--reasoning-parser", "auto"); err != nil || !strings.Contains(log, "glm4") {
		t.Errorf("a name: %v\n%s", err, log)
	}
	if _, err := starts(t, "--tool-call-parser", "auto"); err == nil || !strings.Contains(err.Error(), "expected a model") {
		t.Errorf("nothing known: %v", err)
	}
	ambiguous := filepath.Join(t.TempDir(), "t.jinja")
	if err := os.WriteFile(ambiguous, []byte("<tool_call> {{ messages[0].content }}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := starts(t, "--chat-template", ambiguous, "--tool-call-parser", "auto"); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("unsure: %v", err)
	}
}
