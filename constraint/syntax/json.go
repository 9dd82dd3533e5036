package syntax

import (
	"encoding/json/jsontext"
	"fmt"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/jsontree"
)

// JSON is a value as JSON text.
func (b *Builder) JSON(n *toolschema.Node) *language.Rule {
	return asRule(b.value(json, n), b.Name+n.Pointer)
}

func asRule(n language.Node, name string) *language.Rule {
	if rule, ok := n.(*language.Rule); ok {
		return rule
	}
	return &language.Rule{Name: name, Body: n}
}

var json = &style{name: "json", words: wordsOf("null", "true", "false")}

func init() {
	json.separator = language.Join(language.Text(","), blank)
	json.colon = language.Join(language.Text(":"), blank)
	json.padding = blank
	json.key = func(b *Builder, name string) (language.Node, bool) {
		return language.Text(toolschema.Quote(name)), true
	}
	json.keys = func(b *Builder, a *regular.Automaton) language.Node {
		if a == nil {
			return anyString
		}
		return quoted(a)
	}
	json.str = func(b *Builder, a *toolschema.Alternative) language.Node {
		return b.quotedString(a, anyString, anyCharacter)
	}
	json.anyString = func(*Builder) language.Node { return anyString }
	json.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(json, value, n)
	}
	json.fixed = func(b *Builder, text string) language.Node { return language.Text(toolschema.Quote(text)) }
}

// anyCharacter is one character of a JSON string, anyString a whole one.
var anyCharacter = &language.Rule{Name: "character", Body: language.Any(
	&language.Class{Ranges: []regular.Range{{First: ' ', Last: '!'}, {First: '#', Last: '['}, {First: ']', Last: regular.MaxRune}}},
	language.Join(language.Text(`\`), language.Any(class(`""//\\bbffnnrrtt`), language.Join(language.Text("u"), language.Any(
		// halves of surrogate pairs stand for no character
		language.Join(class("09ACEFacef"), hex, hex, hex),
		language.Join(class("DDdd"), class("07"), hex, hex),
	)))))}

var hex = class("09AFaf")

var anyString = &language.Rule{Name: "string", Body: language.Join(doubleQuote, language.Many(anyCharacter), doubleQuote)}

// quotedString is a string in double quotes. plain is any string of that kind, character one character of it.
func (b *Builder) quotedString(a *toolschema.Alternative, plain *language.Rule, character language.Node) language.Node {
	if len(a.Patterns) == 0 && a.Format == "" {
		if a.MinLength == 0 && a.MaxLength < 0 {
			return plain.Body
		}
		return language.Join(doubleQuote, &language.Repeat{Inner: character, Min: a.MinLength, Max: a.MaxLength}, doubleQuote)
	}
	key := fmt.Sprint(a.MinLength, " ", a.MaxLength, " ", a.Patterns, " ", a.Format)
	if node, ok := b.text[key]; ok {
		return node
	}
	node := plain.Body
	if texts := b.texts(a); texts != nil {
		node = quoted(texts)
	}
	b.text[key] = node
	return node
}

// texts is the automaton of the strings that an alternative allows, nil if it cannot be held.
func (b *Builder) texts(a *toolschema.Alternative) *regular.Automaton {
	var out *regular.Automaton
	and := func(keyword string, other *regular.Automaton, err error) {
		if err == nil && out != nil {
			other, err = out.And(other)
		}
		if err != nil {
			b.Notes = append(b.Notes, toolschema.Note{Pointer: b.Name, Keyword: keyword, Reason: err.Error()})
			return
		}
		out = other
	}
	for _, pattern := range a.Patterns {
		found, err := regular.Search(pattern)
		and("pattern", found, err)
	}
	if a.Format != "" {
		found, err := regular.Match(toolschema.FormatExpression(a.Format))
		and("format", found, err)
	}
	if a.MinLength > 0 || a.MaxLength >= 0 {
		found, err := regular.Length(a.MinLength, a.MaxLength)
		and("minLength or maxLength", found, err)
	}
	return out
}

// quoted writes the texts of an automaton as JSON strings. Control characters without an escape of their own are left
// out.
func quoted(a *regular.Automaton) language.Node {
	return language.Join(doubleQuote, &language.Regular{Automaton: escapedJSON(a)}, doubleQuote)
}

func escapedJSON(a *regular.Automaton) *regular.Automaton {
	return a.Escaped('\\', map[rune]rune{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}, ' ')
}

// constant writes a JSON value in a style; false if the style has no way to write it.
func (b *Builder) constant(s *style, value string, n *toolschema.Node) (language.Node, bool) {
	tree, err := jsontree.Read([]byte(value))
	if err != nil {
		return nil, false
	}
	return b.constantOf(s, tree)
}

func (b *Builder) constantOf(s *style, v *jsontree.Value) (language.Node, bool) {
	switch v.Kind {
	case 'n':
		return s.null, true
	case 't':
		return s.yes, true
	case 'f':
		return s.no, true
	case '"':
		out := s.fixed(b, v.Text)
		return out, out != nil
	case '0':
		return language.Text(v.Text), true
	}
	open, close := openBracket, closeBracket
	if v.Kind == '{' {
		open, close = openBrace, closeBrace
	}
	var items []language.Node
	for i, element := range v.Elements {
		item, ok := b.constantOf(s, element)
		if !ok {
			return nil, false
		}
		if i > 0 {
			items = append(items, s.separator)
		}
		items = append(items, item)
	}
	for i, member := range v.Members {
		key, ok := s.key(b, member.Name)
		if !ok {
			return nil, false
		}
		item, ok := b.constantOf(s, member.Value)
		if !ok {
			return nil, false
		}
		if i > 0 {
			items = append(items, s.separator)
		}
		items = append(items, key, s.colon, item)
	}
	return language.Join(open, s.padding, language.Join(items...), s.padding, close), true
}

func jsontextUnquote(value string) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
