package syntax

import (
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Spelling says in which ways of their own, besides the usual ones, values are spelled.
type Spelling struct {
	// SingleQuotes: strings among the arguments of Python stand in single quotes too. JSONWords: and true, false and null
	// there are spelled as in JSON too, or stand in JSON.
	SingleQuotes, JSONWords bool
	// PythonWords: a value between tags may be True, False or None.
	PythonWords bool
}

// singleCharacter is one character of a string of Python in single quotes.
var singleCharacter = &language.Rule{Name: "single-character", Body: language.Any(
	&language.Class{Ranges: []regular.Range{{First: ' ', Last: '&'}, {First: '(', Last: '['}, {First: ']', Last: regular.MaxRune}}},
	language.Join(language.Text(`\`), class(`''\\bbffnnrrtt`)))}

var singleQuote = language.Text("'")

var anyPythonString = &language.Rule{Name: "any-python-string", Body: language.Any(pythonString.Body,
	language.Join(singleQuote, language.Many(singleCharacter), singleQuote))}

// inSingleQuotes are the texts of an automaton in single quotes.
func inSingleQuotes(a *regular.Automaton) language.Node {
	escaped := a.Escaped('\\', map[rune]rune{'\'': '\'', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}, ' ')
	return language.Join(singleQuote, &language.Regular{Automaton: escaped}, singleQuote)
}

var singleEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\b", `\b`, "\f", `\f`)

// python are the styles of Python as the format spells them: of values, and of the arguments of a call.
func (b *Builder) python() (values, arguments *style) {
	if !b.Spelling.SingleQuotes && !b.Spelling.JSONWords {
		return pythonStyle, keywordStyle
	}
	if b.spelled == nil {
		b.spelled = b.spelledPython()
		top := *keywordStyle
		top.words = b.spelled.words
		b.keywords = &top
	}
	return b.spelled, b.keywords
}

func (b *Builder) spelledPython() *style {
	s := *pythonStyle
	s.name = "spelled-python"
	s.constant = func(b *Builder, value string, n *toolschema.Node) (language.Node, bool) {
		return b.constant(&s, value, n)
	}
	if b.Spelling.JSONWords {
		s.words = words{
			null: language.Any(s.null, language.Text("null")), yes: language.Any(s.yes, language.Text("true")), no: language.Any(s.no, language.Text("false")),
		}
		s.words.either = language.Any(s.yes, s.no)
	}
	if !b.Spelling.SingleQuotes {
		return &s
	}
	s.anyString = func(*Builder) language.Node { return anyPythonString }
	s.keys = func(b *Builder, a *regular.Automaton) language.Node {
		if a == nil {
			return anyPythonString
		}
		return language.Any(quoted(a), inSingleQuotes(a))
	}
	s.str = func(b *Builder, a *toolschema.Alternative) language.Node {
		if texts := b.texts(a); texts != nil {
			return language.Any(quoted(texts), inSingleQuotes(texts))
		}
		return anyPythonString
	}
	s.fixed = func(b *Builder, text string) language.Node {
		double := pythonText(text)
		if double == nil {
			return nil
		}
		return language.Any(double, language.Text("'"+singleEscapes.Replace(text)+"'"))
	}
	s.key = func(b *Builder, name string) (language.Node, bool) {
		out := s.fixed(b, name)
		return out, out != nil
	}
	return &s
}

// spelledWord is a word between tags, with how Python spells it; beside strings None is a text.
func spelledWord(written language.Node, a *toolschema.Alternative, besideStrings bool) language.Node {
	words := map[string]string{"null": "None", "true": "True", "false": "False"}
	switch {
	case a.Kind == toolschema.Boolean:
		return language.Any(written, language.Text("True"), language.Text("False"))
	case a.Kind == toolschema.Null && besideStrings, a.Value == "null" && besideStrings:
		return written
	case a.Kind == toolschema.Null:
		return language.Any(written, language.Text("None"))
	case a.Kind == toolschema.Constant && words[a.Value] != "":
		return language.Any(written, language.Text(words[a.Value]))
	}
	return written
}
