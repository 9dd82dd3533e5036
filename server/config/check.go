package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/vocabulary"
)

// Check tells whether the server can start, in vLLM's order, and fills in what follows from other flags. Nothing has been
// opened before.
func (c *Config) Check() error {
	c.fill()
	checks := []func() error{
		c.checkEffortMap,
		func() error {
			if c.AutoToolChoice && c.ToolParser == "" {
				return errorf(typeError, "--enable-auto-tool-choice requires --tool-call-parser")
			}
			return nil
		},
		func() error {
			if c.LogOutputs && !c.LogRequests {
				return errorf(typeError, "--enable-log-outputs requires --enable-log-requests")
			}
			return nil
		},
		func() error {
			if c.KeepAlive < 0 {
				return errorf(valueError, "--sse-keep-alive-interval must not be negative, found %v", c.KeepAlive.Seconds())
			}
			return nil
		},
		func() error {
			if c.PerRequestMetrics && c.DisableLogStats {
				return errorf(valueError, "--enable-per-request-metrics needs statistics, which --disable-log-stats switches off")
			}
			return nil
		},
		c.checkEngine,
		c.checkListening,
		c.checkNumbers,
		c.loadPlugins,
		c.checkNames,
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// fill sets what follows from other flags.
func (c *Config) fill() {
	if name, ok := c.StructuredOutputs["reasoning_parser"].(string); ok && c.ReasoningParser == "" {
		c.ReasoningParser = name
	}
	if strings.EqualFold(c.ReasoningParser, "none") {
		c.ReasoningParser = ""
	}
	if c.RootPath != "" && !strings.HasPrefix(c.RootPath, "/") {
		c.RootPath = "/" + c.RootPath
	}
	if len(c.ServedNames) == 0 && c.Model != "" {
		c.ServedNames = []string{c.Model}
	}
	c.fillParsers()
}

// fillParsers chooses the parsers of a model whose format stands alone, such as Harmony's: with any other, or with none,
// such a model's answers cannot be read. vLLM does so for one half only, and loses the calls (W2).
func (c *Config) fillParsers() {
	format, ok := c.alone()
	if !ok {
		return
	}
	tool := c.ToolParser == "" && len(format.ToolNames) > 0 && (c.ReasoningParser == "" || slices.Contains(format.ReasoningNames, c.ReasoningParser))
	reasoning := c.ReasoningParser == "" && len(format.ReasoningNames) > 0 && (c.ToolParser == "" || slices.Contains(format.ToolNames, c.ToolParser))
	if tool {
		c.ToolParser, c.AutoToolChoice = format.ToolNames[0], true
	}
	if reasoning {
		c.ReasoningParser = format.ReasoningNames[0]
	}
	if tool || reasoning {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the model writes the format %s: --tool-call-parser %s and --reasoning-parser %s are set", format.Name, c.ToolParser, c.ReasoningParser))
	}
}

// alone is the format of the model if it stands alone, as far as the model's names tell for sure.
func (c *Config) alone() (parlance.FormatInfo, bool) {
	for _, name := range append([]string{c.Model, c.EngineModel}, c.ServedNames...) {
		found := detect.Name(name)
		for _, guesses := range [][]detect.Guess{found.Tools, found.Reasoning} {
			if len(guesses) == 0 || !guesses[0].Sure {
				continue
			}
			if format, ok := parlance.Format(guesses[0].Format); ok && format.Alone {
				return format, true
			}
		}
	}
	return parlance.FormatInfo{}, false
}

// checkEffortMap reads the map of efforts.
func (c *Config) checkEffortMap() error {
	if c.effortMap == nil {
		return nil
	}
	object, ok := c.effortMap.(map[string]any)
	if !ok {
		return errorf(valueError, "--reasoning-effort-map must be a JSON object of strings")
	}
	c.EffortMap = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, ok := object[name].(string)
		if !ok {
			return errorf(valueError, "--reasoning-effort-map must be a JSON object of strings: the value of %q is none", name)
		}
		if !slices.Contains(generate.Efforts, name) {
			return errorf(valueError, "--reasoning-effort-map: unknown effort %q (choose from %s)", name, strings.Join(generate.Efforts, ", "))
		}
		c.EffortMap[name] = text
	}
	return nil
}

func (c *Config) checkEngine() error {
	if c.Engine != "replay" && c.EngineURL == "" {
		return errorf(valueError, "--engine %s needs --engine-url", c.Engine)
	}
	if c.Engine == "replay" && c.EngineURL != "" {
		return errorf(valueError, "--engine-url needs the kind of the engine behind it: --engine %s", strings.Join(slices.DeleteFunc(engine.Names(), func(name string) bool { return name == "replay" }), ", "))
	}
	if c.FingerprintMode == "custom" && c.Fingerprint == "" {
		return errorf(valueError, "--fingerprint-mode custom needs --fingerprint-value")
	}
	return nil
}

func (c *Config) checkListening() error {
	switch {
	case (c.SSLKey == "") != (c.SSLCert == ""):
		return errorf(valueError, "--ssl-keyfile and --ssl-certfile go together")
	case c.SSLClientCAs != "" && c.SSLCert == "":
		return errorf(valueError, "--ssl-ca-certs needs --ssl-certfile: without TLS no client shows a certificate")
	case c.SSLCertReqs < 0 || c.SSLCertReqs > 2:
		return errorf(valueError, "--ssl-cert-reqs must be 0, 1 or 2, found %d", c.SSLCertReqs)
	case c.SSLCertReqs > 0 && c.SSLClientCAs == "":
		return errorf(valueError, "--ssl-cert-reqs %d needs --ssl-ca-certs", c.SSLCertReqs)
	case c.Port < 0 || c.Port > 65535:
		return errorf(valueError, "--port must be from 0 to 65535, found %d", c.Port)
	case slices.Contains(c.APIKeys, ""):
		return errorf(valueError, "--api-key is empty: nobody could tell who may come")
	}
	if address, err := url.Parse(c.TracesEndpoint); c.TracesEndpoint != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https") {
		return errorf(valueError, "--otlp-traces-endpoint: expected an address like http://127.0.0.1:4318/v1/traces, found %q", c.TracesEndpoint)
	}
	return nil
}

