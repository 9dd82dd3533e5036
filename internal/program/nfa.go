package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
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
	stepDelimited                  // Gemma's arguments up to the closing bracket
	stepBranch                     // one of next, by tests
	stepLook                       // goes on only where something given follows
	stepThought                    // the entrance of a thought, closed while thinking is switched off
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
	actLate           // a closer of a call that has ended already: markup, once
	actStray          // markup without meaning where it stands
)

type step struct {
	op      operation
	next    []int
	literal string
	act     act
	region  int
	at      grammar.Position

	capture  int // of stepWord, stepUntil, stepAttribute, stepValue: number of the capture, or -1
	class    *grammar.Class
	count    int
	tray     Tray
	between  bool // text between the calls of a block: the law's, not the grammar's
	named    bool // the call's name is complete before this step
	closing  bool // a closer of its region
	opening  bool // nothing of its region stands before it
	glued    bool // the literal belongs to the one before it: together they are one marker
	equals   bool // a capture that must repeat the open element's key
	value    ValueKind
	codec    *grammar.Codec
	envelope *grammar.Envelope
	branches [][]grammar.Test
	look     *lookahead
	half     *half
	inSet    bool  // an element of a set, which opens nothing by a mere word
	stray    bool  // the law's: read only where nothing else is
	inRun    bool  // the law's: in a run of closers inside a value
	strays   []int // of stepText: markers that are markup beside this text
}

// lookahead is the inside of `&x`.
type lookahead struct {
	blank    bool
	end      bool
	rules    []string
	literals []string
}

// region is one use of a role.
type region struct {
	role   grammar.Role
	rule   string
	parent int
	exit   int // the step behind the region
	// texts are the steps of the region's own text captures.
	texts []int
	// closers are the first literals of its closing markers.
	closers []int
	// made: the call's arguments are, or may be, written in tags or with delimiters.
	made bool
	// list: the calls of the block are elements of a bracketed list.
	list bool
	half *half
}

// half is one definition's part in a combination.
type half struct {
	definition *grammar.Definition
	thoughts   bool // the reasoning half is chosen
	calls      bool // the tool half is chosen
	// content replaces @content of a reasoning half by the tool half's output.
	content *half
}

type graph struct {
	steps    []step
	regions  []region
	captures []string
	patterns map[int]*grammar.Choice
	halves   []*half
	start    int
	finish   int
	// thoughts are the text steps inside thoughts; over the steps right behind a thought.
	thoughts []int
	over     []int
	// token tells whether a literal holds a token that counts only as a whole; nil if there are none.
	token func(literal string) bool
}

const outside = -1

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

type unsayable struct{ err error }

