package lint

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// results tells what a definition says of tool results, in a sentence; "" of one that has no calls.
func results(d *grammar.Definition) string {
	switch {
	case len(d.Tool) == 0:
		return ""
	case d.Results == nil:
		return "tool results: not told, so that the renderer refuses them"
	case d.Results.Unknown != "":
		return "tool results: not known: " + d.Results.Unknown
	}
	text := "tool results: told"
	switch variants := d.Results.Variants(); len(variants) {
	case 0:
	case 1:
		text += ", with the variant " + variants[0]
	default:
		text += ", with the variants " + strings.Join(variants, ", ")
	}
	return text
}

// inheritedResults finds rules for results that a dialect has from the definition that it extends, although its turns end
// otherwise.
func (r *Report) inheritedResults(d *grammar.Definition) {
	end := strings.TrimSpace(d.Turn.End)
	if d.Results == nil || end == "" {
		return
	}
	holds := func(marker string) bool {
		for _, rule := range d.Results.Rules {
			found := false
			grammar.Walk(rule.Body, func(e grammar.Expression) bool {
				literal, ok := e.(*grammar.Literal)
				found = found || ok && strings.Contains(literal.Text, marker)
				return !found
			})
			if found {
				return true
			}
		}
		return false
	}
	if rule := d.Results.Variant(""); rule != nil && rule.File != d.File && !holds(end) {
		r.find(rule, rule.Position, "the rule %s is inherited, and nothing in it ends the turn as that of %s ends, with %q", rule.Name, d.Format, end)
	}
}
