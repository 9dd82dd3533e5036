package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
)

// requestFlags are the flags of the commands that read or write one output: which parser, and what the request said.
type requestFlags struct {
	tool, reasoning string
	tools           string
	prompt          string
	toolChoice      string
	kwargs          string
	environment     *environmentFlags
}

// add adds the flags to a command; those of the environment come with addEnvironment, at the end.
func (f *requestFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.tool, "tool-call-parser", "", "the `NAME` of the parser for tool calls")
	flags.StringVar(&f.reasoning, "reasoning-parser", "", "the `NAME` of the parser for reasoning")
	flags.StringVar(&f.tools, "tools", "", "a `FILE` with the declared tools, an array as in an OpenAI request")
	flags.StringVar(&f.prompt, "prompt", "", "the rendered prompt or its end, as `TEXT` or @FILE; it shows where the output begins")
	flags.StringVar(&f.toolChoice, "tool-choice", "auto", "auto, none, required, the `NAME` of a tool, or JSON as in an OpenAI request")
	flags.StringVar(&f.kwargs, "chat-template-kwargs", "", "the arguments of the chat template, a `JSON` object; they may switch thinking on or off")
}

// addEnvironment adds the flags of the environment, and completes the names of parsers.
func (f *requestFlags) addEnvironment(command *cobra.Command) {
	f.environment = addEnvironment(command)
	completeParsers(command, f.environment.plugins)
	complete(command, "tool-choice", func() []string { return []string{"auto", "none", "required"} })
}

// request looks up the parser and reads what the flags say of the request.
func (f *requestFlags) request() (parser *parlance.Parser, r parlance.Request, err error) {
	if f.tool == "" && f.reasoning == "" {
		return nil, r, usagef("expected --tool-call-parser or --reasoning-parser, found neither (parlance formats lists the names)")
	}
	environment, err := f.environment.read()
	if err != nil {
		return nil, r, err
	}
	if parser, err = environment.Parser(f.tool, f.reasoning); err != nil {
		return nil, r, err
	}
	if f.environment.template != "" && parser.ResponseTemplate() == nil {
		return nil, r, usagef("--response-template: expected the parser hf or beam, which reads one, found another")
	}
	if f.tools != "" {
		data, err := os.ReadFile(f.tools)
		if err != nil {
			return nil, r, fmt.Errorf("--tools: %w", err)
		}
		if r.Tools, err = parlance.ParseTools(data); err != nil {
			return nil, r, fmt.Errorf("%s: %w", f.tools, err)
		}
	}
	if r.ToolChoice, err = toolChoice(f.toolChoice); err != nil {
		return nil, r, &usageError{fmt.Errorf("--tool-choice: %w", err)}
	}
	if r.Prompt, err = textOrFile(f.prompt); err != nil {
		return nil, r, fmt.Errorf("--prompt: %w", err)
	}
	if f.kwargs != "" {
		if err := conformance.Decode([]byte(f.kwargs), &r.ChatTemplateKwargs); err != nil {
			return nil, r, &usageError{fmt.Errorf("--chat-template-kwargs: %w", err)}
		}
	}
	return parser, r, nil
}