// fail stops the building; build recovers it.
func (g *graph) fail(h *half, at grammar.Position, format string, arguments ...any) {
	panic(unsayable{&grammar.Error{File: h.definition.File, Position: at, Message: fmt.Sprintf(format, arguments...)}})
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
		return g.single(step{op: stepWord, class: &e.Class, count: e.Count, region: c.region, at: e.Position, capture: -1, half: c.half}), true
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

func (g *graph) look(e *grammar.Look, c context) (fragment, bool) {
	if c.noLook {
		return fragment{}, false
	}
	ahead := &lookahead{}
	var gather func(e grammar.Expression)
	gather = func(e grammar.Expression) {
		switch e := e.(type) {
		case *grammar.Blank:
			ahead.blank = true
		case *grammar.End:
			ahead.end = true
		case *grammar.Literal:
			ahead.literals = append(ahead.literals, e.Text)
		case *grammar.Reference:
			if g.possible(c, grammar.RoleOf(e.Name)) {
				ahead.rules = append(ahead.rules, e.Name)
			}
		case *grammar.Choice:
			for _, alternative := range e.Alternatives {
				gather(alternative)
			}
		case *grammar.Sequence:
			for _, item := range e.Items {
				gather(item)
			}
		default:
			g.fail(c.half, e.At(), "expected literals, rules or end behind '&'")
		}
	}
	gather(e.Inner)
	if !ahead.end && len(ahead.rules) == 0 && len(ahead.literals) == 0 {
		return fragment{}, false
	}
	return g.single(step{op: stepLook, look: ahead, region: c.region, at: e.Position, capture: -1}), true
}

// captured writes out a capture by its name and shape.
func (g *graph) captured(e *grammar.Capture, c context) (fragment, bool) {
	if e.Shape == nil || e.Name == "content" {
		switch e.Name {
		case "reasoning", "content", "drop", "text":
			return g.text(e, c), true
		}
	}
	s := step{region: c.region, at: e.Position, capture: g.capture(e.Name), half: c.half, named: c.named}
	if e.Name == "value" {
		s.op, s.value = stepValue, ValueText
		if codec, ok := e.Shape.(*grammar.Codec); ok {
			switch codec.Kind {
			case "json":
				s.value = ValueJSON
			case "xml":
				s.value = ValueXML
			}
		}
		g.makes(c)
		return g.single(s), true
	}
	switch shape := e.Shape.(type) {
	case nil:
		s.op, s.class = stepWord, &grammar.WordClass
		switch e.Name {
		case "key", "type", "sources":
			if c.inSet {
				break
			}
			s.op = stepUntil
			s.equals = e.Name == "key" && slices.Contains(c.nested, "@key")
		case "echo":
			s.op = stepEcho
		}
	case *grammar.Codec:
		s.codec = shape
		s.capture = -1
		switch shape.Kind {
		case "json":
			s.op = stepJSON
		case "python":
			s.op = stepPython
		case "delimited":
			s.op = stepDelimited
			g.makes(c)
		default:
			g.fail(c.half, e.Position, "the codec %s reads a @value, not @%s", shape.Kind, e.Name)
		}
	case *grammar.Run:
		s.op, s.class, s.count = stepWord, &shape.Class, shape.Count
	case *grammar.Literal:
		s.op, s.literal, s.class = stepKeyword, shape.Text, &grammar.WordClass
	case *grammar.Choice:
		if e.Name == "echo" {
			return g.echo(shape, c)
		}
		s.op, s.class = stepWord, &grammar.WordClass
		g.pattern(s.capture, shape)
	}
	return g.single(s), true
}

// pattern notes that a captured text is taken apart, into captures of its own.
func (g *graph) pattern(capture int, shape *grammar.Choice) {
	g.patterns[capture] = shape
	grammar.Walk(shape, func(e grammar.Expression) bool {
		if part, ok := e.(*grammar.Capture); ok {
			g.capture(part.Name)
		}
		return true
	})
}

func (g *graph) echo(inner *grammar.Choice, c context) (fragment, bool) {
	f, ok := g.build(inner, c)
	if !ok {
		return f, false
	}
	in := g.add(step{op: stepEchoBegin, region: c.region, capture: -1})
	out := g.add(step{op: stepEchoEnd, region: c.region, capture: -1})
	end := g.nothing(c.region)
	g.link(in, f.in)
	g.link(f.out, out)
	g.link(out, end)
	return fragment{in, end}, true
}

// text writes out a text capture: text of a tray, with the markers around it that are markup wherever text stands.
func (g *graph) text(e *grammar.Capture, c context) fragment {
	if literal, ok := e.Shape.(*grammar.Literal); ok { // @content:"…": a marker that stays in the tray
		return g.single(step{op: stepLiteral, literal: literal.Text, act: actContent, tray: Content, region: c.region, at: e.Position, capture: -1})
	}
	tray := Content
	switch e.Name {
	case "reasoning":
		if tray = Reasoning; !c.half.thoughts {
			tray = Content
		}
	case "drop":
		tray = Dropped
	case "content":
		if c.half.content != nil {
			inner := context{half: c.half.content, region: c.region}
			f, _ := g.build(outputOf(c.half.content.definition), inner)
			return f
		}
	}
	t := g.add(step{op: stepText, tray: tray, region: c.region, at: e.Position, capture: -1, half: c.half})
	out := g.nothing(c.region)
	g.link(t, out)
	if c.region != outside {
		g.regions[c.region].texts = append(g.regions[c.region].texts, t)
	}
	return fragment{t, out}
}

// outputOf is the output rule of a definition, or the default: a thought, then text, frames, messages and blocks (or
// calls, where there is no block).
func outputOf(d *grammar.Definition) grammar.Expression {
	if rule := d.Rule("output"); rule != nil {
		return rule.Body
	}
	at := grammar.Position{}
	loop := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{&grammar.Capture{Position: at, Name: "content"}}}}}
	body := &grammar.Sequence{}
	add := func(name string) bool {
		if d.Rule(name) == nil {
			return false
		}
		loop.Alternatives = append(loop.Alternatives, &grammar.Sequence{Items: []grammar.Expression{&grammar.Reference{Name: name}}})
		return true
	}
	if d.Rule("thought") != nil {
		body.Items = append(body.Items, &grammar.Optional{Inner: &grammar.Reference{Name: "thought"}})
	}
	add("frame")
	add("message")
	if !add("block") {
		add("call")
	}
	body.Items = append(body.Items, &grammar.Repeat{Inner: loop})
	return body
}

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

