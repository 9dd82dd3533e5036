package program

import (
	"fmt"
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/pattern"
)

// This file turns the rules of a grammar into a graph of steps: the non-deterministic automaton that the deterministic
// one is made from. Rules are written out where they are used, so that a step knows by itself in which roles it stands;
// only a parameter inside a parameter is entered by reference, since it may be nested without end.

type operation uint8

const (
	stepNothing   operation = iota // go on with any of next
	stepLiteral                    // a marker
	stepBlank                      // any white space
	stepWord                       // a word of a class, captured
	stepKeyword                    // a literal that is read as a whole word (attribute names)
	stepUntil                      // text up to the next literal, captured
	stepAttribute                  // the value of an attribute: quoted or bare
	stepText                       // text of a tray
	stepValue                      // a tagged value
	stepJSON                       // a JSON object
	stepEnvelope                   // a JSON object that carries a call
	stepPython                     // keyword arguments up to the closing parenthesis
	stepWhole                      // a region of calls that is read when all of it is there
	stepDelimited                  // Gemma's arguments up to the closing bracket
	stepBranch                     // one of next, by tests
	stepLook                       // goes on only where something given follows
	stepThought                    // the entrance of a thought, closed while thinking is switched off
	stepEnter                      // the entrance of another half's output, put in for @content …
	stepLeave                      // … and its exit; it is not entered again before something else has come
	stepNested                     // a parameter inside a parameter
	stepEchoBegin                  // what follows is recorded …
	stepEchoEnd                    // … up to here
	stepEcho                       // and may be repeated here
)

// act says what a literal means beyond leading on.
type act uint8

const (
	actNone       act = iota
	actLoneCloser     // a thought's closer outside a thought: adds nothing, unless it pairs (rulings 9, 10)
	actPairOpener     // a thought's opener where no thought can begin: text, and its closer pairs
	actContent        // the literal is text of the tray it stands in
	actStray          // markup without meaning where it stands
)

// step is one place of the grammar, with what it reads and what comes next.
type step struct {
	op      operation
	next    []int
	literal string
	act     act
	region  int
	at      grammar.Position

	capture   int // of stepWord, stepUntil, stepAttribute, stepValue: number of the capture, or -1
	class     *grammar.Class
	automaton *pattern.Automaton // instead of class
	count     int
	tray      Tray
	between   bool // text between the calls of a block: the law's, not the grammar's
	named     bool // the call's name is complete before this step
	closing   bool // a closer of its region
	opening   bool // nothing of its region stands before it
	glued     bool // the literal belongs to the one before it: together they are one marker
	equals    bool // a capture that must repeat the open element's key
	value     ValueKind
	codec     *grammar.Codec
	envelope  *grammar.Envelope
	branches  [][]grammar.Test
	look      *lookahead
	half      *half
	inSet     bool  // an element of a set, which opens nothing by a mere word
	stray     bool  // the law's: read only where nothing else is
	inRun     bool  // the law's: in a run of closers inside a value
	strays    []int // of stepText: markers that are markup beside this text
}

// lookahead is the inside of `&x`.
type lookahead struct {
	blank    bool
	end      bool
	rules    []string
	literals []string
}

// half is one definition's part in a combination.
type half struct {
	definition *grammar.Definition
	thoughts   bool // the reasoning half is chosen
	calls      bool // the tool half is chosen
	// content replaces @content of a reasoning half by the tool half's output.
	content *half
}

// graph is the grammar of a combination, written out: its steps, the regions they stand in, and where things begin.
type graph struct {
	steps    []step
	regions  []region
	captures []string
	patterns map[int]*grammar.Choice
	halves   []*half
	start    int
	// thoughts are the text steps inside thoughts; over the steps right behind a thought.
	thoughts []int
	over     []int
	// enters are the entrances of the tool half's output in the reasoning half.
	enters []int
	// token tells whether a literal holds a token that counts only as a whole; nil if there are none.
	token func(literal string) bool
}

