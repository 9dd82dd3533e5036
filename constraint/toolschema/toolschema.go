// Package toolschema reads the JSON schema of a tool's parameters, or of an answer, as a constraint needs it: every
// reference followed, what is said in several places (allOf, $ref beside other keywords) put together, and each place
// reduced to a list of alternatives of one kind. What cannot be held by a constraint is left out, which lets more
// through, and noted.
package toolschema

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// EmptyObject is an object without members.
var EmptyObject = &Node{Alternatives: []*Alternative{{Kind: Object}}}

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

// Read reads a schema. Nothing and null say nothing, and so does true. The error is an *Error.
func Read(text []byte) (*Node, []Note, error) {
	if kind := jsontext.Value(text).Kind(); len(text) == 0 || kind == 'n' {
		return Any, nil, nil
	}
	root, err := readTree(text)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{root: root, nodes: map[string]*Node{}, noted: map[Note]bool{}}
	node, err := r.node([]fact{{raw: root}})
	if err != nil {
		return nil, nil, err
	}
	if err := satisfiable(node); err != nil {
		return nil, r.notes, err
	}
	markRecursive(node)
	return node, r.notes, nil
}

type reader struct {
	root  *value
	nodes map[string]*Node
	notes []Note
	noted map[Note]bool
	depth int
}

func (r *reader) note(at *value, keyword, reason string) {
	n := Note{at.pointer(), keyword, reason}
	if !r.noted[n] {
		r.noted[n] = true
		r.notes = append(r.notes, n)
	}
}

// fact is a schema that holds at a place. of counts how many of its anyOf and oneOf have been dealt with.
type fact struct {
	raw *value
	of  uint8
}

const (
	anyOfDone uint8 = 1 << iota
	oneOfDone
)

// mostDeep bounds how deeply a schema may be nested, and mostNodes how large it may become.
const (
	mostDeep  = 400
	mostNodes = 20_000
)

// node reads a place at which all facts hold.
func (r *reader) node(facts []fact) (*Node, error) {
	facts, err := r.expand(facts)
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return Any, nil
	}
	key := keyOf(facts)
	if node, ok := r.nodes[key]; ok {
		return node, nil
	}
	if r.depth++; r.depth > mostDeep {
		return nil, &Error{facts[0].raw.pointer(), fmt.Sprintf("the schema is nested more than %d levels deep", mostDeep)}
	}
	defer func() { r.depth-- }()
	if len(r.nodes) > mostNodes {
		return nil, &Error{facts[0].raw.pointer(), "the schema is too large"}
	}
	node := &Node{Pointer: facts[0].raw.pointer()}
	r.nodes[key] = node
	for _, f := range facts {
		if f.raw.kind == 'f' {
			return node, nil
		}
	}
	for i, f := range facts {
		for _, keyword := range []struct {
			name string
			done uint8
		}{{"anyOf", anyOfDone}, {"oneOf", oneOfDone}} {
			list := f.raw.keyword(keyword.name)
			if list == nil || f.of&keyword.done != 0 {
				continue
			}
			if list.kind != '[' {
				return nil, list.expected("an array of schemas")
			}
			rest := slices.Clone(facts)
			rest[i].of |= keyword.done
			free := false
			for _, branch := range list.elements {
				// a fresh copy each time: node may reorder it
				alternative, err := r.node(append(slices.Clone(rest), fact{raw: branch}))
				if err != nil {
					return nil, err
				}
				free = free || alternative.Free
				node.Alternatives = append(node.Alternatives, alternative.Alternatives...)
			}
			if free {
				node.Alternatives, node.Free = nil, true
			}
			node.Alternatives = distinct(node.Alternatives)
			return node, nil
		}
	}
	return node, r.fill(node, facts)
}

func distinct(list []*Alternative) (out []*Alternative) {
	for _, a := range list {
		if !slices.ContainsFunc(out, func(b *Alternative) bool {
			return a == b || a.Kind == b.Kind && (a.Kind == Null || a.Kind == Boolean || a.Kind == Constant && a.Value == b.Value)
		}) {
			out = append(out, a)
		}
	}
	return out
}

