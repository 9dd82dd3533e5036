package responsetemplate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/pattern"
)

// builder writes a template as rules of a grammar.
type builder struct {
	template *Template
	rules    []*grammar.Rule
}

// Definition gives the definition of a format whose grammar is the template's. base is the format's own definition, which
// has everything but the grammar. The error is an *Error.
func (t *Template) Definition(base *grammar.Definition) (*grammar.Definition, error) {
	b := &builder{template: t}
	var regions, first, again []string
	for _, name := range served {
		f := t.fields[name]
		if f == nil || !f.open.given() {
			continue
		}
		start, anywhere, err := b.openers(f)
		if err != nil {
			return nil, err
		}
		if start != nil {
			rule, err := b.region(f, ".start", start)
			if err != nil {
				return nil, err
			}
			first = append(first, rule)
			if anywhere != nil { // a further message, whose anchor is missing
				again = append(again, rule)
			}
		}
		if anywhere != nil {
			rule, err := b.region(f, "", anywhere)
			if err != nil {
				return nil, err
			}
			regions = append(regions, rule)
		}
	}
	if err := b.output(regions, first, again); err != nil {
		return nil, err
	}
	d := *base
	d.Rules, d.Regions, d.Alone, d.File = b.rules, "closed", true, "response_template"
	return &d, nil
}

func (b *builder) rule(name string, items ...grammar.Expression) string {
	body := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: items}}}
	b.rules = append(b.rules, &grammar.Rule{Name: name, Body: body})
	return name
}

func fail(f *field, format string, arguments ...any) error {
	return &Error{Field: f.name, Message: fmt.Sprintf(format, arguments...)}
}

// output is the rule for the whole: text of the implicit field, and regions in any order. Regions whose openers count
// only at the beginning of the text (first) stand at the beginning of the output; those of them that have another opener
// for further messages (again) right behind a region too.
func (b *builder) output(regions, first, again []string) error {
	text, closer := "content", (*field)(nil)
	for _, name := range served {
		if f := b.template.fields[name]; f != nil && !f.open.given() {
			if name == toolCalls {
				return fail(f, "expected 'open' or 'open_pattern', found neither: all the text outside the other regions would be a call")
			}
			if closer = f; name == thinking {
				text = "reasoning"
			}
		}
	}
	behind := func() (items []grammar.Expression) {
		if len(again) > 0 {
			choice := references(again, nil)
			for _, alternative := range choice.Alternatives {
				alternative.Items = slices.Insert(alternative.Items, 0, grammar.Expression(&grammar.Blank{}))
			}
			items = append(items, &grammar.Repeat{Inner: choice})
		}
		return items
	}
	var begin []grammar.Expression
	if len(first) > 0 {
		begin = append([]grammar.Expression{&grammar.Optional{Inner: references(first, nil)}}, behind()...)
	}
	loop := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{&grammar.Capture{Name: text}}}}}
	loop.Alternatives = append(loop.Alternatives, references(regions, behind).Alternatives...)
	b.rule("output", append(begin, &grammar.Repeat{Inner: loop})...)
	if closer == nil || !closer.close.given() {
		return nil
	}
	parts, err := b.closers(closer)
	if err != nil || parts == nil {
		return err
	}
	items, err := b.items(closer, parts, nil)
	b.rule("skip", items...)
	return err
}

func references(names []string, behind func() []grammar.Expression) *grammar.Choice {
	choice := &grammar.Choice{}
	for _, name := range names {
		items := []grammar.Expression{&grammar.Reference{Name: name}}
		if behind != nil {
			items = append(items, behind()...)
		}
		choice.Alternatives = append(choice.Alternatives, &grammar.Sequence{Items: items})
	}
	return choice
}

// openers divides the opener of a field: what counts at the beginning of the text, where that is something else, and what
// counts anywhere.
func (b *builder) openers(f *field) (start, anywhere []pattern.Part, err error) {
	if f.open.expression == nil {
		return nil, []pattern.Part{{Texts: f.open.literals}}, nil
	}
	one, other, err := f.open.expression.AtStart()
	if err != nil {
		return nil, nil, fail(f, "%s: %v", f.open.key, err)
	}
	for _, e := range []*pattern.Expression{one, other} {
		if e == nil {
			continue
		}
		parts, err := e.Parts()
		if err != nil {
			return nil, nil, fail(f, "%s: %v", f.open.key, err)
		}
		if !beginsFixed(parts) {
			return nil, nil, fail(f, "%s: expected fixed text at the beginning of %s, by which the opener is known while the text arrives", f.open.key, e)
		}
		if e == one {
			start = parts
		} else {
			anywhere = parts
		}
	}
	return start, anywhere, nil
}

// beginsFixed tells whether parts begin with fixed text, white space before it aside.
func beginsFixed(parts []pattern.Part) bool {
	if len(parts) > 0 && parts[0].Blank {
		parts = parts[1:]
	}
	return len(parts) > 0 && parts[0].Texts != nil && !slices.Contains(parts[0].Texts, "")
}

