package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/detect"
)

// detectFlags are what the command line of detect says.
type detectFlags struct {
	template string
	model    string
	sample   bool
	json     bool
	names    []string // the arguments that were taken for names
	others   bool     // something else was given
	all      bool
	plugins  *pluginFlags
	detector *detect.Detector
}

func newDetect() *cobra.Command {
	f := &detectFlags{}
	command := &cobra.Command{
		Use:   "detect [FOLDER|FILE|NAME]...",
		Short: "Find out which format a model writes",
		Long: `Detect tells which parsers a model needs, with the evidence: from the folder of its files (chat template, tokenizer.json,
config.json), from a chat template, from its name as on a model hub, or from samples of its output. What is given is told
apart by what it is: a folder, a file with a template (it ends in .jinja, or is a tokenizer_config.json), any other file (a
sample), or else a name. Without anything a sample is read from the standard input. Several things are put together;
samples count most.

A guess is sure if nothing else explains the evidence as well. Many families write the same calls and differ only in what
is around them: the names that would do as well are listed. The exit status is 1 if there is no guess at all.`,
		Example: `  parlance detect ./Qwen3-8B
  parlance detect chat_template.jinja
  parlance detect zai-org/GLM-4.6
  parlance detect output.txt`,
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.template, "chat-template", "", "a `FILE` with a chat template")
	flags.StringVar(&f.model, "model", "", "the `NAME` of a model")
	flags.BoolVar(&f.sample, "sample", false, "the files are samples of output, whatever they are called")
	flags.BoolVar(&f.all, "all", false, "list every guess, not only the first few")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	f.plugins = addPlugins(command)
	return command
}

func (f *detectFlags) run(command *cobra.Command, arguments []string) error {
	result, err := f.result(command.InOrStdin(), arguments)
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if f.json {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"flags": result.Flags(), "advice": append([]string{}, advice(f.detector, result)...), "tools": some(result.Tools), "reasoning": some(result.Reasoning)}); err != nil {
			return err
		}
	} else {
		f.print(out, result)
	}
	if len(result.Tools)+len(result.Reasoning) == 0 {
		return f.nothing()
	}
	return nil
}

func some(guesses []detect.Guess) []detect.Guess { return append([]detect.Guess{}, guesses...) }

// result gathers what the arguments and flags say.
func (f *detectFlags) result(in io.Reader, arguments []string) (detect.Result, error) {
	registry, err := f.plugins.Registry()
	if err != nil {
		return detect.Result{}, err
	}
	f.detector = detect.For(registry)
	detector := f.detector
	var results []detect.Result
	var samples []string
	if f.template != "" {
		data, err := os.ReadFile(f.template)
		if err != nil {
			return detect.Result{}, err
		}
		results = append(results, detector.Template(string(data)))
	}
	if f.model != "" {
		results = append(results, detector.Name(f.model))
	}
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		switch {
		case err != nil && (strings.HasPrefix(argument, ".") || strings.HasPrefix(argument, "/") || strings.HasPrefix(argument, "~")):
			return detect.Result{}, err // a path, not a name
		case err != nil:
			f.names = append(f.names, argument)
			results = append(results, detector.Name(argument))
		case info.IsDir():
			f.others = true
			r, err := detector.Folder(argument)
			if err != nil {
				return detect.Result{}, err
			}
			results = append(results, r)
		default:
			f.others = true
			text, template, err := readEvidence(argument, f.sample)
			if err != nil {
				return detect.Result{}, err
			}
			if template {
				results = append(results, detector.Template(text))
			} else {
				samples = append(samples, text)
			}
		}
	}
	if len(arguments) == 0 && len(results) == 0 {
		data, err := io.ReadAll(in)
		if err != nil {
			return detect.Result{}, err
		}
		if len(data) == 0 {
			return detect.Result{}, usagef("expected FOLDER, FILE or NAME, or a sample of output on the standard input, found nothing")
		}
		samples = append(samples, string(data))
	}
	if len(samples) > 0 {
		results = append(results, detector.Samples(samples...))
	}
	if len(results) == 1 {
		return results[0], nil
	}
	return detect.Combine(results...), nil
}

