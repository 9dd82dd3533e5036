package formatpages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

// result is what the tool of the example gives back.
const result = "Rain, 7 degrees."

// id is the id of the call where the format wants one of a set form.
const id = "Vb3kT9xQz"

// writeResults writes how tool results are written, with those of the example's call; example is nil where there is none.
func writeResults(out *strings.Builder, f *parlance.FormatInfo, e *example) error {
	if f.Results == "" && f.NoResults == "" {
		return nil
	}
	out.WriteString("\n## Tool results\n\n")
	if f.NoResults != "" {
		fmt.Fprintf(out, "The definition does not say how tool results are written: %s.\n", escape(f.NoResults))
		return nil
	}
	out.WriteString("What the chat template writes between the text of the model and what it goes on with, in [the\nnotation](../notation.md#tool-results):\n\n")
	fence(out, "", f.Results)
	if e == nil || len(e.read.Calls) == 0 {
		return nil
	}
	p, err := parserOf(f)
	if err != nil {
		return err
	}
	declared, err := parlance.ParseTools([]byte(tools))
	if err != nil {
		return err
	}
	r := parlance.Request{Tools: declared, ChatTemplateKwargs: switchedOn(f, p.ReasoningName())}
	given, with := *e.message, code(result)+" as the result"
	if f.CallIDs == parlance.CallIDsNineAlphanumerics { // the server makes them where the model writes none
		given.Calls = slices.Clone(given.Calls)
		given.Calls[0].ID = id
		with += " of the call `" + id + "`"
	}
	text, err := render.New(p).Results(&given, []render.Result{{ID: given.Calls[0].ID, Content: result}}, render.Options{Request: r})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAfter the example, with %s:\n\n", with)
	fence(out, "", text)
	return nil
}

// resultsOfAll tells how many formats say how tool results are written, and why the others do not.
func resultsOfAll(formats []parlance.FormatInfo) string {
	var list strings.Builder
	calls, known := 0, 0
	for i := range formats {
		f := &formats[i]
		if len(f.ToolNames) == 0 {
			continue
		}
		calls++
		if f.Results != "" {
			known++
			continue
		}
		fmt.Fprintf(&list, "- [%s](%s.md): %s\n", f.Name, f.Name, escape(f.NoResults))
	}
	return fmt.Sprintf(`
## Tool results

Of the %d formats with calls %d also say how chat templates write the results of tools, so that [`+"`parlance render`"+`](../command-line.md#render)
writes them. These do not, and the renderer refuses results with the reason:

%s`, calls, known, list.String())
}
