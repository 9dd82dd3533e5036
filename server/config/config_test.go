package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// load reads a configuration as serve does.
func load(t *testing.T, environment map[string]string, arguments ...string) (*Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := Register(flags)
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	return c, c.Load(flags, func(name string) (string, bool) { text, ok := environment[name]; return text, ok })
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhereFlagsComeFrom: the command line goes before the environment, that before the file, that before the default.
func TestWhereFlagsComeFrom(t *testing.T) {
	path := file(t, "tool-call-parser: from-file\nreasoning_parser: from-file\nport: 1\nresponse-role: from-file\nenable-auto-tool-choice: true\nserved-model-name: [a, b]\ndefault-chat-template-kwargs: {x: 1}\n")
	c, err := load(t, map[string]string{"VLLM_TOOL_CALL_PARSER": "from-vllm", "PARLANCE_PORT": "2", "VLLM_PORT": "3", "PARLANCE_TOOL_CALL_PARSER": "from-us", "VLLM_REASONING_PARSER": "from-vllm", "PARLANCE_HOST": "tcp://10.0.0.1:80"},
		"--config", path, "--reasoning-parser", "from-line")
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]any{
		"our variable goes before vLLM's": {c.ToolParser, "from-us"}, "the command line goes before all": {c.ReasoningParser, "from-line"},
		"VLLM_PORT means another port": {c.Port, 2}, "the file": {c.ResponseRole, "from-file"}, "the default": {c.ReasoningField, "reasoning"},
		"a cluster's link is no address": {c.Host, ""}, "a switch in the file": {c.AutoToolChoice, true}, "an object in the file": {c.TemplateKwargs["x"], 1.0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: expected %v, found %v", what, pair[1], pair[0])
		}
	}
	if !slices.Equal(c.ServedNames, []string{"a", "b"}) {
		t.Errorf("expected two names, found %v", c.ServedNames)
	}
}

func TestNegations(t *testing.T) {
	for word, want := range map[string]bool{"yes": true, "on": true, "True": true, "no": false, "off": false, "false": false} {
		c, err := load(t, nil, "--config", file(t, "enable-auto-tool-choice: "+word+"\n"))
		negative, wrong := load(t, nil, "--config", file(t, "no-enable-auto-tool-choice: "+word+"\n"))
		if err != nil || wrong != nil || c.AutoToolChoice != want || negative.AutoToolChoice == want {
			t.Errorf("%s: found %v and %v, %v, %v", word, c, negative, err, wrong)
		}
	}
	for _, off := range []string{"disable-auto-tool-choice: true\n", "no_enable_auto_tool_choice: true\n"} {
		// The file says no to what the command line, and the environment, say yes to.
		c, err := load(t, nil, "--config", file(t, off), "--enable-auto-tool-choice")
		also, wrong := load(t, map[string]string{"VLLM_ENABLE_AUTO_TOOL_CHOICE": "1"}, "--config", file(t, off))
		if err != nil || wrong != nil || !c.AutoToolChoice || !also.AutoToolChoice {
			t.Errorf("%s: expected it on, found %v, %v, %v, %v", off, c.AutoToolChoice, also.AutoToolChoice, err, wrong)
		}
	}
	path := file(t, "enable-auto-tool-choice: true\n")
	for _, flag := range []string{"--disable-auto-tool-choice", "--no-enable-auto-tool-choice", "--enable-auto-tool-choice=false", "--enable_auto_tool_choice=false"} {
		c, err := load(t, nil, "--config", path, flag)
		if err != nil || c.AutoToolChoice {
			t.Errorf("%s: expected it off, found %v, %v", flag, c.AutoToolChoice, err)
		}
	}
}

func TestFlagsOfOtherEnginesAreAcceptedWithAWarning(t *testing.T) {
	c, err := load(t, nil, "--tensor-parallel-size", "2", "--gpu-memory-utilization=0.9", "--trust-remote-code", "--no-enable-prefix-caching", "-q", "fp8")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(c.Warnings, "\n")
	for _, name := range []string{"--tensor-parallel-size", "--gpu-memory-utilization", "--trust-remote-code", "--no-enable-prefix-caching", "--quantization"} {
		if !strings.Contains(text, name+" means nothing") {
			t.Errorf("expected a warning about %s, found %s", name, text)
		}
	}
}

