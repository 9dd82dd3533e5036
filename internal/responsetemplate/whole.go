package responsetemplate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"regexp"
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// whole reads regions of tool calls that can only be read when all of their text is there.
type whole struct {
	field *field
	shape shape
	tag   *regexp.Regexp
	// strings are the delimiters between which closers are text.
	strings [][2]string
}

// wholeReader makes the reader of a field, with what the region needs.
func (f *field) wholeReader(s shape) (*whole, error) {
	w := &whole{field: f, shape: s}
	switch f.parser {
	case "json":
		w.strings = slices.Concat([][2]string{{`"`, `"`}}, f.arguments.stringDelimiters)
	case "xml-inline":
		if f.arguments.tag == nil {
			return nil, fail(f, "content_args: expected a tag_pattern for xml-inline, found none")
		}
		if !slices.Contains(f.arguments.tag.Names(), "key") {
			return nil, fail(f, "content_args: tag_pattern: expected a group 'key', found none in %s", f.arguments.tag)
		}
		var err error
		if w.tag, err = f.arguments.tag.Regexp(); err != nil {
			return nil, fail(f, "content_args: tag_pattern: %v", err)
		}
	}
	return w, nil
}

// Strings implements grammar.WholeReader.
func (w *whole) Strings() [][2]string { return w.strings }

// Name implements grammar.WholeReader.
func (w *whole) Name(captured func(group string) string) string {
	switch {
	case w.field.each:
		return ""
	case w.shape.name.path == nil:
		return text(w.shape.name.constant)
	case len(w.shape.name.path) == 1 && w.shape.name.path[0] != content:
		return captured(w.shape.name.path[0])
	}
	return ""
}

// Certain implements grammar.WholeReader.
func (w *whole) Certain() bool {
	if name := w.shape.name; w.field.each || len(name.path) > 1 || name.path != nil && name.path[0] == content {
		return false
	}
	return w.anyText(w.field.parser, &w.field.arguments) && w.anyArguments()
}

// anyText tells whether a content parser makes a value of any text.
func (w *whole) anyText(parser string, a *arguments) bool {
	switch parser {
	case "text", "bool":
		return true
	case "xml-inline", "kv-lines":
		return a.value == nil || a.value.name != "xml-inline" && w.anyText(a.value.name, &a.value.arguments)
	case "json":
		return a.allowNonJSON
	}
	return false
}

// anyArguments tells whether the arguments are an object whatever the text holds.
func (w *whole) anyArguments() bool {
	s := w.shape.arguments
	if s.path == nil {
		deep := false
		s.placeholders(func(path []string) { deep = deep || len(path) > 1 })
		return s.constant.Kind() == '{' && !deep
	}
	return s.is(content) && (w.field.parser == "xml-inline" || w.field.parser == "kv-lines")
}

// Read implements grammar.WholeReader.
func (w *whole) Read(body string, captured func(group string) string) ([]grammar.WholeCall, bool) {
	value, ok := w.value(body)
	if !ok {
		return nil, false
	}
	if !w.field.each {
		lookup := func(name string) (parsed, bool) {
			if name == content {
				return value, true
			}
			return parsed{text: captured(name), isText: true}, true
		}
		return w.calls(lookup)
	}
	var elements []jsontext.Value
	if !value.isObject() && value.json.Kind() == '[' && decode(value.json, &elements) != nil {
		return nil, false
	}
	if value.json.Kind() == '{' { // a bare object stands for a list of one (ruling 22)
		elements = []jsontext.Value{value.json}
	}
	var out []grammar.WholeCall
	for _, element := range elements {
		var inner members
		if element.Kind() != '{' || decode(element, &inner) != nil {
			continue
		}
		calls, ok := w.calls(func(name string) (parsed, bool) {
			if value, ok := inner[name]; ok {
				return parsed{json: value}, true
			}
			if slices.Contains(w.field.open.groups(), name) {
				return parsed{text: captured(name), isText: true}, true
			}
			return parsed{}, false
		})
		if ok { // one bad element loses none of the others
			out = append(out, calls...)
		}
	}
	return out, len(out) > 0
}

// calls applies the transform.
func (w *whole) calls(lookup func(string) (parsed, bool)) ([]grammar.WholeCall, bool) {
	name, ok := w.shape.name.resolve(lookup)
	if !ok {
		return nil, false
	}
	if !name.isText {
		if name.isObject() || name.json.Kind() != '"' {
			return nil, false
		}
		name = parsed{text: text(name.json), isText: true}
	}
	arguments, ok := w.shape.arguments.resolve(lookup)
	if !ok || name.text == "" {
		return nil, false
	}
	call := grammar.WholeCall{Name: name.text}
	switch {
	case arguments.isObject():
		call.Made = true
		for _, m := range arguments.members {
			call.Members = append(call.Members, m.whole())
		}
	case arguments.isText: // arguments that are a text pass as they are
		call.Arguments = arguments.text
	case arguments.json.Kind() == '"':
		call.Arguments = text(arguments.json)
	default:
		call.Arguments = string(arguments.json)
	}
	if !call.Made && !isObject(call.Arguments) {
		return nil, false
	}
	return []grammar.WholeCall{call}, true
}

func isObject(text string) bool {
	value := jsontext.Value(text)
	return value.Kind() == '{' && value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// resolve gives the value of a source.
func (s source) resolve(lookup func(string) (parsed, bool)) (parsed, bool) {
	if s.path != nil {
		value, ok := lookup(s.path[0])
		for _, key := range s.path[1:] {
			if !ok {
				return parsed{}, false
			}
			value, ok = value.member(key)
		}
		return value, ok
	}
	switch s.constant.Kind() {
	case '{':
		out := parsed{object: true}
		order, values := ordered(s.constant)
		for i, key := range order {
			value, ok := sourceOf(values[i]).resolve(lookup)
			if !ok {
				return parsed{}, false
			}
			out.members = append(out.members, member{key: key, values: []parsed{value}})
		}
		return out, true
	case '[':
		var list, out []jsontext.Value
		if decode(s.constant, &list) != nil {
			return parsed{}, false
		}
		for _, item := range list {
			value, ok := sourceOf(item).resolve(lookup)
			if !ok {
				return parsed{}, false
			}
			out = append(out, value.JSON())
		}
		data, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		return parsed{json: data}, err == nil
	}
	return parsed{json: s.constant}, true
}

// text is the text of a JSON string.
func text(value jsontext.Value) (out string) {
	if decode(value, &out) != nil {
		return ""
	}
	return out
}
