package responsetemplate

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/pattern"
)

// calls writes the rules of a region of tool calls, by the shape of its transform.
func (b *builder) calls(f *field, variant string, open, closing []pattern.Part) (string, error) {
	s, err := f.shape()
	if err != nil {
		return "", err
	}
	names := map[string]string{}
	if len(s.name.path) == 1 && !s.name.is(content) && !f.each {
		names[s.name.path[0]] = "name"
	}
	opener, err := b.items(f, open, names)
	if err != nil {
		return "", err
	}
	closers, err := b.items(f, closing, nil)
	if err != nil {
		return "", err
	}
	if _, blank := opener[len(opener)-1].(*grammar.Blank); !blank {
		opener = append(opener, &grammar.Blank{})
	}
	if len(closers) > 0 {
		if _, blank := closers[0].(*grammar.Blank); !blank {
			closers = slices.Insert(closers, 0, grammar.Expression(&grammar.Blank{}))
		}
	}
	captured := slices.Contains(namesOf(open), s.name.first()) && len(s.name.path) == 1
	dialect := f.arguments.unquotedKeys || len(f.arguments.stringDelimiters) > 0
	switch {
	case captured && s.arguments.is(content) && !f.each:
		body, err := b.arguments(f, variant, open, closing)
		if err != nil {
			return "", err
		}
		if body != nil {
			return b.rule("call"+variant, slices.Concat(opener, body, closers)...), nil
		}
	case f.parser == "json" && !dialect && !f.each && envelope(s, content):
		return b.rule("call"+variant, slices.Concat(opener, []grammar.Expression{envelopeOf(s)}, closers)...), nil
	case f.parser == "json" && !dialect && f.each && envelope(s):
		listed := b.rule("call.listed"+variant, envelopeOf(s))
		list := []grammar.Expression{
			&grammar.Literal{Text: "["}, &grammar.Blank{}, &grammar.List{Inner: &grammar.Reference{Name: listed}, Separator: ", "},
			&grammar.Blank{}, &grammar.Literal{Text: "]"},
		}
		return b.rule("block"+variant, slices.Concat(opener, list, closers)...), nil
	}
	return b.whole(f, variant, s, open, closers)
}

// whole writes the rule of a region that can only be read when all of it is there.
func (b *builder) whole(f *field, variant string, s shape, open []pattern.Part, closers []grammar.Expression) (string, error) {
	reader, err := f.wholeReader(s)
	if err != nil {
		return "", err
	}
	names := map[string]string{}
	for _, group := range namesOf(open) {
		names[group] = grammar.GroupCapture + group
	}
	opener, err := b.items(f, open, names)
	if err != nil {
		return "", err
	}
	body := &grammar.Capture{Name: "arguments", Shape: &grammar.Codec{Kind: "whole", Whole: reader}}
	return b.rule("call"+variant, slices.Concat(opener, []grammar.Expression{body}, closers)...), nil
}

func (s source) first() string {
	if s.path == nil {
		return ""
	}
	return s.path[0]
}

// namesOf are the groups that parts capture.
func namesOf(parts []pattern.Part) (out []string) {
	for _, part := range parts {
		if part.Name != "" {
			out = append(out, part.Name)
		}
		for _, alternative := range part.Choice {
			out = append(out, namesOf(alternative)...)
		}
	}
	return out
}

// envelope tells whether name and arguments are two members of one object.
func envelope(s shape, prefix ...string) bool {
	n := len(prefix) + 1
	return len(s.name.path) == n && len(s.arguments.path) == n && s.name.path[n-1] != s.arguments.path[n-1] &&
		slices.Equal(s.name.path[:n-1], prefix) && slices.Equal(s.arguments.path[:n-1], prefix)
}

func envelopeOf(s shape) *grammar.Envelope {
	last := func(path []string) string { return path[len(path)-1] }
	return &grammar.Envelope{Members: []grammar.Member{
		{Keys: []string{last(s.name.path)}, Capture: "name"},
		{Keys: []string{last(s.arguments.path)}, Capture: "arguments"},
	}}
}

