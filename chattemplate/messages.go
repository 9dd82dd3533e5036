package chattemplate

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"

	"github.com/parlance-llm/parlance/internal/content"
)

// normalizer makes of messages what templates expect. The order of members stays.
type normalizer struct {
	format    ContentFormat
	developer bool
	shortIDs  bool
	// keepText: content that is text stays text, whatever the format.
	keepText bool
	warnings []string
}

func (n *normalizer) warnf(format string, arguments ...any) {
	n.warnings = append(n.warnings, fmt.Sprintf(format, arguments...))
}

// message normalises one message, in place:
//
//   - reasoning goes by both its names, reasoning and reasoning_content, in messages of the assistant; the first holds if
//     both are given. In other messages reasoning_content becomes reasoning.
//   - arguments of calls, which are JSON texts in the interface, become objects. Text that is none becomes an empty
//     object, with a warning, since a conversation must not be spoiled for good by one bad call in it.
//   - an empty array of calls goes.
//   - content becomes text, or parts, as the template reads it; null is nothing.
//   - the role developer becomes system if the template does not know it.
//   - ids of calls are cut to nine characters if asked for.
func (n *normalizer) message(field string, message jinja.Value) error {
	if !message.IsDict() {
		return &RequestError{field, "expected an object, found " + kind(message)}
	}
	d := message.AsDict()
	role, _ := d.Get("role")
	if !role.IsString() {
		return &RequestError{field + ".role", "expected a text, found " + kind(role)}
	}
	assistant := role.AsString() == "assistant"
	if role.AsString() == "developer" && !n.developer {
		d.Set("role", jinja.NewString("system"))
	}
	n.reasoning(d, assistant)
	if err := n.content(field+".content", d); err != nil {
		return err
	}
	if calls, ok := d.Get("tool_calls"); ok && assistant {
		if err := n.calls(field+".tool_calls", d, calls); err != nil {
			return err
		}
	}
	n.shorten(d, "tool_call_id")
	return nil
}

func (n *normalizer) reasoning(d *jinja.Dict, assistant bool) {
	given, _ := d.Get("reasoning")
	other, ok := d.Get("reasoning_content")
	if ok {
		remove(d, "reasoning_content", other)
	}
	if given.IsNone() || given.IsUndefined() {
		given = other
	}
	if given.IsNone() || given.IsUndefined() {
		return
	}
	d.Set("reasoning", given)
	if assistant {
		d.Set("reasoning_content", given)
	}
}

func (n *normalizer) content(field string, d *jinja.Dict) error {
	content, _ := d.Get("content")
	var parts []string
	switch {
	case content.IsString():
		parts = []string{content.AsString()}
	case content.IsList():
		for i, part := range content.AsList().Items {
			s, err := partText(fmt.Sprintf("%s.%d", field, i), part)
			if err != nil {
				return err
			}
			parts = append(parts, s)
		}
	case !content.IsNone() && !content.IsUndefined():
		return &RequestError{field, "expected a text or an array of parts, found " + kind(content)}
	}
	if n.format == ContentString || n.keepText && !content.IsList() {
		d.Set("content", jinja.NewString(strings.Join(parts, "\n")))
		return nil
	}
	list := []jinja.Value{}
	for _, s := range parts {
		part := jinja.NewDict()
		part.AsDict().Set("type", jinja.NewString("text"))
		part.AsDict().Set("text", jinja.NewString(s))
		list = append(list, part)
	}
	d.Set("content", jinja.NewList(list))
	return nil
}

func partText(field string, part jinja.Value) (string, error) {
	if part.IsString() {
		return part.AsString(), nil
	}
	if !part.IsDict() {
		return "", &RequestError{field, "expected an object, found " + kind(part)}
	}
	sort, _ := part.AsDict().Get("type")
	member, ok := content.TextParts[text(sort)]
	if !ok {
		return "", &RequestError{field + ".type", fmt.Sprintf("expected a part of text, found %q", text(sort))}
	}
	s, _ := part.AsDict().Get(member)
	if !s.IsString() {
		return "", &RequestError{field + "." + member, "expected a text, found " + kind(s)}
	}
	return s.AsString(), nil
}

func (n *normalizer) calls(field string, d *jinja.Dict, calls jinja.Value) error {
	if calls.IsNone() || calls.IsList() && calls.AsList().Len() == 0 {
		remove(d, "tool_calls", calls)
		return nil
	}
	if !calls.IsList() {
		return &RequestError{field, "expected an array, found " + kind(calls)}
	}
	for i, call := range calls.AsList().Items {
		field := fmt.Sprintf("%s.%d", field, i)
		if !call.IsDict() {
			return &RequestError{field, "expected an object, found " + kind(call)}
		}
		if sort, ok := call.AsDict().Get("type"); ok && text(sort) != "function" {
			return &RequestError{field + ".type", fmt.Sprintf("expected \"function\", found %q", text(sort))}
		}
		function, _ := call.AsDict().Get("function")
		if !function.IsDict() {
			return &RequestError{field + ".function", "expected an object, found " + kind(function)}
		}
		n.arguments(field+".function.arguments", function.AsDict())
		n.shorten(call.AsDict(), "id")
	}
	return nil
}

// arguments makes an object of the arguments of a call.
func (n *normalizer) arguments(field string, function *jinja.Dict) {
	given, _ := function.Get("arguments")
	switch {
	case given.IsDict():
		return
	case given.IsString() && strings.TrimSpace(given.AsString()) != "":
		if v, err := readValue([]byte(given.AsString())); err == nil && v.IsDict() {
			function.Set("arguments", v)
			return
		}
		n.warnf("%s: expected the text of a JSON object; the call is shown with no arguments", field)
	case !given.IsString() && !given.IsNone() && !given.IsUndefined():
		n.warnf("%s: expected the text of a JSON object, found %s; the call is shown with no arguments", field, kind(given))
	}
	function.Set("arguments", jinja.NewDict())
}

// idLength is how long the ids of calls may be in templates of Mistral.
const idLength = 9

// shorten cuts an id to its last characters.
func (n *normalizer) shorten(d *jinja.Dict, member string) {
	id, _ := d.Get(member)
	if !n.shortIDs || !id.IsString() {
		return
	}
	if characters := []rune(id.AsString()); len(characters) > idLength {
		d.Set(member, jinja.NewString(string(characters[len(characters)-idLength:])))
	}
}
