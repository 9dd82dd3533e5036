package syntax

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/schema"
)

// rawValue is a string as it stands, out of the texts of an automaton; nil is any.
func (b *Builder) rawValue(texts *regular.Automaton, read *schema.Schema, t *Tagged) Value {
	known := b.between(t)
	a := known.free
	if texts != nil {
		a = texts
		if both, err := texts.And(known.free); err == nil {
			a = both
		}
	}
	all := a
	a = b.readAsString(a, read, t)
	plain := texts == nil && a == all
	if plain && known.text != nil {
		return Value{"string", true, known.text}
	}
	if t.Entities {
		a = a.Spelled(entityForms)
	}
	if !plain {
		return Value{"string", true, b.layout(a, t, false)}
	}
	known.text = b.layout(a, t, true)
	return Value{"string", true, known.text}
}

// constantTexts is one of the strings that are listed, false if none of them can be written.
func (b *Builder) constantTexts(n *toolschema.Node, read *schema.Schema, t *Tagged) (Value, bool) {
	free := b.between(t).free
	var options []language.Node
	for _, a := range n.Alternatives {
		if a.Kind != toolschema.Constant || !a.IsString() {
			continue
		}
		text := unquote(a.Value)
		if (t.Entities || free != nil && free.Accepts(text)) && b.readsAs(text, a.Value, read, t) {
			options = append(options, b.layoutText(text, t))
		} else {
			b.note(n, "enum", "the format has no way to write "+a.Value)
		}
	}
	return Value{"string", true, language.Any(options...)}, len(options) > 0
}

// readAsString takes out the strings that would be read as something else, where the schema allows other kinds too.
func (b *Builder) readAsString(a *regular.Automaton, read *schema.Schema, t *Tagged) *regular.Automaton {
	kinds := read.Kinds()
	if t.JSON && kinds == 0 {
		return a
	}
	return b.stringsBeside(a, kinds)
}

// stringsBeside takes out the strings that would be read as a value of another of the kinds.
func (b *Builder) stringsBeside(a *regular.Automaton, kinds schema.Kinds) *regular.Automaton {
	var others []string
	for _, of := range []struct {
		kind       schema.Kinds
		expression string
	}{
		{schema.Null, `(?i:null)`},
		{schema.Integer | schema.Number, regular.Blanks + `[-+]?(?:\p{Nd}[\p{Nd}_]*\.?[\p{Nd}_]*|\.\p{Nd}[\p{Nd}_]*)(?:[eE][-+]?[\p{Nd}_]+)?` + regular.Blanks},
		{schema.Boolean, regular.Blanks + `(?:(?i:true|false)|[01])` + regular.Blanks},
		// Beside containers everything that is JSON is read as such.
		{schema.Object | schema.Array, regular.Blanks + `(?:[\[{(].*|(?:null|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|"(?:[^"\\]|\\.)*")` + regular.Blanks + `)`},
	} {
		if kinds.Has(of.kind) && kinds.Has(schema.String) {
			others = append(others, of.expression)
		}
	}
	if len(others) == 0 {
		return a
	}
	other, err := regular.Match(strings.Join(others, "|"))
	if err == nil {
		if other, err = other.Not(); err == nil {
			if both, err := a.And(other); err == nil {
				return both
			}
		}
	}
	b.Notes = append(b.Notes, toolschema.Note{Pointer: b.Name, Keyword: "type", Reason: "strings that read like another type cannot be kept apart"})
	return a
}

// layout puts the optional line breaks around a string. What begins or ends with one itself needs one more, or it would
// be taken for layout.
func (b *Builder) layout(a *regular.Automaton, t *Tagged, plain bool) language.Node {
	if !t.Layout {
		return &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, plain)}
	}
	if plain {
		// Any text is right, so it does not matter which of its line breaks are layout.
		return &language.Mark{Role: language.Laid, Inner: b.regular(a, t, true)}
	}
	part := func(expression string) *regular.Automaton {
		found, err := regular.Match(expression)
		if err == nil {
			if found, err = found.And(a); err == nil {
				return found
			}
		}
		return a
	}
	raw := func(a *regular.Automaton) language.Node {
		return &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, false)}
	}
	line := language.Text("\n")
	return language.Any(
		language.Join(line, &language.Mark{Role: b.rawRole(t), Inner: b.regular(a, t, false)}, line),
		raw(part(`(?:[^\n](?:.*[^\n])?)?`)),
		language.Join(line, raw(part(`.*[^\n]`))),
		language.Join(raw(part(`[^\n].*`)), line))
}

func (b *Builder) layoutText(text string, t *Tagged) language.Node {
	written := &language.Mark{Role: b.rawRole(t), Inner: language.Text(text)}
	if t.Entities {
		written.Inner = withEntities(text, entityForms)
	}
	if !t.Layout {
		return written
	}
	before, after := newline, newline
	if strings.HasPrefix(text, "\n") {
		before = language.Text("\n")
	}
	if strings.HasSuffix(text, "\n") {
		after = language.Text("\n")
	}
	if text == "" {
		return language.Any(written, language.Join(language.Text("\n"), written, language.Text("\n")))
	}
	return language.Join(before, written, after)
}

func (b *Builder) rawRole(t *Tagged) language.Role {
	if t.Entities {
		return language.XML
	}
	return language.Raw
}

func (b *Builder) regular(a *regular.Automaton, t *Tagged, plain bool) language.Node {
	out := &language.Regular{Automaton: a}
	if plain && !t.Entities && a == b.between(t).free {
		out.Without = t.Literal
		out.Looser = len(t.Literal) < len(t.Ends) || slices.ContainsFunc(t.Ends, func(e string) bool { return strings.Contains(e, `\s*`) })
	}
	return out
}
