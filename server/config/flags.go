package config

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/engine"
)

// Register adds the flags to a set. Once they have been parsed, Load fills in what the environment and the file say.
func Register(flags *pflag.FlagSet) *Config {
	c := &Config{}
	flags.SortFlags = false
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	flags.String("config", "", "a YAML `FILE` with flags as keys")
	c.registerServer(flags)
	c.registerEngine(flags)
	c.registerParsing(flags)
	c.registerAnswers(flags)
	c.registerOperations(flags)
	registerNegations(flags)
	registerIgnored(flags)
	return c
}

func (c *Config) registerServer(flags *pflag.FlagSet) {
	flags.StringVar(&c.Host, "host", "", "the `ADDRESS` to listen on (all of them)")
	flags.IntVar(&c.Port, "port", 8000, "the port to listen on; 0 takes a free one")
	flags.StringVar(&c.UDS, "uds", "", "a Unix socket's `PATH` to listen on instead")
	flags.StringVar(&c.SSLKey, "ssl-keyfile", "", "the `FILE` of the TLS key")
	flags.StringVar(&c.SSLCert, "ssl-certfile", "", "the `FILE` of the TLS certificate")
	flags.StringVar(&c.SSLClientCAs, "ssl-ca-certs", "", "the `FILE` of the authorities that sign client certificates")
	flags.IntVar(&c.SSLCertReqs, "ssl-cert-reqs", 0, "client certificates: 0 not asked for, 1 optional, 2 required")
	flags.StringArrayVar(&c.APIKeys, "api-key", nil, "a `KEY` that clients must present; may be given several times")
	flags.Var(&list{target: &c.AllowedOrigins, standard: `["*"]`}, "allowed-origins", "origins that browsers may call from")
	flags.Var(&list{target: &c.AllowedMethods, standard: `["*"]`}, "allowed-methods", "methods that browsers may use")
	flags.Var(&list{target: &c.AllowedHeaders, standard: `["*"]`}, "allowed-headers", "headers that browsers may send")
	flags.BoolVar(&c.AllowCredentials, "allow-credentials", false, "browsers may send cookies and keys")
	flags.StringVar(&c.RootPath, "root-path", "", "the `PATH` that a proxy in front puts before all routes")
}

func (c *Config) registerEngine(flags *pflag.FlagSet) {
	flags.StringVar(&c.Model, "model", "", "the `MODEL`: a name, or the folder of its files")
	flags.StringVar(&c.Tokenizer, "tokenizer", "", "the `FOLDER` of the tokenizer's files, if not the model's")
	flags.Var(&list{target: &c.ServedNames}, "served-model-name", "the names that clients call the model by; the first stands in answers")
	flags.IntVar(&c.MaxModelLen, "max-model-len", 0, "the length of the context that is told, in tokens, where the engine does not tell")
	flags.Var(oneOf(&c.Engine, "replay", engine.Names), "engine", "the `KIND` of engine that the text comes from: "+strings.Join(engine.Names(), ", "))
	flags.StringVar(&c.EngineURL, "engine-url", "", "the `URL` of the engine's server")
	flags.StringVar(&c.EngineAPIKey, "engine-api-key", "", "the `KEY` that the engine wants")
	flags.StringVar(&c.EngineModel, "engine-model", "", "the engine's `NAME` for the model (its first)")
	flags.DurationVar(&c.EngineConnectTimeout, "engine-connect-timeout", 10*time.Second, "how long connecting to the engine may take; 0 is for ever")
	flags.DurationVar(&c.EngineFirstTimeout, "engine-first-timeout", 10*time.Minute, "how long the engine may take to begin an answer; 0 is for ever")
	flags.DurationVar(&c.EngineTimeout, "engine-timeout", 2*time.Minute, "how long the engine may take to go on with an answer; 0 is for ever")
	flags.IntVar(&c.EngineRetries, "engine-retries", 2, "how often a request is tried again that failed before its first token")
	flags.IntVar(&c.EngineMaxTokens, "engine-max-tokens", 4096, "the limit of an answer for which nobody sets one, where the engine neither fills the context nor tells how long it is")
	flags.Var(&object[jsontext.Value]{target: &c.EngineExtra}, "engine-extra-body", "a JSON object with further fields of every request to the engine")
	flags.BoolVar(&c.EngineReasoningParser, "engine-reasoning-parser", false, "the engine (vllm, sglang) itself was started with --reasoning-parser, so its constraints begin behind the thought; vllm then limits the thought too")
	flags.StringVar(&c.Record, "record", "", "a `FILE` to which every answer of the engine is added as a recording (*.jsonl); it holds prompts and answers")
	flags.StringVar(&c.Replay, "replay", "", "the `FOLDER` of recordings for --engine replay (those built in)")
	flags.Float64Var(&c.ReplaySpeed, "replay-speed", 1, "divides the waits that recordings tell; less than 0 leaves them out")
}

