package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/render"
)

// renderFlags are what the command line of render says.
type renderFlags struct {
	tool, reasoning string
	tools           string
	prompt          string
	toolChoice      string
	kwargs          string
	environment     *environmentFlags
}

func newRender() *cobra.Command {
	f := &renderFlags{}
	command := &cobra.Command{
		Use:   "render [FILE]",
		Short: "Write a message as a model would have",
		Long: `Render reads a message from FILE or the standard input and prints the text that a model of the format would have
written: what 'parlance parse' reads back as the same message. The message is JSON, as in an OpenAI request (content,
reasoning or reasoning_content, tool_calls) or as 'parlance parse --json' prints it.

Of an array, which is a conversation, the messages of the assistant are written, one line of JSON each: the index of the
message, and its text or why the format cannot carry it. The rest of a conversation is not written by the model; that is
the chat template's.

The tools give values their types, where the format does not write them. What the prompt has written already, such as
the opening of a thought, is not written again.`,
		Example: `  parlance render --tool-call-parser hermes message.json
  parlance parse --tool-call-parser hermes --json answer.txt | parlance render --tool-call-parser kimi_k2
  parlance render --tool-call-parser qwen3_coder --reasoning-parser qwen3 --tools tools.json conversation.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.tool, "tool-call-parser", "", "the `NAME` of the parser for tool calls")
	flags.StringVar(&f.reasoning, "reasoning-parser", "", "the `NAME` of the parser for reasoning")
	flags.StringVar(&f.tools, "tools", "", "a `FILE` with the declared tools, an array as in an OpenAI request")
	flags.StringVar(&f.prompt, "prompt", "", "the rendered prompt or its end, as `TEXT` or @FILE; it shows where the output begins")
	flags.StringVar(&f.toolChoice, "tool-choice", "auto", "auto, none, required, the `NAME` of a tool, or JSON as in an OpenAI request")
	flags.StringVar(&f.kwargs, "chat-template-kwargs", "", "the arguments of the chat template, a `JSON` object; they may switch thinking on or off")
	f.environment = addEnvironment(command)
	complete(command, "tool-call-parser", parlance.ToolNames)
	complete(command, "reasoning-parser", parlance.ReasoningNames)
	complete(command, "tool-choice", func() []string { return []string{"auto", "none", "required"} })
	return command
}

func (f *renderFlags) run(command *cobra.Command, arguments []string) error {
	renderer, options, err := f.prepare()
	if err != nil {
		return err
	}
	in, name, err := input(command, arguments)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out := bufio.NewWriter(command.OutOrStdout())
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		err = renderConversation(out, renderer, options, data)
	} else {
		err = renderMessage(out, renderer, options, data)
	}
	if err != nil && !errors.Is(err, errSilent) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(err, out.Flush())
}

func (f *renderFlags) prepare() (*render.Renderer, render.Options, error) {
	o := render.Options{}
	if f.tool == "" && f.reasoning == "" {
		return nil, o, usagef("expected --tool-call-parser or --reasoning-parser, found neither (parlance formats lists the names)")
	}
	environment, err := f.environment.read()
	if err != nil {
		return nil, o, err
	}
	parser, err := environment.Parser(f.tool, f.reasoning)
	if err != nil {
		return nil, o, err
	}
	r := &o.Request
	if f.tools != "" {
		data, err := os.ReadFile(f.tools)
		if err != nil {
			return nil, o, fmt.Errorf("--tools: %w", err)
		}
		if r.Tools, err = parlance.ParseTools(data); err != nil {
			return nil, o, fmt.Errorf("%s: %w", f.tools, err)
		}
	}
	if r.ToolChoice, err = toolChoice(f.toolChoice); err != nil {
		return nil, o, &usageError{fmt.Errorf("--tool-choice: %w", err)}
	}
	if r.Prompt, err = textOrFile(f.prompt); err != nil {
		return nil, o, fmt.Errorf("--prompt: %w", err)
	}
	if f.kwargs != "" {
		if err := conformance.Decode([]byte(f.kwargs), &r.ChatTemplateKwargs); err != nil {
			return nil, o, &usageError{fmt.Errorf("--chat-template-kwargs: %w", err)}
		}
	}
	return render.New(parser), o, nil
}

func renderMessage(out io.Writer, r *render.Renderer, o render.Options, data []byte) error {
	var m assistantMessage
	if err := conformance.Decode(data, &m); err != nil {
		return err
	}
	read, err := m.message()
	if err != nil {
		return err
	}
	text, err := r.Render(read, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

// rendered is a line of a conversation that was rendered.
type rendered struct {
	Index  int           `json:"index"`
	Text   *string       `json:"text,omitzero"`
	Error  string        `json:"error,omitzero"`
	Reason render.Reason `json:"reason,omitzero"`
}

// renderConversation writes a line for each message of the assistant. It ends silently with an error if one could not be
// written.
func renderConversation(out io.Writer, r *render.Renderer, o render.Options, data []byte) error {
	var messages []assistantMessage
	if err := conformance.Decode(data, &messages); err != nil {
		return err
	}
	failed := false
	for k := range messages {
		if role := messages[k].Role; role != "assistant" {
			if role == "" {
				return fmt.Errorf("message %d: expected a role", k)
			}
			continue
		}
		m, err := messages[k].message()
		if err != nil {
			return fmt.Errorf("message %d: %w", k, err)
		}
		line := rendered{Index: k}
		text, err := r.Render(m, o)
		var refused *render.Error
		switch {
		case errors.As(err, &refused):
			line.Error, line.Reason = err.Error(), refused.Reason
			failed = true
		case err != nil:
			return err
		default:
			line.Text = &text
		}
		if err := writeLine(out, line); err != nil {
			return err
		}
		o.EarlierCalls += len(m.Calls)
	}
	if failed {
		return errSilent
	}
	return nil
}
