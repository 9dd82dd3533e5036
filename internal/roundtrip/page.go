package roundtrip

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Figures are what became of the known calls in one format.
type Figures struct {
	Format           string
	HasCalls, Python bool
	// Structured are the structured calls; Rendered and Sources the multi-turn calls, written by the renderer and as
	// their source has them.
	Structured, Rendered, Sources Counts
}

// Failed gives an error that shows the first differences, or nil.
func Failed(figures []Figures) error {
	var shown []string
	total := 0
	for _, f := range figures {
		for _, c := range []Counts{f.Structured, f.Rendered, f.Sources} {
			total += len(c.Differences)
			for k, difference := range c.Differences {
				if k < 3 {
					shown = append(shown, difference.Error())
				}
			}
		}
	}
	if total == 0 {
		return nil
	}
	return fmt.Errorf("%d differences, such as\n%s", total, strings.Join(shown, "\n"))
}

// Page is the page of the figures.
func Page(figures []Figures, structured, sources int) string {
	var out strings.Builder
	fmt.Fprintf(&out, `# The round trip

<!-- Made by internal/cmd/roundtrip. -->

What the renderer writes, the parser reads back as the same message. This page shows it on real data: the ground truth
of the Berkeley Function Calling Leaderboard (the package bfcl-eval), %d structured calls with the schemas of their
tools, and %d calls of its multi-turn part, which are Python source. Every call is written in every format, read back
whole and in three random splits, and compared: name, order, and the arguments as a JSON value with exact numbers.

A format may be unable to carry a value; its definition says so (the key cannot). The renderer refuses such a call
instead of writing something that would be read otherwise. These are the exceptions. All others came back without a
difference.

The reasons:

- **type**: the format does not write types, and by the tool's schema the value would be read as one of another type:
  the text 5 as a number where the schema wants a number, the number 5 as a text where it says nothing. (The data have
  values that their own schemas do not allow.)
- **closer**: a text holds the marker that would end it.
- **key**, **name**: the name of an argument or of a function has characters that the format cannot write there.
- **order**: the format has no place for content in front of its calls.
- **positional argument**: the source gives an argument without its name, which no format reads as a call (ruling 21).

## Structured calls

| format | carried | exceptions |
|---|---:|---|
`, structured, sources)
	for _, f := range figures {
		if f.HasCalls {
			fmt.Fprintf(&out, "| %s | %d | %s |\n", f.Format, f.Structured.Carried, exceptions(f.Structured))
		}
	}
	out.WriteString(`
## Calls in Python

The formats whose calls are Python read the sources as they stand, and as the renderer writes the same calls.

| format | as they stand | exceptions | rendered | exceptions |
|---|---:|---|---:|---|
`)
	for _, f := range figures {
		if f.Python {
			fmt.Fprintf(&out, "| %s | %d | %s | %d | %s |\n", f.Format, f.Sources.Carried, exceptions(f.Sources), f.Rendered.Carried, exceptions(f.Rendered))
		}
	}
	return out.String()
}

func exceptions(c Counts) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(c.Exceptions)) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, c.Exceptions[reason]))
	}
	if n := len(c.Differences); n > 0 {
		parts = append(parts, fmt.Sprintf("**differences** %d", n))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
