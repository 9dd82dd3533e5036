package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server"
	"github.com/parlance-llm/parlance/server/config"
	"github.com/parlance-llm/parlance/templates"
)

func newServe() *cobra.Command {
	var c *config.Config
	command := &cobra.Command{
		Use:   "serve [MODEL]",
		Short: "Serve OpenAI's and Anthropic's interfaces in front of an engine",
		Long: `Serve puts OpenAI's Chat Completions and Responses and Anthropic's Messages in front of an engine that writes text: vLLM,
SGLang, llama.cpp, Ollama, anything with /v1/completions. Without --engine it answers with recordings, so that it can be tried with no model.

The flags are those of vLLM. Each may also be given as an environment variable (PARLANCE_TOOL_CALL_PARSER, or
VLLM_TOOL_CALL_PARSER, for --tool-call-parser) or in the file that --config names. Flags of vLLM that configure its own
engine are accepted, and a warning says that they mean nothing here.`,
		Example: `  parlance serve
  parlance serve --engine vllm --engine-url http://127.0.0.1:8001 --enable-auto-tool-choice --tool-call-parser hermes
  parlance serve --config serve.yaml --port 8080`,
		Args: takes(0, 1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 1 {
				c.Model = arguments[0]
			}
			if err := c.Load(command.Flags(), os.LookupEnv); err != nil {
				return err
			}
			return serve(command, c)
		},
	}
	c = config.Register(command.Flags())
	complete(command, "tool-call-parser", func() []string { return append((&pluginFlags{c.Plugins}).available().ToolNames(), config.Auto) })
	complete(command, "reasoning-parser", func() []string { return append((&pluginFlags{c.Plugins}).available().ReasoningNames(), config.Auto) })
	completeOrFile(command, "chat-template", templates.Names)
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if allowed := config.Allowed(f.Value); allowed != nil {
			complete(command, f.Name, func() []string { return allowed })
		}
	})
	return command
}

// several repeats the name of each of vLLM's flags that take several values behind one name before every value, as all
// flags here have it: else the second value would pass for the MODEL.
func several(arguments []string) []string {
	if len(arguments) == 0 || arguments[0] != "serve" {
		return arguments
	}
	var out []string
	flag := ""
	for i, argument := range arguments {
		if strings.HasPrefix(argument, "-") {
			flag = ""
			if slices.Contains(takesSeveral, strings.TrimPrefix(argument, "--")) && strings.HasPrefix(argument, "--") {
				flag = argument
			}
		} else if flag != "" && arguments[i-1] != flag {
			out = append(out, flag)
		}
		out = append(out, argument)
	}
	return out
}

var takesSeveral = []string{"served-model-name", "lora-modules", "cudagraph-capture-sizes", "cuda-graph-sizes", "ignore-patterns", "logits-processors"}

func serve(command *cobra.Command, c *config.Config) error {
	logger := newLogger(command, c)
	s, err := server.New(c, logger)
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings {
		logger.Warn(warning)
	}
	ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { // a second signal ends at once
		<-ctx.Done()
		stop()
	}()
	err = s.Run(ctx, func(address string) {
		logger.Info("listening", "address", address, "engine", c.Engine)
		if c.Playground {
			root := rootOf(address, c)
			logger.Info("pages", "playground", root+"/playground/", "documentation", root+"/docs/")
		}
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// rootOf is the address under which a browser on this machine finds the server; one that listens on all addresses is found
// on the local one.
func rootOf(address string, c *config.Config) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address // a socket
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if c.SSLCert != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port) + c.RootPath
}

// newLogger writes log lines to the standard error.
func newLogger(command *cobra.Command, c *config.Config) *slog.Logger {
	level := map[string]slog.Level{
		"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn,
		"error": slog.LevelError, "critical": slog.LevelError,
	}[c.LogLevel]
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(command.ErrOrStderr(), options))
	}
	return slog.New(slog.NewTextHandler(command.ErrOrStderr(), options))
}

// startError is an error that is printed as it is: its class, then its message.
func startError(err error) (string, bool) {
	var e *config.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %s", e.Class, e.Message), true
	}
	return "", false
}
