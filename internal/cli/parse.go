package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
)

// parseFlags are what the command line of parse says.
type parseFlags struct {
	requestFlags
	finishReason     *choice
	includeReasoning bool
	stream           bool
	chunk            *conformance.Chunk // nil: as it arrives
	deltas           bool
	trace            bool
	json             bool
	options          *options
}

func newParse() *cobra.Command {
	f := &parseFlags{}
	command := &cobra.Command{
		Use:   "parse [FILE]",
		Short: "Sort one model output",
		Long: `Parse reads the text that a model wrote, from FILE or the standard input, and prints its reasoning, its content and its
tool calls. The names of parsers are those of vLLM; 'parlance formats' lists them. One of the two may be left out: what
its half would have read then stays content.

With --stream the text is read as a stream: in chunks of --chunk, else in the pieces in which it arrives. --deltas shows
what becomes certain with each piece, --trace what became of every byte.`,
		Example: `  parlance parse --tool-call-parser hermes answer.txt
  parlance parse --tool-call-parser qwen3_coder --reasoning-parser qwen3 --tools tools.json --json answer.txt
  parlance parse --tool-call-parser kimi_k2 --deltas --chunk 4 answer.txt`,
		Args: takes(0, 1),
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	flags := command.Flags()
	f.add(command)
	f.finishReason = addChoice(command, "finish-reason", "why the output ended", "stop", "length")
	flags.BoolVar(&f.includeReasoning, "include-reasoning", true, "show the reasoning")
	flags.BoolVar(&f.stream, "stream", false, "read the text as a stream")
	flags.Var(chunkFlag{&f.chunk}, "chunk", "cut the stream into chunks of `N` characters (0: all at once), or at random with seed:K; implies --stream")
	flags.BoolVar(&f.deltas, "deltas", false, "print a line of JSON for everything that becomes certain; implies --stream")
	flags.BoolVar(&f.trace, "trace", false, "show each span of the input and what became of it")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	f.options = addOptions(command)
	f.addEnvironment(command)
	return command
}

func (f *parseFlags) run(command *cobra.Command, arguments []string) error {
	parser, request, err := f.prepare()
	if err != nil {
		return err
	}
	in, name, err := input(command, arguments)
	if err != nil {
		return err
	}
	defer in.Close()
	out := bufio.NewWriter(command.OutOrStdout())
	m, text, err := f.parse(parser, request, in, name, out)
	if err == nil && m != nil {
		err = f.show(command, out, m, text)
	}
	return errors.Join(err, out.Flush())
}

// parse reads the input. With --deltas it writes them as they come and gives no message; the text is given where the
// trace needs it.
func (f *parseFlags) parse(parser *parlance.Parser, request parlance.Request, in io.Reader, name string, out *bufio.Writer) (*parlance.Message, []byte, error) {
	finish := parlance.FinishReason(f.finishReason.value)
	pieces, failed := arriving(in)
	if !f.stream || f.chunk != nil {
		whole, err := io.ReadAll(in)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if !f.stream {
			return parser.Parse(string(whole), request, finish), whole, nil
		}
		pieces = f.chunk.Pieces(string(whole))
	}
	stream := parser.Stream(request)
	var collector parlance.Collector
	take := func(deltas []parlance.Delta) error {
		if !f.deltas {
			collector.Add(deltas)
			return nil
		}
		return errors.Join(writeDeltas(out, deltas), out.Flush())
	}
	var text []byte
	for piece := range pieces {
		if f.trace {
			text = append(text, piece...)
		}
		if err := take(stream.WriteString(piece)); err != nil {
			return nil, nil, err
		}
	}
	if *failed != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, *failed)
	}
	if err := take(stream.Close(finish)); err != nil || f.deltas {
		return nil, nil, err
	}
	m := collector.Message()
	m.Trace = stream.Trace()
	return m, text, nil
}

// prepare looks up the parser and reads what the flags say of the request.
func (f *parseFlags) prepare() (parser *parlance.Parser, r parlance.Request, err error) {
	if f.deltas && (f.json || f.trace) {
		return nil, r, usagef("expected --deltas alone, or --json and --trace, found both")
	}
	if parser, r, err = f.request(); err != nil {
		return nil, r, err
	}
	r.HideReasoning = !f.includeReasoning
	r.Trace = f.trace
	f.options.apply(&r)
	f.stream = f.stream || f.deltas || f.chunk != nil
	return parser, r, nil
}

func (f *parseFlags) show(command *cobra.Command, out io.Writer, m *parlance.Message, text []byte) error {
	if f.json {
		return writeMessage(out, m, text, f.trace)
	}
	p := newPalette(command.OutOrStdout())
	showMessage(out, p, m)
	if f.trace {
		showTrace(out, p, m.Trace, text)
	}
	return nil
}

// chunkFlag is the flag for a chunk; it stays nil if the flag is not given.
type chunkFlag struct{ chunk **conformance.Chunk }

// Set implements pflag.Value.
func (c chunkFlag) Set(text string) error {
	chunk, err := conformance.ParseChunk(text)
	*c.chunk = &chunk
	return err
}

// Type implements pflag.Value.
func (chunkFlag) Type() string { return "N|seed:K" }

func (chunkFlag) String() string { return "" }

// toolChoice reads a tool choice as the command line has it.
func toolChoice(text string) (parlance.ToolChoice, error) {
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		return parlance.ParseToolChoice([]byte(text))
	case text == "" || text == "auto" || text == "none" || text == "required":
		return parlance.ToolChoice{Mode: text}, nil
	}
	return parlance.ToolChoice{Mode: "function", Name: text}, nil
}

// textOrFile gives a text as it stands, or what the file holds that @FILE names.
func textOrFile(text string) (string, error) {
	file, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	data, err := os.ReadFile(file)
	return string(data), err
}

// input opens the one file that a command reads; no file, and -, are the standard input.
func input(command *cobra.Command, arguments []string) (in io.ReadCloser, name string, err error) {
	if len(arguments) == 0 || arguments[0] == "-" {
		return io.NopCloser(command.InOrStdin()), "standard input", nil
	}
	file, err := os.Open(arguments[0])
	if err != nil {
		return nil, "", err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, "", fmt.Errorf("%s: expected a file, found a folder", arguments[0])
	}
	return file, arguments[0], nil
}

// arriving gives the pieces of a text as they arrive. If reading fails, the pieces end and failed holds the error.
func arriving(in io.Reader) (pieces iter.Seq[string], failed *error) {
	failed = new(error)
	return func(yield func(string) bool) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := in.Read(buffer)
			if n > 0 && !yield(string(buffer[:n])) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				*failed = err
				return
			}
		}
	}, failed
}