// closedList notes on a block that its calls are the elements of a list that has a closing bracket.
func (g *graph) closedList(items []grammar.Expression, i int, c context) {
	list, ok := items[i].(*grammar.List)
	if !ok || strings.TrimSpace(list.Separator) == "" || c.region == outside || g.regions[c.region].role != grammar.Block {
		return
	}
	for _, item := range items[i+1:] {
		switch item.(type) {
		case *grammar.Blank, *grammar.Layout:
			continue
		case *grammar.Literal:
			g.regions[c.region].list = true
		}
		return
	}
}

func following(items []grammar.Expression, i int) grammar.Expression {
	if i+1 < len(items) {
		return items[i+1]
	}
	return nil
}

// bareElement is a bracketed list of JSON calls, which takes one bare object as well (ruling 22).
type bareElement struct {
	from, left int
	list       []grammar.Expression
}

// bracketed tells how many items from here on are a bracketed list of calls in JSON, or 0.
func (g *graph) bracketed(items []grammar.Expression, d *grammar.Definition) int {
	open, ok := items[0].(*grammar.Literal)
	if !ok || open.Text != "[" {
		return 0
	}
	for n, item := range items[1:] {
		switch item := item.(type) {
		case *grammar.Blank:
		case *grammar.List:
			reference, ok := item.Inner.(*grammar.Reference)
			if !ok || !hasEnvelope(d.Rule(reference.Name)) {
				return 0
			}
		case *grammar.Literal:
			if item.Text == "]" {
				return n + 2
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

func hasEnvelope(rule *grammar.Rule) bool {
	found := false
	if rule != nil {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if _, ok := e.(*grammar.Envelope); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

func (g *graph) bareElement(b bareElement, to int, c context) {
	for _, item := range b.list {
		if list, ok := item.(*grammar.List); ok {
			if f, ok := g.build(list.Inner, c); ok {
				g.link(b.from, f.in)
				g.link(f.out, to)
			}
		}
	}
}

// joined makes one literal of literals that stand side by side.
func joined(items []grammar.Expression) (*grammar.Literal, int) {
	first, ok := items[0].(*grammar.Literal)
	if !ok {
		return nil, 0
	}
	text, n := first.Text, 1
	for n < len(items) {
		next, ok := items[n].(*grammar.Literal)
		if !ok {
			break
		}
		text += next.Text
		n++
	}
	return &grammar.Literal{Position: first.Position, Text: text}, n
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

// plainWord tells whether a literal is made of letters, digits and blanks only.
func plainWord(text string) bool {
	for _, c := range []byte(text) {
		if c != ' ' && c != '_' && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

// ownParts tells whether a sequence is a role's own body rather than a part deep inside it.
func (g *graph) ownParts(c context, e *grammar.Sequence) bool {
	return c.region != outside && slices.Contains(topSequences(g.regionRule(c)), e)
}

func (g *graph) regionRule(c context) *grammar.Rule {
	return g.regions[c.region].half.definition.Rule(g.regions[c.region].rule)
}

// topSequences are the alternatives of a rule, through references to abbreviations that are a whole alternative.
func topSequences(rule *grammar.Rule) []*grammar.Sequence {
	if rule == nil {
		return nil
	}
	return rule.Body.Alternatives
}

// closingFrom gives the index of the first item behind everything that a role holds.
func closingFrom(e *grammar.Sequence, d *grammar.Definition) int {
	for i := len(e.Items) - 1; i >= 0; i-- {
		if holds(e.Items[i], d) {
			return i + 1
		}
	}
	return len(e.Items)
}

// holds tells whether an expression holds anything but markers: captures, codecs, other roles.
func holds(e grammar.Expression, d *grammar.Definition) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Look:
			return false
		case *grammar.Capture, *grammar.Envelope, *grammar.Set:
			found = true
		case *grammar.Reference:
			if grammar.RoleOf(e.Name) != "" {
				found = true
			} else if rule := d.Rule(e.Name); rule != nil && holds(rule.Body, d) {
				found = true
			}
		}
		return !found
	})
	return found
}

// capturesName tells whether a call's name is complete behind an item.
func capturesName(e grammar.Expression, d *grammar.Definition) bool {
	return capturesDeep(e, "name", d)
}

// capturesDeep tells whether an expression captures a name, itself or in an abbreviation. What an envelope captures does
// not count.
func capturesDeep(e grammar.Expression, name string, d *grammar.Definition) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Capture:
			found = found || e.Name == name
		case *grammar.Envelope:
			return false
		case *grammar.Reference:
			if rule := d.Rule(e.Name); rule != nil && grammar.RoleOf(e.Name) == "" {
				found = found || capturesDeep(rule.Body, name, d)
			}
		}
		return !found
	})
	return found
}

func captures(e grammar.Expression, name string) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if capture, ok := e.(*grammar.Capture); ok && capture.Name == name {
			found = true
		}
		return !found
	})
	return found
}

