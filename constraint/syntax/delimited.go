package syntax

import (
	"bytes"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/codec/delimited"
	"github.com/parlance-llm/parlance/internal/schema"
)

// delimitedStyle writes brackets without blanks, bare keys, and strings between delimiters.
func (b *Builder) delimitedStyle(delimiter string) *style {
	if s, ok := b.delimited[delimiter]; ok {
		return s
	}
	s := &style{name: "delimited", words: wordsOf("null", "true", "false"),
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
	s.beside = func(b *Builder, n *toolschema.Node, a *toolschema.Alternative) language.Node {
		texts := free
		if held := b.texts(a); held != nil {
			if both, wrong := held.And(free); wrong == nil {
				texts = both
			}
		}
		apart := b.stringsBeside(texts, kindsOf(n))
		if apart == free {
			return anyText
		}
		return between(&language.Regular{Automaton: apart})
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

// kindsOf are the kinds of the values that a node allows.
func kindsOf(n *toolschema.Node) (kinds schema.Kinds) {
	for _, a := range n.Alternatives {
		kind := a.Kind.String()
		if a.Kind == toolschema.Constant {
			kind = kindOfText(a.Value)
		}
		switch kind {
		case "null":
			kinds |= schema.Null
		case "boolean":
			kinds |= schema.Boolean
		case "integer", "number":
			kinds |= schema.Number
		case "string":
			kinds |= schema.String
		case "array":
			kinds |= schema.Array
		case "object":
			kinds |= schema.Object
		}
	}
	return kinds
}
