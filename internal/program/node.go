// Package program compiles definitions into the automaton that the machine runs.
//
// The words: a *node* is one state; it says what may come next and what everything else means there. A *text* node
// stands in a tray: what it finds are markers, the rest is text. A *head* reads markup that has to be just so: white
// space, markers and words in a certain order; as long as it is undecided it is a *candidate*, whose characters are
// held, and if it fails they turn back into text. A call *commits* when its name and the beginning of its arguments
// have been read; from there on nothing of it is taken back in a stream. Behind its arguments comes the *tail*: the
// closing markers in whatever order.
//
// The grammar says only what is right. What happens when it goes wrong (the law of the rulings) is put in here, by
// role, for every definition alike: which markers end what they do not belong to, which are skipped, which are text.
package program

import (
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/pattern"
)

// Kind is what a node reads.
type Kind uint8

// The kinds of node.
const (
	// Text: text of a tray (or junk), until one of the markers comes.
	Text Kind = iota
	// Gap: text between the elements of a list of calls; junk if the list goes on, else content.
	Gap
	// Head: markup that must be just so.
	Head
	// Tail: closing markers behind a call's arguments, in any order.
	Tail
	// Until: text up to one of the markers, captured.
	Until
	// Attribute: the value of an attribute, quoted or bare, captured.
	Attribute
	// Value: a tagged value.
	Value
	// JSON: a JSON object.
	JSON
	// Envelope: a JSON object that carries a call.
	Envelope
	// Python: keyword arguments.
	Python
	// Delimited: arguments with delimited strings.
	Delimited
	// Whole: a region of calls that is read when all of it is there.
	Whole
	// Echo: a block written a second time.
	Echo
)

// Phase is what a head stands for: what its characters become if it fails.
type Phase uint8

// The phases of a head.
const (
	// Candidate: nothing is decided; a failure turns what is held into text.
	Candidate Phase = iota
	// InCall: inside a call that has begun; a failure is junk.
	InCall
	// InValue: inside a tagged value; a failure is data.
	InValue
	// InList: behind an element of a list; a failure is junk or, if the list does not go on, content.
	InList
)

// Do are the things that happen when an edge is taken, in the order of the bits.
type Do uint32

// The things an edge does.
const (
	// Resolve: what is held is markup.
	Resolve Do = 1 << iota
	// Commit: a call begins.
	Commit
	// EndValue: the value ends before the edge's marker (or where the closing run began).
	EndValue
	// EndCall: the call ends.
	EndCall
	// Again: the marker is read again by the node the edge leads to.
	Again
	// KeyDone: the key is complete and the value begins.
	KeyDone
	// OpenNested: a parameter inside a parameter is entered.
	OpenNested
	// CloseElement: a parameter ends that may lie inside another.
	CloseElement
	// BeginMessage: a message begins in the tray of the node the edge leads to.
	BeginMessage
	// EndValueHere: with EndValue, after a run of closers that turned out to be data: the value ends before the marker.
	EndValueHere
	// RunCloser: a closer of a run inside a value is complete.
	RunCloser
	// Stay: the marker is layout; the node goes on as if it had not been there.
	Stay
	// LoneCloser: a thought's closer outside a thought; PairOpener: an opener where no thought can begin (ruling 9).
	LoneCloser
	PairOpener
	// AsText: the marker is text of the tray.
	AsText
	// BlockCloser: markup if a call of the block has begun, else text (ruling 35).
	BlockCloser
	// Blank: white space before the marker is markup.
	Blank
	// ThoughtOver: in a prompt, a closer shows that the thought is over.
	ThoughtOver
	// RecordEcho and StopEcho: the text between is recorded.
	RecordEcho
	StopEcho
)

// The circumstances in which some markers in text are text themselves.
const (
	// Paired: an opener of a thought was text, so the next lone closer is text too.
	Paired match.Watch = 1 << iota
	// NoCalls: no call of the open block has begun, so its closer is text.
	NoCalls
)

// Edge is a way from one node to another.
type Edge struct {
	To *Node
	Do Do
	// Branches are taken instead of To by the first whose tests hold.
	Branches []Branch
	// Return is where a nested parameter leads back to.
	Return *Node
	// Watch says when a marker in text is text itself.
	Watch match.Watch
	// Capture is set to what was read, or -1.
	Capture int
	// Text is the marker; Bytes and Symbols are the same.
	Text    string
	Bytes   []byte
	Symbols []match.Symbol
}

// Branch is one way of several, chosen by captures that are complete.
type Branch struct {
	Tests []Test
	Edge  Edge
}

