package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/render"
)

// renderFlags are what the command line of render says.
type renderFlags struct {
	requestFlags
	results string
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
message, and its text or why the format cannot carry it. Messages of the role tool behind them are written together, as
the chat template of the family writes them: from the end of the model's text to where it goes on. The rest of a
conversation is the chat template's. What tools gave back is written as it is, special tokens in it too.

The tools give values their types, where the format does not write them. What the prompt has written already, such as
the opening of a thought, is not written again.`,
		Example: `  parlance render --tool-call-parser hermes message.json
  parlance parse --tool-call-parser hermes --json answer.txt | parlance render --tool-call-parser kimi_k2
  parlance render --tool-call-parser qwen3_coder --reasoning-parser qwen3 --tools tools.json conversation.json
  parlance render --tool-call-parser xlam --results llama conversation.json`,
		Args: takes(0, 1),
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	f.add(command)
	command.Flags().StringVar(&f.results, "results", "", "the `NAME` of the variant in which tool results are written, where the definition has several; results is the one without a name")
	f.addEnvironment(command)
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
	var cannot *render.Error
	if errors.As(err, &cannot) && cannot.Reason == render.ReasonType && options.Request.Tools == nil {
		err = fmt.Errorf("%w (the format writes no types; the schema of the tool tells them: --tools FILE)", err)
	}
	if err != nil && !errors.Is(err, errSilent) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(err, out.Flush())
}

func (f *renderFlags) prepare() (*render.Renderer, render.Options, error) {
	parser, request, err := f.request()
	if err != nil {
		return nil, render.Options{}, err
	}
	return render.New(parser), render.Options{Request: request, Results: f.results}, nil
}

func renderMessage(out io.Writer, r *render.Renderer, o render.Options, data []byte) error {
	var m assistantMessage
	if err := conformance.Decode(data, &m); err != nil {
		return err
	}
	if !m.given() {
		return errors.New("expected a message with content, reasoning or tool_calls, found none of them")
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
