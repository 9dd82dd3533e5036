// Package cli is the command line. Each command is one file: it reads its flags and files, has the library or the
// conformance package do the work, and shows the result, for people or as JSON.
//
// Results go to the standard output, all else to the standard error. A command line that cannot be understood ends with
// status 2, anything else that goes wrong with status 1.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/config"
)

// Main runs a command line and gives the exit status.
func Main(arguments []string, in io.Reader, out, complaints io.Writer) int {
	root := New()
	root.SetArgs(several(arguments))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(complaints)
	command, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	if text, ok := startError(err); ok {
		fmt.Fprintln(complaints, text)
		return 1
	}
	if !errors.Is(err, errSilent) {
		fmt.Fprintf(complaints, "parlance: %s\n", strings.TrimSpace(message(err)))
	}
	if usage := (*usageError)(nil); errors.As(err, &usage) || !started(root) {
		fmt.Fprintf(complaints, "Run '%s --help' for what it takes.\n", command.CommandPath())
		return 2
	}
	return 1
}

// New makes the whole command. It may be run once.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "parlance",
		Short: "Sort what language models write into reasoning, content and tool calls",
		Long: `A model writes everything as text, each family in a format of its own. Parlance knows the formats: it sorts the
text, whole or streamed, into reasoning, content and tool calls.`,
		Example: `  parlance demo
  parlance detect zai-org/GLM-4.6
  parlance parse --tool-call-parser hermes answer.txt
  parlance serve --playground`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{},
	}
	root.PersistentPreRun = func(*cobra.Command, []string) { root.Annotations[startedKey] = "yes" }
	root.Flags().BoolP("version", "v", false, "print the version")
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return config.FlagError(err) })
	root.AddCommand(newParse(), newRender(), newBatch(), newCheck(), newFormats(), newBench(), newLint(), newConstrain(), newDetect(), newPrompt(), newDoctor(), newServe(), newDemo(), newVersion())
	for _, command := range root.Commands() {
		command.Flags().SortFlags = false
	}
	setUsage(root)
	helpKnows(root)
	return root
}

// helpKnows has `parlance help` refuse what is no command.
func helpKnows(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.Args = func(_ *cobra.Command, arguments []string) error {
				_, _, err := root.Find(arguments)
				return err
			}
		}
	}
}

// many is no bound to the number of arguments.
const many = 1 << 30

// takes refuses other numbers of arguments than from least to most, in words that name what the command takes.
func takes(least, most int) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		_, what, _ := strings.Cut(command.Use, " ")
		switch n := len(arguments); {
		case n < least:
			return fmt.Errorf("expected %s, found nothing", what)
		case n > most && most == 0:
			return fmt.Errorf("expected no argument, found %q", arguments[0])
		case n > most:
			return fmt.Errorf("expected %s alone, found %q behind it", strings.Trim(what, "[]"), arguments[most])
		}
		return nil
	}
}

// startedKey marks a root command whose arguments have been understood; errors before that are the user's spelling.
const startedKey = "started"

func started(root *cobra.Command) bool { return root.Annotations[startedKey] != "" }

// usageError is a mistake in the command line that only the command itself can see.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, arguments ...any) error {
	return &usageError{fmt.Errorf(format, arguments...)}
}

// errSilent ends with status 1 when all has been said.
var errSilent = errors.New("")

// message adds to an error what a user of the command line can do about it.
func message(err error) string {
	var name *parlance.NameError
	if errors.As(err, &name) && len(name.Nearest) == 0 {
		return err.Error() + " (parlance formats lists the names)"
	}
	var template *parlance.TemplateError
	if errors.As(err, &template) && template.Err == nil && template.Field == "" && template.Tool+template.Reasoning != "" {
		return err.Error() + " (--tokenizer or --response-template gives it)"
	}
	return err.Error()
}