// Test asks for a capture: that it was captured at all (no patterns) or equals one of the patterns.
type Test struct {
	Capture  int
	Patterns []grammar.Pattern
}

// Word is a word a head may read.
type Word struct {
	Class *grammar.Class
	Count int // exact length, or 0
	// Automaton reads the word instead of Class and Count, where its definition gives a regular expression.
	Automaton *pattern.Automaton
	Edge      Edge
}

// Node is one state of the automaton. Nodes are immutable once compiled.
type Node struct {
	Number int
	Kind   Kind

	// Tray of a text node.
	Tray Tray
	// Table finds or reads the markers; Edges are where they lead, by the number of the literal.
	Table *match.Table
	Edges []Edge
	// OnText is the node behind the first text, where something may stand only before it.
	OnText *Node
	// KeepBlank: white space does not count as text yet.
	KeepBlank bool
	// Block is the block whose calls the text stands between, or -1; Body the message whose body it is, or -1.
	Block, Body int
	// Twins are this node in the other modes; see Mode.
	Twins [modes]*Node
	// Steady: text of the content or of the reasoning, where nothing stands only before the first text.
	Steady bool
	// InThought: the text stands in a thought.
	InThought bool
	// SwallowsBlank: white space before some marker is markup.
	SwallowsBlank bool

	// Blank: a head swallows white space here.
	Blank bool
	Phase Phase
	// Words are what may stand here as a word; Keywords are words that mean something as a whole.
	Words    *Word
	Keywords map[string]Edge
	// Marked: a marker with a letter in it has been read on the way (rulings 21, 37).
	Marked bool
	// AtStop, AtCut tell what the end of the output makes of a candidate, with `stop` and with `length`.
	AtStop, AtCut Ending
	// Fail is where a failure leads (args, gap or value; of a candidate it is where it began).
	Fail *Node
	// Call is the region of the call, if one has been named here, or -1.
	Call int

	// Capture is what Until and Attribute fill; Equals asks for the key of the open element instead.
	Capture int
	Equals  bool
	// Lines: Until reads the parameters of a call that begin with their keys; what is no parameter is junk.
	Lines bool
	// Next is where an attribute's value leads.
	Next *Node
	// Opened is the text between the calls of a block whose first candidate has failed: the block stays open (ruling 35).
	Opened *Node
	// Run: a run of closers inside a value has begun.
	Run bool
	// Element reads the next element of a list that begins with a word; Rejected is the text behind a list of which no
	// call has been read.
	Element, Rejected *Node
	// Echo reads a block written a second time, which may stand before the first text.
	Echo *Node

	// The rest is for codecs and values.
	Envelope  *EnvelopeSpec
	Plain     *Node // the plain arguments, if the envelope turns out not to be one
	Delimiter []byte
	Quotes    bool
	Whole     grammar.WholeReader
	Closer    byte
	Tail      *Node
	Value     *ValueSpec
}

// Ending is what the end of the output makes of a candidate.
type Ending uint8

// The endings.
const (
	// EndText: it turns back into text.
	EndText Ending = iota
	// EndDropped: it is dropped (ruling 37).
	EndDropped
	// EndCalled: it is a call.
	EndCalled
	// EndMarkup: it is markup.
	EndMarkup
)

// ValueSpec is what a tagged value needs to know.
type ValueSpec struct {
	Kind ValueKind
	// LayoutAfter is cut once at the end of the value.
	LayoutAfter string
	// Start reads what may stand at the very beginning instead of text; nil if nothing may.
	Start      *match.Table
	StartEdges []Edge
	// StartBlank: white space may stand before it.
	StartBlank bool
	// TrimBefore, TrimAfter: white space at that end of the value is markup.
	TrimBefore, TrimAfter bool
	// Nested: parameters may be nested, so repeated elements collect.
	Nested bool
}

// EnvelopeSpec is what a JSON envelope needs to know.
type EnvelopeSpec struct {
	// Members by key; the values of Members are the roles of their captures.
	Members map[string]Member
	// KeyIsName: a member whose value is an object and whose key is none of Members names the call itself.
	KeyIsName bool
	// Call is the region of the call.
	Call int
	// Certain: the request says that a call comes, so that its name alone shows one.
	Certain bool
}

// Member is what a member of an envelope carries.
type Member uint8

// The members of an envelope.
const (
	MemberName Member = iota
	MemberArguments
	MemberID
	// MemberIgnored is known to belong to an envelope and carries nothing.
	MemberIgnored
)