func (c *Config) registerParsing(flags *pflag.FlagSet) {
	flags.BoolVar(&c.AutoToolChoice, "enable-auto-tool-choice", false, "let the model decide whether to call tools")
	flags.StringVar(&c.ToolParser, "tool-call-parser", "", "the `NAME` of the parser for tool calls; auto finds it in the model's files or name")
	flags.StringVar(&c.ReasoningParser, "reasoning-parser", "", "the `NAME` of the parser for reasoning; none is none, auto finds it in the model's files or name")
	flags.StringArrayVar(&c.Plugins.Tool, "tool-parser-plugin", nil, "a `FILE` with the definition of a format of your own, or a folder of them; may be repeated")
	flags.StringArrayVar(&c.Plugins.Reasoning, "reasoning-parser-plugin", nil, "the same `FILE` or folder for reasoning; a definition may hold both halves")
	flags.BoolVar(&c.Plugins.Override, "override-parsers", false, "let the definitions of plug-ins take names of built-in formats and parsers")
	flags.Var(oneOf(&c.ToolStrictLevel, "", fixed("auto", "function", "parameter")), "tool-strict-level", "the `LEVEL` to which calls are held to the tools: auto (as requests say), function or parameter")
	flags.BoolVar(&c.ExcludeTools, "exclude-tools-when-tool-choice-none", false, "with tool_choice none the prompt shows no tools")
	flags.Var(&object[any]{target: &c.StructuredOutputs}, "structured-outputs-config", "a JSON object; its reasoning_parser is that of --reasoning-parser")
	flags.StringVar(&c.ChatTemplate, "chat-template", "", "a chat template: a `FILE`, a name, or the template itself")
	flags.Var(oneOf(&c.ChatTemplateContent, "auto", fixed("auto", "string", "openai")), "chat-template-content-format", "how content reaches the template")
	flags.BoolVar(&c.TrustRequestTemplate, "trust-request-chat-template", false, "requests may bring their own chat template")
	flags.BoolVar(&c.LenientTemplate, "lenient-chat-template", false, "templates may do what Python's engine refuses")
	flags.Var(&object[any]{target: &c.TemplateKwargs}, "default-chat-template-kwargs", "arguments of the chat template that hold where a request gives none")
	flags.Var(&anything{&c.effortMap}, "reasoning-effort-map", "a JSON object from the effort that is asked for to the template's")
	flags.Var(oneOf(&c.WhiteSpace, "trim", fixed("trim", "exact")), "white-space", "white space at the ends of a tray and between markup: left out, or kept")
	flags.Var(oneOf(&c.Calls, "eager", fixed("eager", "validated")), "calls", "calls of a stream: given out while they arrive, or held until they are whole and valid")
	flags.Var(oneOf(&c.UnknownTools, "pass", fixed("pass", "fail")), "unknown-tools", "calls of tools that are not declared: passed on, or left as text")
}

