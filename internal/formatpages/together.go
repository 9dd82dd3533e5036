package formatpages

import (
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance"
)

// together tells which parsers go with which.
func together(formats []parlance.FormatInfo) string {
	var alone, templates []string
	tools, reasonings := map[string]bool{}, map[string]bool{}
	for i := range formats {
		f := &formats[i]
		link := fmt.Sprintf("[%s](%s.md)", f.Name, f.Name)
		switch {
		case f.ResponseTemplate:
			templates = append(templates, link)
		case f.Alone:
			alone = append(alone, link)
		}
		for _, name := range f.ToolNames {
			tools[name] = true
		}
		for _, name := range f.ReasoningNames {
			reasonings[name] = true
		}
	}
	return fmt.Sprintf(`
## Which go together

Any of the %d tool parsers goes with any of the %d reasoning parsers, or alone, but for these:

- %s read both halves themselves: whichever parser is named for the other half, theirs reads it. Two of them do not go
  together.
- %s go with their own name and no other: both halves come from the one response template.

What does not go together is refused before anything is read, with the reason. Of halves from two formats, what the tool
parser reads only at the start of the output may stand behind a thought, too; see [the notation](../notation.md#two-halves).
`, len(tools), len(reasonings), strings.Join(alone, ", "), strings.Join(templates, " and "))
}