// expand adds what references and allOf say, takes out what says nothing, and every fact but once.
func (r *reader) expand(facts []fact) (out []fact, err error) {
	seen := map[*value]bool{}
	var add func(f fact) error
	add = func(f fact) error {
		if seen[f.raw] {
			return nil
		}
		seen[f.raw] = true
		switch f.raw.kind {
		case 't':
			return nil
		case 'f':
			out = append(out, f)
			return nil
		case '[':
			if len(f.raw.elements) == 0 { // how PHP writes an empty object
				return nil
			}
			return f.raw.expected("a schema")
		case '{':
		default:
			return f.raw.expected("a schema")
		}
		if reference := f.raw.keyword("$ref"); reference != nil {
			if reference.kind != '"' {
				return reference.expected("a reference")
			}
			target := r.root.find(reference.text)
			if target == nil {
				return &Error{reference.pointer(), fmt.Sprintf("the reference %q leads nowhere", reference.text)}
			}
			if err := add(fact{raw: target}); err != nil {
				return err
			}
		}
		if all := f.raw.keyword("allOf"); all != nil {
			if all.kind != '[' {
				return all.expected("an array of schemas")
			}
			for _, element := range all.elements {
				if err := add(fact{raw: element}); err != nil {
					return err
				}
			}
		}
		if f.raw.says() {
			out = append(out, f)
		}
		return nil
	}
	for _, f := range facts {
		if f.of != 0 && !seen[f.raw] { // its references and allOf have been expanded already
			seen[f.raw] = true
			out = append(out, f)
			continue
		}
		if err := add(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func keyOf(facts []fact) string {
	keys := make([]string, len(facts))
	for i, f := range facts {
		keys[i] = fmt.Sprintf("%p/%d", f.raw, f.of)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// satisfiable finds out whether some value satisfies a node, and takes out alternatives and members that none does. The
// error names the place that makes it impossible.
func satisfiable(root *Node) error {
	nodes := reach(root)
	right := map[*Node]bool{}
	alternative := func(a *Alternative) bool {
		switch a.Kind {
		case Array:
			if a.MaxItems >= 0 && a.MaxItems < a.MinItems {
				return false
			}
			for i := range a.MinItems {
				if item := a.Item(i); item == nil || !right[item] {
					return false
				}
				if i >= len(a.Prefix) {
					break
				}
			}
		case Object:
			for _, p := range a.Properties {
				if p.Required && !right[p.Node] {
					return false
				}
			}
		case String:
			return a.MaxLength < 0 || a.MinLength <= a.MaxLength
		case Integer:
			return a.Minimum == nil || a.Maximum == nil || *a.Minimum <= *a.Maximum
		}
		return true
	}
	for changed := true; changed; {
		changed = false
		for _, n := range nodes {
			if !right[n] && (n.Free || slices.ContainsFunc(n.Alternatives, alternative)) {
				right[n], changed = true, true
			}
		}
	}
	if !right[root] {
		return blame(root, right, map[*Node]bool{})
	}
	for _, n := range nodes {
		n.Alternatives = slices.DeleteFunc(n.Alternatives, func(a *Alternative) bool { return !alternative(a) })
		for _, a := range n.Alternatives {
			a.Properties = slices.DeleteFunc(slices.Clone(a.Properties), func(p Property) bool { return !right[p.Node] })
			a.Patterned = slices.DeleteFunc(slices.Clone(a.Patterned), func(p Patterned) bool { return !right[p.Node] })
			if a.Additional != nil && !right[a.Additional] {
				a.Additional = nil
			}
			if a.Kind == Array {
				for i := range a.Prefix {
					if !right[a.Prefix[i]] {
						a.Prefix, a.Items, a.MaxItems = a.Prefix[:i], nil, i
						break
					}
				}
				if a.Items != nil && !right[a.Items] {
					a.Items = nil
				}
				if a.Items == nil && (a.MaxItems < 0 || a.MaxItems > len(a.Prefix)) {
					a.MaxItems = len(a.Prefix)
				}
			}
		}
	}
	return nil
}

// Item is the schema of the element at a place of an array, nil if there may be none.
func (a *Alternative) Item(i int) *Node {
	if i < len(a.Prefix) {
		return a.Prefix[i]
	}
	return a.Items
}

func blame(n *Node, right map[*Node]bool, seen map[*Node]bool) error {
	seen[n] = true
	if len(n.Alternatives) == 0 {
		return &Error{n.Pointer, "expected a schema that some value satisfies, found one that none does"}
	}
	for _, a := range n.Alternatives {
		var inner []*Node
		switch {
		case a.Kind == Object:
			for _, p := range a.Properties {
				if p.Required {
					inner = append(inner, p.Node)
				}
			}
		case a.Kind == Array && a.MinItems > 0:
			for i := range min(a.MinItems, len(a.Prefix)+1) {
				if item := a.Item(i); item != nil {
					inner = append(inner, item)
				}
			}
		}
		for _, next := range inner {
			if right[next] {
				continue
			}
			if seen[next] {
				return &Error{next.Pointer, "expected a schema that some value satisfies, found one that asks for itself without end"}
			}
			return blame(next, right, seen)
		}
	}
	return &Error{n.Pointer, "expected a schema that some value satisfies, found bounds that exclude each other"}
}

// reach are all nodes that a node leads to.
func reach(root *Node) (out []*Node) {
	seen := map[*Node]bool{}
	var visit func(*Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		out = append(out, n)
		n.children(visit)
	}
	visit(root)
	return out
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

// markRecursive finds the nodes that can be reached from themselves: those of the strongly connected components, found
// as Tarjan does, and those that refer to themselves.
func markRecursive(root *Node) {
	type state struct {
		place, low int
		open       bool // its component is not complete
	}
	states := map[*Node]*state{}
	var open []*Node
	var visit func(*Node) *state
	visit = func(n *Node) *state {
		at := &state{len(states), len(states), true}
		states[n] = at
		open = append(open, n)
		n.children(func(next *Node) {
			other := states[next]
			switch {
			case other == nil:
				at.low = min(at.low, visit(next).low)
			case other.open:
				at.low = min(at.low, other.place)
				if next == n {
					n.Recursive = true
				}
			}
		})
		if at.low < at.place {
			return at
		}
		from := slices.Index(open, n)
		for _, member := range open[from:] {
			states[member].open = false
			if len(open)-from > 1 { // else nothing is written: Any is everybody's
				member.Recursive = true
			}
		}
		open = open[:from]
		return at
	}
	visit(root)
}

// IsString tells whether only strings are right, any or some.
func (n *Node) IsString() bool {
	if n.Free || len(n.Alternatives) == 0 {
		return false
	}
	for _, a := range n.Alternatives {
		if !a.IsString() {
			return false
		}
	}
	return true
}

// IsString tells whether an alternative is a string.
func (a *Alternative) IsString() bool {
	return a.Kind == String || a.Kind == Constant && strings.HasPrefix(a.Value, `"`)
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}