func (c *Config) registerAnswers(flags *pflag.FlagSet) {
	flags.StringVar(&c.ResponseRole, "response-role", "assistant", "the `ROLE` of answers")
	flags.Var(oneOf(&c.ReasoningField, "reasoning", fixed("reasoning", "reasoning_content", "both")), "reasoning-field", "the field that reasoning stands in, for clients that read the old name")
	flags.Var(oneOf(&c.AnthropicDisabledEffort, "auto", fixed("auto", "none", "minimal", "low", "medium", "high", "xhigh", "max")), "anthropic-disabled-thinking-effort", "the `EFFORT` that disabled thinking asks for: auto, none, minimal, low, medium, high, xhigh or max")
	flags.BoolVar(&c.PromptTokensDetails, "enable-prompt-tokens-details", false, "usage tells of cached prompt tokens")
	flags.BoolVar(&c.ForceUsage, "enable-force-include-usage", false, "every chunk of every stream has usage")
	flags.BoolVar(&c.PerRequestMetrics, "enable-per-request-metrics", false, "whole answers tell how long they took")
	flags.BoolVar(&c.ReturnTokensAsIDs, "return-tokens-as-token-ids", false, "log probabilities name tokens as token_id:N")
	flags.Var(&seconds{target: &c.KeepAlive}, "sse-keep-alive-interval", "seconds after which an idle stream gets a comment; 0 is never")
	flags.Var(oneOf(&c.FingerprintMode, "full", fixed("full", "hash", "custom", "none")), "fingerprint-mode", "what the system fingerprint tells")
	flags.StringVar(&c.Fingerprint, "fingerprint-value", "", "the `TEXT` of the fingerprint for the mode custom")
	flags.BoolVar(&c.RequestIDHeaders, "enable-request-id-headers", false, "answers have the header X-Request-Id")
	flags.BoolVar(&c.TokenizerInfo, "enable-tokenizer-info-endpoint", false, "serve /tokenizer_info")
	flags.BoolVar(&c.ScaleOut, "enable-scale-out", false, "accepted; the parse-only routes are always served")
	flags.BoolVar(&c.TokensOnly, "tokens-only", false, "accepted; the parse-only routes are always served")
}

func (c *Config) registerOperations(flags *pflag.FlagSet) {
	flags.BoolVar(&c.LogRequests, "enable-log-requests", false, "log what requests ask for, content too")
	flags.BoolVar(&c.LogOutputs, "enable-log-outputs", false, "log what models write; needs --enable-log-requests")
	flags.BoolVar(&c.DisableLogStats, "disable-log-stats", false, "keep no statistics: /metrics has only the process")
	flags.Var(oneOf(&c.LogLevel, "info", fixed("debug", "info", "warning", "error", "critical", "trace")), "uvicorn-log-level", "the least `LEVEL` that is logged: debug, info, warning, error, critical or trace")
	flags.Var(oneOf(&c.LogFormat, "text", fixed("text", "json")), "log-format", "how log lines are written")
	flags.StringVar(&c.TracesEndpoint, "otlp-traces-endpoint", "", "the `URL` of the OpenTelemetry collector that takes traces")
	flags.Int64Var(&c.MaxBodySize, "max-body-size", 64<<20, "the largest body of a request, in bytes")
	flags.IntVar(&c.MaxTools, "max-tools", 1024, "the most tools of a request; 0 is no limit")
	flags.IntVar(&c.MaxSchemaDepth, "max-schema-depth", 64, "how deep a schema may be nested; 0 is no limit")
	flags.BoolVar(&c.Playground, "playground", false, "serve the playground at /playground/, a page that shows what becomes of model text, and the documentation at /docs/")
	flags.StringVar(&c.ResponsesAddress, "responses-store", "sqlite", "the `STORE` of responses: sqlite (a file in the user's state folder), sqlite:PATH, postgres://…, memory, or none")
	flags.DurationVar(&c.ResponsesRetention, "responses-retention", 30*24*time.Hour, "how long responses are stored; 0 keeps them for ever")
	flags.IntVar(&c.MaxStreams, "max-streams", 0, "the most requests that are answered at once; 0 is no limit")
	flags.DurationVar(&c.DrainTimeout, "drain-timeout", time.Minute, "how long answers may go on after the server is told to stop")
	flags.DurationVar(&c.WriteTimeout, "write-timeout", time.Minute, "how long a client may leave one write unread; 0 is for ever")
	flags.DurationVar(&c.ReadHeaderTimeout, "read-header-timeout", 10*time.Second, "how long a client may take to send the head of a request; 0 is for ever")
	flags.DurationVar(&c.ReadBodyTimeout, "read-body-timeout", time.Minute, "how long a client may pause within the body of a request; 0 is for ever")
}

