package toolschema

import (
	"encoding/binary"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strconv"

	"github.com/parlance-llm/parlance/internal/jsontree"
)

// Read reads a schema. Nothing and null say nothing, and so does true. The error is an *Error.
func Read(text []byte) (*Node, []Note, error) {
	if kind := jsontext.Value(text).Kind(); len(text) == 0 || kind == 'n' {
		return Any, nil, nil
	}
	root, err := jsontree.Read(text)
	if err != nil {
		return nil, nil, &Error{"", err.Error()}
	}
	return ReadTree(root)
}

// ReadTree is Read for a text that has been read.
func ReadTree(root *jsontree.Value) (*Node, []Note, error) {
	if root.Kind == 'n' {
		return Any, nil, nil
	}
	count := root.Count()
	r := &reader{root: root, nodes: make([]*Node, count), met: make([]int32, count), atATime: min(max(count/2, 4), 64)}
	node, err := r.node(fact{raw: root})
	if err != nil {
		return nil, nil, err
	}
	if err := r.satisfiable(node); err != nil {
		return nil, r.notes, err
	}
	if r.circle {
		r.markRecursive()
	}
	return node, r.notes, nil
}

type reader struct {
	root *jsontree.Value
	// made are the nodes in the order in which they were begun, each at its number less one. nodes are those of places
	// at which one schema holds, by its number; together those of places at which several hold, or one in part.
	made     []*Node
	nodes    []*Node
	together map[string]*Node
	// open tells of the nodes made which are not complete; circle that one of them was referred to.
	open   []bool
	circle bool
	// facts are those of the nodes that are open, one behind the other; inner is room for those of a member, before they
	// are. met is for each schema the number of the
	// expansion that met it last.
	facts     []fact
	inner     []fact
	met       []int32
	expansion int32
	key       []byte
	depth     int
	notes     []Note
	noted     map[Note]bool
	patterns  map[string]pattern
	// room for nodes and alternatives, so many at a time
	atATime           int
	spareNodes        []Node
	spareAlternatives []Alternative
}

func (r *reader) note(at *jsontree.Value, keyword, reason string) {
	n := Note{at.Pointer(), keyword, reason}
	if r.noted == nil {
		r.noted = map[Note]bool{}
	}
	if !r.noted[n] {
		r.noted[n] = true
		r.notes = append(r.notes, n)
	}
}

// expected makes the error that something else stands where a value is.
func expected(v *jsontree.Value, what string) error {
	return &Error{v.Pointer(), fmt.Sprintf("expected %s, found %s", what, v.Described())}
}

