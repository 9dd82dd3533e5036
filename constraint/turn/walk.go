package turn

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// target is what is walked for.
type target uint8

const (
	nothing target = iota
	toCall
	toReasoning
	toContent
)

// scene is what is known where an expression is walked.
type scene struct {
	place
	// tool is the one whose call is walked, nil outside of calls.
	tool *Tool
	// captures are the captures that have a value already.
	captures captured
	// parameter is the parameter that is being written.
	parameter *parameter
}

// place is what of a scene does not depend on the tool.
type place struct {
	target target
	// inside tells that the rule of the parameter that is being written has been entered.
	inside bool
	// pattern tells that the pattern of a capture is written: its optional parts are too.
	pattern bool
	// inBlock tells that a block has been entered.
	inBlock bool
	// header tells that the header of a message is written: white space in it is as it is by the book.
	header bool
	// once: only one region, and only one call unless several.
	once, several bool
}

func (s scene) with(name, value string) scene {
	s.captures = s.captures.with(name, value)
	return s
}

// fill fills the holes of a literal.
func (w *walker) fill(text string) string {
	for name := range w.d.Holes {
		text = strings.ReplaceAll(text, "{"+name+"}", w.Holes[name])
	}
	return text
}

// literal is a literal as a node, one for all places.
func (w *walker) literal(e *grammar.Literal) language.Node {
	made, ok := w.literals[e]
	if !ok {
		made = language.Text(w.fill(e.Text))
		w.literals[e] = made
	}
	return made
}

// choice walks a choice: the alternatives that lead to the target, else the first that can be written.
func (w *walker) choice(c *grammar.Choice, s scene) language.Node {
	if s.target != nothing {
		var space [8]*grammar.Sequence
		leading := space[:0]
		for _, a := range c.Alternatives {
			if w.leads(a, s.target) && w.passes(a, c, s) {
				leading = append(leading, a)
			}
		}
		if len(leading) > 0 {
			leading = w.preferred(leading, s)
			if len(leading) == 1 {
				return w.sequence(leading[0].Items, s)
			}
			var options []language.Node
			for _, a := range leading {
				options = append(options, w.sequence(a.Items, s))
			}
			return language.Any(options...)
		}
	}
	if s.inside {
		return w.parameterChoice(c, s)
	}
	for _, a := range c.Alternatives {
		if w.writable(a, s) {
			return w.sequence(a.Items, s)
		}
	}
	return language.Text("")
}

// preferred leaves out a bare call where the same calls can stand in a block.
func (w *walker) preferred(alternatives []*grammar.Sequence, s scene) []*grammar.Sequence {
	if s.target != toCall || len(alternatives) == 1 {
		return alternatives
	}
	alternatives = unmixed(alternatives)
	if s.inBlock { // several ways to write a block: the first
		return alternatives[:1]
	}
	bare := func(a *grammar.Sequence) bool {
		return slices.ContainsFunc(a.Items, func(e grammar.Expression) bool {
			r, ok := e.(*grammar.Reference)
			return ok && grammar.RoleOf(r.Name) == grammar.Call
		})
	}
	rest := slices.DeleteFunc(slices.Clone(alternatives), bare)
	if len(rest) > 0 && len(rest) < len(alternatives) && w.region(rest) {
		return rest
	}
	if len(rest) == 0 { // several ways to write a call: the first
		return alternatives[:1]
	}
	return alternatives
}

// unmixed leaves out alternatives in which text stands beside the calls, if there are others.
func unmixed(alternatives []*grammar.Sequence) []*grammar.Sequence {
	rest := slices.DeleteFunc(slices.Clone(alternatives), func(a *grammar.Sequence) bool {
		return slices.ContainsFunc(a.Items, func(e grammar.Expression) bool {
			c, ok := e.(*grammar.Capture)
			return ok && c.Name == "content"
		})
	})
	if len(rest) == 0 {
		return alternatives
	}
	return rest
}

// region tells whether an alternative refers to a block or to a frame or message with calls.
func (w *walker) region(alternatives []*grammar.Sequence) bool {
	for _, a := range alternatives {
		for _, e := range a.Items {
			if r, ok := e.(*grammar.Reference); ok && grammar.RoleOf(r.Name) == grammar.Block {
				return true
			}
		}
	}
	return false
}

// writable tells whether an alternative can be written with what is known: it holds no text and no word that nobody
// knows.
func (w *walker) writable(a *grammar.Sequence, s scene) bool {
	return w.passes(a, nil, s) && !slices.ContainsFunc(a.Items, func(e grammar.Expression) bool { return !w.known(e, s, 0) })
}