func (g *graph) set(e *grammar.Set, c context) (fragment, bool) {
	loop, out := g.nothing(c.region), g.nothing(c.region)
	start := len(g.steps)
	defer func() {
		for i := start; i < len(g.steps); i++ {
			g.steps[i].inSet = true
		}
	}()
	blank := g.add(step{op: stepBlank, region: c.region, at: e.Position, capture: -1})
	inside := g.nothing(c.region)
	g.link(loop, blank)
	g.link(blank, inside)
	g.link(inside, out)
	c.inSet = true
	attributes := true
	for _, element := range e.Elements {
		attribute, ok := element.(*grammar.Attribute)
		if !ok {
			attributes = false
			f, ok := g.build(element, c)
			if !ok {
				continue
			}
			g.link(inside, f.in)
			g.link(f.out, loop)
			continue
		}
		if shape, ok := attribute.Capture.Shape.(*grammar.Choice); ok {
			g.pattern(g.capture(attribute.Capture.Name), shape)
		}
		g.attribute(inside, loop, step{op: stepKeyword, literal: attribute.Name, class: &attributeClass, at: attribute.Position},
			g.capture(attribute.Capture.Name), c)
	}
	if attributes { // attributes nobody asked for are passed over
		g.attribute(inside, loop, step{op: stepWord, class: &attributeClass, at: e.Position}, -1, c)
	}
	return fragment{loop, out}, true
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

// attribute writes out name, "=" and value, with blanks allowed around the sign.
func (g *graph) attribute(from, to int, name step, capture int, c context) {
	name.region, name.capture, name.half = c.region, -1, c.half
	steps := []step{name, {op: stepBlank, region: c.region, capture: -1},
		{op: stepLiteral, literal: "=", region: c.region, at: name.at, capture: -1, act: actStray},
		{op: stepBlank, region: c.region, capture: -1},
		{op: stepAttribute, region: c.region, at: name.at, capture: capture, half: c.half}}
	for _, s := range steps {
		at := g.add(s)
		g.link(from, at)
		from = at
	}
	g.link(from, to)
}

func (g *graph) list(e *grammar.List, c context) (fragment, bool) {
	first, ok := g.build(e.Inner, c)
	if !ok {
		return fragment{}, false
	}
	separator := strings.TrimSpace(e.Separator)
	after, out := g.nothing(c.region), g.nothing(c.region)
	g.link(first.out, after)
	g.link(after, out)
	if separator == "" {
		blank := g.add(step{op: stepBlank, region: c.region, capture: -1})
		g.link(after, blank)
		g.link(blank, first.in)
		g.between(after, e.Inner, c)
		return fragment{first.in, out}, true
	}
	// Separators may be missing, doubled, or stand behind the last element (notation §1.2, `%`).
	blank := g.add(step{op: stepBlank, region: c.region, capture: -1})
	mark := g.add(step{op: stepLiteral, literal: separator, region: c.region, at: e.Position, capture: -1, act: actStray})
	behind := g.add(step{op: stepBlank, region: c.region, capture: -1})
	g.link(after, blank)
	g.link(blank, mark)
	g.link(blank, first.in)
	g.link(mark, behind)
	g.link(behind, first.in)
	g.link(behind, mark)
	g.link(behind, out)
	return fragment{first.in, out}, true
}

// between adds the text that may stand between the calls of a block (ruling 13): content, where the calls have markers
// of their own and are not the elements of a list.
func (g *graph) between(loop int, inner grammar.Expression, c context) {
	if c.region == outside || g.regions[c.region].role != grammar.Block || !refersTo(inner, grammar.Call) || !g.marked(inner, c) {
		return
	}
	t := g.add(step{op: stepText, tray: Content, between: true, region: c.region, capture: -1, half: c.half})
	g.link(loop, t)
	g.link(t, loop)
	g.regions[c.region].texts = append(g.regions[c.region].texts, t)
}

// marked tells whether some of the calls in an expression begin with a marker.
func (g *graph) marked(inner grammar.Expression, c context) bool {
	found := false
	grammar.Walk(inner, func(e grammar.Expression) bool {
		reference, ok := e.(*grammar.Reference)
		if !ok || grammar.RoleOf(reference.Name) != grammar.Call {
			return true
		}
		for _, sequence := range c.half.definition.Rule(reference.Name).Body.Alternatives {
			if len(sequence.Items) > 0 {
				_, literal := sequence.Items[0].(*grammar.Literal)
				found = found || literal
			}
		}
		return false
	})
	return found
}

func refersTo(e grammar.Expression, role grammar.Role) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if reference, ok := e.(*grammar.Reference); ok && grammar.RoleOf(reference.Name) == role {
			found = true
		}
		return !found
	})
	return found
}