// arguments writes the arguments of a call whose name its opener holds. It gives nil if they can only be read whole.
func (b *builder) arguments(f *field, variant string, open, closing []pattern.Part) ([]grammar.Expression, error) {
	switch f.parser {
	case "json":
		return b.json(f), nil
	case "text": // passes as it is; what comes of it is JSON, or malformed
		return []grammar.Expression{&grammar.Capture{Name: "arguments", Shape: &grammar.Codec{Kind: "json"}}}, nil
	case "xml-inline":
		return b.tags(f, variant, closing)
	case "kv-lines":
		return b.lines(f, variant, open, closing), nil
	}
	return nil, nil
}

func (b *builder) json(f *field) []grammar.Expression {
	delimiters := f.arguments.stringDelimiters
	switch {
	case len(delimiters) == 0 && !f.arguments.unquotedKeys:
		return []grammar.Expression{&grammar.Capture{Name: "arguments", Shape: &grammar.Codec{Kind: "json"}}}
	case len(delimiters) == 0, len(delimiters) == 1 && delimiters[0][0] == delimiters[0][1]:
		delimiter := ""
		if len(delimiters) > 0 {
			delimiter = delimiters[0][0]
		}
		return []grammar.Expression{
			&grammar.Literal{Text: "{"},
			&grammar.Capture{Name: "arguments", Shape: &grammar.Codec{Kind: "delimited", Delimiter: delimiter, Quotes: true}},
			&grammar.Literal{Text: "}"},
		}
	}
	return nil
}

// lines writes the parameters of kv-lines, if fixed text stands between the name of the call and its first line.
func (b *builder) lines(f *field, variant string, open, closing []pattern.Part) []grammar.Expression {
	a := &f.arguments
	shape, trims, streams := a.valueShape()
	if !streams || open[len(open)-1].Texts == nil || slices.Contains(open[len(open)-1].Texts, "") {
		return nil
	}
	end := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{&grammar.Literal{Text: a.lineSeparator}}}}}
	for _, part := range closing {
		if part.Texts != nil {
			end.Alternatives = append(end.Alternatives, &grammar.Sequence{Items: []grammar.Expression{&grammar.Look{Inner: literals(part.Texts)}}})
			break
		}
	}
	items := []grammar.Expression{&grammar.Capture{Name: "key", Shape: &grammar.Codec{Kind: "text"}}, &grammar.Literal{Text: a.keySeparator}}
	if value := grammar.Expression(&grammar.Capture{Name: "value", Shape: shape}); trims || a.strip {
		items = append(items, &grammar.Blank{}, value, &grammar.Blank{}, end)
	} else {
		items = append(items, value, end)
	}
	name := b.rule("parameter"+variant, items...)
	return []grammar.Expression{&grammar.Repeat{Inner: references([]string{name}, nil)}}
}

// valueShape tells how the values of parameters are read: the codec, whether white space at their ends is left out, and
// whether they can be read while they arrive at all.
func (a *arguments) valueShape() (shape grammar.Expression, trims, streams bool) {
	switch {
	case a.value == nil:
		return nil, false, true
	case a.value.name == "text":
		return nil, a.value.arguments.strip, true
	case a.value.name == "json" && len(a.value.arguments.stringDelimiters) == 0 && !a.value.arguments.unquotedKeys:
		return &grammar.Codec{Kind: "json"}, true, true
	}
	return nil, false, false
}

