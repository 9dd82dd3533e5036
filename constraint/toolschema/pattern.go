package toolschema

import (
	"regexp/syntax"
	"strings"

	"github.com/parlance-llm/parlance/constraint/regular"
)

// formats are the formats that are known, as regular expressions of the whole text.
var formats = map[string]string{
	"date":      date,
	"time":      clock + zone + "?",
	"date-time": "(?:" + date + ")T" + clock + zone,
	"duration":  `P(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?)`,
	"email":     `[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+`,
	"hostname":  `[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*`,
	"ipv4":      `((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`,
	"uuid":      `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
	"uri":       `[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]+`,
}

// date is a day that there is, in leap years too.
const date = `\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))` +
	`|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`

const (
	clock = `([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?`
	zone  = `(Z|[+-]([01]\d|2[0-3]):[0-5]\d)`
)

// FormatExpression is the regular expression of a known format, which the whole text has to match.
func FormatExpression(format string) string { return formats[format] }

// Expression writes a pattern of JSON schema, which are those of JavaScript, as Go has it.
func Expression(pattern string) string {
	pattern = strings.ReplaceAll(pattern, `\/`, `/`)
	pattern = strings.ReplaceAll(pattern, `\-`, `\x2d`)
	return strings.ReplaceAll(pattern, `(?<`, `(?P<`)
}

// pattern is a pattern of the schema as an automaton.
type pattern struct {
	automaton *regular.Automaton
	err       error
}

// pattern reads a pattern, once.
func (r *reader) pattern(text string) pattern {
	if known, ok := r.patterns[text]; ok {
		return known
	}
	if r.patterns == nil {
		r.patterns = map[string]pattern{}
	}
	automaton, err := regular.Search(Expression(text))
	r.patterns[text] = pattern{automaton, err}
	return r.patterns[text]
}

// unheld says why a pattern cannot be held, "" if it can.
func (r *reader) unheld(text string) string {
	if strings.Contains(text, "(?=") || strings.Contains(text, "(?!") || strings.Contains(text, "(?<=") || strings.Contains(text, "(?<!") {
		return "look-around in patterns is not supported"
	}
	found := r.pattern(text)
	if found.err != nil {
		if parse, ok := found.err.(*syntax.Error); ok {
			return "the pattern cannot be read: " + string(parse.Code) + ": " + parse.Expr
		}
		return found.err.Error()
	}
	if found.automaton.Empty() {
		return "no text matches the pattern"
	}
	return ""
}
