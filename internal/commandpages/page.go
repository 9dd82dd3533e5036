// Package commandpages makes the pages of docs/commands out of what the commands say of themselves.
package commandpages

import (
	"fmt"
	"regexp"
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
	fmt.Fprintf(&out, "# parlance %s\n\n%s.\n\n```\n%s\n```\n%s", command.Name(), command.Short, command.UseLine(), prose(command.Long))
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
		fmt.Fprintf(&flags, "| `%s` | %s | %s |\n", cell(name), cell(marked(usage)), standard(f))
	})
	if flags.Len() > 0 {
		fmt.Fprintf(&out, "\n## Flags\n\n| flag | | if it is not given |\n|---|---|---|\n%s", flags.String())
	}
	fmt.Fprintf(&out, generated, command.Name()+" ")
	return out.String()
}

// spelled is what stands in running text as it is typed: a command, a flag, a route, a variable, an object of JSON.
var spelled = regexp.MustCompile(`'parlance [^']*'|--[a-z]+(-[a-z]+)*|/v1/[a-z/]*[a-z]|\{"[^}]*\}|[A-Z]+(_[A-Z]+)+|⟪/?[a-z]+⟫`)

// prose makes Markdown of a description: paragraphs, and what is indented in it, a table say, as a block.
func prose(description string) string {
	var out strings.Builder
	indented := false
	block := func(open bool) {
		if open != indented {
			out.WriteString(map[bool]string{true: "\n```\n", false: "```\n\n"}[open])
			indented = open
		}
	}
	for line := range strings.Lines(description) {
		line = strings.TrimRight(line, "\n")
		block(strings.HasPrefix(line, "  "))
		if indented {
			out.WriteString(strings.TrimPrefix(line, "  ") + "\n")
			continue
		}
		out.WriteString(marked(line) + "\n")
	}
	block(false)
	description = strings.TrimRight(strings.ReplaceAll(out.String(), "\n\n\n", "\n\n"), "\n")
	if description == "" {
		return ""
	}
	return "\n" + description + "\n"
}

// marked is running text in which what is spelled stands as code.
func marked(line string) string {
	var out strings.Builder
	at := 0
	for _, found := range spelled.FindAllStringIndex(line, -1) {
		out.WriteString(text(line[at:found[0]]) + "`" + strings.Trim(line[found[0]:found[1]], "'") + "`")
		at = found[1]
	}
	out.WriteString(text(line[at:]))
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
