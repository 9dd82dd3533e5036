package structuraltag

import (
	"slices"

	"github.com/parlance-llm/parlance/constraint/language"
)

// piece is an element, or a node without a form of its own.
type piece struct {
	element *element
	node    language.Node
}

// elements writes a node as elements that follow each other. Neighbours that have no form of their own are one grammar.
func (w *writer) elements(n language.Node) []*element {
	before := w.write(n)
	defer func() { w.line = w.line[:before] }()
	return slices.Clone(w.line[before:])
}

// node writes a node as one element.
func (w *writer) node(n language.Node) *element {
	before := w.write(n)
	defer func() { w.line = w.line[:before] }()
	return w.sequence(w.line[before:])
}

// write puts the elements of a node on the line and tells where they begin.
func (w *writer) write(n language.Node) int {
	from, before := len(w.stack), len(w.line)
	w.pieces(n)
	for at := from; at < len(w.stack); at++ {
		if e := w.stack[at].element; e != nil {
			w.line = append(w.line, e)
			continue
		}
		end := at + 1
		for end < len(w.stack) && w.stack[end].element == nil {
			end++
		}
		w.run = w.run[:0]
		for _, p := range w.stack[at:end] {
			w.run = append(w.run, p.node)
		}
		n := language.Join(w.run...)
		literal, ok := n.(*language.Literal)
		switch {
		case !ok:
			w.line = append(w.line, w.grammar(n))
		case literal.Text != "":
			w.line = append(w.line, w.constant(literal.Text))
		}
		at = end - 1
	}
	w.stack = w.stack[:from]
	return before
}

// pieces puts on the stack what a node is, piece by piece.
func (w *writer) pieces(n language.Node) {
	if w.leaves > mostLeaves { // the tag will not be used
		return
	}
	switch n := n.(type) {
	case *language.Literal:
		start, end, ok := w.cut(n.Text)
		if !ok {
			w.push(piece{node: n})
			return
		}
		w.pieces(language.Text(n.Text[:start]))
		w.push(piece{element: w.constant(n.Text[start:end])})
		w.pieces(language.Text(n.Text[end:]))
	case *language.Sequence:
		for _, item := range n.Items {
			w.pieces(item)
		}
	case *language.Mark:
		if n.Name == "" {
			w.pieces(n.Inner)
			return
		}
		w.names = append(w.names, n.Name)
		w.pieces(n.Inner)
		w.names = w.names[:len(w.names)-1]
	case *language.Rule:
		w.rule(n)
	default:
		if w.holdsForm(n) || w.holdsName(n) {
			w.formed(n)
			return
		}
		w.push(piece{node: n})
	}
}

func (w *writer) push(p piece) { w.stack = append(w.stack, p) }

// rule puts on the stack what a rule is. A parameter that several tools have is looked at once, without their names.
func (w *writer) rule(n *language.Rule) {
	shared := w.used[n] > 1
	parameter := shared && isParameter(n.Body)
	if w.busy[n] || !w.holdsForm(n) && !parameter && (shared || !w.holdsName(n)) {
		w.push(piece{node: n})
		return
	}
	if known, ok := w.parameters[n]; ok {
		w.loops += known.loops
		w.stack = append(w.stack, known.pieces...)
		return
	}
	w.busy[n] = true
	from, names, loops := len(w.stack), w.names, w.loops
	if parameter {
		w.names = nil
	}
	w.pieces(n.Body)
	if parameter {
		w.names = names
		w.parameters[n] = parameterPieces{slices.Clone(w.stack[from:]), w.loops - loops}
	}
	delete(w.busy, n)
}

// parameterPieces are the pieces of a parameter, with the number of repetitions without limit in it.
type parameterPieces struct {
	pieces []piece
	loops  int
}

// isParameter tells whether a node is a parameter, written in one way or in several.
func isParameter(n language.Node) bool {
	switch n := n.(type) {
	case *language.Mark:
		return n.Role == language.Parameter
	case *language.Choice:
		return len(n.Options) > 0 && isParameter(n.Options[0])
	}
	return false
}

// formed puts on the stack a node that has a form of its own, or holds what has.
func (w *writer) formed(n language.Node) {
	switch n := n.(type) {
	case *language.Choice:
		options := make([][]*element, len(n.Options))
		for i, option := range n.Options {
			options[i] = w.elements(option)
		}
		for _, e := range w.choice(nil, options) {
			w.push(piece{element: e})
		}
	case *language.Repeat:
		if n.Max < 0 {
			w.loops++
		}
		w.push(piece{element: w.repeated(w.node(n.Inner), n.Min, n.Max)})
	case *language.Free:
		w.push(piece{element: w.free(n)})
	case *language.Schema:
		w.push(piece{element: w.schema(n)})
	case *language.Regular:
		if n.Looser {
			w.widen("text that holds a marker which is laid out otherwise, or the closers of a call and another call, is let through")
		}
		w.push(piece{element: w.anyText(n.Without)})
	default:
		w.push(piece{element: w.grammar(n)})
	}
}
