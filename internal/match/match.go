// Package match finds literals in text that arrives in pieces.
//
// A literal is a sequence of symbols; a symbol is a byte, or one token of a vocabulary that counts as a whole (so that
// the same characters typed as ordinary text match nothing). A set of literals is compiled once into a Table that any
// number of streams share; a stream keeps one small number, its place in the table.
//
// There are two kinds of table. One searches: it finds its literals anywhere in the text (Aho and Corasick's
// automaton), and at every place it knows how many of the last bytes could still begin a literal, which is exactly what
// a stream has to hold back, no byte more. The other is anchored: it reads a literal that must stand right here.
//
// Where one literal is the beginning of another, the longer one wins; the shorter one is pending until the next symbol
// shows that the longer one does not come. So it is where one ends inside another that began before it.
package match

import (
	"fmt"
	"slices"
	"unsafe"
)

// Symbol is a byte (0–255) or FirstToken+k for the k-th whole token of a vocabulary.
type Symbol uint16

// FirstToken is the symbol of token number 0.
const FirstToken Symbol = 256

// Place is where a stream stands in a table; 0 is the start. Dead is the place of an anchored table when no literal
// can follow any more.
type Place uint16

// Dead: see Place.
const Dead Place = 0xFFFF

// None stands for "no literal".
const None int32 = -1

// Literal is one thing to look for.
type Literal struct {
	Symbols []Symbol
	// Watch says when the literal is text whether it is found or not: then it is found, but not held back.
	Watch Watch
}

// Watch is when a literal is only watched: always, or in any of some circumstances, which are bits that mean what the
// caller wants them to mean.
type Watch uint8

// Circumstances is the number of combinations of circumstances; Always stands for every one of them.
const (
	Circumstances       = 4
	Always        Watch = 0xFF
)

// in tells whether a literal with this watch is merely watched in certain circumstances.
func (w Watch) in(circumstances Watch) bool { return w == Always || w&circumstances != 0 }

// Table is a compiled set of literals. It is immutable and may be shared by goroutines.
type Table struct {
	classOf [256]uint8
	tokens  []uint8 // class of each token
	width   int
	next    []Place // place*width + class
	places  []place

	// First tells the bytes that begin a literal: at place 0 every other byte can be skipped.
	First [256]bool
}

// place is what is known where some beginning of a literal has been read.
type place struct {
	found   int32                 // literal that is found on arriving here
	pending int32                 // literal that was complete some symbols ago, found unless a longer one is
	since   uint16                // symbols read since the pending literal was complete
	reach   uint16                // symbols read since the pending literal began
	hold    [Circumstances]uint16 // bytes that could still begin a literal
	depth   uint16
	symbols []Symbol
	text    []byte
}

// Search compiles a table that finds its literals anywhere. texts[k] is what token k stands for.
// Two equal literals are an error, as is a table that would be too large.
func Search(literals []Literal, texts [][]byte) (*Table, error) {
	return compile(literals, texts, true)
}

// Anchored compiles a table that reads literals standing at the very place where reading begins.
func Anchored(literals []Literal, texts [][]byte) (*Table, error) {
	return compile(literals, texts, false)
}

// node is a place while the table is made.
type node struct {
	children map[Symbol]int
	parent   int
	symbol   Symbol
	literal  int32
	held     [Circumstances]bool // the path is the proper beginning of a literal that is not merely watched
	fail     int
}

