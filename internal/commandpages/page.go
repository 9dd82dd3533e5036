// Package commandpages makes the pages of docs/commands out of what the commands say of themselves.
package commandpages

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const generated = "\n---\n\nMade from what `parlance %s--help` says by `go generate ./...`; change that, not this page.\n"

// Pages makes the pages of the commands below root, by the names of their files, and README.md, the list of all.
func Pages(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	var list strings.Builder
	list.WriteString("# The commands\n\nWhat each command takes. [The command line](../command-line.md) tells what they are for.\n\n")
	for _, command := range root.Commands() {
		if !command.IsAvailableCommand() || command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		pages[command.Name()+".md"] = page(command)
		fmt.Fprintf(&list, "- [`%s`](%s.md): %s\n", command.UseLine(), command.Name(), lower(command.Short))
	}
	fmt.Fprintf(&list, generated, "")
	pages["README.md"] = list.String()
	return pages
}

func page(command *cobra.Command) string {
	var out strings.Builder
	long := command.Long
	if long == "" {
		long = command.Short
	}
	fmt.Fprintf(&out, "# parlance %s\n\n%s.\n\n```\n%s\n```\n\n```\n%s\n```\n", command.Name(), command.Short, command.UseLine(), strings.TrimSpace(long))
	if command.Example != "" {
		fmt.Fprintf(&out, "\n## Examples\n\n```\n%s\n```\n", unindented(command.Example))
	}
	flags := strings.Builder{}
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(&flags, "| `%s` | %s | %s |\n", cell(name), cell(text(usage)), standard(f))
	})
	if flags.Len() > 0 {
		fmt.Fprintf(&out, "\n## Flags\n\n| flag | | if it is not given |\n|---|---|---|\n%s", flags.String())
	}
	fmt.Fprintf(&out, generated, command.Name()+" ")
	return out.String()
}

// standard is the value of a flag that is not given.
func standard(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "[]", "false", "<nil>":
		return ""
	}
	return "`" + cell(f.DefValue) + "`"
}

// cell keeps a text in its cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// text keeps what looks like a tag or emphasis in running text as it is.
func text(usage string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(usage)
}

func lower(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// unindented takes the common blanks off the lines of an example.
func unindented(example string) string {
	var lines []string
	for line := range strings.Lines(strings.Trim(example, "\n")) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.Join(lines, "\n")
}
