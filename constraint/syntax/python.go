package syntax

import (
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/codec/python"
)

// pythonStyle is Python literals. Strings are in double quotes, with the escapes that mean the same in JSON.
var pythonStyle = &style{name: "python", words: wordsOf("None", "True", "False")}

// pythonCharacter is one character of a string: as in JSON, but a slash needs no escape and has none.
var pythonCharacter = &language.Rule{Name: "python-character", Body: language.Any(
	&language.Class{Ranges: []regular.Range{{First: ' ', Last: '!'}, {First: '#', Last: '['}, {First: ']', Last: regular.MaxRune}}},
	language.Join(language.Text(`\`), class(`""\\bbffnnrrtt`)))}

var pythonString = &language.Rule{Name: "python-string", Body: language.Join(doubleQuote, language.Many(pythonCharacter), doubleQuote)}

func init() {
	*pythonStyle = style{
		name: "python", words: wordsOf("None", "True", "False"),
		separator: language.Join(language.Text(","), language.Maybe(language.Text(" "))),
		colon:     language.Join(language.Text(":"), language.Maybe(language.Text(" "))),
		padding:   empty,
		key: func(b *Builder, name string) (language.Node, bool) {
			return language.Text(toolschema.Quote(name)), true
		},
		keys: func(b *Builder, a *regular.Automaton) language.Node {
			if a == nil {
				return pythonString
			}
			return quoted(a)
		},
		str: func(b *Builder, a *toolschema.Alternative) language.Node {
			return b.quotedString(a, pythonString, pythonCharacter)
		},
		anyString: func(*Builder) language.Node { return pythonString },
		fixed:     func(b *Builder, text string) language.Node { return pythonText(text) },
	}
	pythonStyle.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(pythonStyle, value, n)
	}
}

// pythonText is a string in quotes. Control characters that have no escape in common with JSON cannot be written.
func pythonText(text string) language.Node {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\b' && r != '\f' {
			return nil
		}
	}
	return language.Text(toolschema.Quote(text))
}

// name is a Python identifier by itself, as the key of an argument.
var pythonName = "[A-Za-z_][A-Za-z0-9_]*"

// keywordStyle is pythonStyle for the arguments of a call themselves: their keys are identifiers, with = behind them.
var keywordStyle = func() *style {
	return &style{}
}()

func init() {
	*keywordStyle = *pythonStyle
	keywordStyle.name = "python-arguments"
	keywordStyle.key = func(b *Builder, name string) (language.Node, bool) {
		if _, err := python.Append(nil, []byte("{"+toolschema.Quote(name)+":1}")); err != nil {
			return nil, false
		}
		return language.Text(name), true
	}
	keywordStyle.keys = func(b *Builder, a *regular.Automaton) language.Node {
		names, err := regular.Match(pythonName)
		if err == nil && a != nil {
			names, err = names.And(a)
		}
		if err != nil {
			return language.Never()
		}
		return &language.Regular{Automaton: names}
	}
}

// PythonArguments are the members of an object as keyword arguments: k=v, k2=v2.
func (b *Builder) PythonArguments(n *toolschema.Node) *language.Rule {
	values, arguments := b.python()
	return b.topMembers(arguments, values, n, language.Text("="))
}

// topMembers are the members of the argument object without brackets around them. Values are in the style inner.
func (b *Builder) topMembers(outer, inner *style, n *toolschema.Node, colon language.Node) *language.Rule {
	key := made{outer, n, members}
	if rule, ok := b.made[key]; ok {
		return rule
	}
	rule := &language.Rule{Name: b.Name + n.Pointer + "-arguments"}
	b.made[key] = rule
	// The members' values must be those of the inner style: a style whose own values are written by it.
	top := *inner
	top.key, top.keys = outer.key, outer.keys
	var options []language.Node
	for _, a := range n.Alternatives {
		if a.Kind == toolschema.Object {
			options = append(options, b.membersOf(&top, inner, n, a, colon))
		}
	}
	rule.Body = language.Any(options...)
	return rule
}
