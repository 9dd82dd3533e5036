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