func (g *graph) add(s step) int {
	g.steps = append(g.steps, s)
	return len(g.steps) - 1
}

func (g *graph) nothing(region int) int {
	return g.add(step{op: stepNothing, region: region, capture: -1})
}

func (g *graph) link(from, to int) { g.steps[from].next = append(g.steps[from].next, to) }

// fragment is a part of the graph with one way in and one way out.
type fragment struct{ in, out int }

// capture gives the number of a capture name.
func (g *graph) capture(name string) int {
	if i := slices.Index(g.captures, name); i >= 0 {
		return i
	}
	g.captures = append(g.captures, name)
	return len(g.captures) - 1
}

// context is where an expression stands while the graph is built.
type context struct {
	half    *half
	region  int
	closing bool
	// nested are the rules being written out, to stop at recursion.
	nested []string
	named  bool
	// noLook: looking ahead is left out; a marker that is a stray ends nothing.
	noLook bool
	// inSet: captures are words, since what follows may be any of the set's elements.
	inSet bool
}

// possible tells whether a role takes part in the combination. The others are as if their rules could never be read.
func (g *graph) possible(c context, role grammar.Role) bool {
	switch role {
	case grammar.Thought:
		return c.half.thoughts
	case grammar.Block, grammar.Call:
		return c.half.calls
	}
	return true
}

// build writes out an expression; ok is false if it can never be read in this combination.
func (g *graph) build(e grammar.Expression, c context) (f fragment, ok bool) {
	switch e := e.(type) {
	case *grammar.Literal:
		s := g.add(step{op: stepLiteral, literal: e.Text, region: c.region, at: e.Position, capture: -1, closing: c.closing, named: c.named})
		out := g.nothing(c.region)
		g.link(s, out)
		return fragment{s, out}, true
	case *grammar.Blank:
		s := g.add(step{op: stepBlank, region: c.region, at: e.Position, capture: -1, named: c.named})
		out := g.nothing(c.region)
		g.link(s, out)
		return fragment{s, out}, true
	case *grammar.Layout:
		s := g.nothing(c.region)
		return fragment{s, s}, true
	case *grammar.Look:
		return g.look(e, c)
	case *grammar.Capture:
		return g.captured(e, c)
	case *grammar.Run:
		return g.single(step{op: stepWord, class: &e.Class, count: e.Count, automaton: e.Automaton, region: c.region, at: e.Position, capture: -1, half: c.half}), true
	case *grammar.Envelope:
		return g.single(step{op: stepEnvelope, envelope: e, region: c.region, at: e.Position, capture: -1, half: c.half}), true
	case *grammar.Set:
		return g.set(e, c)
	case *grammar.Reference:
		return g.reference(e, c)
	case *grammar.Choice:
		return g.choice(e, c)
	case *grammar.Sequence:
		return g.sequence(e, c)
	case *grammar.Optional:
		in, out := g.nothing(c.region), g.nothing(c.region)
		if inner, ok := g.build(e.Inner, c); ok {
			g.link(in, inner.in)
			g.link(inner.out, out)
		}
		g.link(in, out)
		return fragment{in, out}, true
	case *grammar.Repeat:
		loop, out := g.nothing(c.region), g.nothing(c.region)
		if inner, ok := g.build(e.Inner, c); ok {
			g.link(loop, inner.in)
			g.link(inner.out, loop)
			g.between(loop, e.Inner, c)
		}
		g.link(loop, out)
		return fragment{loop, out}, true
	case *grammar.List:
		return g.list(e, c)
	}
	panic(fmt.Sprintf("program: %T cannot be built", e))
}

func (g *graph) single(s step) fragment {
	in := g.add(s)
	out := g.nothing(s.region)
	g.link(in, out)
	return fragment{in, out}
}

// makes notes on the call around a position that its arguments are turned into JSON.
func (g *graph) makes(c context) {
	for r := c.region; r != outside; r = g.regions[r].parent {
		if g.regions[r].role == grammar.Call {
			g.regions[r].made = true
			return
		}
	}
}

