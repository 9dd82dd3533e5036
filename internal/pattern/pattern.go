// Package pattern reads the regular expressions of Python, as its re and regex modules have them, and makes of each what
// can be matched while the text arrives.
//
// A response template describes a wire format by such expressions. They are written for a search in a text that is
// there as a whole; here the text comes piece by piece and nothing that has been given out is taken back. Most
// expressions can be matched all the same: fixed text, runs of characters that end where another character comes,
// alternatives, options. What needs more, such as a back-reference, a look behind, or a run that gives characters back,
// is refused by an Error that names the construct and where it stands.
//
// The words: a *node* is a part of an expression as it is written. A *part* is a piece of what it says to the machine:
// fixed texts, white space, or a run. A *run* is a stretch of text that an Automaton recognises character by character
// and that is over at the first character it cannot take.
package pattern

import (
	"fmt"
	"unicode/utf8"
)

// Error says what an expression holds that cannot be matched, or is no regular expression at all.
type Error struct {
	// Pattern is the whole expression, Offset where in it the construct begins, in characters from 0.
	Pattern string
	Offset  int
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s, at character %d of %s", e.Message, e.Offset, e.Pattern)
}

type operation uint8

const (
	opEmpty  operation = iota // nothing
	opSet                     // one character of a set
	opCat                     // the subs one after the other
	opAlt                     // one of the subs, the first that fits
	opRepeat                  // the sub, min to max times
	opGroup                   // the sub, captured as name if it has one
	opAhead                   // the sub follows
	opStart                   // the beginning of the text
	opEnd                     // the end of the text
)

// unbounded is the max of a repetition without one.
const unbounded = -1

// node is a part of a pattern.
type node struct {
	op       operation
	at       int // in characters
	set      Set
	subs     []*node
	min, max int
	lazy     bool
	name     string
}

// Expression is a regular expression that has been read.
type Expression struct {
	source string
	root   *node
	names  []string
}

// Names are the names of its groups, in the order in which they are written.
func (e *Expression) Names() []string { return e.names }

// String is the expression as it was written.
func (e *Expression) String() string { return e.source }

func (e *Expression) fail(at int, format string, arguments ...any) *Error {
	return &Error{Pattern: e.source, Offset: at, Message: fmt.Sprintf(format, arguments...)}
}

// Literal gives the expression for a fixed text.
func Literal(text string) *Expression {
	root := &node{op: opCat}
	at := 0
	for i, r := range text {
		if r == utf8.RuneError && text[i] != 0xEF { // an invalid byte stands for nothing that can be matched
			continue
		}
		root.subs = append(root.subs, &node{op: opSet, at: at, set: Set{{r, r}}})
		at++
	}
	return &Expression{source: text, root: root}
}
