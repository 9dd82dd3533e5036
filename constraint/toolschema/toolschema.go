// Package toolschema reads the JSON schema of a tool's parameters, or of an answer, as a constraint needs it: every
// reference followed, what is said in several places (allOf, $ref beside other keywords) put together, and each place
// reduced to a list of alternatives of one kind. What cannot be held by a constraint is left out, which lets more
// through, and noted.
package toolschema

import (
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/internal/jsontree"
)

// Kind is what an alternative is.
type Kind uint8

// The kinds. A Constant is one JSON value.
const (
	Null Kind = iota
	Boolean
	Integer
	Number
	String
	Array
	Object
	Constant
)

func (k Kind) String() string {
	return [...]string{"null", "boolean", "integer", "number", "string", "array", "object", "constant"}[k]
}

// Node is one place of a schema: any of its alternatives. A node with none can never be satisfied. Nodes may refer to
// each other in circles. They are not changed after reading.
type Node struct {
	// Pointer is where the node stands in the schema, as a JSON pointer.
	Pointer      string
	Alternatives []*Alternative
	// Free: nothing is said, any value is right.
	Free bool
	// Recursive: the node can be reached from itself.
	Recursive bool
	// number is the place of the node among those that were read with it, from 1; of the nodes below it is 0.
	number int
}

// Alternative is one kind of value with what is asked of it.
type Alternative struct {
	Kind Kind
	// Value is the JSON text of a Constant.
	Value string
	// MinLength and MaxLength count characters of a string; MaxLength is -1 where there is no limit. Patterns are regular
	// expressions that all have to match somewhere in it.
	MinLength, MaxLength int
	Patterns             []string
	// Format is the format keyword, where it is one that is known.
	Format string
	// Minimum and Maximum are whole-number bounds of an Integer, nil where there are none.
	Minimum, Maximum *int64
	// Prefix are the first elements of an array, Items the others; MaxItems is -1 where there is no limit.
	Prefix             []*Node
	Items              *Node
	MinItems, MaxItems int
	// Properties of an object, in the order of the schema; then members whose names match a pattern; then all others,
	// nil if there may be none.
	Properties []Property
	Patterned  []Patterned
	Additional *Node
}

// Property is a declared member.
type Property struct {
	Name     string
	Node     *Node
	Required bool
}

// Patterned is members by a pattern of their names.
type Patterned struct {
	Pattern string
	Node    *Node
}

// Any is the node about which nothing is said.
var Any = &Node{Free: true}

// AnyObject is any object.
var AnyObject = &Node{Alternatives: []*Alternative{{Kind: Object, Additional: Any}}}

// Note says what of a schema is not held.
type Note struct {
	// Pointer is the place in the schema, Keyword the keyword; Reason why, where that is not plain.
	Pointer, Keyword, Reason string
}

func (n Note) String() string {
	text := fmt.Sprintf("%s at %q is not enforced", n.Keyword, n.Pointer)
	if n.Reason != "" {
		text += ": " + n.Reason
	}
	return text
}

// Error says that no value satisfies a schema, or that it is no schema.
type Error struct {
	// Pointer is the place in the schema.
	Pointer string
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("at %q: %s", e.Pointer, e.Message) }

// Item is the schema of the element at a place of an array, nil if there may be none.
func (a *Alternative) Item(i int) *Node {
	if i < len(a.Prefix) {
		return a.Prefix[i]
	}
	return a.Items
}

// IsString tells whether an alternative is a string.
func (a *Alternative) IsString() bool {
	return a.Kind == String || a.Kind == Constant && strings.HasPrefix(a.Value, `"`)
}

// children calls visit for the nodes right below one.
func (n *Node) children(visit func(*Node)) {
	for _, a := range n.Alternatives {
		for _, p := range a.Properties {
			visit(p.Node)
		}
		for _, p := range a.Patterned {
			visit(p.Node)
		}
		for _, p := range a.Prefix {
			visit(p)
		}
		if a.Additional != nil {
			visit(a.Additional)
		}
		if a.Items != nil {
			visit(a.Items)
		}
	}
}

// Quote writes a JSON string, escaping only what must be. AppendQuote appends one.
func Quote(text string) string {
	var space [64]byte
	return string(AppendQuote(space[:0], text))
}

// AppendQuote: see Quote.
func AppendQuote(dst []byte, text string) []byte { return jsontree.AppendString(dst, text) }