// choice writes alternatives side by side; with tests they are a branch. It answers false if none can be read.
func (g *graph) choice(e *grammar.Choice, c context) (fragment, bool) {
	tested := false
	for _, alternative := range e.Alternatives {
		tested = tested || len(alternative.Tests) > 0
	}
	in, out := g.nothing(c.region), g.nothing(c.region)
	if tested {
		g.steps[in].op = stepBranch
		g.steps[in].at = e.Position
	}
	any := false
	for i, alternative := range e.Alternatives {
		f, ok := g.sequence(alternative, c)
		if !ok && tested {
			// A branch that cannot be read here (a call, with the tool half not chosen) is content (ruling 15).
			f, ok = g.text(&grammar.Capture{Position: alternative.Position, Name: "content"}, context{half: &half{definition: c.half.definition}, region: c.region}), true
		}
		if !ok {
			continue
		}
		any = true
		if tested {
			if i+1 < len(e.Alternatives) && len(alternative.Tests) == 0 {
				g.fail(c.half, e.Alternatives[i+1].Position, "no text reaches this alternative: the one before it has no test")
			}
			g.steps[in].branches = append(g.steps[in].branches, alternative.Tests)
		}
		g.link(in, f.in)
		g.link(f.out, out)
	}
	return fragment{in, out}, any
}

// sequence writes items one behind the other. It answers false if one of them cannot be read.
func (g *graph) sequence(e *grammar.Sequence, c context) (fragment, bool) {
	in := g.nothing(c.region)
	at := in
	naming := false
	var bare []bareElement
	closing := closingFrom(e, c.half.definition)
	for i := 0; i < len(e.Items); i++ {
		inner := c
		inner.closing = c.closing || g.ownParts(c, e) && i >= closing
		item, first := e.Items[i], i
		if literal, n := joined(e.Items[i:]); n > 1 {
			item = literal
			i += n - 1
		}
		f, ok := g.build(item, inner)
		if !ok {
			return fragment{}, false
		}
		if n := g.bracketed(e.Items[i:], c.half.definition); n > 0 {
			bare = append(bare, bareElement{from: at, list: e.Items[i : i+n], left: n})
		}
		if capturesName(item, c.half.definition) {
			naming = true
			// A literal right behind the name is part of the header; the name is complete behind it.
			_, header := following(e.Items, i).(*grammar.Literal)
			switch item.(type) {
			case *grammar.Capture, *grammar.Set:
			default:
				header = false
			}
			c.named = c.named || !header
		} else if naming {
			c.named = true
		}
		if captures(item, "key") {
			c.nested = append(slices.Clone(c.nested), "@key")
		}
		g.glue(e.Items, first, f)
		g.closedList(e.Items, i, c)
		g.link(at, f.in)
		at = f.out
		for k := range bare {
			if bare[k].left--; bare[k].left == 0 {
				g.bareElement(bare[k], at, c)
			}
		}
	}
	return fragment{in, at}, true
}

// glue marks a literal that is only the middle or the end of a marker: one that is a plain word, or follows one
// (`"<|close|>" ~ "call" ~ "<|sep|>"` is one closer, `"]" ~ "</calls>"` are two).
func (g *graph) glue(items []grammar.Expression, i int, f fragment) {
	literal, ok := items[i].(*grammar.Literal)
	if !ok || g.steps[f.in].op != stepLiteral {
		return
	}
	before := ""
	for k := i - 1; k >= 0 && before == ""; k-- {
		switch item := items[k].(type) {
		case *grammar.Blank:
		case *grammar.Literal:
			before = item.Text
		default:
			before = " "
		}
	}
	if before != "" && before != " " && (plainWord(literal.Text) || plainWord(before)) {
		g.steps[f.in].glued = true
	}
}

var attributeClass = func() (c grammar.Class) {
	c.AddRange('0', '9')
	c.AddRange('A', 'Z')
	c.AddRange('a', 'z')
	for _, b := range []byte("_-.:") {
		c.Add(b)
	}
	return c
}()