func TestErrorsHaveTheirClass(t *testing.T) {
	for _, test := range []struct {
		arguments   []string
		environment map[string]string
		starts      string
	}{
		{[]string{"--reasoning-effort-map", `["low"]`}, nil, "ValueError: --reasoning-effort-map must be a JSON object of strings"},
		{[]string{"--reasoning-effort-map", `{"low":3}`}, nil, "ValueError: --reasoning-effort-map must be a JSON object of strings"},
		{[]string{"--reasoning-effort-map", `{"lowest":"low"}`}, nil, `ValueError: --reasoning-effort-map: unknown effort "lowest"`},
		{[]string{"--enable-auto-tool-choice"}, nil, "TypeError: --enable-auto-tool-choice requires --tool-call-parser"},
		{[]string{"--enable-log-outputs"}, nil, "TypeError: --enable-log-outputs requires --enable-log-requests"},
		{[]string{"--sse-keep-alive-interval", "-1"}, nil, "ValueError: --sse-keep-alive-interval"},
		{[]string{"--enable-per-request-metrics", "--disable-log-stats"}, nil, "ValueError: --enable-per-request-metrics"},
		{[]string{"--tool-call-parser", "nobody"}, nil, "KeyError: invalid tool call parser: nobody (chose from { "},
		{[]string{"--reasoning-parser", "nobody"}, nil, "KeyError: invalid reasoning parser: nobody (chose from { "},
		{[]string{"--structured-outputs-config", `{"reasoning_parser":"nobody"}`}, nil, "KeyError: invalid reasoning parser: nobody"},
		{[]string{"--engine", "vllm"}, nil, "ValueError: --engine vllm needs --engine-url"},
		{[]string{"--engine-url", "http://x"}, nil, "ValueError: --engine-url needs"},
		{[]string{"--ssl-keyfile", "x"}, nil, "ValueError: --ssl-keyfile and --ssl-certfile go together"},
		{[]string{"--api-key", ""}, nil, "ValueError: --api-key is empty"},
		{[]string{"--otlp-traces-endpoint", "collector:4318"}, nil, "ValueError: --otlp-traces-endpoint"},
		{[]string{"--max-tools", "-1"}, nil, "ValueError: --max-tools must be at least 0"},
		{[]string{"--max-body-size", "0"}, nil, "ValueError: --max-body-size must be at least 1"},
		{[]string{"--drain-timeout", "-1s"}, nil, "ValueError: --drain-timeout must be at least 0"},
		{[]string{"--engine-retries", "-5"}, nil, "ValueError: --engine-retries must be at least 0"},
		{[]string{"--replay-speed", "nan"}, nil, "ValueError: --replay-speed"},
		{[]string{"--replay-speed", "0"}, nil, "ValueError: --replay-speed"},
		{[]string{"--engine-connect-timeout", "-1s"}, nil, "ValueError: --engine-connect-timeout must be at least 0"},
		{[]string{"--engine-first-timeout", "-1s"}, nil, "ValueError: --engine-first-timeout must be at least 0"},
		{[]string{"--engine-timeout", "-1s"}, nil, "ValueError: --engine-timeout must be at least 0"},
		{[]string{"--ssl-ca-certs", "x"}, nil, "ValueError: --ssl-ca-certs needs --ssl-certfile"},
		{[]string{"--ssl-ca-certs", "x", "--ssl-keyfile", "x", "--ssl-certfile", "x", "--ssl-cert-reqs", "3"}, nil, "ValueError: --ssl-cert-reqs must be"},
		{nil, map[string]string{"VLLM_MAX_STOP_STRINGS": "many"}, "ValueError: the environment variable VLLM_MAX_STOP_STRINGS"},
		{nil, map[string]string{"PARLANCE_PORT": "x"}, `ValueError: the environment variable PARLANCE_PORT: --port: expected a whole number, found "x"`},
		{[]string{"--config", "/no/such/file"}, nil, "ValueError: --config"},
		{[]string{"--config", file(t, "bogus: 1\n")}, nil, "ValueError: "},
		{[]string{"--config", file(t, "- a\n")}, nil, "ValueError: "},
		{[]string{"--config", file(t, "default-chat-template-kwargs: {a: [.nan]}\n")}, nil, "ValueError: "},
		// The order is vLLM's: the first of two mistakes is told.
		{[]string{"--tool-call-parser", "nobody", "--enable-log-outputs"}, nil, "TypeError: --enable-log-outputs"},
	} {
		c, err := load(t, test.environment, test.arguments...)
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.starts) {
			t.Errorf("%v %v: expected %q, found %v", test.arguments, test.environment, test.starts, err)
		}
	}
	for _, bad := range [][]string{{"--tool-strict-level", "much"}, {"--default-chat-template-kwargs", "{"}, {"--bogus"}, {"--engine", "abacus"}} {
		if _, err := load(t, nil, bad...); err == nil {
			t.Errorf("%v: expected an error of the command line", bad)
		}
	}
}

func TestStoreAndTokenizerMustBeWhatTheirFlagsSay(t *testing.T) {
	for _, address := range []string{"mem", "postgres:x", filepath.Join(t.TempDir(), "r.db")} {
		c, err := load(t, nil, "--responses-store", address)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := c.OpenStore(); err == nil || !strings.Contains(err.Error(), "--responses-store: expected sqlite, sqlite:PATH, postgres://…, memory or none, found ") {
			t.Errorf("%s: %v, %v", address, s, err)
		}
	}
	c, err := load(t, nil, "--tokenizer", filepath.Join(t.TempDir(), "nowhere"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Parser(); err == nil || !strings.HasPrefix(err.Error(), "ValueError: --tokenizer: ") {
		t.Errorf("a tokenizer that is not there, without a parser: %v", err)
	}
}

func TestParserNeedsItsMarkers(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "tokenizer_config.json"), []byte(`{"added_tokens_decoder":{"1":{"content":"<other>"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]bool{"deepseek_r1": true, "qwen3": false} {
		c, err := load(t, nil, "--reasoning-parser", name, "--tokenizer", folder)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Parser()
		if wrong != (err != nil) || wrong && !strings.HasPrefix(err.Error(), "TypeError: --tool-call-parser  and --reasoning-parser "+name+" cannot be used with the tokenizer of '") {
			t.Errorf("%s: expected an error %v, found %v", name, wrong, err)
		}
	}
	c, err := load(t, nil, "--reasoning-parser", "NONE")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if parser, err := c.Parser(); parser != nil || err != nil {
		t.Errorf("expected no parser, found %v, %v", parser, err)
	}
}