// reference writes out a rule where it is used; a role becomes a region.
func (g *graph) reference(e *grammar.Reference, c context) (fragment, bool) {
	rule := c.half.definition.Rule(e.Name)
	role := rule.Role()
	if slices.Contains(c.nested, e.Name) {
		if role != grammar.Parameter {
			g.fail(c.half, e.Position, "the rule %s uses itself; only parameters may be nested", e.Name)
		}
		return g.single(step{op: stepNested, region: c.region, at: e.Position, capture: -1}), true
	}
	if !g.possible(c, role) {
		return fragment{}, false
	}
	c.nested = append(slices.Clone(c.nested), e.Name)
	if role == "" {
		return g.build(rule.Body, c)
	}
	return g.role(rule, c)
}

// markOpening marks the steps by which a region can be entered.
func (g *graph) markOpening(at int, seen map[int]bool) {
	if seen[at] {
		return
	}
	seen[at] = true
	s := &g.steps[at]
	switch s.op {
	case stepNothing, stepBlank, stepThought, stepEchoBegin:
		for _, next := range s.next {
			g.markOpening(next, seen)
		}
	default:
		s.opening = true
	}
}

func (g *graph) role(rule *grammar.Rule, c context) (fragment, bool) {
	role := rule.Role()
	if role == grammar.Call && g.needsBlock(rule, c) {
		return fragment{}, false
	}
	in, exit := g.nothing(c.region), g.nothing(c.region)
	if role == grammar.Thought {
		g.steps[in].op = stepThought
	}
	number := len(g.regions)
	g.regions = append(g.regions, region{role: role, rule: rule.Name, parent: c.region, exit: exit, half: c.half})
	inner := c
	inner.region = number
	inner.closing = false
	if role == grammar.Call {
		// A call in a message may have its name in the header.
		inner.named = c.named
	} else if role == grammar.Block {
		inner.named = false
	}
	f, ok := g.build(rule.Body, inner)
	if !ok {
		return fragment{}, false
	}
	g.link(in, f.in)
	g.link(f.out, exit)
	for at := range g.steps {
		if s := &g.steps[at]; s.region == number && s.op == stepLiteral && s.closing && !s.glued {
			g.regions[number].closers = append(g.regions[number].closers, at)
		}
	}
	g.markOpening(f.in, map[int]bool{})
	if role == grammar.Thought {
		g.thoughts = append(g.thoughts, g.regions[number].texts...)
		g.over = append(g.over, exit)
	}
	return fragment{in, exit}, true
}

