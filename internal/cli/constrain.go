package cli

import (
	"bufio"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/constraint"
)

// constrainFlags are what the command line of constrain says.
type constrainFlags struct {
	tool, reasoning string
	tools           string
	toolChoice      string
	strictLevel     *choice
	parallel        bool
	responseFormat  string
	prompt          string
	kwargs          string
	dialect         *choice
	json            bool
	plugins         *pluginFlags
}

func newConstrain() *cobra.Command {
	f := &constrainFlags{}
	command := &cobra.Command{
		Use:   "constrain",
		Short: "Print the grammar that holds a model to its tool calls",
		Long: `Constrain prints what an engine must be given so that the model calls only declared tools, as its format writes calls,
with arguments that the tools allow: a structural tag (xgrammar, vLLM, SGLang), GBNF (llama.cpp), EBNF (xgrammar), Lark
(llguidance), or the JSON schema of a forced call as plain JSON, for any engine. What a dialect, or any of them, cannot
hold is let through, and said on the standard error.

Forced calls (--tool-choice required, or the name of a tool) are always held. With auto, calls are held if a tool is
strict, if --tool-strict-level is function or parameter, if --parallel-tool-calls is false, or if there is a response
format. If nothing has to be held, nothing is printed, and the standard error says so.`,
		Example: `  parlance constrain --tool-call-parser hermes --tools tools.json --tool-choice required
  parlance constrain --tool-call-parser qwen3_coder --reasoning-parser qwen3 --tools tools.json --tool-strict-level parameter --dialect gbnf`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.tool, "tool-call-parser", "", "the `NAME` of the parser for tool calls")
	flags.StringVar(&f.reasoning, "reasoning-parser", "", "the `NAME` of the parser for reasoning")
	flags.StringVar(&f.tools, "tools", "", "a `FILE` with the declared tools, an array as in an OpenAI request")
	flags.StringVar(&f.toolChoice, "tool-choice", "auto", "auto, none, required, the `NAME` of a tool, or JSON as in an OpenAI request")
	f.strictLevel = addChoice(command, "tool-strict-level", "the `LEVEL` to which calls are held: auto (as the tools and the format say), function (the format and the names), parameter (the schemas too)", "", "auto", "function", "parameter")
	flags.BoolVar(&f.parallel, "parallel-tool-calls", true, "let there be more than one call")
	flags.StringVar(&f.responseFormat, "response-format", "", "a `FILE` with the response_format of an OpenAI request")
	flags.StringVar(&f.prompt, "prompt", "", "the rendered prompt or its end, as `TEXT` or @FILE; it shows whether a thought is open")
	flags.StringVar(&f.kwargs, "chat-template-kwargs", "", "the arguments of the chat template, a `JSON` object; they may switch thinking on or off")
	f.dialect = addChoice(command, "dialect", "the `LANGUAGE` of the grammar: structural-tag, gbnf, ebnf, lark or json-schema", "structural-tag", "gbnf", "ebnf", "lark", "json-schema")
	flags.BoolVar(&f.json, "json", false, "print one JSON object with the dialect, the text and the notes")
	f.plugins = addPlugins(command)
	completeParsers(command, f.plugins)
	complete(command, "tool-choice", func() []string { return []string{"auto", "none", "required"} })
	return command
}

func (f *constrainFlags) run(command *cobra.Command) error {
	c, err := f.constraint()
	if err != nil {
		return err
	}
	if c == nil {
		fmt.Fprintln(command.ErrOrStderr(), "nothing has to be held ("+f.whyNothing()+")")
		return nil
	}
	text, err := f.written(c)
	if err != nil {
		return err
	}
	notes := append(slices.Clone(c.Notes()), text.Notes...)
	out := bufio.NewWriter(command.OutOrStdout())
	if f.json {
		err = json.MarshalWrite(out, struct {
			Dialect string   `json:"dialect"`
			Text    string   `json:"text"`
			Notes   []string `json:"notes"`
		}{f.dialect.value, text.Text, notes})
		fmt.Fprintln(out)
		return errors.Join(err, out.Flush())
	}
	for _, note := range notes {
		fmt.Fprintf(command.ErrOrStderr(), "note: %s\n", note)
	}
	fmt.Fprintln(out, strings.TrimRight(text.Text, "\n"))
	return out.Flush()
}

// whyNothing says what a request lacks to be held to anything.
func (f *constrainFlags) whyNothing() string {
	if f.tools == "" {
		return "there are no tools: --tools"
	}
	return "no call is forced and no tool is strict: --tool-choice required, or --tool-strict-level"
}

// constraint makes the constraint, nil if there is none.
func (f *constrainFlags) constraint() (*constraint.Constraint, error) {
	if f.tool == "" && f.reasoning == "" {
		return nil, usagef("expected --tool-call-parser or --reasoning-parser, found neither (parlance formats lists the names)")
	}
	registry, err := f.plugins.Registry()
	if err != nil {
		return nil, err
	}
	parser, err := registry.Lookup(f.tool, f.reasoning)
	if err != nil {
		return nil, err
	}
	r := constraint.Request{OneCall: !f.parallel, StrictLevel: constraint.Level(f.strictLevel.value)}
	if f.tools != "" {
		data, err := os.ReadFile(f.tools)
		if err != nil {
			return nil, fmt.Errorf("--tools: %w", err)
		}
		if r.Tools, err = constraint.ParseTools(data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.tools, err)
		}
	}
	if r.ToolChoice, err = toolChoice(f.toolChoice); err != nil {
		return nil, err
	}
	if f.responseFormat != "" {
		data, err := os.ReadFile(f.responseFormat)
		if err != nil {
			return nil, fmt.Errorf("--response-format: %w", err)
		}
		if err := conformance.Decode(data, &map[string]jsontext.Value{}); err != nil {
			return nil, fmt.Errorf("%s: response_format: %w", f.responseFormat, err)
		}
		if r.ResponseFormat, err = constraint.ParseResponseFormat(data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.responseFormat, err)
		}
	}
	request := parlance.Request{ToolChoice: r.ToolChoice}
	if request.Prompt, err = textOrFile(f.prompt); err != nil {
		return nil, fmt.Errorf("--prompt: %w", err)
	}
	if f.kwargs != "" {
		if err := conformance.Decode([]byte(f.kwargs), &request.ChatTemplateKwargs); err != nil {
			return nil, usagef("--chat-template-kwargs: %w", err)
		}
	}
	r.Thinking, r.Suffix = constraint.ThinkingOf(parser, request), parser.Suffix(request)
	return constraint.New(parser, r)
}

// written is the constraint in the dialect that is asked for.
func (f *constrainFlags) written(c *constraint.Constraint) (constraint.Text, error) {
	switch f.dialect.value {
	case "gbnf":
		return c.GBNF(), nil
	case "ebnf":
		return c.EBNF(), nil
	case "lark":
		return c.Lark(), nil
	case "json-schema":
		text, ok := c.JSONSchema()
		if !ok {
			return text, fmt.Errorf("no JSON schema says this constraint: that takes a forced call, or an answer in JSON without tools")
		}
		return text, nil
	}
	return c.StructuralTag(), nil
}
