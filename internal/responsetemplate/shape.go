package responsetemplate

import (
	"encoding/json/jsontext"
	"slices"
	"strings"
)

// source is where a part of a call comes from: the path of a placeholder, or a constant.
type source struct {
	path     []string // "content", "arguments"; nil for a constant
	constant jsontext.Value
}

// is tells whether the source is a placeholder for exactly this path.
func (s source) is(path ...string) bool { return slices.Equal(s.path, path) }

// shape is what a transform makes of a region: where the name of a call comes from, and where its arguments.
type shape struct{ name, arguments source }

// shape reads the transform of tool calls. The error is an *Error if no value of it can be a call.
func (f *field) shape() (s shape, err error) {
	root := source{path: []string{content}}
	if f.transform != nil {
		root = sourceOf(f.transform)
	}
	fail := func(message string) (shape, error) {
		return s, &Error{Field: f.name, Message: "transform: " + message}
	}
	function, ok := root.member("function")
	if !ok {
		return fail("expected an object with function.name and function.arguments, found no function")
	}
	if s.name, ok = function.member("name"); !ok {
		return fail("expected function.name, found none")
	}
	if s.arguments, ok = function.member("arguments"); !ok {
		return fail("expected function.arguments, found none")
	}
	if s.name.path == nil {
		var text string
		if decode(s.name.constant, &text) != nil || s.name.constant.Kind() != '"' || text == "" {
			return fail("function.name: expected a non-empty string or a placeholder, found " + kind(s.name.constant, nil))
		}
	}
	if s.arguments.path == nil && s.arguments.constant.Kind() == 'n' {
		return fail("function.arguments: expected arguments, found null")
	}
	if f.each {
		return s, nil // the elements may have any keys
	}
	known := slices.Concat([]string{content}, f.open.groups(), f.close.groups())
	var wrong string
	for _, source := range []source{s.name, s.arguments} {
		source.placeholders(func(path []string) {
			if !slices.Contains(known, path[0]) {
				wrong = strings.Join(path, ".")
			}
		})
	}
	if wrong != "" {
		return fail("the placeholder {" + wrong + "} stands for nothing; known are " + strings.Join(known, ", "))
	}
	return s, nil
}

// sourceOf reads a value of a transform.
func sourceOf(value jsontext.Value) source {
	var text string
	if value.Kind() == '"' && decode(value, &text) == nil && onlyOne.MatchString(text) {
		return source{path: strings.Split(text[1:len(text)-1], ".")}
	}
	return source{constant: value}
}

// member descends into a source.
func (s source) member(key string) (source, bool) {
	if s.path != nil {
		return source{path: append(slices.Clone(s.path), key)}, true
	}
	var inner members
	if s.constant.Kind() != '{' || decode(s.constant, &inner) != nil || inner[key] == nil {
		return source{}, false
	}
	return sourceOf(inner[key]), true
}

// placeholders visits the paths of all placeholders.
func (s source) placeholders(visit func(path []string)) {
	if s.path != nil {
		visit(s.path)
		return
	}
	switch s.constant.Kind() {
	case '{':
		var inner members
		if decode(s.constant, &inner) == nil {
			for _, value := range inner {
				sourceOf(value).placeholders(visit)
			}
		}
	case '[':
		var inner []jsontext.Value
		if decode(s.constant, &inner) == nil {
			for _, value := range inner {
				sourceOf(value).placeholders(visit)
			}
		}
	}
}
