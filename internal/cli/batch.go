package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// batchFlags are what the command line of batch says.
type batchFlags struct {
	output      string
	options     *options
	environment *environmentFlags
}

func newBatch() *cobra.Command {
	f := &batchFlags{}
	command := &cobra.Command{
		Use:   "batch [FILE]",
		Short: "Sort many model outputs, one a line",
		Long: `Batch reads lines of JSON from FILE or the standard input and writes one result a line, in the same order. It works on
all cores and holds only a few lines at a time.

A line is an object with the keys
  id                    any value; the result carries it
  text                  what the model wrote, or
  tokens                the same as an array of ["text", id]
  tool_parser, reasoning_parser
                        names of parsers, one at least
  tools, tool_choice    as in an OpenAI request
  prompt, prompt_tokens the rendered prompt or its end
  chat_template_kwargs, include_reasoning, special_tokens, response_template
  finish_reason         "stop" (default) or "length"
  stream                true: read the text as a stream
  chunk                 characters, or tokens, in a chunk of the stream (0: all at once), or {"seed": K} for random ones
  added_tokens          {"text": id}: the vocabulary of the model in place of --tokenizer
Other keys are ignored. A result is
  {"id", "reasoning", "content", "tool_calls": [{"id", "name", "arguments"}], "segments": [...], "malformed"}
with reasoning_tokens if the output comes as tokens; arguments is the argument text, and segments holds the same in the order of the text:
  {"type": "content" | "reasoning", "text"} or {"type": "tool_call", "index"}.

A line that cannot be read is reported and becomes {"id", "error": "line 7: ..."}; the others go on, and the exit status
is 1 at the end. A run with --output that was broken off goes on where it stopped if it is started again.`,
		Args: takes(0, 1),
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	command.Flags().SortFlags = false
	command.Flags().StringVarP(&f.output, "output", "o", "", "write the results to `FILE`, after those that are in it already")
	f.options = addOptions(command)
	f.environment = addEnvironment(command)
	return command
}

func (f *batchFlags) run(command *cobra.Command, arguments []string) (err error) {
	environment, err := f.environment.read()
	if err != nil {
		return err
	}
	in, name, err := input(command, arguments)
	if err != nil {
		return err
	}
	defer in.Close()
	bar := newProgress(command.ErrOrStderr(), "batch", fileSize(in))
	lines := newLineReader(in, name, bar)
	out := command.OutOrStdout()
	bad := 0
	if f.output != "" {
		file, err := os.OpenFile(f.output, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if bad, err = resume(file, lines); err != nil {
			return fmt.Errorf("%s: %w", f.output, err)
		}
		out = file
	}
	more, err := pipeline(lines, out, f.options, environment, func(problem string) {
		bar.clear()
		fmt.Fprintf(command.ErrOrStderr(), "parlance: %s\n", problem)
	})
	bar.finish()
	if bad += more; err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d lines could not be read", bad, lines.read)
	}
	return err
}

// fileSize is the size of a file, -1 for what has none.
func fileSize(in io.Reader) int64 {
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return -1
}