// checkNumbers: a limit that is less than nothing is a slip of the pen.
func (c *Config) checkNumbers() error {
	for _, limit := range []struct {
		flag         string
		value, least int64
	}{
		{"max-body-size", c.MaxBodySize, 1},
		{"max-tools", int64(c.MaxTools), 0},
		{"max-schema-depth", int64(c.MaxSchemaDepth), 0},
		{"max-streams", int64(c.MaxStreams), 0},
		{"max-model-len", int64(c.MaxModelLen), 0},
		{"engine-connect-timeout", int64(c.EngineConnectTimeout), 0},
		{"engine-first-timeout", int64(c.EngineFirstTimeout), 0},
		{"engine-timeout", int64(c.EngineTimeout), 0},
		{"engine-retries", int64(c.EngineRetries), 0},
		{"engine-max-tokens", int64(c.EngineMaxTokens), 1},
		{"drain-timeout", int64(c.DrainTimeout), 0},
		{"write-timeout", int64(c.WriteTimeout), 0},
		{"read-header-timeout", int64(c.ReadHeaderTimeout), 0},
		{"read-body-timeout", int64(c.ReadBodyTimeout), 0},
		{"responses-retention", int64(c.ResponsesRetention), 0},
	} {
		if limit.value < limit.least {
			return errorf(valueError, "--%s must be at least %d", limit.flag, limit.least)
		}
	}
	if math.IsNaN(c.ReplaySpeed) || math.IsInf(c.ReplaySpeed, 0) || c.ReplaySpeed == 0 {
		return errorf(valueError, "--replay-speed must be a number other than 0, found %v", c.ReplaySpeed)
	}
	return nil
}

// loadPlugins reads the definitions of plug-ins. A broken one stops the start, with its place and what is wrong (W30).
func (c *Config) loadPlugins() error {
	registry, err := c.Plugins.Registry()
	if err != nil {
		return errorf(valueError, "%v", err)
	}
	c.registry = registry
	return nil
}