// fact is a schema that holds at a place. of tells which of its anyOf and oneOf have been dealt with.
type fact struct {
	raw *jsontree.Value
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

// begin makes a node for a place.
func (r *reader) begin(pointer string) *Node {
	if len(r.spareNodes) == 0 {
		r.spareNodes = make([]Node, r.atATime)
	}
	node := &r.spareNodes[0]
	r.spareNodes = r.spareNodes[1:]
	r.made, r.open = append(r.made, node), append(r.open, true)
	node.Pointer, node.number = pointer, len(r.made)
	return node
}

func (r *reader) alternative(kind Kind) *Alternative {
	if len(r.spareAlternatives) == 0 {
		r.spareAlternatives = make([]Alternative, r.atATime)
	}
	a := &r.spareAlternatives[0]
	r.spareAlternatives = r.spareAlternatives[1:]
	a.Kind, a.MaxLength, a.MaxItems = kind, -1, -1
	return a
}

// keyOf is the key of facts in together.
func (r *reader) keyOf(facts []fact) []byte {
	var space [16]uint64
	numbers := space[:0]
	for _, f := range facts {
		numbers = append(numbers, uint64(f.raw.Number)<<2|uint64(f.of))
	}
	slices.Sort(numbers)
	r.key = r.key[:0]
	for _, n := range numbers {
		r.key = binary.AppendUvarint(r.key, n)
	}
	return r.key
}

// node reads a place at which all facts hold.
func (r *reader) node(facts ...fact) (*Node, error) {
	from := len(r.facts)
	defer func() { r.facts = r.facts[:from] }()
	facts, err := r.expand(facts)
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return Any, nil
	}
	var node *Node
	alone := len(facts) == 1 && facts[0].of == 0
	if alone {
		node = r.nodes[facts[0].raw.Number]
	} else {
		node = r.together[string(r.keyOf(facts))]
	}
	if node != nil {
		r.circle = r.circle || r.open[node.number-1]
		return node, nil
	}
	if r.depth++; r.depth > mostDeep {
		return nil, &Error{facts[0].raw.Pointer(), "the schema is nested more than " + strconv.Itoa(mostDeep) + " levels deep"}
	}
	defer func() { r.depth-- }()
	if len(r.made) > mostNodes {
		return nil, &Error{facts[0].raw.Pointer(), "the schema is too large"}
	}
	node = r.begin(facts[0].raw.Pointer())
	if alone {
		r.nodes[facts[0].raw.Number] = node
	} else {
		if r.together == nil {
			r.together = map[string]*Node{}
		}
		r.together[string(r.key)] = node
	}
	defer func() { r.open[node.number-1] = false }()
	for _, f := range facts {
		if f.raw.Kind == 'f' {
			return node, nil
		}
	}
	for i, f := range facts {
		for _, keyword := range [...]struct {
			name string
			done uint8
		}{{"anyOf", anyOfDone}, {"oneOf", oneOfDone}} {
			if f.of&keyword.done != 0 {
				continue
			}
			list := f.raw.Keyword(keyword.name)
			if list == nil {
				continue
			}
			if list.Kind != '[' {
				return nil, expected(list, "an array of schemas")
			}
			rest := append(slices.Clone(facts), fact{})
			rest[i].of |= keyword.done
			free := false
			for _, branch := range list.Elements {
				rest[len(facts)] = fact{raw: branch}
				alternative, err := r.node(rest...)
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

// distinct leaves out the alternatives that say the same as one before.
func distinct(list []*Alternative) []*Alternative {
	if len(list) < 2 {
		return list
	}
	type same struct {
		a     *Alternative
		kind  Kind
		value string
	}
	seen := make(map[same]bool, len(list))
	return slices.DeleteFunc(list, func(a *Alternative) bool {
		key := same{kind: a.Kind, value: a.Value}
		if a.Kind != Null && a.Kind != Boolean && a.Kind != Constant {
			key = same{a: a}
		}
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

// expand adds what references and allOf say, takes out what says nothing, and every fact but once. The answer is the end
// of r.facts.
func (r *reader) expand(facts []fact) ([]fact, error) {
	from := len(r.facts)
	r.expansion++
	for _, f := range facts {
		if f.of != 0 { // its references and allOf have been expanded already
			if r.meet(f.raw) {
				r.facts = append(r.facts, f)
			}
			continue
		}
		if err := r.add(f.raw); err != nil {
			return nil, err
		}
	}
	return r.facts[from:len(r.facts):len(r.facts)], nil
}

// meet tells whether the expansion meets a schema for the first time.
func (r *reader) meet(v *jsontree.Value) bool {
	first := r.met[v.Number] != r.expansion
	r.met[v.Number] = r.expansion
	return first
}

func (r *reader) add(v *jsontree.Value) error {
	if !r.meet(v) {
		return nil
	}
	switch v.Kind {
	case 't':
		return nil
	case 'f':
		r.facts = append(r.facts, fact{raw: v})
		return nil
	case '[':
		if len(v.Elements) == 0 { // how PHP writes an empty object
			return nil
		}
		return expected(v, "a schema")
	case '{':
	default:
		return expected(v, "a schema")
	}
	if reference := v.Keyword("$ref"); reference != nil {
		if reference.Kind != '"' {
			return expected(reference, "a reference")
		}
		target := r.root.Find(reference.Text)
		if target == nil {
			return &Error{reference.Pointer(), fmt.Sprintf("the reference %q leads nowhere", reference.Text)}
		}
		if err := r.add(target); err != nil {
			return err
		}
	}
	if all := v.Keyword("allOf"); all != nil {
		if all.Kind != '[' {
			return expected(all, "an array of schemas")
		}
		for _, element := range all.Elements {
			if err := r.add(element); err != nil {
				return err
			}
		}
	}
	if says(v) {
		r.facts = append(r.facts, fact{raw: v})
	}
	return nil
}

// says tells whether an object says anything by itself.
func says(v *jsontree.Value) bool {
	for _, member := range v.Members {
		if member.Value.Kind != 'n' && keywordOf(member.Name) != annotation || member.Name == "nullable" && member.Value.Kind == 't' {
			return true
		}
	}
	return false
}
