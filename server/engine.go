package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/config"
)

// openEngine makes the engine of a configuration, and has its answers written down if it says so. The error is a
// *config.Error.
func openEngine(c *config.Config, logger *slog.Logger) (engine.Engine, error) {
	o := engine.Options{
		URL: c.EngineURL, APIKey: c.EngineAPIKey, Model: c.EngineModel, ConnectTimeout: bound(c.EngineConnectTimeout),
		FirstPieceTimeout: bound(c.EngineFirstTimeout), PieceTimeout: bound(c.EngineTimeout), Retries: bound(c.EngineRetries), ReplaySpeed: c.ReplaySpeed,
		Extra:           c.EngineExtra,
		ReasoningParser: c.EngineReasoningParser, DefaultMaxTokens: c.EngineMaxTokens, Logger: logger,
	}
	if c.Replay != "" {
		if info, err := os.Stat(c.Replay); err != nil || !info.IsDir() {
			return nil, &config.Error{Class: "ValueError", Message: fmt.Sprintf("--replay: expected a folder with recordings, found no folder at %q", c.Replay)}
		}
		o.Recordings = os.DirFS(c.Replay)
	}
	e, err := engine.Open(c.Engine, o)
	if err != nil && c.Replay != "" {
		err = fmt.Errorf("--replay %s: %w", c.Replay, err)
	}
	if err != nil {
		return nil, &config.Error{Class: "ValueError", Message: err.Error()}
	}
	if c.Record == "" {
		return e, nil
	}
	file, err := os.OpenFile(c.Record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		e.Close()
		return nil, &config.Error{Class: "ValueError", Message: "--record: " + err.Error()}
	}
	return &recordingEngine{
		Engine: engine.Record(e, file, func(err error) { logger.Error("an answer was not recorded", "error", err) }), file: file,
	}, nil
}

// bound is a limit in the words of engine.Options, where a zero stands for the default: a flag's zero is none.
func bound[T int | time.Duration](limit T) T {
	if limit == 0 {
		return -1
	}
	return limit
}

// recordingEngine closes the file of its recordings with itself.
type recordingEngine struct {
	engine.Engine
	file *os.File
}

func (r *recordingEngine) Close() error { return errors.Join(r.Engine.Close(), r.file.Close()) }
