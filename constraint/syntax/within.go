package syntax

import (
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// content is the expression of what may stand between the quotes of a JSON string.
const content = `(?:[ !#-\[\]-\x{10ffff}]|\\(?:["\\/bfnrt]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2})))*`

// jsonIn is JSON between tags. What would end the value ends it even inside of a JSON string, so no string may hold it;
// where one has to, a character of it is written as an escape.
func (b *Builder) jsonIn(t *Tagged, freeText *regular.Automaton) *style {
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
		if !free.Accepts(written) {
			written = strings.NewReplacer("<", `\u003c`, "[", `\u005b`, "]", `\u005d`, "|", `\u007c`, ">", `\u003e`, "/", `\/`).Replace(written)
		}
		return language.Text(written)
	}
	s.fixed = func(_ *Builder, text string) language.Node { return safe(text) }
	s.key = func(_ *Builder, name string) (language.Node, bool) { return safe(name), true }
	s.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(&s, value, n)
	}
	return &s
}
