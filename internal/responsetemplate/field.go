package responsetemplate

import (
	"encoding/json/jsontext"
	"regexp"
	"slices"
	"strings"
)

// parsers are the content parsers.
var parsers = []string{"bool", "float", "int", "json", "kv-lines", "text", "xml-inline"}

func readField(name string, data jsontext.Value) (*field, error) {
	r := &reader{field: name}
	if err := decode(data, &r.members); err != nil || data.Kind() != '{' {
		r.fail("expected an object, found %s", kind(data, err))
		return nil, r.err
	}
	if unknown := r.members.unknown("open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join", "optional", "transform", "transform_each"); unknown != nil {
		r.fail("unknown keys %s", strings.Join(unknown, ", "))
		return nil, r.err
	}
	f := &field{name: name, parser: r.text("content", "text")}
	if r.err == nil && !slices.Contains(parsers, f.parser) {
		r.fail("unknown content parser '%s'; expected one of %s", f.parser, strings.Join(parsers, ", "))
	}
	var err error
	if f.open, err = readDelimiter(r, "open", "open_pattern"); err != nil {
		return nil, err
	}
	if f.close, err = readDelimiter(r, "close", "close_pattern"); err != nil {
		return nil, err
	}
	f.arguments = r.arguments(r.object("content_args"), "content_args")
	f.repeats = r.truth("repeats", false)
	r.truth("optional", true)
	join := r.members["join"]
	if join != nil && join.Kind() != 'n' {
		r.text("join", "")
		if !f.repeats {
			r.fail("'join' needs 'repeats': true")
		}
	} else {
		join = nil
	}
	if value := r.members["transform"]; value != nil && value.Kind() != 'n' {
		f.transform = value
		r.placeholders(value)
	}
	if f.each = r.truth("transform_each", false); f.each && f.transform == nil {
		r.fail("'transform_each' needs a 'transform', and there is none")
	}
	if groups := slices.Concat(f.open.groups(), f.close.groups()); f.transform == nil && len(groups) > 0 {
		r.fail("the groups %s are captured and there is no 'transform' that uses them", strings.Join(groups, ", "))
	}
	switch {
	case name != toolCalls && (f.parser != "text" || f.transform != nil || join != nil):
		r.fail("expected plain text (\"content\": \"text\", no transform, no join), which is all that can be served of %s", name)
	case name == toolCalls && join != nil:
		r.fail("'join' needs values that are strings, and tool calls are none")
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

var (
	placeholder = regexp.MustCompile(`\{[\pL\pN_]+(?:\.[\pL\pN_]+)*\}`)
	onlyOne     = regexp.MustCompile(`^(?:` + placeholder.String() + `)$`)
)

// placeholders refuses strings that hold a placeholder and other text.
func (r *reader) placeholders(value jsontext.Value) {
	switch value.Kind() {
	case '"':
		var text string
		if decode(value, &text) == nil && placeholder.MatchString(text) && !onlyOne.MatchString(text) {
			r.fail("transform: the string %q mixes a placeholder with other text; expected a placeholder alone, or none", text)
		}
	case '{':
		var inner members
		if err := decode(value, &inner); err != nil {
			r.fail("transform: %v", err)
		}
		for _, value := range inner {
			r.placeholders(value)
		}
	case '[':
		var inner []jsontext.Value
		if err := decode(value, &inner); err != nil {
			r.fail("transform: %v", err)
		}
		for _, value := range inner {
			r.placeholders(value)
		}
	}
}

// arguments reads the arguments of a content parser; those nobody knows are passed over.
func (r *reader) arguments(given members, where string) arguments {
	inner := &reader{field: r.field, members: given}
	a := arguments{
		strip: inner.truth("strip", true), unquotedKeys: inner.truth("unquoted_keys", false),
		allowNonJSON: inner.truth("allow_non_json", false), mergeDuplicates: inner.truth("merge_duplicates", false),
		lineSeparator: inner.text("line_sep", "\n"), keySeparator: inner.text("kv_sep", ":"),
		tag: inner.expression("tag_pattern"),
	}
	if a.lineSeparator == "" || a.keySeparator == "" {
		inner.fail("line_sep and kv_sep: expected text, found an empty string")
	}
	if value := given["string_delims"]; value != nil {
		if err := decode(value, &a.stringDelimiters); err != nil {
			inner.fail("string_delims: expected pairs of strings, found %s", shortly(string(value)))
		}
		for _, pair := range a.stringDelimiters {
			if pair[0] == "" || pair[1] == "" {
				inner.fail("string_delims: expected delimiters with characters, found an empty one")
			}
		}
	}
	if value := given["value_parser"]; value != nil && value.Kind() != 'n' {
		parser := &reader{field: r.field, members: inner.object("value_parser")}
		a.value = &valueParser{name: parser.text("name", "text"), arguments: parser.arguments(parser.object("args"), "value_parser.args")}
		if !slices.Contains(parsers, a.value.name) {
			parser.fail("value_parser: unknown content parser '%s'; expected one of %s", a.value.name, strings.Join(parsers, ", "))
		}
		if inner.err == nil {
			inner.err = parser.err
		}
	}
	if inner.err != nil && r.err == nil {
		e := *inner.err.(*Error)
		e.Message = where + ": " + e.Message
		r.err = &e
	}
	return a
}