// tags writes the parameters of xml-inline, if the pattern of the tag can be read while the text arrives.
func (b *builder) tags(f *field, variant string, closing []pattern.Part) ([]grammar.Expression, error) {
	a := &f.arguments
	if a.tag == nil {
		return nil, fail(f, "content_args: expected a tag_pattern for xml-inline, found none")
	}
	if !slices.Contains(a.tag.Names(), "key") {
		return nil, fail(f, "content_args: tag_pattern: expected a group 'key', found none in %s", a.tag)
	}
	parts, err := a.tag.Parts()
	if err != nil {
		return nil, fail(f, "content_args: tag_pattern: %v", err)
	}
	names := namesOf(parts)
	key, value := slices.Index(names, "key"), slices.Index(names, "value")
	shape, trims, streams := a.valueShape()
	streams = streams && beginsFixed(parts) && !a.mergeDuplicates && key >= 0 && value > key && fixedBehind(parts, "value")
	if !streams {
		return nil, nil
	}
	if parts, err = aheads(f, parts, closing); err != nil {
		return nil, err
	}
	var items []grammar.Expression
	for _, part := range parts {
		if part.Choice != nil && slices.ContainsFunc(part.Choice, looksAhead) || part.Ahead != nil {
			items = append(items, b.ends(f, part))
			continue
		}
		if part.Name != "value" {
			item, err := b.item(f, part, map[string]string{"key": "key"})
			if err != nil {
				return nil, err
			}
			items = append(items, item)
			continue
		}
		capture := &grammar.Capture{Name: "value", Shape: shape}
		if trims {
			items = append(items, &grammar.Blank{}, capture, &grammar.Blank{})
			continue
		}
		items = append(items, capture)
	}
	name := b.rule("parameter"+variant, items...)
	return []grammar.Expression{&grammar.Repeat{Inner: &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{
		&grammar.Reference{Name: name}, &grammar.Blank{},
	}}}}}}, nil
}

func looksAhead(parts []pattern.Part) bool { return len(parts) > 0 && parts[0].Ahead != nil }

// ends writes what ends a parameter: fixed text, or what follows it.
func (b *builder) ends(f *field, part pattern.Part) grammar.Expression {
	alternatives := part.Choice
	if part.Ahead != nil {
		alternatives = [][]pattern.Part{{part}}
	}
	choice := &grammar.Choice{}
	for _, alternative := range alternatives {
		var items []grammar.Expression
		for _, part := range alternative {
			if part.Ahead != nil {
				items = append(items, &grammar.Look{Inner: literals(part.Ahead)})
				continue
			}
			item, err := b.item(f, part, nil)
			if err != nil {
				panic("responsetemplate: " + err.Error()) // only a look-ahead can be wrong
			}
			items = append(items, item)
		}
		choice.Alternatives = append(choice.Alternatives, &grammar.Sequence{Items: items})
	}
	return choice
}

// aheads makes the look-aheads of a tag the whole markers that they begin: the opener of the next parameter, or the
// closer of the call. Others are refused.
func aheads(f *field, parts, closing []pattern.Part) ([]pattern.Part, error) {
	var markers []string
	for _, list := range [][]pattern.Part{parts, closing} {
		for _, part := range list {
			if part.Texts != nil {
				markers = append(markers, part.Texts...)
				break
			}
		}
	}
	whole := func(part pattern.Part) (pattern.Part, error) {
		var out []string
		for _, text := range part.Ahead {
			found := false
			for _, marker := range markers {
				if strings.HasPrefix(marker, text) {
					out, found = append(out, marker), true
				}
			}
			if !found {
				return part, fail(f, "content_args: tag_pattern: a look-ahead can only be asked for what begins the next parameter or ends the call, found %q", text)
			}
		}
		return pattern.Part{Ahead: out}, nil
	}
	var every func(parts []pattern.Part) ([]pattern.Part, error)
	every = func(parts []pattern.Part) (out []pattern.Part, err error) {
		for _, part := range parts {
			if part.Ahead != nil {
				if part, err = whole(part); err != nil {
					return nil, err
				}
			}
			part.Choice = slices.Clone(part.Choice)
			for k := range part.Choice {
				if part.Choice[k], err = every(part.Choice[k]); err != nil {
					return nil, err
				}
			}
			out = append(out, part)
		}
		return out, nil
	}
	return every(parts)
}

// fixedBehind tells whether fixed text follows the part of a name, white space aside.
func fixedBehind(parts []pattern.Part, name string) bool {
	i := slices.IndexFunc(parts, func(p pattern.Part) bool { return p.Name == name })
	if i < 0 {
		return false
	}
	parts = parts[i+1:]
	if len(parts) > 0 && parts[0].Blank {
		parts = parts[1:]
	}
	if len(parts) > 0 && parts[0].Choice != nil {
		return !slices.ContainsFunc(parts[0].Choice, func(alternative []pattern.Part) bool {
			return len(alternative) == 0 || alternative[0].Ahead == nil && !beginsFixed(alternative)
		})
	}
	return beginsFixed(parts)
}
