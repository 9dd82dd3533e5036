package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server"
	"github.com/parlance-llm/parlance/server/config"
)

// Parlance is the name of a target that is Parlance itself.
const Parlance = "parlance"

// target is what is examined.
type target struct {
	// kind is the engine's name, or Parlance. base is the address of the OpenAI interface that is asked, up to /v1.
	kind, base string
	model      string
	// engine gives raw text, prompts and the template, as far as the target has routes for them.
	engine engine.Engine
	// tool and reasoning are parsers that the target says it was started with.
	tool, reasoning string
	// stop ends what was started in front of it; nil if nothing was.
	stop func()
}

// parses tells whether the target is examined as its clients see it.
func (t *target) parses() bool { return t.kind == Parlance }

// telling are routes that tell what a server is, asked in this order.
var telling = []struct{ kind, path, holds string }{
	{Parlance, "/v1/parse", ""},
	{"llamacpp", "/props", "default_generation_settings"},
	{"sglang", "/model_info", "model_path"},
	{"ollama", "/api/version", "version"},
	{"vllm", "/version", "version"},
	{"openai-completions", "/v1/models", "data"},
}

// identify finds out what a target is and opens it.
func identify(ctx context.Context, o Options) (*target, error) {
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("expected an address like http://127.0.0.1:8000, found %q", o.URL)
	}
	root := strings.TrimSuffix(strings.TrimRight(o.URL, "/"), "/v1")
	t := &target{kind: o.Engine, base: root + "/v1", model: o.Model}
	if t.kind == "" {
		if t.kind, err = kindOf(ctx, root, o.APIKey); err != nil {
			return nil, err
		}
	}
	name := t.kind
	settings := engine.Options{URL: o.URL, APIKey: o.APIKey, Model: o.Model, Retries: -1}
	if t.kind == Parlance {
		name = "openai-completions"
	}
	if name == "openai-completions" {
		settings.Extra = map[string]jsontext.Value{"skip_special_tokens": jsontext.Value("false")}
	}
	if t.engine, err = engine.Open(name, settings); err != nil {
		return nil, err
	}
	models, err := t.engine.Models(ctx)
	if err != nil && t.model == "" {
		return nil, fmt.Errorf("the models of %s: %w", o.URL, err)
	}
	for _, m := range models {
		if t.model == "" {
			t.model = m.ID
		}
		if m.ID == t.model {
			t.tool, t.reasoning = m.ToolCallParser, m.ReasoningParser
		}
	}
	if t.model == "" {
		return nil, fmt.Errorf("%s serves no model: its list is empty, perhaps while it loads one; --model asks for one all the same", o.URL)
	}
	return t, nil
}

// kindOf asks the routes that tell.
func kindOf(ctx context.Context, root, key string) (string, error) {
	client := &http.Client{Timeout: patience}
	var last told
	for _, route := range telling {
		a, err := get(ctx, client, root+route.path, key)
		if err != nil {
			return "", unreached(root, err)
		}
		switch {
		case route.kind == Parlance && a.status == http.StatusMethodNotAllowed:
			return route.kind, nil
		case route.kind != Parlance && a.status == http.StatusOK && strings.Contains(a.body, `"`+route.holds+`"`):
			return route.kind, nil
		case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
			if key != "" {
				return "", fmt.Errorf("%s refuses the key that --api-key gives: status %d%s", root+route.path, a.status, a.says())
			}
			last = a
		case last.status != http.StatusUnauthorized && last.status != http.StatusForbidden:
			last = a
		}
	}
	switch {
	case last.status == http.StatusUnauthorized || last.status == http.StatusForbidden:
		return "", fmt.Errorf("%s answers with status %d%s: --api-key gives the key", root, last.status, last.says())
	case last.status == http.StatusNotFound:
		return "", fmt.Errorf("%s is none of the servers that are known (no /v1/models): --engine tells which it is", root)
	case last.status/100 == 2:
		return "", fmt.Errorf("%s/v1/models: expected a JSON object with a list of models, found %s: a web page, or a proxy, may stand at this address", root, last.what())
	}
	return "", fmt.Errorf("%s/v1/models answers with status %d%s", root, last.status, last.says())
}

// patience is how long a route that tells may take.
const patience = 10 * time.Second

// unreached says why a server could not be asked, and what to do about it where that is plain.
func unreached(root string, err error) error {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s speaks http, not https: %w", root, err)
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of %s is not trusted (the environment variable SSL_CERT_FILE can name that of its authority): %w", root, err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s does not answer within %v: %w", root, patience, err)
	}
	return fmt.Errorf("nothing answers at %s: %w", root, err)
}

// told is what a route that tells has answered.
type told struct {
	status     int
	kind, body string
}

// says is the message of an error, with a colon before it, as far as it is one for people and not a page.
func (t told) says() string {
	if text := refusal([]byte(t.body)); text != "" && len(text) < 500 && !strings.HasPrefix(t.kind, "text/html") {
		return ": " + text
	}
	return ""
}

// what is what an answer consists of.
func (t told) what() string {
	if t.body == "" {
		return "nothing"
	}
	return cmp.Or(t.kind, "an answer of no stated kind")
}

// mostTold is how much of an answer is looked at, in bytes.
const mostTold = 4 << 20

func get(ctx context.Context, client *http.Client, address, key string) (t told, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return t, err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := client.Do(request)
	if err != nil {
		return t, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostTold))
	return told{response.StatusCode, response.Header.Get("Content-Type"), string(body)}, err
}

// front starts Parlance in front of the engine, with the chosen parsers, on a port of its own, and has it asked.
func (x *examination) front(ctx context.Context) error {
	o := x.options
	arguments := []string{"--engine", x.target.kind, "--engine-url", o.URL, "--engine-model", x.target.model, "--served-model-name", x.target.model,
		"--responses-store", "memory", "--reasoning-field", "both"}
	add := func(flag, value string) {
		if value != "" {
			arguments = append(arguments, "--"+flag, value)
		}
	}
	add("engine-api-key", o.APIKey)
	add("tool-call-parser", o.ToolCallParser)
	add("reasoning-parser", o.ReasoningParser)
	add("chat-template", o.ChatTemplate)
	if x.wordsErr == nil {
		add("tokenizer", o.Tokenizer)
	}
	for _, path := range o.Plugins {
		add("tool-parser-plugin", path)
	}
	if o.OverrideParsers {
		arguments = append(arguments, "--override-parsers")
	}
	if o.ToolCallParser != "" {
		arguments = append(arguments, "--enable-auto-tool-choice")
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := config.Register(flags)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := c.Load(flags, func(string) (string, bool) { return "", false }); err != nil {
		return err
	}
	s, err := server.New(c, o.Logger)
	if err != nil {
		return fmt.Errorf("the server in front of %s does not start: %w", o.URL, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("the server in front of the engine", "error", err)
		}
	}()
	x.target.stop = func() { web.Close() }
	x.client = &client{base: "http://" + listener.Addr().String() + "/v1", model: x.target.model}
	return nil
}
