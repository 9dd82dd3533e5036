// Package formatpages tells people of the formats: it makes the pages of docs/formats out of the definitions, and the
// facts that `parlance formats` shows.
package formatpages

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance"
)

// Pages makes the pages, by the names of their files: one for each format, and README.md, the table of all.
// cases holds the case files, of which the formats take their example whose grammar comes with the checkpoint.
func Pages(cases fs.FS) (map[string]string, error) {
	formats := parlance.Formats()
	pages := map[string]string{"README.md": table(formats)}
	for i := range formats {
		page, err := page(&formats[i], cases)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", formats[i].Name, err)
		}
		pages[formats[i].Name+".md"] = page
	}
	return pages, nil
}

// generated stands at the end of each page.
const generated = "\n---\n\nMade from [the definition](../../formats/%s) by `go generate ./...`; change that, not this page.\n"

func table(formats []parlance.FormatInfo) string {
	var out strings.Builder
	out.WriteString(`# The formats

A format is the way a model family writes. Its tool half and its reasoning half are chosen by name, as with vLLM's
` + "`--tool-call-parser` and `--reasoning-parser`" + `; they may come from different formats. A forced call (` + "`tool_choice`" + `
` + "`required`" + ` or the name of a function) comes by *tag*, in the format's own syntax, or by *schema*, as plain JSON.

| format | models | tool parser | reasoning parser | forced calls | what the model writes |
|---|---|---|---|---|---|
`)
	for i := range formats {
		f := &formats[i]
		by := "–"
		if len(f.ToolNames) > 0 {
			switch f.ForcedCalls {
			case "native":
				by = "tag"
			case "json":
				by = "schema"
			}
		}
		fmt.Fprintf(&out, "| [%s](%s.md) | %s | %s | %s | %s | %s |\n", f.Name, f.Name, some(f.Models),
			some(f.ToolNames), some(f.ReasoningNames), by, escape(f.Title))
	}
	out.WriteString(together(formats))
	out.WriteString(resultsOfAll(formats))
	fmt.Fprintf(&out, generated, "")
	return out.String()
}

func some(names []string) string {
	if len(names) == 0 {
		return "–"
	}
	return codes(names)
}

func page(f *parlance.FormatInfo, cases fs.FS) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s.\n\n", f.Name, escape(f.Title))
	if f.Extends != "" {
		fmt.Fprintf(&out, "A dialect of [%s](%s.md).\n\n", f.Extends, f.Extends)
	}
	for _, fact := range Facts(f) {
		fmt.Fprintf(&out, "- **%s:** %s", fact.Name, escape(fact.Text))
		if fact.Name == cannotCarry {
			out.WriteString(" ([what that means](../round-trip.md))")
		}
		out.WriteString("\n")
	}
	var e *example
	var err error
	if f.ResponseTemplate {
		e, err = newTemplateExample(cases, f)
	} else {
		e, err = newExample(f)
	}
	if err != nil {
		return "", err
	}
	if err := e.write(&out); err != nil {
		return "", err
	}
	if f.ResponseTemplate {
		out.WriteString("\n## Grammar\n\nThe grammar comes with the checkpoint; see [response templates](../response-templates.md).\n")
		if err := writeResults(&out, f, nil); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, generated, f.Name+".yaml")
		return out.String(), nil
	}
	out.WriteString("\n## Grammar\n\nHow a well-formed turn looks, in [the notation](../notation.md). What happens to all others is the same for every\nformat and is told [there](../notation.md#the-law) too.\n\n")
	fence(&out, "", f.WholeGrammar)
	respelled(&out, f)
	if err := writeResults(&out, f, e); err != nil {
		return "", err
	}
	markers(&out, f)
	fmt.Fprintf(&out, generated, f.Name+".yaml")
	return out.String(), nil
}

func respelled(out *strings.Builder, f *parlance.FormatInfo) {
	if len(f.Respell) == 0 {
		return
	}
	fmt.Fprintf(out, "\nWhat %s spells otherwise:\n\n", f.Extends)
	for _, from := range slices.Sorted(maps.Keys(f.Respell)) {
		fmt.Fprintf(out, "- %s is %s\n", code(from), code(f.Respell[from]))
	}
}

func markers(out *strings.Builder, f *parlance.FormatInfo) {
	if len(f.Tokens) == 0 {
		return
	}
	out.WriteString("\n## Special tokens\n\nWhere the vocabulary has these as single tokens and the output comes with token ids, they count only as those tokens;\nthe same characters written as ordinary text are text.\n\n")
	for _, token := range f.Tokens {
		needed := ""
		if slices.Contains(f.Needed, token) {
			needed = ", which the vocabulary must have"
		}
		fmt.Fprintf(out, "- %s%s\n", code(token), needed)
	}
}

// fence writes a block that is shown to the letter.
func fence(out *strings.Builder, language, text string) {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	fmt.Fprintf(out, "%s%s\n%s\n%s\n", marks, language, strings.TrimSuffix(text, "\n"), marks)
}

// code writes a text to the letter, as a Go string where it would not show otherwise.
func code(text string) string {
	if strings.ContainsAny(text, "\n\t`") || strings.TrimSpace(text) != text {
		text = strconv.Quote(text)
	}
	marks := "`"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	if len(marks) > 1 {
		return marks + " " + text + " " + marks
	}
	return marks + text + marks
}

// escape keeps markers in running text from being taken for HTML. What stands between backquotes is left alone.
func escape(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
