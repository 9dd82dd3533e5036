// Package config reads how the server is to run: flags, environment variables and a file, under the names of vLLM 0.33.0.
//
// Every flag may be given in four places; the first that says anything counts: the command line, the environment
// (PARLANCE_ and the flag's name in capitals, or VLLM_ and the same), the file that --config names (YAML, the flags'
// names as keys), the default.
//
// What is wrong is told in vLLM's words: an *Error has the class that vLLM would have raised, and is printed as
// "Class: message". It ends the program with status 1 before a port is opened; a command line that cannot be understood
// ends it with status 2, as with every other command.
package config

import (
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/plugins"
)

// Config is how the server runs. The comments give the flags.
type Config struct {
	// Where it listens: --host, --port, --uds; TLS: --ssl-keyfile, --ssl-certfile, --ssl-ca-certs, --ssl-cert-reqs.
	Host, UDS                     string
	Port                          int
	SSLKey, SSLCert, SSLClientCAs string
	SSLCertReqs                   int
	// Who may come: --api-key, --allowed-origins, --allowed-methods, --allowed-headers, --allow-credentials.
	APIKeys                                        []string
	AllowedOrigins, AllowedMethods, AllowedHeaders []string
	AllowCredentials                               bool
	// RootPath is the path that a proxy in front puts before all routes (--root-path).
	RootPath string

	// Model is the model, as a name or as the folder of its files (--model, or the argument of serve); Tokenizer the folder
	// of its tokenizer's files (--tokenizer). ServedNames are the names that clients use (--served-model-name).
	Model, Tokenizer string
	ServedNames      []string
	MaxModelLen      int

	// Engine is where text comes from (--engine and the flags that begin so).
	Engine                                   string
	EngineURL, EngineAPIKey, EngineModel     string
	EngineConnectTimeout, EngineFirstTimeout time.Duration
	EngineTimeout                            time.Duration
	EngineRetries, EngineMaxTokens           int
	EngineExtra                              map[string]jsontext.Value
	EngineReasoningParser                    bool
	Record                                   string
	Replay                                   string
	ReplaySpeed                              float64
	ToolParser, ReasoningParser              string
	AutoToolChoice                           bool
	// Plugins are formats of the operator's own.
	Plugins                                       plugins.Flags
	ToolStrictLevel                               string
	ExcludeTools                                  bool
	StructuredOutputs                             map[string]any
	ChatTemplate, ChatTemplateContent             string
	TrustRequestTemplate, LenientTemplate         bool
	TemplateKwargs                                map[string]any
	EffortMap                                     map[string]string
	ResponseRole, ReasoningField                  string
	AnthropicDisabledEffort                       string
	WhiteSpace, Calls, UnknownTools               string
	PromptTokensDetails, ForceUsage               bool
	PerRequestMetrics, ReturnTokensAsIDs          bool
	KeepAlive                                     time.Duration
	FingerprintMode, Fingerprint                  string
	RequestIDHeaders, TokenizerInfo, ScaleOut     bool
	TokensOnly                                    bool
	LogRequests, LogOutputs, DisableLogStats      bool
	LogLevel, LogFormat                           string
	TracesEndpoint                                string
	MaxBodySize                                   int64
	MaxTools, MaxSchemaDepth, MaxStreams          int
	DrainTimeout, WriteTimeout, ReadHeaderTimeout time.Duration
	ReadBodyTimeout                               time.Duration

	// From the environment alone, as in vLLM.
	EnforceStrict, ResponsesStore bool
	// ResponsesAddress is where responses are stored (--responses-store), ResponsesRetention how long (--responses-retention).
	ResponsesAddress string
	// Playground serves the page at /playground/, and the documentation at /docs/ (--playground).
	Playground                 bool
	ResponsesRetention         time.Duration
	MaxStopStrings, MaxChoices int

	registry *parlance.Registry // nil before the plug-ins have been read

	effortMap any
	// Warnings are told when the server starts.
	Warnings []string
}

// Error is something wrong with the configuration, with the class that vLLM raises for it.
type Error struct{ Class, Message string }

func (e *Error) Error() string { return e.Class + ": " + e.Message }

// The classes.
const (
	valueError = "ValueError"
	typeError  = "TypeError"
	keyError   = "KeyError"
)

func errorf(class, format string, arguments ...any) error {
	return &Error{class, fmt.Sprintf(format, arguments...)}
}
