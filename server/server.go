// Package server is the HTTP server: the OpenAI Chat Completions interface, and what stands around it, in front of an
// engine.
//
//	s, err := server.New(configuration, logger)
//	if err != nil {
//		return err // told in the words of config.Error
//	}
//	return s.Run(ctx, func(address string) { ... }) // serves until ctx ends, then lets the answers end
//
// The rooms: config reads flags; body, apierror, sse and requestid are what all interfaces share of HTTP; generate is what
// they share of the work; each interface (chat, completions) is a package of its own that knows only its JSON. This
// package puts them together and guards the routes.
package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/chat"
	"github.com/parlance-llm/parlance/server/config"
	"github.com/parlance-llm/parlance/server/constrain"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/messages"
	"github.com/parlance-llm/parlance/server/metrics"
	"github.com/parlance-llm/parlance/server/models"
	"github.com/parlance-llm/parlance/server/prompt"
	"github.com/parlance-llm/parlance/server/responses"
	"github.com/parlance-llm/parlance/server/store"
	"github.com/parlance-llm/parlance/server/tracing"
	"github.com/parlance-llm/parlance/templates"
)

// Server is a server. New makes it, Run runs it once.
type Server struct {
	config    *config.Config
	logger    *slog.Logger
	engine    engine.Engine
	models    *models.Registry
	generator *generate.Generator
	metrics   *metrics.Recorder
	store     store.Store // nil: responses are not stored
	responses *responses.Handler
	mux       *http.ServeMux
	keys      [][sha256.Size]byte
	streams   chan struct{} // nil: no limit
	draining  atomic.Bool
	tracer    *tracing.Tracer
}

// Version is the version that /version and the fingerprint tell.
const Version = "0.33.0"

// New checks a configuration and makes the server. It opens no port. The error is a *config.Error where the
// configuration is at fault.
func New(c *config.Config, logger *slog.Logger) (*Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	e, err := openEngine(c, logger)
	if err != nil {
		return nil, err
	}
	if err := detectParsers(c, e, logger); err != nil {
		return nil, err
	}
	parser, err := c.Parser()
	if err != nil {
		return nil, err
	}
	renderer, err := prompt.New(prompt.Options{
		Engine: e, Template: c.ChatTemplate, Folder: c.Folder(), ContentFormat: c.ChatTemplateContent, Lenient: c.LenientTemplate, Logger: logger,
		Named: templates.Source,
	})
	if err != nil {
		return nil, &config.Error{Class: "VLLMValidationError", Message: err.Error()}
	}
	s := &Server{config: c, logger: logger, engine: e, metrics: metrics.New(!c.DisableLogStats), mux: http.NewServeMux()}
	s.models = models.New(e, c.ServedNames, c.EngineModel, parser, c.AutoToolChoice)
	s.models.Formats = c.Registry()
	s.generator = &generate.Generator{
		Engine: e, Renderer: renderer,
		Constrainer: constrain.Constrainer{Level: constraint.Level(c.ToolStrictLevel), Unenforced: !c.EnforceStrict},
		Exact:       c.WhiteSpace == "exact", Validated: c.Calls == "validated", KnownToolsOnly: c.UnknownTools == "fail",
		LogRequests: c.LogRequests, LogOutputs: c.LogOutputs,
		Detector: detect.For(c.Registry()),
		Observer: observers{s.metrics, &logObserver{logger}}, Logger: logger,
	}
	if s.tracer, err = tracing.New(c.TracesEndpoint, e.Name()); err != nil {
		return nil, &config.Error{Class: "ValueError", Message: "--otlp-traces-endpoint: " + err.Error()}
	}
	s.generator.Tracer = s.tracer
	for _, key := range c.APIKeys {
		s.keys = append(s.keys, sha256.Sum256([]byte(key)))
	}
	if c.MaxStreams > 0 {
		s.streams = make(chan struct{}, c.MaxStreams)
	}
	if s.store, err = c.OpenStore(); err != nil {
		return nil, err
	}
	if err := s.routes(parser); err != nil {
		return nil, err
	}
	return s, nil
}

