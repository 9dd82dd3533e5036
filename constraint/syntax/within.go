package syntax

import (
	"fmt"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// content is the expression of what may stand between the quotes of a JSON string.
const content = `(?:[ !#-\[\]-\x{10ffff}]|\\(?:["\\/bfnrt]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2})))*`

// jsonIn is JSON between tags. What would end the value ends it even inside of a JSON string, so no string may hold it;
// where one has to, a character of it is written as an escape.
func (b *Builder) jsonIn(t *Tagged, freeText *regular.Automaton) *style {
	if t.Entities {
		return b.jsonWithEntities()
	}
	var ends []string
	for _, text := range t.Literal {
		ends = append(ends, regular.Quote(text))
	}
	// Closers end a value only with a call behind them.
	free, err := regular.Without(append(ends, t.Openers...)...)
	if err != nil {
		free = freeText
	}
	inside, err := regular.Match(content)
	if err == nil {
		inside, err = inside.And(free)
	}
	if err != nil { // only plain texts can be held: too many tags
		inside = free
	}
	s := *json
	s.name = "tagged-json"
	quoted := func(n language.Node) language.Node { return language.Join(doubleQuote, n, doubleQuote) }
	any := &language.Rule{Name: "tagged-string", Body: quoted(&language.Regular{Automaton: inside})}
	s.anyString = func(*Builder) language.Node { return any }
	restricted := func(a *regular.Automaton) language.Node {
		a = escapedJSON(a)
		if both, err := a.And(free); err == nil {
			a = both
		}
		return quoted(&language.Regular{Automaton: a})
	}
	s.keys = func(b *Builder, a *regular.Automaton) language.Node {
		if a == nil {
			return any
		}
		return restricted(a)
	}
	s.str = func(b *Builder, a *toolschema.Alternative) language.Node {
		if texts := b.texts(a); texts != nil {
			return restricted(texts)
		}
		return any
	}
	safe := func(text string) language.Node {
		written := toolschema.Quote(text)
		if free.Accepts(written) {
			return language.Text(written)
		}
		// Some characters of it are escapes, so that no marker stands in it.
		only, err := regular.Texts(text)
		if err == nil {
			if only, err = escapedJSON(only).Spelled(escapes).And(free); err == nil {
				return quoted(&language.Regular{Automaton: only})
			}
		}
		return language.Never()
	}
	s.fixed = func(_ *Builder, text string) language.Node { return safe(text) }
	s.key = func(_ *Builder, name string) (language.Node, bool) { return safe(name), true }
	s.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(&s, value, n)
	}
	return &s
}

// escapes are the ways to write the characters that markers are made of in a JSON string.
var escapes = func() map[rune][]string {
	out := map[rune][]string{}
	for _, r := range "<>[]|/{}()" {
		out[r] = []string{string(r), fmt.Sprintf(`\u%04x`, r)}
	}
	return out
}()

// jsonWithEntities is JSON between tags in which the characters of markup are written as entities.
func (b *Builder) jsonWithEntities() *style {
	s := *json
	s.name = "xml-json"
	quote := func(a *regular.Automaton) language.Node {
		return language.Join(language.Text(`"`), &language.Regular{Automaton: a.Spelled(markupForms)}, language.Text(`"`))
	}
	inside, err := regular.Match(content)
	if err != nil {
		panic("syntax: " + err.Error())
	}
	any := &language.Rule{Name: "xml-json-string", Body: quote(inside)}
	s.anyString = func(*Builder) language.Node { return any }
	s.keys = func(b *Builder, a *regular.Automaton) language.Node {
		if a == nil {
			return any
		}
		return quote(escapedJSON(a))
	}
	s.str = func(b *Builder, a *toolschema.Alternative) language.Node {
		if texts := b.texts(a); texts != nil {
			return quote(escapedJSON(texts))
		}
		return any
	}
	written := func(text string) language.Node { return withEntities(toolschema.Quote(text), markupForms) }
	s.fixed = func(_ *Builder, text string) language.Node { return written(text) }
	s.key = func(_ *Builder, name string) (language.Node, bool) { return written(name), true }
	s.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(&s, value, n)
	}
	return &s
}