// compile makes the tree of all literals, and of it the table. In a search what leads to no literal goes on with the
// longest beginning of one that the text read so far ends with, as Aho and Corasick have it.
func compile(literals []Literal, texts [][]byte, search bool) (*Table, error) {
	nodes := []node{{literal: None}}
	for number, literal := range literals {
		at := 0
		for _, symbol := range literal.Symbols {
			for c := range nodes[at].held {
				nodes[at].held[c] = nodes[at].held[c] || !literal.Watch.in(Watch(c))
			}
			child, ok := nodes[at].children[symbol]
			if !ok {
				child = len(nodes)
				if nodes[at].children == nil {
					nodes[at].children = map[Symbol]int{}
				}
				nodes[at].children[symbol] = child
				nodes = append(nodes, node{parent: at, symbol: symbol, literal: None})
			}
			at = child
		}
		if at == 0 {
			return nil, fmt.Errorf("literal %d is empty", number)
		}
		if nodes[at].literal != None {
			return nil, fmt.Errorf("literals %d and %d are equal", nodes[at].literal, number)
		}
		nodes[at].literal = int32(number)
	}
	nodes[0].held = [Circumstances]bool{}
	if len(nodes) >= int(Dead) {
		return nil, fmt.Errorf("the literals have %d different beginnings, more than %d", len(nodes), Dead-1)
	}

	t := &Table{}
	if err := t.classify(literals); err != nil {
		return nil, err
	}
	t.next = make([]Place, len(nodes)*t.width)
	t.places = make([]place, len(nodes))
	for _, at := range breadthFirst(nodes) {
		t.fill(nodes, at, literals, texts, search)
	}
	t.skips(nodes[0])
	return t, nil
}

// classify numbers the symbols that occur in literals; everything else shares class 0.
func (t *Table) classify(literals []Literal) error {
	count := 1
	for _, literal := range literals {
		for _, symbol := range literal.Symbols {
			if t.class(symbol) != 0 {
				continue
			}
			if count > 255 {
				return fmt.Errorf("the literals hold more than 255 different symbols")
			}
			if symbol < FirstToken {
				t.classOf[symbol] = uint8(count)
			} else {
				for len(t.tokens) <= int(symbol-FirstToken) {
					t.tokens = append(t.tokens, 0)
				}
				t.tokens[symbol-FirstToken] = uint8(count)
			}
			count++
		}
	}
	t.width = count
	return nil
}

func (t *Table) class(symbol Symbol) uint8 {
	if symbol < FirstToken {
		return t.classOf[symbol]
	}
	if k := int(symbol - FirstToken); k < len(t.tokens) {
		return t.tokens[k]
	}
	return 0
}

// breadthFirst lists the nodes so that a node's fail target comes before the node.
func breadthFirst(nodes []node) []int {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		n := nodes[order[i]]
		symbols := make([]Symbol, 0, len(n.children))
		for symbol := range n.children {
			symbols = append(symbols, symbol)
		}
		slices.Sort(symbols)
		for _, symbol := range symbols {
			order = append(order, n.children[symbol])
		}
	}
	return order
}

// fill computes one place; parent and fail target are there already.
func (t *Table) fill(nodes []node, at int, literals []Literal, texts [][]byte, search bool) {
	n := &nodes[at]
	p := &t.places[at]
	*p = place{found: None, pending: None}
	if at != 0 {
		above := &t.places[n.parent]
		p.depth = above.depth + 1
		p.symbols = append(slices.Clone(above.symbols), n.symbol)
		p.text = slices.Clone(above.text)
		if n.symbol < FirstToken {
			p.text = append(p.text, byte(n.symbol))
		} else {
			p.text = append(p.text, texts[n.symbol-FirstToken]...)
		}
	}

	if at != 0 && n.parent != 0 && search {
		// The place we would be in had we begun later: the fail target of the parent, one symbol on.
		n.fail = int(t.next[nodes[n.parent].fail*t.width+int(t.class(n.symbol))])
	}
	row := t.next[at*t.width : (at+1)*t.width]
	switch {
	case !search:
		for c := range row {
			row[c] = Dead
		}
	case at != 0:
		copy(row, t.next[n.fail*t.width:(n.fail+1)*t.width])
	}
	for symbol, child := range n.children {
		row[t.class(symbol)] = Place(child)
	}

	switch {
	case n.literal != None && len(n.children) == 0:
		p.found = n.literal
	case n.literal != None:
		p.pending, p.reach = n.literal, p.depth
	case at != 0:
		above := &t.places[n.parent]
		if above.pending != None {
			p.pending, p.since, p.reach = above.pending, above.since+1, above.reach+1
		}
		inside := None
		if search {
			inside = t.completes(n.fail)
		}
		switch {
		case inside == None || p.pending != None && int(p.reach) > len(literals[inside].Symbols):
		case n.held == [Circumstances]bool{}: // the longer one is text in any case
			p.found, p.pending = inside, None
		default:
			p.pending, p.since, p.reach = inside, 0, uint16(len(literals[inside].Symbols))
		}
	}
	for c := range p.hold {
		switch {
		case n.held[c] || p.pending != None:
			p.hold[c] = uint16(len(p.text))
		case search && at != 0:
			p.hold[c] = t.places[n.fail].hold[c]
		}
	}
}

