package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance/conformance"
)

// checkFlags are what the command line of check says.
type checkFlags struct {
	splits  int
	command string
	only    string

	environment *environmentFlags
}

func newCheck() *cobra.Command {
	f := &checkFlags{}
	command := &cobra.Command{
		Use:   "check PATH...",
		Short: "Run conformance cases",
		Long: `Check runs the cases of files, and of folders of them: whole; streamed all at once and 1, 3 and 7 characters at a time;
cut at every boundary of a marker, inside every marker, and at each of these places alone; and cut at random. Sets of
tools are read from the tools.json beside a case file. A case counts once and passes only if all its ways do.

With --command the cases are run by another program, which reads and writes lines of JSON as 'parlance batch' does. It is
started once, through the shell, and is asked for everything but the cuts at given places, which the lines cannot say.`,
		Example: `  parlance check conformance/cases
  parlance check --splits 1000 --only hermes/ conformance/cases
  parlance check --command 'python other.py' conformance/cases/hermes.json`,
		Args: takes(1, many),
		RunE: func(command *cobra.Command, paths []string) error { return f.run(command, paths) },
	}
	command.Flags().SortFlags = false
	command.Flags().IntVar(&f.splits, "splits", 20, "how many random splits each case is run in")
	command.Flags().StringVar(&f.only, "only", "", "run the cases whose id holds `TEXT`")
	command.Flags().StringVar(&f.command, "command", "", "the `PROGRAM` with its arguments that runs the cases")
	f.environment = addEnvironment(command)
	return command
}

func (f *checkFlags) run(command *cobra.Command, paths []string) error {
	if f.splits < 0 {
		return usagef("--splits: expected a number from 0, found %d", f.splits)
	}
	cases, err := conformance.Load(paths...)
	if err != nil {
		return err
	}
	if cases = f.chosen(cases); len(cases) == 0 {
		return fmt.Errorf("--only: expected a part of the id of some case, found %q in none", f.only)
	}
	environment, err := f.environment.read()
	if err != nil {
		return err
	}
	var implementation conformance.Implementation = conformance.Library{Environment: environment}
	if f.command != "" {
		if f.environment.given() {
			return usagef("expected --command alone, found flags for the vocabulary or for plug-ins beside it, which the other program does not see")
		}
		implementation = &conformance.Command{Line: f.command}
	}
	out := bufio.NewWriter(command.OutOrStdout())
	p := newPalette(command.OutOrStdout())
	bar := newCounter(command.ErrOrStderr(), "check", len(cases))
	passed, failed := 0, 0
	conformance.Run(implementation, cases, f.splits, func(o *conformance.Outcome) {
		bar.add(1)
		if o.Passed() {
			passed++
			return
		}
		failed++
		bar.clear()
		fmt.Fprintln(out, p.paint(red, "FAIL ")+visible(o.String()))
		out.Flush()
	})
	bar.finish()
	c := green
	if failed > 0 {
		c = red
	}
	fmt.Fprintln(out, p.paint(c, fmt.Sprintf("%d passed, %d failed", passed, failed)))
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return errSilent
	}
	return nil
}

func (f *checkFlags) chosen(cases []*conformance.Case) (chosen []*conformance.Case) {
	for _, c := range cases {
		if strings.Contains(c.ID, f.only) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}