// readEvidence reads a file: a chat template, on its own or in a file of a model, or a sample of output.
func readEvidence(path string, sample bool) (text string, template bool, err error) {
	if !sample {
		switch filepath.Base(path) {
		case "tokenizer_config.json", "chat_template.json":
			set, err := chattemplate.Resolve(path, nil)
			if err != nil {
				return "", false, err
			}
			t, err := set.For(true)
			if err != nil {
				return "", false, fmt.Errorf("%s: %w", path, err)
			}
			return t.Source(), true, nil
		case "tokenizer.json", "config.json", "generation_config.json":
			return "", false, fmt.Errorf("%s: expected a chat template or a sample of output; of a model give the whole folder: parlance detect %s", path, filepath.Dir(path))
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostEvidence))
	if err != nil {
		return "", false, err
	}
	if strings.HasPrefix(string(data), "GGUF") || strings.ContainsRune(string(data[:min(len(data), 512)]), 0) {
		return "", false, fmt.Errorf("%s: expected a chat template or a sample of output, found the weights of a model; its name tells (parlance detect --model %s), and so does the server that runs it (parlance doctor URL)",
			path, filepath.Base(path))
	}
	return string(data), strings.HasSuffix(path, ".jinja") && !sample, nil
}

// mostEvidence is how much of a file is read, in bytes: more than is looked at.
const mostEvidence = 4 << 20

// nothing says that nothing was found, and what else to give.
func (f *detectFlags) nothing() error {
	if f.model != "" {
		f.names = append(f.names, f.model)
	}
	if f.others || f.template != "" || len(f.names) == 0 {
		return errors.New("no format fits: there is no marker of a known format, and nothing could be read as a call or a thought")
	}
	return fmt.Errorf("no definition names a model like %s, and there is no such file or folder; what tells more are the folder of the model's files, its chat template, or a file with text that it wrote", strings.Join(f.names, ", "))
}

// print shows the guesses to people.
func (f *detectFlags) print(out io.Writer, r detect.Result) {
	p := newPalette(out)
	if flags := r.Flags(); flags != "" {
		fmt.Fprintf(out, "%s\n", p.paint(bold, flags))
	}
	for _, line := range advice(f.detector, r) {
		fmt.Fprintf(out, "%s\n", line)
	}
	for i, half := range []struct {
		title   string
		guesses []detect.Guess
	}{{"tool calls", r.Tools}, {"reasoning", r.Reasoning}} {
		if i > 0 || r.Flags() != "" {
			fmt.Fprintln(out)
		}
		heading(out, p, bold, half.title)
		if len(half.guesses) == 0 {
			fmt.Fprintln(out, "(no guess)")
		}
		for i, g := range half.guesses {
			if i == 3 && !f.all {
				fmt.Fprintf(out, "… and %d more (--all)\n", len(half.guesses)-i)
				break
			}
			f.guess(out, p, i, g)
		}
	}
}

// mostLike is how many names that are as good are listed.
const mostLike = 6

func (f *detectFlags) guess(out io.Writer, p palette, place int, g detect.Guess) {
	sure := "perhaps"
	switch {
	case g.Sure:
		sure = "sure"
	case place == 0 && len(g.Like) == 0:
		sure = "likely"
	}
	fmt.Fprintf(out, "%d. %s (format %s), %s", place+1, p.paint(bold, g.Name), g.Format, sure)
	if len(g.Like) > 0 {
		like, more := g.Like, ""
		if n := len(like) - mostLike; n > 0 && !f.all {
			like, more = like[:mostLike], fmt.Sprintf(" and %d more (--all)", n)
		}
		fmt.Fprintf(out, "; as good: %s%s", strings.Join(like, ", "), more)
	}
	fmt.Fprintln(out)
	if place > 0 && !f.all {
		return
	}
	for i, e := range g.Evidence {
		if i == 8 && !f.all {
			fmt.Fprintf(out, "   … and %d more\n", len(g.Evidence)-i)
			break
		}
		mark := "+"
		if e.Against {
			mark = "−"
		}
		where := ""
		if e.Offset >= 0 {
			where = fmt.Sprintf(" at byte %d", e.Offset)
		}
		fmt.Fprintf(out, "   %s %s%s: %s%s\n", mark, e.Source, where, evidenceText(e.Text), e.Says)
	}
}

func evidenceText(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q: ", text)
}
