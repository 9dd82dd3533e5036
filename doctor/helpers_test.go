package doctor_test

import (
	"context"
	"encoding/json/v2"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/doctor"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server"
	"github.com/parlance-llm/parlance/server/config"
)

// serve starts Parlance with a command line and gives its address.
func serve(t *testing.T, arguments ...string) string {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := config.Register(flags)
	if err := flags.Parse(append([]string{"--responses-store", "memory"}, arguments...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(flags, func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return web.URL
}

// record writes a folder with the recordings of a model m.
func record(t *testing.T, m engine.RecordedModel) string {
	t.Helper()
	m.Model = "m"
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "m.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// examine examines a target.
func examine(t *testing.T, o doctor.Options) *doctor.Report {
	t.Helper()
	r, err := doctor.Examine(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// codes are the codes of what was found.
func codes(r *doctor.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return out
}