// Registry holds the formats that can be named: the built-in ones, and after Check those of the plug-ins.
func (c *Config) Registry() *parlance.Registry {
	if c.registry == nil {
		return parlance.Default()
	}
	return c.registry
}

// checkNames: parser names are always checked, whether or not they are used (W1).
func (c *Config) checkNames() error {
	tools, reasoning := c.Registry().ToolNames(), c.Registry().ReasoningNames()
	if c.ToolParser != "" && c.ToolParser != Auto && !slices.Contains(tools, c.ToolParser) {
		return errorf(keyError, "invalid tool call parser: %s (chose from { %s })", c.ToolParser, strings.Join(tools, ", "))
	}
	if c.ReasoningParser != "" && c.ReasoningParser != Auto && !slices.Contains(reasoning, c.ReasoningParser) {
		return errorf(keyError, "invalid reasoning parser: %s (chose from { %s })", c.ReasoningParser, strings.Join(reasoning, ", "))
	}
	return nil
}

// Parser builds the parser that the flags name, bound to the model's vocabulary where its files are there. It is nil
// where no parser is named.
func (c *Config) Parser() (*parlance.Parser, error) {
	if c.ToolParser == "" && c.ReasoningParser == "" {
		if c.Tokenizer == "" {
			return nil, nil
		}
		_, err := c.Vocabulary() // what the flag names must be there, though nothing is bound to it
		return nil, err
	}
	template, err := c.responseTemplate()
	if err != nil {
		return nil, errorf(typeError, "%v", err)
	}
	parser, err := c.Registry().LookupTemplate(c.ToolParser, c.ReasoningParser, template)
	if err != nil {
		return nil, errorf(typeError, "%v", err)
	}
	tool, hasTool := parser.ToolFormat()
	reasoning, hasReasoning := parser.ReasoningFormat()
	if hasTool && hasReasoning && tool.Name != reasoning.Name && (tool.Alone || reasoning.Alone) {
		return nil, errorf(typeError, "--reasoning-parser %s and --tool-call-parser %s cannot be combined", c.ReasoningParser, c.ToolParser)
	}
	words, err := c.Vocabulary()
	if err != nil || words == nil {
		return parser, err
	}
	bound, err := parser.Bind(words)
	if err != nil {
		reason := err.Error()
		if missing := (*parlance.VocabularyError)(nil); errors.As(err, &missing) {
			reason = "it has no " + strings.Join(missing.Missing, ", ")
		}
		return nil, errorf(typeError, "--tool-call-parser %s and --reasoning-parser %s cannot be used with the tokenizer of '%s': %s", c.ToolParser, c.ReasoningParser, words.Name, reason)
	}
	return bound, nil
}

// Folder is the folder of the model's files, "" if the model is only a name.
func (c *Config) Folder() string {
	if info, err := os.Stat(c.Model); c.Model == "" || err != nil || !info.IsDir() {
		return ""
	}
	return c.Model
}

// tokenizerFolder is where the tokenizer's files are, "" if there are none.
func (c *Config) tokenizerFolder() string {
	if c.Tokenizer != "" {
		return c.Tokenizer
	}
	return c.Folder()
}

// responseTemplate reads the response template of the tokenizer, if a parser may need it and there is one.
func (c *Config) responseTemplate() (*parlance.ResponseTemplate, error) {
	folder := c.tokenizerFolder()
	needed := slices.ContainsFunc(c.Registry().Formats(), func(f parlance.FormatInfo) bool {
		return f.ResponseTemplate && (slices.Contains(f.ToolNames, c.ToolParser) || slices.Contains(f.ReasoningNames, c.ReasoningParser))
	})
	if folder == "" || !needed {
		return nil, nil
	}
	return parlance.LoadResponseTemplate(folder)
}

// Vocabulary reads the tokenizer's files; it is nil if there are none.
func (c *Config) Vocabulary() (*vocabulary.Vocabulary, error) {
	folder := c.tokenizerFolder()
	if folder == "" {
		return nil, nil
	}
	words, err := vocabulary.Load(folder)
	switch {
	case err == nil:
		return words, nil
	case c.Tokenizer == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil // a model's folder without a tokenizer
	}
	return nil, errorf(valueError, "--tokenizer: %v", err)
}