// needsBlock tells whether a call outside a block does not count because the block's opener is a token and its own is
// not: ordinary text could forge it (ruling 22).
func (g *graph) needsBlock(rule *grammar.Rule, c context) bool {
	d := c.half.definition
	if g.token == nil || g.inside(c.region, grammar.Block) || g.token(opener(rule, d)) {
		return false
	}
	for _, block := range d.Rules {
		if block.Role() != grammar.Block || !g.token(opener(block, d)) {
			continue
		}
		holds := false
		walk(block, d, func(e grammar.Expression) bool {
			reference, ok := e.(*grammar.Reference)
			holds = holds || ok && reference.Name == rule.Name
			return true
		})
		if holds {
			return true
		}
	}
	return false
}

// inside tells whether a region is, or stands in, a role.
func (g *graph) inside(region int, role grammar.Role) bool {
	for r := region; r != outside; r = g.regions[r].parent {
		if g.regions[r].role == role {
			return true
		}
	}
	return false
}

// opener is the first marker of a rule, or "".
func opener(rule *grammar.Rule, d *grammar.Definition) (text string) {
	walk(rule, d, func(e grammar.Expression) bool {
		if literal, ok := e.(*grammar.Literal); ok && text == "" {
			text = literal.Text
		}
		return text == ""
	})
	return text
}

// walk visits a rule, and the abbreviations in it.
func walk(rule *grammar.Rule, d *grammar.Definition, visit func(grammar.Expression) bool) {
	grammar.Walk(rule.Body, func(e grammar.Expression) bool {
		if !visit(e) {
			return false
		}
		if reference, ok := e.(*grammar.Reference); ok && grammar.RoleOf(reference.Name) == "" {
			if inner := d.Rule(reference.Name); inner != nil {
				walk(inner, d, visit)
			}
		}
		return true
	})
}