// detectParsers finds out the parsers that the configuration leaves open, and logs why these.
func detectParsers(c *config.Config, e engine.Engine, logger *slog.Logger) error {
	if !c.Detects() {
		return nil
	}
	source := ""
	if e.Capabilities().TemplateSource {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if template, err := e.Template(ctx, c.EngineModel); err == nil {
			source = template.Source
		} else {
			logger.Warn("the engine does not tell its chat template", "error", err)
		}
	}
	evidence, err := c.Detect(source)
	for _, line := range evidence {
		logger.Info("parser found out", "evidence", line)
	}
	return err
}

// settings are the Chat Completions interface's.
func (s *Server) settings(parser *parlance.Parser) chat.Settings {
	c := s.config
	return chat.Settings{
		Defaults:     s.defaults(),
		ResponseRole: c.ResponseRole, ReasoningField: c.ReasoningField, ExcludeTools: c.ExcludeTools,
		ForceUsage: c.ForceUsage, PromptDetails: c.PromptTokensDetails, Metrics: c.PerRequestMetrics, TokensAsIDs: c.ReturnTokensAsIDs,
		Limits:    s.limits(),
		BodyLimit: c.MaxBodySize, KeepAlive: c.KeepAlive, WriteTimeout: c.WriteTimeout, Fingerprint: s.fingerprint(parser),
	}
}

// responsesSettings are the Responses interface's.
func (s *Server) responsesSettings() responses.Settings {
	c := s.config
	return responses.Settings{Defaults: s.defaults(), Limits: s.limits(), ContextLength: c.MaxModelLen, BodyLimit: c.MaxBodySize, KeepAlive: c.KeepAlive, WriteTimeout: c.WriteTimeout}
}

// messagesSettings are the Messages interface's.
func (s *Server) messagesSettings() messages.Settings {
	c := s.config
	return messages.Settings{
		Defaults: s.defaults(), Limits: s.limits(), DisabledEffort: c.AnthropicDisabledEffort, CacheDetails: c.PromptTokensDetails,
		BodyLimit: c.MaxBodySize, KeepAlive: c.KeepAlive, WriteTimeout: c.WriteTimeout,
	}
}

func (s *Server) limits() generate.Limits {
	c := s.config
	return generate.Limits{MaxStopStrings: c.MaxStopStrings, MaxChoices: c.MaxChoices, MaxTools: c.MaxTools, MaxSchemaDepth: c.MaxSchemaDepth}
}

func (s *Server) defaults() generate.TemplateDefaults {
	return generate.TemplateDefaults{Kwargs: s.config.TemplateKwargs, Efforts: s.config.EffortMap, TrustRequest: s.config.TrustRequestTemplate}
}

// fingerprint tells of what makes answers alike: the version, and a hash of the parsers and the engine.
func (s *Server) fingerprint(parser *parlance.Parser) string {
	sum := sha256.New()
	sum.Write([]byte(s.engine.Name() + "\x00" + s.config.EngineModel + "\x00" + s.config.Model + "\x00"))
	if parser != nil {
		sum.Write([]byte(parser.ToolName() + "\x00" + parser.ReasoningName()))
	}
	hash := hex.EncodeToString(sum.Sum(nil)[:4])
	switch s.config.FingerprintMode {
	case "none":
		return ""
	case "hash":
		return hash
	case "custom":
		return s.config.Fingerprint
	}
	return "vllm-" + Version + "-" + hash
}

// Handler is everything that the server answers.
func (s *Server) Handler() http.Handler { return s.guard(s.mux) }

// Ready is nil if the server would answer a request now.
func (s *Server) Ready(ctx context.Context) error {
	if s.draining.Load() {
		return apierror.New(apierror.Overloaded, "", "the server is shutting down")
	}
	if err := s.engine.Health(ctx); err != nil {
		return generate.FromEngine(err)
	}
	return nil
}
