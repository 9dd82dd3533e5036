package responsetemplate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/pattern"
)

// ErrMissing says that a tokenizer's configuration holds no template.
var ErrMissing = errors.New("no response_template in the tokenizer configuration")

// Read reads a template: the object itself, or a tokenizer's configuration that holds it as response_template. The error
// is an *Error, or ErrMissing for a configuration without one.
func Read(data []byte) (*Template, error) {
	var top members
	if err := decode(data, &top); err != nil {
		return nil, &Error{Message: "expected a JSON object, found " + kind(data, err)}
	}
	if inner, ok := top["response_template"]; ok {
		if inner.Kind() == 'n' {
			return nil, ErrMissing
		}
		top = nil
		if err := decode(inner, &top); err != nil {
			return nil, &Error{Message: "response_template: expected an object, found " + kind(inner, err)}
		}
	} else if inner, ok := top["tokenizer"]; ok && top["fields"] == nil { // a processor's configuration
		return Read(inner)
	} else if top["fields"] == nil && top["start_anchor"] == nil && top["start_anchor_pattern"] == nil && top["defaults"] == nil && top["version"] == nil {
		return nil, ErrMissing
	}
	return read(top)
}

// members are the members of an object.
type members map[string]jsontext.Value

func decode(data []byte, into any) error {
	return json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func kind(data jsontext.Value, err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return "text that is no JSON: " + err.Error()
	}
	switch data.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"', '0', 't', 'f', 'n':
		return shortly(string(data))
	}
	return "nothing"
}

func shortly(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

func (m members) unknown(known ...string) []string {
	var out []string
	for key := range m {
		if !slices.Contains(known, key) {
			out = append(out, "'"+key+"'")
		}
	}
	slices.Sort(out)
	return out
}

func read(top members) (*Template, error) {
	fail := func(format string, arguments ...any) (*Template, error) {
		return nil, &Error{Message: fmt.Sprintf(format, arguments...)}
	}
	if unknown := top.unknown("version", "defaults", "fields", "start_anchor", "start_anchor_pattern"); unknown != nil {
		return fail("unknown keys %s; expected version, defaults, fields, start_anchor or start_anchor_pattern", strings.Join(unknown, ", "))
	}
	if version, ok := top["version"]; ok && string(version) != "1" && string(version) != "1.0" {
		return fail("unsupported version %s; expected 1", shortly(string(version)))
	}
	var defaults, fields members
	if value, ok := top["defaults"]; ok {
		if err := decode(value, &defaults); err != nil || value.Kind() != '{' {
			return fail("defaults: expected an object, found %s", kind(value, err))
		}
	}
	if unknown := defaults.unknown("role"); unknown != nil {
		return fail("unsupported defaults %s; only role can be served", strings.Join(unknown, ", "))
	}
	switch err := decode(top["fields"], &fields); {
	case top["fields"] == nil:
		return fail("fields: expected a non-empty object, found nothing")
	case err != nil || top["fields"].Kind() != '{':
		return fail("fields: expected a non-empty object, found %s", kind(top["fields"], err))
	case len(fields) == 0:
		return fail("fields: expected a non-empty object, found an empty one")
	}
	if unknown := fields.unknown(served...); unknown != nil {
		return fail("unsupported fields %s; thinking, content and tool_calls can be served", strings.Join(unknown, ", "))
	}
	t := &Template{fields: map[string]*field{}}
	var implicit []string
	for _, name := range served {
		if fields[name] == nil {
			continue
		}
		f, err := readField(name, fields[name])
		if err != nil {
			return nil, err
		}
		t.fields[name] = f
		if !f.open.given() {
			implicit = append(implicit, name)
		}
	}
	if len(implicit) > 1 {
		return fail("the fields %s have neither 'open' nor 'open_pattern'; at most one field may be the implicit one", strings.Join(implicit, ", "))
	}
	anchor, err := readDelimiter(&reader{members: top}, "start_anchor", "start_anchor_pattern")
	if err != nil {
		return nil, err
	}
	if !anchor.given() {
		return fail("expected start_anchor or start_anchor_pattern, found neither")
	}
	t.anchorTexts = anchor.literals
	if t.anchors, err = anchor.search(); err != nil {
		return nil, &Error{Message: anchor.key + ": " + err.Error()}
	}
	return t, nil
}

// search gives a delimiter as an expression to be searched for in a whole text. Of literals the longest is preferred.
func (d *delimiter) search() (*regexp.Regexp, error) {
	if d.expression != nil {
		return d.expression.Regexp()
	}
	var quoted []string
	for _, literal := range d.literals {
		quoted = append(quoted, regexp.QuoteMeta(literal))
	}
	slices.SortStableFunc(quoted, func(a, b string) int { return len(b) - len(a) })
	return regexp.Compile(strings.Join(quoted, "|"))
}

// reader reads the members of an object, each with its type; the first that is wrong is kept as the error.
type reader struct {
	field   string
	members members
	err     error
}

func (r *reader) fail(format string, arguments ...any) {
	if r.err == nil {
		r.err = &Error{Field: r.field, Message: fmt.Sprintf(format, arguments...)}
	}
}

func (r *reader) truth(key string, without bool) bool {
	switch value := r.members[key]; {
	case value == nil:
		return without
	case value.Kind() == 't':
		return true
	case value.Kind() == 'f':
		return false
	default:
		r.fail("%s: expected true or false, found %s", key, kind(value, nil))
		return false
	}
}

func (r *reader) text(key, without string) string {
	value := r.members[key]
	if value == nil {
		return without
	}
	var text string
	if err := decode(value, &text); err != nil || value.Kind() != '"' {
		r.fail("%s: expected a string, found %s", key, kind(value, nil))
	}
	return text
}

func (r *reader) object(key string) (out members) {
	value := r.members[key]
	if value == nil {
		return nil
	}
	if err := decode(value, &out); err != nil || value.Kind() != '{' {
		r.fail("%s: expected an object, found %s", key, kind(value, nil))
	}
	return out
}

func (r *reader) expression(key string) *pattern.Expression {
	source := r.text(key, "")
	if r.err != nil || r.members[key] == nil {
		return nil
	}
	e, err := pattern.Parse(source)
	if err != nil {
		r.fail("%s: %v", key, err)
	}
	return e
}

func readDelimiter(r *reader, literal, expression string) (d delimiter, err error) {
	given, asPattern := r.members[literal], r.members[expression]
	switch {
	case given != nil && asPattern != nil:
		r.fail("expected one of '%s' and '%s', found both", literal, expression)
	case given != nil:
		d.key = literal
		d.literals = r.literals(literal)
	case asPattern != nil:
		d.key = expression
		d.expression = r.expression(expression)
	}
	return d, r.err
}

func (r *reader) literals(key string) (out []string) {
	value := r.members[key]
	var list []jsontext.Value
	switch value.Kind() {
	case '"':
		list = []jsontext.Value{value}
	case '[':
		if err := decode(value, &list); err != nil {
			r.fail("%s: %v", key, err)
		}
		if len(list) == 0 {
			r.fail("%s: expected at least one literal in the list, found none", key)
		}
	default:
		r.fail("%s: expected a string or a list of strings, found %s", key, kind(value, nil))
	}
	for _, item := range list {
		var text string
		switch err := decode(item, &text); {
		case err != nil || item.Kind() != '"':
			r.fail("%s: expected strings in the list, found %s", key, kind(item, nil))
		case text == "":
			r.fail("%s: expected literals with characters, found an empty one", key)
		case !slices.Contains(out, text):
			out = append(out, text)
		}
	}
	return out
}
