package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/templates"
)

// advice is what else to set where the formats are those of the best guesses: the chat template, and what switches the
// thinking; a line each.
func advice(d *detect.Detector, r detect.Result) (lines []string) {
	if len(r.Reasoning) > 0 {
		if format, ok := d.Format(r.Reasoning[0].Format); ok {
			if says := switchOf(format.Thinking[r.Reasoning[0].Name], r.Reasoning[0].Evidence); says != "" {
				lines = append(lines, "thinking: "+says)
			}
		}
	}
	own := ownTemplates(d, r)
	switch {
	case r.Shows == detect.ToolsAreHidden && own != "":
		lines = append(lines, "chat template: this one does not show the tools of a request; --chat-template "+own+" does")
	case r.Shows == detect.ToolsAreHidden:
		lines = append(lines, "chat template: this one does not show the tools of a request, so that the model cannot call them; --chat-template takes another")
	case r.Shows == "" && own != "":
		lines = append(lines, "chat template: if the model's own does not show the tools of a request, --chat-template "+own+" does")
	}
	return lines
}

// switchOf says how thinking is switched: by the arguments that the template has, as far as there is evidence of one; "" if
// nothing switches it.
func switchOf(thinking parlance.ThinkingInfo, evidence []detect.Evidence) string {
	by, does, state := thinking.DisabledBy, "off", "on"
	if !thinking.OnByDefault {
		by, does, state = thinking.EnabledBy, "on", "off"
	}
	var all, seen []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if len(by[name]) == 0 {
			continue
		}
		value, err := json.Marshal(by[name][0])
		if err != nil {
			continue
		}
		kwargs := fmt.Sprintf("{%q: %s}", name, value)
		all = append(all, kwargs)
		if slices.ContainsFunc(evidence, func(e detect.Evidence) bool { return e.Source == detect.FromTemplate && e.Text == name }) {
			seen = append(seen, kwargs)
		}
	}
	if len(seen) > 0 {
		all = seen
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s by default; chat_template_kwargs %s in a request, or --default-chat-template-kwargs, switches it %s", state, all[0], does)
	}
	return fmt.Sprintf("%s by default; chat_template_kwargs %s in a request, or --default-chat-template-kwargs, switches it %s, whichever the template reads", state, strings.Join(all, " or "), does)
}

// ownTemplates are the names of our own templates that lead to the same parsers.
func ownTemplates(d *detect.Detector, r detect.Result) string {
	if len(r.Tools) == 0 {
		return ""
	}
	var names []string
	for _, name := range templates.Names() {
		source, ok := templates.Source(name)
		if ok && d.Template(source).Flags() == r.Flags() {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
