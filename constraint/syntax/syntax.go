// Package syntax writes the values of a schema as a language: as JSON, as Python literals, with delimiters, or as the
// text between two tags.
package syntax

import (
	"fmt"
	"strconv"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Builder makes languages from schemas and keeps what it has made. It belongs to one goroutine.
type Builder struct {
	// Name is put before the names of the rules that are made next.
	Name  string
	Notes []toolschema.Note
	// Sorted: the members of objects come in the order of their names, so that undeclared ones may stand among the others.
	Sorted bool
	// Spelling is how else values are spelled.
	Spelling          Spelling
	spelled, keywords *style
	made              map[made]*language.Rule
	text              map[string]language.Node
	// delimited are the styles by their delimiters.
	delimited map[string]*style
	// tagged and byEnds are what is known of the texts between tags, by how they are read and by what ends them.
	tagged map[*Tagged]*between
	byEnds map[string]between
}

type made struct {
	style *style
	node  *toolschema.Node
	part  part
}

// part is what of a node a rule stands for.
type part uint8

const (
	whole    part = iota // a value of it
	members              // the members of an object, without brackets
	anything             // any object
)

// New makes a Builder.
func New() *Builder {
	return &Builder{made: map[made]*language.Rule{}, text: map[string]language.Node{}, delimited: map[string]*style{}, tagged: map[*Tagged]*between{}, byEnds: map[string]between{}}
}

// style is a way to write values with brackets: JSON, Python or delimited.
type style struct {
	name string
	words
	separator, colon language.Node
	padding          language.Node // behind an opening bracket and before a closing one
	key              func(b *Builder, name string) (language.Node, bool)
	keys             func(b *Builder, a *regular.Automaton) language.Node // keys by an automaton, nil for any
	str              func(b *Builder, a *toolschema.Alternative) language.Node
	anyString        func(b *Builder) language.Node
	constant         func(b *Builder, value string, a *toolschema.Node) (language.Node, bool)
	// beside is a string beside values of other kinds, where a string is read by the schema: what reads like one of those
	// cannot be written.
	beside func(b *Builder, n *toolschema.Node, a *toolschema.Alternative) language.Node
	fixed  func(b *Builder, text string) language.Node
}

// words are null, true and false, and either of the last two.
type words struct{ null, yes, no, either language.Node }

func wordsOf(null, yes, no string) words {
	w := words{null: language.Text(null), yes: language.Text(yes), no: language.Text(no)}
	w.either = language.Any(w.yes, w.no)
	return w
}

var digits = class("09")

func class(pairs string) *language.Class {
	out := &language.Class{}
	r := []rune(pairs)
	for i := 0; i+1 < len(r); i += 2 {
		out.Ranges = append(out.Ranges, regular.Range{First: r[i], Last: r[i+1]})
	}
	return out
}

// blank is the white space that JSON text may be laid out with: one blank, or a new line with its indentation. It is
// bounded, since a small model can write white space for ever.
var blank = &language.Rule{Name: "blank", Body: language.Maybe(language.Any(language.Text(" "),
	language.Join(language.Text("\n"), &language.Repeat{Inner: class("\t\t  "), Min: 0, Max: 40, Soft: true})))}

// mostDigits bounds the digits of a number.
const mostDigits = 40

var some = &language.Repeat{Inner: digits, Min: 0, Max: mostDigits, Soft: true}

var natural = language.Any(language.Text("0"), language.Join(class("19"), some))

// integer is a whole number. Zero has no sign: not every engine lets one through.
var integer = &language.Rule{Name: "integer", Body: language.Any(language.Text("0"), language.Join(language.Maybe(language.Text("-")), class("19"), some))}

var number = &language.Rule{Name: "number", Body: language.Join(language.Maybe(language.Text("-")), natural,
	language.Maybe(language.Join(language.Text("."), &language.Repeat{Inner: digits, Min: 1, Max: mostDigits, Soft: true})),
	language.Maybe(language.Join(class("EEee"), language.Maybe(class("++--")), &language.Repeat{Inner: digits, Min: 1, Max: 3})))}

// value is a node of a schema in a style.
func (b *Builder) value(s *style, n *toolschema.Node) language.Node {
	if n.Free {
		return b.any(s)
	}
	key := made{s, n, whole}
	if rule, ok := b.made[key]; ok {
		return rule
	}
	rule := &language.Rule{Name: b.Name + n.Pointer}
	b.made[key] = rule
	var space [8]language.Node
	options := space[:0]
	for _, a := range n.Alternatives {
		if option := b.alternative(s, n, a); option != nil {
			options = append(options, option)
		}
	}
	rule.Body = language.Any(options...)
	return rule
}

// The brackets, and the empty text.
var (
	openBracket, closeBracket = language.Text("["), language.Text("]")
	openBrace, closeBrace     = language.Text("{"), language.Text("}")
	doubleQuote               = language.Text(`"`)
	empty                     = language.Text("")
)

func (b *Builder) alternative(s *style, n *toolschema.Node, a *toolschema.Alternative) language.Node {
	switch a.Kind {
	case toolschema.Null:
		return s.null
	case toolschema.Boolean:
		return s.either
	case toolschema.Integer:
		return b.integer(a)
	case toolschema.Number:
		return number
	case toolschema.String:
		if s.beside != nil && len(n.Alternatives) > 1 {
			return s.beside(b, n, a)
		}
		return s.str(b, a)
	case toolschema.Array:
		return language.Join(openBracket, b.elements(s, a), closeBracket)
	case toolschema.Object:
		return language.Join(openBrace, b.members(s, n, a, s.colon), closeBrace)
	}
	if out, ok := s.constant(b, a.Value, n); ok {
		return out
	}
	b.note(n, "enum", fmt.Sprintf("the format has no way to write %s", a.Value))
	return nil
}

func (b *Builder) note(n *toolschema.Node, keyword, reason string) {
	b.Notes = append(b.Notes, toolschema.Note{Pointer: n.Pointer, Keyword: keyword, Reason: reason})
}

// any is any value in a style.
func (b *Builder) any(s *style) *language.Rule {
	key := made{s, toolschema.Any, whole}
	if rule, ok := b.made[key]; ok {
		return rule
	}
	rule := &language.Rule{Name: s.name + "-value"}
	b.made[key] = rule
	rule.Body = language.Any(
		b.anyObject(s),
		language.Join(openBracket, s.padding, language.Maybe(language.Join(rule, language.Many(language.Join(s.separator, rule)))), s.padding, closeBracket),
		s.anyString(b), number, s.yes, s.no, s.null)
	return rule
}

func (b *Builder) anyObject(s *style) *language.Rule {
	key := made{s, toolschema.AnyObject, anything}
	if rule, ok := b.made[key]; ok {
		return rule
	}
	rule := &language.Rule{Name: s.name + "-object"}
	b.made[key] = rule
	rule.Body = language.Join(openBrace, b.anyMembers(s, s, s.colon), closeBrace)
	return rule
}

func (b *Builder) anyMembers(s, values *style, colon language.Node) language.Node {
	member := language.Join(s.keys(b, nil), colon, b.any(values))
	return language.Join(s.padding, language.Maybe(language.Join(member, language.Many(language.Join(s.separator, member)))), s.padding)
}

// elements are the elements of an array.
func (b *Builder) elements(s *style, a *toolschema.Alternative) language.Node {
	var build func(i int) language.Node // elements from the i-th on, each behind a separator
	build = func(i int) language.Node {
		if a.MaxItems >= 0 && i >= a.MaxItems {
			return nil
		}
		if i < len(a.Prefix) {
			one := language.Join(b.separator(s, i), b.value(s, a.Prefix[i]), build(i+1))
			if i >= a.MinItems {
				return language.Maybe(one)
			}
			return one
		}
		if a.Items == nil {
			return nil
		}
		item := b.value(s, a.Items)
		least, most := max(a.MinItems-i, 0), -1
		if a.MaxItems >= 0 {
			most = a.MaxItems - i
		}
		if i > 0 {
			return &language.Repeat{Inner: language.Join(s.separator, item), Min: least, Max: most}
		}
		if most > 0 {
			most--
		}
		if most == 0 {
			if least == 0 {
				return language.Maybe(item)
			}
			return item
		}
		some := language.Join(item, &language.Repeat{Inner: language.Join(s.separator, item), Min: max(least-1, 0), Max: most})
		if least == 0 {
			return language.Maybe(some)
		}
		return some
	}
	inner := build(0)
	return language.Join(s.padding, inner, s.padding)
}

func (b *Builder) separator(s *style, i int) language.Node {
	if i == 0 {
		return nil
	}
	return s.separator
}

// members are the members of an object, in the order of the schema. colon stands between name and value.
func (b *Builder) members(s *style, n *toolschema.Node, a *toolschema.Alternative, colon language.Node) language.Node {
	return b.membersOf(s, s, n, a, colon)
}

// membersOf are members whose keys are written in one style and whose values in another.
func (b *Builder) membersOf(s, values *style, n *toolschema.Node, a *toolschema.Alternative, colon language.Node) language.Node {
	if len(a.Properties) == 0 && len(a.Patterned) == 0 && a.Additional != nil && a.Additional.Free {
		return b.anyMembers(s, values, colon)
	}
	type member struct {
		node     language.Node
		required bool
	}
	list := make([]member, 0, len(a.Properties))
	for _, p := range a.Properties {
		key, ok := s.key(b, p.Name)
		if !ok {
			b.note(n, "properties", fmt.Sprintf("the format has no way to write the name %q", p.Name))
			if p.Required {
				list = append(list, member{language.Never(), true})
			}
			continue
		}
		value := b.value(values, p.Node)
		list = append(list, member{language.Join(key, colon, value), p.Required})
	}
	more := b.others(s, values, a, colon)
	// rest(i) is what may come from the i-th member on, behind one that has been written; first(i) is the same before any.
	rests := make([]language.Node, len(list)+1)
	var among language.Node = language.Text("") // undeclared members before a declared one, behind one that has been written
	if more != nil {
		rests[len(list)] = language.Many(language.Join(s.separator, more))
		if b.Sorted {
			among = rests[len(list)]
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		one := language.Join(s.separator, list[i].node)
		if !list[i].required {
			one = language.Maybe(one)
		}
		rests[i] = b.part(n, "rest", i, language.Join(among, one, rests[i+1]))
	}
	first := empty
	if more != nil {
		first = language.Maybe(language.Join(more, language.Many(language.Join(s.separator, more))))
	}
	for i := len(list) - 1; i >= 0; i-- {
		one := language.Join(list[i].node, rests[i+1])
		if b.Sorted && more != nil {
			one = language.Any(one, language.Join(more, rests[i]))
		}
		if list[i].required {
			first = one
		} else {
			first = b.part(n, "from", i, language.Any(one, first))
		}
	}
	return language.Join(s.padding, first, s.padding)
}

// part makes a rule of a piece that is used in two places, unless it is small.
func (b *Builder) part(n *toolschema.Node, name string, i int, body language.Node) language.Node {
	switch body := body.(type) {
	case *language.Rule, *language.Literal:
		return body
	}
	return &language.Rule{Name: b.Name + n.Pointer + "-" + name + strconv.Itoa(i), Body: body}
}

// others are the members of an object that are not declared by name, nil if there are none.
func (b *Builder) others(s, values *style, a *toolschema.Alternative, colon language.Node) language.Node {
	if len(a.Patterned) == 0 && a.Additional == nil {
		return nil
	}
	names := make([]string, len(a.Properties))
	for i, p := range a.Properties {
		names[i] = p.Name
	}
	taken, err := regular.Texts(names...)
	var options []language.Node
	for _, p := range a.Patterned {
		keys, wrong := regular.Search(p.Pattern)
		if wrong == nil && err == nil {
			var free, both *regular.Automaton
			if free, wrong = taken.Not(); wrong == nil {
				if both, wrong = keys.And(free); wrong == nil {
					keys = both
				}
			}
		}
		if wrong != nil {
			err = wrong
			continue
		}
		options = append(options, language.Join(s.keys(b, keys), colon, b.value(values, p.Node)))
		if both, wrong := taken.Or(keys); wrong == nil {
			taken = both
		}
	}
	if a.Additional != nil {
		var keys *regular.Automaton
		if err == nil && (len(names) > 0 || len(a.Patterned) > 0) {
			keys, _ = taken.Not()
		}
		options = append(options, language.Join(s.keys(b, keys), colon, b.value(values, a.Additional)))
	}
	return language.Any(options...)
}