// registerNegations adds the negative form of every switch, as vLLM has it.
func registerNegations(flags *pflag.FlagSet) {
	var switches []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			switches = append(switches, f)
		}
	})
	for _, f := range switches {
		names := []string{"no-" + f.Name}
		if rest, ok := strings.CutPrefix(f.Name, "enable-"); ok {
			names = append(names, "disable-"+rest)
		}
		for _, name := range names {
			if flags.Lookup(name) != nil {
				continue
			}
			flags.AddFlag(&pflag.Flag{Name: name, Usage: "the opposite of --" + f.Name, Value: &negation{flags, f.Name}, NoOptDefVal: "true", Hidden: true})
		}
	}
}

// negation is the negative form of a switch.
type negation struct {
	flags *pflag.FlagSet
	name  string
}

// Set implements pflag.Value.
func (n *negation) Set(text string) error {
	switch strings.ToLower(text) {
	case "true", "1":
		return n.flags.Set(n.name, "false")
	case "false", "0":
		return n.flags.Set(n.name, "true")
	}
	return fmt.Errorf("expected true or false, found %q", text)
}

// Type implements pflag.Value.
func (n *negation) Type() string { return "negation" }

func (n *negation) String() string { return "" }

// choice is a flag with a few values.
type choice struct {
	target  *string
	allowed []string
}

// oneOf is a flag with a few values, one of which holds if it is not given.
func oneOf(target *string, standard string, allowed func() []string) *choice {
	*target = standard
	return &choice{target, allowed()}
}

func fixed(values ...string) func() []string { return func() []string { return values } }

// Set implements pflag.Value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("invalid choice: %q (choose from %s)", text, strings.Join(c.allowed, ", "))
	}
	*c.target = text
	return nil
}

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) String() string { return *c.target }

// Allowed are the values that a flag of a few values takes; nil for any other flag.
func Allowed(value pflag.Value) []string {
	if c, ok := value.(*choice); ok {
		return c.allowed
	}
	return nil
}

// list is a flag that takes a JSON array, or words set apart by commas, and may be given several times.
type list struct {
	target   *[]string
	standard string
	given    bool
}

// Set implements pflag.Value.
func (l *list) Set(text string) error {
	var values []string
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return fmt.Errorf("expected a JSON array of strings, found %q", text)
		}
	} else {
		for value := range strings.SplitSeq(text, ",") {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
	}
	if !l.given {
		*l.target = nil
	}
	l.given = true
	*l.target = append(*l.target, values...)
	return nil
}

// Type implements pflag.Value.
func (l *list) Type() string { return "list" }

func (l *list) String() string {
	if len(*l.target) == 0 {
		return l.standard
	}
	text, _ := json.Marshal(*l.target)
	return string(text)
}

// object is a flag that takes a JSON object, its values read or as they were written.
type object[T any] struct{ target *map[string]T }

// Set implements pflag.Value.
func (o *object[T]) Set(text string) error {
	var value map[string]T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("expected a JSON object, found %q", text)
	}
	*o.target = value
	return nil
}

// Type implements pflag.Value.
func (o *object[T]) Type() string { return "JSON" }

func (o *object[T]) String() string { return "" }

// anything is a flag that takes JSON; what is in it is checked later, as in vLLM.
type anything struct{ target *any }

// Set implements pflag.Value.
func (e *anything) Set(text string) error {
	return json.Unmarshal([]byte(text), e.target)
}

// Type implements pflag.Value.
func (e *anything) Type() string { return "JSON" }

func (e *anything) String() string { return "" }

// seconds is a flag that takes a number of seconds.
type seconds struct{ target *time.Duration }

// Set implements pflag.Value.
func (s *seconds) Set(text string) error {
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		return fmt.Errorf("expected a number of seconds, found %q", text)
	}
	*s.target = d
	return nil
}

// Type implements pflag.Value.
func (s *seconds) Type() string { return "seconds" }

func (s *seconds) String() string { return fmt.Sprint(s.target.Seconds()) }