// completes gives the literal that is complete exactly at a place, pending or found.
func (t *Table) completes(at int) int32 {
	p := &t.places[at]
	if p.found != None {
		return p.found
	}
	if p.pending != None && p.since == 0 {
		return p.pending
	}
	return None
}

func (t *Table) skips(root node) {
	for symbol := range root.children {
		if symbol < FirstToken {
			t.First[symbol] = true
		}
	}
}

// Step goes one symbol on. If a literal was pending at the old place and the symbol does not lead on towards one that
// began before it, or is longer, that literal is found and the symbol is not taken: Step then answers the old place, and
// in back the number of symbols that were read behind the literal; they have to be read again before this one.
func (t *Table) Step(at Place, symbol Symbol) (to Place, found int32, back int, taken bool) {
	to = t.next[int(at)*t.width+int(t.class(symbol))]
	if p := &t.places[at]; p.pending != None && (to == Dead || t.places[to].depth <= p.reach) {
		return at, p.pending, int(p.since), false
	}
	if to == Dead {
		return Dead, None, 0, false
	}
	return to, t.places[to].found, 0, true
}

// Find goes on through text until a literal is found or the text ends. It answers the new place, how many bytes of the
// text were read, and the literal or None. back counts the symbols read behind the end of a literal that was pending;
// they have to be read again, and are the last ones of the path to the place that is answered. The byte that settled
// the matter is not counted as read then.
func (t *Table) Find(at Place, text []byte) (to Place, read int, found int32, back int) {
	i := 0
	for i < len(text) {
		if at == 0 {
			for i < len(text) && !t.First[text[i]] {
				i++
			}
			if i == len(text) {
				break
			}
		}
		p := &t.places[at]
		next := t.next[int(at)*t.width+int(t.classOf[text[i]])]
		if p.pending != None && t.places[next].depth <= p.reach {
			return at, i, p.pending, int(p.since)
		}
		at = next
		i++
		if f := t.places[at].found; f != None {
			return 0, i, f, 0
		}
	}
	return at, i, None, 0
}

// Next gives the place behind a symbol, whatever is found on the way; Dead in an anchored table if none is left.
func (t *Table) Next(at Place, symbol Symbol) Place {
	return t.next[int(at)*t.width+int(t.class(symbol))]
}

// Knows tells whether a symbol occurs in any of the literals.
func (t *Table) Knows(symbol Symbol) bool { return t.class(symbol) != 0 }

// Hold is the number of bytes before a place that could still begin a literal, other than one that is merely watched
// in these circumstances.
func (t *Table) Hold(at Place, circumstances Watch) int {
	return int(t.places[at].hold[circumstances])
}

// Held is the text that Hold counts.
func (t *Table) Held(at Place, circumstances Watch) []byte {
	p := &t.places[at]
	return p.text[len(p.text)-int(p.hold[circumstances]):]
}

// Path is what has been read on the way to a place, as far as the table remembers it.
func (t *Table) Path(at Place) []Symbol { return t.places[at].symbols }

// PathText is the same in bytes.
func (t *Table) PathText(at Place) []byte { return t.places[at].text }

// Pending is the literal that is found if the text ends at a place, and the number of symbols read behind it.
func (t *Table) Pending(at Place) (found int32, back int) {
	return t.places[at].pending, int(t.places[at].since)
}

// Walk reads symbols from the start and answers the place, ignoring literals that are found on the way.
func (t *Table) Walk(symbols []Symbol) Place {
	at := Place(0)
	for _, symbol := range symbols {
		at = t.next[int(at)*t.width+int(t.class(symbol))]
		if at == Dead {
			return Dead
		}
	}
	return at
}

// Size is the number of bytes the tables take.
func (t *Table) Size() int { return 2*len(t.next) + int(unsafe.Sizeof(place{}))*len(t.places) }
