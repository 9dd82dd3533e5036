package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/lint"
	"github.com/parlance-llm/parlance/internal/plugins"
)

func newLint() *cobra.Command {
	asJSON, waits := false, true
	command := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Look for faults in definitions of formats",
		Long: `Lint reads definitions of formats: files (*.yaml), folders of them, or built-in formats by their names. A file may
extend any built-in format, and those named before it.

What is wrong is told with its place: what was expected there and what was found, and of an ambiguous definition the two
ways in which a text can be read. Then comes what is legal but odd: rules that are not reached, markers that are never
read, markers that are the beginning of another one and wait for it; and what the parser will hold back: which markers
text waits for, how much of it, and what must follow a marker for it to count; and whether the definition says how tool
results are written. The exit status is 1 if something is wrong.`,
		Example: `  parlance lint my_format.yaml
  parlance lint hermes`,
		Args: takes(1, many),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			reports, faults, err := lintAll(arguments)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(command.OutOrStdout())
			p := newPalette(command.OutOrStdout())
			if asJSON {
				err = writeLine(out, struct {
					Faults  []string       `json:"faults"`
					Reports []*lint.Report `json:"reports"`
				}{faults, reports})
			} else {
				for _, fault := range faults {
					fmt.Fprintln(out, p.paint(red, "fault ")+fault)
				}
				for _, r := range reports {
					showReport(out, p, r, waits)
				}
			}
			if err = errors.Join(err, out.Flush()); err == nil && len(faults) > 0 {
				err = errSilent
			}
			return err
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().BoolVar(&waits, "held", true, "show what will be held back")
	return command
}

// lintAll looks at all definitions that the arguments name. The faults are those for which definitions are refused.
func lintAll(arguments []string) (reports []*lint.Report, faults []string, err error) {
	library, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		return nil, nil, err
	}
	reports, faults = []*lint.Report{}, []string{}
	for _, argument := range arguments {
		found := []string{argument}
		if _, builtin := parlance.Format(argument); !builtin {
			files, where, err := plugins.Files(argument)
			if err != nil {
				return nil, nil, noDefinition(argument, err)
			}
			over, err := library.Over(files, where, true)
			if err != nil {
				faults = append(faults, err.Error())
				continue
			}
			library, found = over, over.Own()
		}
		for _, format := range found {
			r, err := lintOne(library, format)
			if err != nil {
				faults = append(faults, err.Error())
				continue
			}
			if len(found) == 0 || found[0] != argument {
				r.Findings = append(r.Findings, taken(library, format)...)
			}
			reports = append(reports, r)
		}
	}
	return reports, faults, nil
}

// taken finds names of built-in parsers in a definition of one's own: commands refuse it without --override-parsers.
func taken(library *grammar.Library, format string) (found []lint.Finding) {
	if _, builtin := parlance.Format(format); builtin {
		return nil
	}
	d, err := library.Definition(format)
	if err != nil {
		return nil
	}
	say := func(half, name string) {
		found = append(found, lint.Finding{File: d.File, Line: 1, Column: 1, Text: fmt.Sprintf("the %s parser %s is built in: taking its name needs --override-parsers", half, name)})
	}
	for _, name := range d.Tool {
		if slices.Contains(parlance.ToolNames(), name) {
			say("tool", name)
		}
	}
	for _, reasoning := range d.Reasoning {
		if slices.Contains(parlance.ReasoningNames(), reasoning.Name) {
			say("reasoning", reasoning.Name)
		}
	}
	return found
}

// noDefinition is the error for an argument that is no file: if it has the shape of a name, a format was meant.
func noDefinition(argument string, err error) error {
	if _, missing := os.Stat(argument); missing == nil || strings.ContainsAny(argument, `/\.`) {
		return err
	}
	near := nearest(parlance.Default(), argument, formatNames(parlance.Default()))
	near = slices.DeleteFunc(near, func(name string) bool { _, format := parlance.Format(name); return !format })
	if len(near) == 0 {
		return fmt.Errorf("expected a file, a folder or the name of a format, found %q, which is none (parlance formats lists the formats)", argument)
	}
	return fmt.Errorf("expected a file, a folder or the name of a format, found %q, which is none (did you mean %s?)", argument, strings.Join(near, ", "))
}

func lintOne(library *grammar.Library, format string) (*lint.Report, error) {
	d, err := library.Definition(format)
	if err != nil {
		return nil, err
	}
	return lint.Definition(d)
}

func showReport(out io.Writer, p palette, r *lint.Report, waits bool) {
	heading(out, p, bold, r.Format)
	if len(r.Findings) == 0 {
		fmt.Fprintln(out, p.paint(green, "nothing odd"))
	}
	for _, f := range r.Findings {
		fmt.Fprintln(out, p.paint(yellow, "odd ")+f.String())
	}
	if r.Results != "" {
		fmt.Fprintln(out, r.Results)
	}
	if !waits {
		return
	}
	for _, w := range r.Waits {
		fmt.Fprintln(out)
		fmt.Fprintf(out, "in %s, text waits for\n", strings.Join(w.Where, "; in "))
		width := 0
		for _, m := range w.Markers {
			width = max(width, utf8.RuneCountInString(inQuotes(m.Marker)))
		}
		for _, m := range w.Markers {
			line := fmt.Sprintf("  %-*s  %s", width, inQuotes(m.Marker), atMost(m.Bytes))
			if m.Until != "" {
				line += ", then until " + m.Until + " follows"
			}
			fmt.Fprintln(out, strings.TrimRight(line, " "))
		}
	}
	fmt.Fprintln(out)
}

func atMost(bytes int) string {
	switch bytes {
	case 0:
		return "(nothing is held)"
	case 1:
		return "up to 1 byte"
	}
	return fmt.Sprintf("up to %d bytes", bytes)
}

// inQuotes writes a marker as JSON does.
func inQuotes(marker string) string {
	text, _ := conformance.Encode(marker) // a text can always be written
	return string(text)
}