func (w *walker) known(e grammar.Expression, s scene, depth int) bool {
	switch e := e.(type) {
	case *grammar.Choice:
		return slices.ContainsFunc(e.Alternatives, func(a *grammar.Sequence) bool {
			return w.passes(a, nil, s) && !slices.ContainsFunc(a.Items, func(e grammar.Expression) bool { return !w.known(e, s, depth) })
		})
	case *grammar.Reference:
		return depth > 8 || w.known(w.d.Rule(e.Name).Body, s, depth+1)
	case *grammar.Capture:
		switch e.Name {
		case "name", "id", "index", "key", "value", "arguments", "type":
			return true
		}
		if _, known := s.captures.get(e.Name); known {
			return true
		}
		switch e.Shape.(type) {
		case *grammar.Literal, *grammar.Choice:
			return true
		}
		return false
	}
	return true
}

// passes tells whether the tests of an alternative hold, and those of the lines before it do not.
func (w *walker) passes(a *grammar.Sequence, c *grammar.Choice, s scene) bool {
	if c != nil {
		for _, before := range c.Alternatives {
			if before == a {
				break
			}
			if len(before.Tests) > 0 && !w.leads(before, s.target) && tests(before, s) {
				return false
			}
		}
	}
	return tests(a, s)
}

func tests(a *grammar.Sequence, s scene) bool {
	for _, test := range a.Tests {
		value, known := s.captures.get(test.Capture)
		if len(test.Patterns) == 0 {
			if !known {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(test.Patterns, func(p grammar.Pattern) bool { return matches(p, value, known) }) {
			return false
		}
	}
	return true
}

func matches(p grammar.Pattern, value string, known bool) bool {
	switch {
	case p.None:
		return !known
	case !known:
		return false
	case p.Prefix:
		return strings.HasPrefix(value, p.Text)
	}
	return value == p.Text
}

// sequence walks items one after the other. Where several of them could be left out and lead to the target, one of them
// is written.
func (w *walker) sequence(items []grammar.Expression, s scene) language.Node {
	if s.target != nothing {
		var space [8]int
		leading := space[:0]
		for i, item := range items {
			if w.leads(item, s.target) {
				leading = append(leading, i)
			}
		}
		if len(leading) > 1 {
			seen := map[string]bool{}
			var options []language.Node
			for _, only := range leading {
				key := printed(items[only])
				if seen[key] {
					continue
				}
				seen[key] = true
				var rest []grammar.Expression
				for i, item := range items {
					if i == only || !slices.Contains(leading, i) {
						rest = append(rest, item)
					}
				}
				options = append(options, w.sequence(rest, s))
			}
			return language.Any(options...)
		}
	}
	var space [8]language.Node
	out := space[:0]
	for i, item := range items {
		if blank, ok := item.(*grammar.Blank); ok {
			if s.header {
				out = append(out, language.Text(blank.Canonical))
				continue
			}
			out = append(out, w.blank(blank, items, i))
			continue
		}
		if i > 0 {
			if written := w.writtenPart(items[i-1], item); written != nil {
				out = append(out, language.Maybe(w.sequence(written.Items, s)))
				continue
			}
		}
		out = append(out, w.item(item, s))
	}
	return language.Join(out...)
}

// blank is white space that is markup: as it is written, or up to two line breaks, as models lay out tags. Inside of a
// marker, before a word of it, it is only as it is written.
func (w *walker) blank(b *grammar.Blank, items []grammar.Expression, i int) language.Node {
	if i+1 < len(items) {
		if literal, ok := items[i+1].(*grammar.Literal); ok && literal.Text != "" && isLetter(literal.Text[0]) {
			return language.Maybe(language.Text(b.Canonical))
		}
	}
	if i > 0 && i+1 < len(items) {
		literal, ok := items[i-1].(*grammar.Literal)
		if ok && literal.Text != "" && isLetter(literal.Text[len(literal.Text)-1]) {
			return language.Maybe(language.Text(b.Canonical))
		}
	}
	if strings.Trim(b.Canonical, "\n") == "" {
		return lines
	}
	return language.Any(language.Text(b.Canonical), lines)
}

// lines are the line breaks that models put between tags.
var lines = &language.Repeat{Inner: &language.Class{Ranges: []regular.Range{{First: 0x0a, Last: 0x0a}}}, Min: 0, Max: 2, Soft: true}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func printed(e grammar.Expression) string {
	return grammar.Print([]*grammar.Rule{{Name: "x", Body: &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{e}}}}}})
}

func (w *walker) item(e grammar.Expression, s scene) language.Node {
	switch e := e.(type) {
	case *grammar.Literal:
		return w.literal(e)
	case *grammar.Blank:
		if s.header {
			return language.Text(e.Canonical)
		}
		return w.blank(e, nil, 0)
	case *grammar.Layout:
		return language.Maybe(w.layout(e, s))
	case *grammar.Choice:
		return w.choice(e, s)
	case *grammar.Sequence:
		return w.sequence(e.Items, s)
	case *grammar.Optional:
		return w.optional(e, s)
	case *grammar.Repeat:
		return w.repeat(e, s)
	case *grammar.List:
		return w.list(e, s)
	case *grammar.Reference:
		return w.reference(e, s)
	case *grammar.Capture:
		return w.capture(e, s)
	case *grammar.Envelope:
		return w.envelope(e, s)
	case *grammar.Set:
		return w.set(e, s)
	}
	return language.Text("") // what is looked for is not written
}

