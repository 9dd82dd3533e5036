package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server/config"
)

// TestPanicInAHandler: it is an error of its own request, and half an answer does not look whole.
func TestPanicInAHandler(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := config.Register(flags)
	if err := flags.Parse([]string{"--responses-store", "memory"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(flags, func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	s, err := New(c, slog.New(slog.NewTextHandler(&lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "late" {
			io.WriteString(w, "half an answer")
			http.NewResponseController(w).Flush()
		}
		panic("out of range")
	})))
	defer web.Close()
	response, err := http.Get(web.URL + "/ping")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 500 || !strings.Contains(string(data), `"type":"InternalServerError"`) || strings.Contains(string(data), "range") {
		t.Errorf("expected an error that tells nothing, found %d %s, %v", response.StatusCode, data, err)
	}
	if response, err = http.Get(web.URL + "/ping?late"); err == nil {
		data, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if err == nil {
		t.Errorf("expected half an answer to break off, found %q", data)
	}
	if text := lines.String(); strings.Count(text, "out of range") != 2 {
		t.Errorf("expected both in the log, found %s", text)
	}
}
