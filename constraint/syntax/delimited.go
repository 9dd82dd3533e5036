package syntax

import (
	"bytes"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/codec/delimited"
)

// delimitedStyle writes brackets without blanks, bare keys, and strings between delimiters.
func (b *Builder) delimitedStyle(delimiter string) *style {
	if s, ok := b.delimited[delimiter]; ok {
		return s
	}
	s := &style{name: "delimited", words: wordsOf("null", "true", "false"), union: true,
		separator: language.Text(","), colon: language.Text(":"), padding: empty}
	b.delimited[delimiter] = s
	between := func(n language.Node) language.Node {
		return language.Join(language.Text(delimiter), n, language.Text(delimiter))
	}
	free, err := regular.Without(regular.Quote(delimiter))
	anyText := &language.Rule{Name: "delimited-string", Body: between(&language.Regular{Automaton: free, Without: []string{delimiter}})}
	s.anyString = func(*Builder) language.Node { return anyText }
	s.str = func(b *Builder, a *toolschema.Alternative) language.Node {
		texts := b.texts(a)
		if texts == nil {
			return anyText
		}
		if both, wrong := texts.And(free); wrong == nil {
			texts = both
		}
		return between(&language.Regular{Automaton: texts})
	}
	s.fixed = func(b *Builder, text string) language.Node {
		if err != nil || !free.Accepts(text) {
			return nil
		}
		return between(language.Text(text))
	}
	s.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(s, value, n)
	}
	s.key = func(b *Builder, name string) (language.Node, bool) {
		out, err := delimited.Append(nil, []byte("{"+toolschema.Quote(name)+":1}"), delimiter)
		if err != nil {
			return nil, false
		}
		return language.Text(string(bytes.TrimSuffix(out, []byte(":1")))), true
	}
	s.keys = func(b *Builder, a *regular.Automaton) language.Node {
		names, err := regular.Match("[A-Za-z_][A-Za-z0-9_]*")
		if err == nil && a != nil {
			names, err = names.And(a)
		}
		if err != nil {
			return language.Never()
		}
		return &language.Regular{Automaton: names}
	}
	return s
}

// DelimitedArguments are the members of an object with strings between delimiters, without brackets around them.
func (b *Builder) DelimitedArguments(n *toolschema.Node, delimiter string) *language.Rule {
	s := b.delimitedStyle(delimiter)
	return b.topMembers(s, s, n, s.colon)
}
