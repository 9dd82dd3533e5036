// Package language holds the one grammar that every constraint is made as, before it is written in the dialect of an
// engine. It says which texts a model may write.
//
// The words: a *node* stands for a set of texts; a *rule* is a node that others may refer to, itself included; a *mark*
// says what a piece of text means (the name of a call, a value) and changes nothing of what may be written. *Free* text
// with tags is text in which certain beginnings must be followed by what belongs to them: a tool call amid prose.
package language

import (
	"slices"

	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/toolschema"
)

// Node is a set of texts. Nodes are not changed once they have been built.
type Node interface{ node() }

// Literal is one text.
type Literal struct{ Text string }

// Class is one character out of Ranges, which are sorted and do not overlap.
type Class struct{ Ranges []regular.Range }

// Sequence is its items one after the other. With none it is the empty text.
type Sequence struct{ Items []Node }

// Choice is any of its options. With none it is nothing at all.
type Choice struct{ Options []Node }

// Repeat is Inner at least Min times and at most Max times; Max is -1 where there is no limit. Soft: the limit is there
// only to keep a model from going on for ever, and may be left out where an engine pays for it.
type Repeat struct {
	Inner    Node
	Min, Max int
	Soft     bool
}

// Rule is a node with a name, which may be referred to from anywhere. A reference is the pointer itself.
type Rule struct {
	Name string
	Body Node
}

// Regular is the texts that an automaton accepts. Without are texts none of which may occur, where that is all that the
// automaton says: some dialects have a word of their own for it.
type Regular struct {
	Automaton *regular.Automaton
	Without   []string
	// Looser: the automaton says more than Without, which a dialect may leave out.
	Looser bool
}

// Schema is JSON text of a schema. Body says the same by the other nodes, for dialects that do not know JSON schema.
type Schema struct {
	Schema *toolschema.Node
	Body   *Rule
	// Excludes are texts that no string in it may hold.
	Excludes []string
	// Spelled: Body lets more through than the text that engines write for the schema, and is what has to be written.
	Spelled bool
}

// Mark says what Inner means.
type Mark struct {
	Role  Role
	Name  string
	Inner Node
}

// Free is text with tags in it. Free text holds no beginning of a tag and none of Excludes.
type Free struct {
	// Text is the free text: no Begin of a tag occurs in it, and none of Excludes.
	Text *Regular
	// First, if it is not nil, stands for Text before the first tag.
	First *Regular
	Tags  []Tag
	// Excludes are what the text may not hold besides the beginnings of the tags.
	Excludes []string
	// Once: after the first tag nothing follows.
	Once bool
}

// Tag begins with a literal text that nothing else begins with. Rest follows.
type Tag struct {
	Begin string
	Rest  Node
}

// Role is what a mark says of a piece of text.
type Role string

// The roles. Call, Header and Parameter have names: of the tool, of the parameter.
const (
	Reasoning Role = "reasoning"
	Content   Role = "content"
	Call      Role = "call"
	// Arguments is the JSON object of a call; Python and Delimited are the same in the syntax of that name.
	Arguments Role = "arguments"
	Python    Role = "python"
	Delimited Role = "delimited"
	// Raw is a string value as it stands; Laid the same, in which one line break at each end is layout; JSON a value that is
	// JSON text; XML a string with entities, XMLJSON JSON text with entities.
	Raw     Role = "raw"
	Laid    Role = "laid"
	JSON    Role = "json"
	XML     Role = "xml"
	XMLJSON Role = "xml-json"
	// Parameter is a parameter with everything around its value; its name is the key.
	Parameter Role = "parameter"
	// Header is what stands before the body of a call and names it.
	Header Role = "header"
	// Formatted is an answer in the format that the request asked for.
	Formatted Role = "formatted"
)

func (*Literal) node()  {}
func (*Class) node()    {}
func (*Sequence) node() {}
func (*Choice) node()   {}
func (*Repeat) node()   {}
func (*Rule) node()     {}
func (*Regular) node()  {}
func (*Schema) node()   {}
func (*Mark) node()     {}
func (*Free) node()     {}

// Text is a literal.
func Text(text string) Node {
	if text == "" {
		return nothing
	}
	return &Literal{text}
}

// nothing is the empty text.
var nothing = &Literal{}

// Join is items one after the other. Literals side by side become one, and what is empty falls away.
func Join(items ...Node) Node {
	var space [16]Node
	parts := flat(space[:0], items)
	count := 0
	for i, part := range parts {
		if i == 0 || !bothLiteral(parts[i-1], part) {
			count++
		}
	}
	switch count {
	case 0:
		return nothing
	case 1:
		return joined(parts)
	}
	sequence := newSequence(count)
	out := sequence.Items
	for from := 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && bothLiteral(parts[from], parts[to]) {
			to++
		}
		out = append(out, joined(parts[from:to]))
		from = to
	}
	sequence.Items = out
	return sequence
}

