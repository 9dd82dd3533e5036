package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/internal/formatpages"
)

func newFormats() *cobra.Command {
	asJSON := false
	var plugins *pluginFlags
	command := &cobra.Command{
		Use:   "formats [NAME]",
		Short: "List the formats, or show one",
		Long: `Formats lists the formats with the parser names that lead to them. With the name of a format, or of a parser, it shows
the page of that format: its grammar, how tool results are written, its markers, what switches thinking.`,
		Args: takes(0, 1),
		ValidArgsFunction: func(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return formatNames(plugins.available()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			r, err := plugins.Registry()
			if err != nil {
				return err
			}
			found := r.Formats()
			if len(arguments) > 0 {
				if found, err = formatsNamed(r, arguments[0]); err != nil {
					return err
				}
			}
			out := bufio.NewWriter(command.OutOrStdout())
			err = showFormats(out, r, newPalette(command.OutOrStdout()), found, len(arguments) > 0, asJSON)
			return errors.Join(err, out.Flush())
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of all formats, or the object of one")
	plugins = addPlugins(command)
	return command
}

func showFormats(out io.Writer, r *parlance.Registry, p palette, found []parlance.FormatInfo, pages, asJSON bool) error {
	switch {
	case asJSON && pages && len(found) == 1:
		return writeLine(out, found[0])
	case asJSON:
		return writeLine(out, found)
	case !pages:
		return listFormats(out, found)
	}
	for i := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := showFormat(out, r, p, &found[i]); err != nil {
			return err
		}
	}
	return nil
}

// formatsNamed gives the format of a name, or the formats that a parser of that name leads to.
func formatsNamed(r *parlance.Registry, name string) (found []parlance.FormatInfo, err error) {
	if info, ok := r.Format(name); ok {
		return []parlance.FormatInfo{info}, nil
	}
	for _, info := range r.Formats() {
		if slices.Contains(info.ToolNames, name) || slices.Contains(info.ReasoningNames, name) {
			found = append(found, info)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	near := nearest(r, name, formatNames(r))
	if len(near) == 0 {
		return nil, fmt.Errorf("there is no format or parser %q (parlance formats lists them)", name)
	}
	return nil, fmt.Errorf("there is no format or parser %q (did you mean %s?)", name, strings.Join(near, ", "))
}

// formatNames are the names of all formats and parsers.
func formatNames(r *parlance.Registry) []string {
	names := slices.Concat(r.ToolNames(), r.ReasoningNames())
	for _, info := range r.Formats() {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nearest asks both halves for names like a misspelt one, and looks for formats that begin like it.
func nearest(r *parlance.Registry, name string, names []string) (near []string) {
	for _, lookup := range []func() (*parlance.Parser, error){
		func() (*parlance.Parser, error) { return r.Lookup(name, "") },
		func() (*parlance.Parser, error) { return r.Lookup("", name) },
	} {
		var unknown *parlance.NameError
		if _, err := lookup(); errors.As(err, &unknown) {
			near = append(near, unknown.Nearest...)
		}
	}
	for _, other := range names {
		if len(name) >= 2 && strings.HasPrefix(other, name) {
			near = append(near, other)
		}
	}
	var out []string
	for _, other := range near {
		if !slices.Contains(out, other) && len(out) < 5 {
			out = append(out, other)
		}
	}
	return out
}

func listFormats(out io.Writer, found []parlance.FormatInfo) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FORMAT\tTOOL PARSERS\tREASONING PARSERS\tWHAT THE MODEL WRITES")
	for i := range found {
		f := &found[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Name, names(f.ToolNames), names(f.ReasoningNames), f.Title)
	}
	return table.Flush()
}

// names lists names, a dash for none.
func names(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}

// showFormat prints the page of a format for people.
func showFormat(out io.Writer, r *parlance.Registry, p palette, f *parlance.FormatInfo) error {
	heading(out, p, bold, f.Name)
	fmt.Fprintln(out, f.Title)
	fmt.Fprintln(out)
	for _, known := range formatpages.Facts(f) {
		fact(out, known.Name, strings.ReplaceAll(known.Text, "`", ""))
	}
	showMarkers(out, p, f)
	if err := showGrammar(out, r, p, f); err != nil {
		return err
	}
	showResults(out, p, f)
	return nil
}

// showResults prints the rules for tool results, those of what the definition extends worked in, or why there are none.
func showResults(out io.Writer, p palette, f *parlance.FormatInfo) {
	if f.Results == "" && f.NoResults == "" {
		return
	}
	fmt.Fprintln(out)
	heading(out, p, bold, "tool results")
	if f.NoResults != "" {
		fmt.Fprintln(out, p.paint(faint, "(not known: "+strings.ReplaceAll(f.NoResults, "`", "")+")"))
		return
	}
	fmt.Fprintln(out, f.Results)
}

// factWidth is the width of the names of facts, lineWidth that of a line with its fact.
const (
	factWidth = 26
	lineWidth = 110
)

// fact prints a name and what there is to say under it, in as many lines as it takes.
func fact(out io.Writer, name, text string) {
	label := name + strings.Repeat(" ", max(2, factWidth-utf8.RuneCountInString(name)))
	width := utf8.RuneCountInString(label)
	if width > factWidth && width+utf8.RuneCountInString(text) > lineWidth {
		label, width = name+"\n"+strings.Repeat(" ", factWidth), factWidth
	}
	fmt.Fprint(out, label)
	at := width
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > lineWidth && at > factWidth:
			fmt.Fprint(out, "\n"+strings.Repeat(" ", factWidth))
			at = factWidth
		default:
			fmt.Fprint(out, " ")
			at++
		}
		fmt.Fprint(out, word)
		at += n
	}
	fmt.Fprintln(out)
}

func showMarkers(out io.Writer, p palette, f *parlance.FormatInfo) {
	fmt.Fprintln(out)
	heading(out, p, bold, "markers")
	for _, marker := range f.Markers {
		what := ""
		switch {
		case slices.Contains(f.Needed, marker):
			what = "one token, which the vocabulary must have"
		case slices.Contains(f.Tokens, marker):
			what = "one token"
		}
		quoted, _ := conformance.Encode(marker)
		if what == "" {
			fmt.Fprintln(out, string(quoted))
		} else {
			fact(out, string(quoted), p.paint(faint, what))
		}
	}
	for _, token := range f.Tokens {
		if !slices.Contains(f.Markers, token) {
			quoted, _ := conformance.Encode(token)
			fact(out, string(quoted), p.paint(faint, "one token, a part of a marker"))
		}
	}
}

// showGrammar prints the grammar as its definition writes it, and those of the definitions it extends.
func showGrammar(out io.Writer, r *parlance.Registry, p palette, f *parlance.FormatInfo) error {
	for title := "grammar"; ; title = "grammar of " + f.Name {
		if f.Extends != "" {
			title += ", where it differs from that of " + f.Extends
		}
		fmt.Fprintln(out)
		heading(out, p, bold, title)
		if f.Grammar != "" {
			fmt.Fprintln(out, f.Grammar)
		}
		for _, from := range slices.Sorted(maps.Keys(f.Respell)) {
			fmt.Fprintf(out, "%q is spelled %q\n", from, f.Respell[from])
		}
		if f.Grammar == "" && len(f.Respell) == 0 {
			fmt.Fprintln(out, p.paint(faint, "(in nothing)"))
		}
		if f.Extends == "" {
			return nil
		}
		base, ok := r.Format(f.Extends)
		if !ok {
			return fmt.Errorf("the format %s extends %s, which does not exist", f.Name, f.Extends)
		}
		f = &base
	}
}
