package server

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/config"
)

// openEngine makes the engine of a configuration, and has its answers written down if it says so. The error is a
// *config.Error.
func openEngine(c *config.Config, logger *slog.Logger) (engine.Engine, error) {
	o := engine.Options{
		URL: c.EngineURL, APIKey: c.EngineAPIKey, Model: c.EngineModel, ConnectTimeout: c.EngineConnectTimeout,
		FirstPieceTimeout: c.EngineFirstTimeout, PieceTimeout: c.EngineTimeout, Retries: c.EngineRetries, ReplaySpeed: c.ReplaySpeed,
		ReasoningParser: c.EngineReasoningParser, DefaultMaxTokens: c.EngineMaxTokens, Logger: logger,
	}
	if o.Retries == 0 {
		o.Retries = -1
	}
	if c.Replay != "" {
		if info, err := os.Stat(c.Replay); err != nil || !info.IsDir() {
			return nil, &config.Error{Class: "ValueError", Message: fmt.Sprintf("--replay: expected a folder with recordings, found no folder at %q", c.Replay)}
		}
		o.Recordings = os.DirFS(c.Replay)
	}
	if len(c.EngineExtra) > 0 {
		o.Extra = map[string]jsontext.Value{}
		for name, value := range c.EngineExtra {
			data, err := json.Marshal(value)
			if err != nil {
				return nil, &config.Error{Class: "ValueError", Message: "--engine-extra-body: " + err.Error()}
			}
			o.Extra[name] = data
		}
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

// recordingEngine closes the file of its recordings with itself.
type recordingEngine struct {
	engine.Engine
	file *os.File
}

func (r *recordingEngine) Close() error { return errors.Join(r.Engine.Close(), r.file.Close()) }