// layout is white space that the family writes here, now and then, or the name of the tool that is called: what else a
// group behind '^' writes is read, and walked, where it is read.
func (w *walker) layout(e *grammar.Layout, s scene) language.Node {
	if e.Inner == nil {
		return language.Text(e.Text)
	}
	var texts []string
	var all []language.Node
	for _, alternative := range e.Inner.Alternatives {
		text, named := "", false
		for _, item := range alternative.Items {
			switch item := item.(type) {
			case *grammar.Literal:
				text += w.fill(item.Text)
			case *grammar.Capture:
				if item.Name == "name" && s.tool != nil {
					text, named = text+s.tool.Name, true
				}
			}
		}
		if text != "" && (named || strings.TrimSpace(text) == "") && !slices.Contains(texts, text) {
			texts = append(texts, text)
			all = append(all, language.Text(text))
		}
	}
	if len(all) == 0 {
		return language.Text("")
	}
	return language.Any(all...)
}

// writtenPart is the alternative of a choice that may be left out, if the group behind '^' before it writes what it begins
// with; else nil.
func (w *walker) writtenPart(before, item grammar.Expression) *grammar.Sequence {
	layout, ok := before.(*grammar.Layout)
	choice, isChoice := item.(*grammar.Choice)
	if !ok || !isChoice || layout.Inner == nil || !slices.ContainsFunc(choice.Alternatives, func(a *grammar.Sequence) bool { return len(a.Items) == 0 }) {
		return nil
	}
	for _, a := range choice.Alternatives {
		for _, by := range layout.Inner.Alternatives {
			if len(a.Items) == 0 || len(by.Items) == 0 {
				continue
			}
			one, ok := a.Items[0].(*grammar.Literal)
			other, same := by.Items[0].(*grammar.Literal)
			if ok && same && one.Text == other.Text {
				return a
			}
		}
	}
	return nil
}

func (w *walker) optional(e *grammar.Optional, s scene) language.Node {
	if s.target != nothing && w.leads(e.Inner, s.target) {
		return w.item(e.Inner, s)
	}
	if s.tool != nil && s.parameter == nil && w.captures(e.Inner, "name", "index") {
		// a part of a name or id: written unless all it holds is written already
		if w.captures(e.Inner, "name") {
			return language.Text("")
		}
		return w.item(e.Inner, s)
	}
	literal, isLiteral := e.Inner.(*grammar.Literal)
	switch {
	case isLiteral && s.pattern:
		return language.Text(w.fill(literal.Text))
	case isLiteral && s.inside && literal.Text == "\n":
		return language.Text("") // layout beside a value, which the value takes care of
	}
	if w.captures(e.Inner, "reasoning", "content", "drop", "author", "kind") {
		return language.Text("")
	}
	if slices.ContainsFunc(w.about(e.Inner).captures, func(name string) bool {
		_, known := s.captures.get(name)
		return !known && name != "id" && name != "type"
	}) {
		return language.Text("")
	}
	return language.Maybe(w.item(e.Inner, s))
}

// repeat walks any number of something: of the target at least one, of all else none.
func (w *walker) repeat(e *grammar.Repeat, s scene) language.Node {
	if s.inside {
		return language.Text("") // all members of a nested parameter are written with the first
	}
	if s.tool != nil && w.captures(e.Inner, "value") {
		return w.parameters(e.Inner, s)
	}
	if s.target == nothing || !w.leads(e.Inner, s.target) {
		return language.Text("")
	}
	inBlock := !w.captures(e.Inner, "content")
	one := w.item(e.Inner, s)
	if s.once && !(s.several && inBlock) || s.target == toReasoning {
		return one
	}
	return &language.Repeat{Inner: language.Join(lines, one), Min: 1, Max: -1}
}

func (w *walker) list(e *grammar.List, s scene) language.Node {
	if s.target == nothing || !w.leads(e.Inner, s.target) {
		return language.Text("")
	}
	one := w.item(e.Inner, s)
	if s.once && !s.several {
		return one
	}
	separator := language.Text(w.fill(e.Separator))
	if !strings.Contains(e.Separator, ",") { // nothing has to stand there
		separator = language.Any(separator, lines)
	}
	return language.Join(one, language.Many(language.Join(separator, one)))
}

func (w *walker) reference(e *grammar.Reference, s scene) language.Node {
	rule := w.d.Rule(e.Name)
	switch grammar.RoleOf(e.Name) {
	case grammar.Call:
		return w.call(rule, s)
	case grammar.Message:
		return w.message(rule, s)
	case grammar.Block:
		s.inBlock = true
	case grammar.Parameter:
		if s.inside {
			return w.inner(e, s)
		}
		s.inside = true
	case grammar.Skip, grammar.Citation, grammar.Thought:
		if !w.leads(e, s.target) {
			return language.Text("")
		}
	}
	return w.choice(rule.Body, s)
}
