package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server/config"
)

// TestLogFlags: lines are written as the flags say, from the level on that they say.
func TestLogFlags(t *testing.T) {
	for _, c := range []struct{ flag, want, never string }{
		{"--log-format=text", `level=INFO msg=told`, "hidden"},
		{"--log-format=json", `"level":"INFO","msg":"told"`, "hidden"},
		{"--uvicorn-log-level=debug", "msg=hidden", "{"},
		{"--uvicorn-log-level=trace", "msg=hidden", "{"},
		{"--uvicorn-log-level=warning", "msg=warned", "told"},
		{"--uvicorn-log-level=error", "msg=failed", "warned"},
		{"--uvicorn-log-level=critical", "msg=failed", "warned"},
	} {
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		settings := config.Register(flags)
		if err := flags.Parse([]string{c.flag}); err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		command := &cobra.Command{}
		command.SetErr(&written)
		logger := newLogger(command, settings)
		logger.Debug("hidden")
		logger.Info("told")
		logger.Warn("warned")
		logger.Error("failed")
		if text := written.String(); !strings.Contains(text, c.want) || strings.Contains(text, c.never) {
			t.Errorf("%s: expected %q and no %q, found %s", c.flag, c.want, c.never, text)
		}
	}
}