// closers divides the closer of a field; nil if there is none but the end of the output.
func (b *builder) closers(f *field) ([]pattern.Part, error) {
	if f.close.expression == nil {
		if len(f.close.literals) == 0 {
			return nil, nil
		}
		return []pattern.Part{{Texts: f.close.literals}}, nil
	}
	e := f.close.expression.WithoutEnd()
	if e == nil {
		return nil, nil
	}
	parts, err := e.Parts()
	if err != nil {
		return nil, fail(f, "%s: %v", f.close.key, err)
	}
	if !beginsFixed(parts) {
		return nil, fail(f, "%s: expected fixed text at the beginning of %s, by which the closer is known while the text arrives", f.close.key, e)
	}
	for _, part := range parts {
		if f.name == toolCalls && part.Texts == nil && !part.Blank {
			return nil, fail(f, "%s: expected fixed text and white space in the closer of a call, found %s in %s", f.close.key, part, e)
		}
	}
	return parts, nil
}

// region writes the rule of a region.
func (b *builder) region(f *field, variant string, open []pattern.Part) (string, error) {
	closing, err := b.closers(f)
	if err != nil {
		return "", err
	}
	if f.name == toolCalls {
		return b.calls(f, variant, open, closing)
	}
	name, text := "thought", "reasoning"
	if f.name == content {
		name, text = "message", "content"
	}
	items, err := b.items(f, open, nil)
	if err != nil {
		return "", err
	}
	items = append(items, &grammar.Capture{Name: text})
	if closing == nil {
		return b.rule(name+variant, append(items, &grammar.Look{Inner: &grammar.End{}})...), nil
	}
	closers, err := b.items(f, closing, nil)
	return b.rule(name+variant, append(items, b.beforeAnchor(f, closers)...)...), err
}

// beforeAnchor lets a closer that ends with a start anchor, which begins the next message, count at the end of the
// output without the anchor, or with half of it.
func (b *builder) beforeAnchor(f *field, closers []grammar.Expression) []grammar.Expression {
	choice := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: closers}}}
	for _, closer := range f.close.literals {
		for _, anchor := range b.template.anchorTexts {
			before, ok := strings.CutSuffix(closer, anchor)
			for k := 0; ok && before != "" && k < len(anchor); k++ {
				if short := before + anchor[:k]; utf8.ValidString(short) && !slices.Contains(f.close.literals, short) {
					choice.Alternatives = append(choice.Alternatives, &grammar.Sequence{Items: []grammar.Expression{
						&grammar.Literal{Text: short}, &grammar.Look{Inner: &grammar.End{}},
					}})
				}
			}
		}
	}
	if len(choice.Alternatives) == 1 {
		return closers
	}
	return []grammar.Expression{choice}
}

// items writes parts as items of a sequence. names are the captures that groups are kept as; other groups are read and
// not kept.
func (b *builder) items(f *field, parts []pattern.Part, names map[string]string) (out []grammar.Expression, err error) {
	for _, part := range parts {
		item, err := b.item(f, part, names)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func (b *builder) item(f *field, part pattern.Part, names map[string]string) (grammar.Expression, error) {
	name := names[part.Name]
	switch {
	case part.Texts != nil:
		return literals(part.Texts), nil
	case part.Blank:
		return &grammar.Blank{}, nil
	case part.Ahead != nil:
		return nil, fail(f, "a look-ahead can only be asked for at the end of a tag_pattern, for what begins the next parameter or ends the call")
	case part.Choice != nil:
		choice := &grammar.Choice{}
		for _, alternative := range part.Choice {
			items, err := b.items(f, alternative, names)
			if err != nil {
				return nil, err
			}
			choice.Alternatives = append(choice.Alternatives, &grammar.Sequence{Items: items})
		}
		return choice, nil
	case part.Until != nil:
		if name == "" {
			name = "skipped"
		}
		return &grammar.Capture{Name: name, Shape: &grammar.Codec{Kind: "text"}}, nil
	}
	var item grammar.Expression = &grammar.Run{Automaton: part.Run}
	if name != "" {
		item = &grammar.Capture{Name: name, Shape: item}
	}
	if part.Optional {
		item = &grammar.Optional{Inner: item}
	}
	return item, nil
}

// literals writes one of several texts; one of them may be empty.
func literals(texts []string) grammar.Expression {
	if len(texts) == 1 && texts[0] != "" {
		return &grammar.Literal{Text: texts[0]}
	}
	choice := &grammar.Choice{}
	for _, text := range texts {
		sequence := &grammar.Sequence{}
		if text != "" {
			sequence.Items = []grammar.Expression{&grammar.Literal{Text: text}}
		}
		choice.Alternatives = append(choice.Alternatives, sequence)
	}
	return choice
}
