package syntax

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
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

// constant writes a JSON value in a style.
func (b *Builder) constant(s *style, value string, n *toolschema.Node) (language.Node, bool) {
	decoder := jsontext.NewDecoder(strings.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var read func() (language.Node, bool)
	read = func() (language.Node, bool) {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, false
		}
		switch token.Kind() {
		case 'n':
			return s.null, true
		case 't':
			return s.yes, true
		case 'f':
			return s.no, true
		case '"':
			text := token.String()
			if !utf8.ValidString(text) {
				return nil, false
			}
			out := s.fixed(b, text)
			return out, out != nil
		case '0':
			return language.Text(token.String()), true
		case '[':
			var items []language.Node
			for decoder.PeekKind() != ']' {
				item, ok := read()
				if !ok {
					return nil, false
				}
				if len(items) > 0 {
					items = append(items, s.separator)
				}
				items = append(items, item)
			}
			_, err := decoder.ReadToken()
			return language.Join(openBracket, s.padding, language.Join(items...), s.padding, closeBracket), err == nil
		case '{':
			var items []language.Node
			for decoder.PeekKind() != '}' {
				name, err := decoder.ReadToken()
				if err != nil {
					return nil, false
				}
				key, ok := s.key(b, name.String())
				if !ok {
					return nil, false
				}
				item, ok := read()
				if !ok {
					return nil, false
				}
				if len(items) > 0 {
					items = append(items, s.separator)
				}
				items = append(items, key, s.colon, item)
			}
			_, err := decoder.ReadToken()
			return language.Join(openBrace, s.padding, language.Join(items...), s.padding, closeBrace), err == nil
		}
		return nil, false
	}
	return read()
}

func jsontextUnquote(value string) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
