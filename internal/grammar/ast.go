package grammar

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/pattern"
)

// Position is a place in a definition file. Lines and columns count from 1; columns count bytes.
type Position struct {
	Line, Column int
}

// Expression is a part of a rule.
type Expression interface {
	// At is where the expression begins.
	At() Position
}

// Literal is a marker: characters that the model writes exactly so. Holes (`{s}`) have been filled in.
type Literal struct {
	Position Position
	Text     string
}

// Blank (`~`) is any white space, which is markup; Canonical is how the renderer writes it.
type Blank struct {
	Position  Position
	Canonical string
}

// Layout is written by the renderer and is nothing to the reader: white space (`^"…"`), which beside a tray belongs to the
// tray, or the first of several things that fits there (`^( … )`). Walk does not enter it.
type Layout struct {
	Position Position
	Text     string
	// Inner holds literals, `&x` and `@name`. The tests in it ask for what was written last: reasoning, content or call.
	Inner *Choice
}

// Look (`&x`) says that the text before it may end here because x follows; x is not consumed.
type Look struct {
	Position Position
	Inner    Expression
}

// Capture (`@name`) is text that is kept. Shape says what it looks like; nil means text or a word, by its name.
type Capture struct {
	Position Position
	Name     string
	Shape    Expression
}

// Codec is an argument syntax: json, python, delimited or xml; or text, any text up to what follows. Delimiter is the
// string delimiter of delimited.
type Codec struct {
	Position  Position
	Kind      string
	Delimiter string
	// Quotes: of delimited, strings may stand between the quotes of JSON too.
	Quotes bool
	// Whole reads the region of a response template that nothing streams by; Kind is "whole" then.
	Whole WholeReader
}

// Run is `/class+/` or `/class{n}/`: Count characters of a class, or at least one where Count is 0. The runs of a
// response template, which come at run time, are read by an Automaton instead.
type Run struct {
	Position  Position
	Source    string
	Class     Class
	Count     int
	Automaton *pattern.Automaton
}

// Envelope is a JSON object whose members carry a call.
type Envelope struct {
	Position Position
	Members  []Member
}

// Member is one member of an envelope. Keys are its spellings; with no keys the key itself is captured as KeyCapture
// (`@name: @arguments`). The value is captured, or it is the literal Fixed.
type Member struct {
	Position   Position
	Keys       []string
	KeyCapture string
	Optional   bool
	Capture    string
	Fixed      string
}

// Set (`[ … ]`) holds elements that come in any order, each or not, with white space between them.
type Set struct {
	Position Position
	Elements []Expression
}

// Attribute (`name=@capture`) stands only in a set.
type Attribute struct {
	Position Position
	Name     string
	Capture  *Capture
}

// Reference is the name of another rule.
type Reference struct {
	Position Position
	Name     string
}

// End is the end of the output; it stands only behind a Look.
type End struct {
	Position Position
}

// Choice is one of several sequences. The renderer takes the first that can hold the data.
type Choice struct {
	Position     Position
	Alternatives []*Sequence
}

// Sequence is items one after the other, taken only if all tests hold.
type Sequence struct {
	Position Position
	Items    []Expression
	Tests    []Test
}

// Test asks for a finished capture: that it was captured at all (no patterns), or that it equals one of the patterns.
type Test struct {
	Position Position
	Capture  string
	Patterns []Pattern
}

// Pattern is a text, the beginning of a text (`"python.*"`), or none: the capture is missing.
type Pattern struct {
	Text   string
	Prefix bool
	None   bool
}

// Optional is `x?`.
type Optional struct {
	Position Position
	Inner    Expression
}

// Repeat is `{ x }`, any number of times. Once (`{ x }!`) tells that the renderer writes it once at most.
type Repeat struct {
	Position Position
	Inner    Expression
	Once     bool
}

// List is `x % "separator"`: one or more.
type List struct {
	Position  Position
	Inner     Expression
	Separator string
}

func (e *Literal) At() Position   { return e.Position }
func (e *Blank) At() Position     { return e.Position }
func (e *Layout) At() Position    { return e.Position }
func (e *Look) At() Position      { return e.Position }
func (e *Capture) At() Position   { return e.Position }
func (e *Codec) At() Position     { return e.Position }
func (e *Run) At() Position       { return e.Position }
func (e *Envelope) At() Position  { return e.Position }
func (e *Set) At() Position       { return e.Position }
func (e *Attribute) At() Position { return e.Position }
func (e *Reference) At() Position { return e.Position }
func (e *End) At() Position       { return e.Position }
func (e *Choice) At() Position    { return e.Position }
func (e *Sequence) At() Position  { return e.Position }
func (e *Optional) At() Position  { return e.Position }
func (e *Repeat) At() Position    { return e.Position }
func (e *List) At() Position      { return e.Position }

// Rule is one rule of a grammar.
type Rule struct {
	File     string
	Position Position
	Name     string
	Body     *Choice
}

// Role is what the rule's name means to the machine: the name up to its dot if that is one of the roles, else "".
func (r *Rule) Role() Role { return RoleOf(r.Name) }

// Role is one of the nine rule names that mean something to the machine.
type Role string

// The roles. What the machine does with each is told in docs/notation.md.
const (
	Output    Role = "output"
	Thought   Role = "thought"
	Frame     Role = "frame"
	Message   Role = "message"
	Block     Role = "block"
	Call      Role = "call"
	Parameter Role = "parameter"
	Citation  Role = "citation"
	Skip      Role = "skip"
)

// Roles are all roles.
var Roles = []Role{Output, Thought, Frame, Message, Block, Call, Parameter, Citation, Skip}

// Codecs are the names of all argument syntaxes.
var Codecs = []string{"json", "python", "delimited", "xml", "text"}

// RoleOf gives the role of a rule name, or "" for a mere abbreviation.
func RoleOf(name string) Role {
	for i := range name {
		if name[i] == '.' {
			name = name[:i]
			break
		}
	}
	if slices.Contains(Roles, Role(name)) {
		return Role(name)
	}
	return ""
}

// Walk calls visit for an expression and everything below it, in the order of the text; visit answers whether to go
// deeper. Rules that are referred to are not entered.
func Walk(e Expression, visit func(Expression) bool) {
	if e == nil || !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Look:
		Walk(e.Inner, visit)
	case *Capture:
		if e.Shape != nil {
			Walk(e.Shape, visit)
		}
	case *Set:
		for _, element := range e.Elements {
			Walk(element, visit)
		}
	case *Attribute:
		Walk(e.Capture, visit)
	case *Choice:
		for _, alternative := range e.Alternatives {
			Walk(alternative, visit)
		}
	case *Sequence:
		for _, item := range e.Items {
			Walk(item, visit)
		}
	case *Optional:
		Walk(e.Inner, visit)
	case *Repeat:
		Walk(e.Inner, visit)
	case *List:
		Walk(e.Inner, visit)
	}
}