// newSequence makes a sequence with room for some items, the room of a few beside it.
func newSequence(count int) *Sequence {
	switch {
	case count == 2:
		made := new(struct {
			Sequence
			room [2]Node
		})
		made.Items = made.room[:0]
		return &made.Sequence
	case count <= 4:
		made := new(struct {
			Sequence
			room [4]Node
		})
		made.Items = made.room[:0]
		return &made.Sequence
	}
	return &Sequence{make([]Node, 0, count)}
}

// flat appends items, those of sequences in place of them, without what is empty.
func flat(out, items []Node) []Node {
	for _, n := range items {
		switch n := n.(type) {
		case nil:
		case *Sequence:
			out = flat(out, n.Items)
		case *Literal:
			if n.Text != "" {
				out = append(out, n)
			}
		default:
			out = append(out, n)
		}
	}
	return out
}

func bothLiteral(a, b Node) bool {
	_, one := a.(*Literal)
	_, two := b.(*Literal)
	return one && two
}

// joined is one node, or several literals as one.
func joined(parts []Node) Node {
	if len(parts) == 1 {
		return parts[0]
	}
	var space [256]byte
	text := space[:0]
	for _, part := range parts {
		text = append(text, part.(*Literal).Text...)
	}
	return &Literal{string(text)}
}

// Any is one of several options.
func Any(options ...Node) Node {
	count := 0
	var only Node
	for _, option := range options {
		switch option := option.(type) {
		case nil:
			continue
		case *Choice:
			count += len(option.Options)
			if len(option.Options) > 0 {
				only = option.Options[0]
			}
		default:
			count++
			only = option
		}
	}
	if count == 1 {
		return only
	}
	choice := newChoice(count)
	for _, option := range options {
		switch option := option.(type) {
		case nil:
		case *Choice:
			choice.Options = append(choice.Options, option.Options...)
		default:
			choice.Options = append(choice.Options, option)
		}
	}
	return choice
}

// newChoice makes a choice with room for some options, the room of a few beside it.
func newChoice(count int) *Choice {
	if count == 2 {
		made := new(struct {
			Choice
			room [2]Node
		})
		made.Options = made.room[:0]
		return &made.Choice
	}
	return &Choice{make([]Node, 0, count)}
}

// Distinct are the nodes without those that are written like one before. Rules, automata and schemas are the same only
// if they are one.
func Distinct(list []Node) (out []Node) {
	for _, n := range list {
		if !slices.ContainsFunc(out, func(other Node) bool { return same(n, other) }) {
			out = append(out, n)
		}
	}
	return out
}

func same(a, b Node) bool {
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *Literal:
		b, ok := b.(*Literal)
		return ok && a.Text == b.Text
	case *Class:
		b, ok := b.(*Class)
		return ok && slices.Equal(a.Ranges, b.Ranges)
	case *Sequence:
		b, ok := b.(*Sequence)
		return ok && slices.EqualFunc(a.Items, b.Items, same)
	case *Choice:
		b, ok := b.(*Choice)
		return ok && slices.EqualFunc(a.Options, b.Options, same)
	case *Repeat:
		b, ok := b.(*Repeat)
		return ok && a.Min == b.Min && a.Max == b.Max && same(a.Inner, b.Inner)
	case *Mark:
		b, ok := b.(*Mark)
		return ok && a.Role == b.Role && a.Name == b.Name && same(a.Inner, b.Inner)
	}
	return false
}

// Maybe is a node or nothing.
func Maybe(n Node) Node {
	if literal, ok := n.(*Literal); ok && literal.Text == "" {
		return n
	}
	return &Repeat{Inner: n, Max: 1}
}

// Many is a node any number of times.
func Many(n Node) Node { return &Repeat{Inner: n, Max: -1} }

// Never is no text at all.
func Never() Node { return &Choice{} }

// Rules are all rules that a node reaches, in the order in which they are met.
func Rules(n Node) []*Rule { return rules(n, map[*Rule]int{}) }

// rules notes the place of each rule, too.
func rules(n Node, place map[*Rule]int) (out []*Rule) {
	var walk func(Node)
	walk = func(n Node) {
		if rule, ok := n.(*Rule); ok {
			if _, met := place[rule]; met {
				return
			}
			place[rule] = len(out)
			out = append(out, rule)
		}
		Children(n, walk)
	}
	walk(n)
	return out
}

// Children calls visit for the nodes right below one.
func Children(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Sequence:
		for _, item := range n.Items {
			visit(item)
		}
	case *Choice:
		for _, option := range n.Options {
			visit(option)
		}
	case *Repeat:
		visit(n.Inner)
	case *Rule:
		visit(n.Body)
	case *Schema:
		visit(n.Body)
	case *Mark:
		visit(n.Inner)
	case *Free:
		visit(n.Text)
		for _, tag := range n.Tags {
			visit(tag.Rest)
		}
	}
}
