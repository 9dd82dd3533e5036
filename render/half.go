package render

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// half is a definition's part in a combination, with what its grammar says that the walk asks for again and again. It
// is not changed after it was made.
type half struct {
	definition *grammar.Definition
	thoughts   bool // the reasoning half is chosen
	calls      bool // the tool half is chosen
	content    *half
	output     grammar.Expression
	rules      map[string]*grammar.Rule
	facts      map[grammar.Expression]*facts
	ways       map[*grammar.Choice][]way

	// markers are the literals with a letter in them, holes not filled.
	markers []string
	// again: a thought may come more than once.
	again bool
	// callsFirst: the output has calls before content, where both may come.
	callsFirst bool
	// openers are the first literals of calls, blocks and messages; closers their other literals.
	openers, closers []string
	// parameterOpener and parameterEnd are the first literal of a parameter and the one before its value, where
	// parameters are single tags (ruling 31); nests: parameters may hold parameters.
	parameterOpener, parameterEnd string
	// endInCloser: the end, or a blank that ends an attribute, stands inside the closer of a value, so that what begins
	// like a parameter in a value is one.
	endInCloser bool
	nests       bool
}

// facts are what an expression holds, abbreviations included.
type facts struct {
	carries    bool     // a capture, an envelope or a role
	parameters bool     // a parameter
	names      []string // of the captures
	tested     *grammar.Choice
}

func newHalf(d *grammar.Definition) *half {
	h := &half{definition: d, output: d.Output(), rules: map[string]*grammar.Rule{}, facts: map[grammar.Expression]*facts{}}
	for _, rule := range d.Rules {
		h.rules[rule.Name] = rule
	}
	h.learn(h.output)
	for _, rule := range d.Rules {
		h.learn(rule.Body)
	}
	for _, rule := range d.Rules {
		h.learnMarkers(rule)
		h.learnWays(rule.Body)
	}
	h.again = h.repeats()
	h.callsFirst = h.first(h.output) == grammar.Call
	return h
}

// learn gathers the facts of an expression and of all below it.
func (h *half) learn(e grammar.Expression) *facts {
	if known, ok := h.facts[e]; ok {
		return known
	}
	f := &facts{}
	h.facts[e] = f
	take := func(inner grammar.Expression) {
		g := h.learn(inner)
		f.carries = f.carries || g.carries
		f.parameters = f.parameters || g.parameters
		f.names = append(f.names, g.names...)
		if f.tested == nil {
			f.tested = g.tested
		}
	}
	switch e := e.(type) {
	case *grammar.Capture:
		f.carries = true
		f.names = append(f.names, e.Name)
		if e.Shape != nil {
			take(e.Shape)
		}
	case *grammar.Envelope:
		f.carries = true
	case *grammar.Set:
		for _, element := range e.Elements {
			take(element)
		}
	case *grammar.Attribute:
		take(e.Capture)
	case *grammar.Reference:
		switch role := grammar.RoleOf(e.Name); role {
		case "":
			take(h.rules[e.Name].Body)
		default:
			f.carries = true
			f.parameters = role == grammar.Parameter
		}
	case *grammar.Choice:
		for _, alternative := range e.Alternatives {
			if len(alternative.Tests) > 0 && f.tested == nil {
				f.tested = e
			}
			take(alternative)
		}
	case *grammar.Sequence:
		for _, item := range e.Items {
			take(item)
		}
	case *grammar.Optional:
		take(e.Inner)
	case *grammar.Repeat:
		take(e.Inner)
	case *grammar.List:
		take(e.Inner)
	}
	return f
}

// literals gathers the literals of an expression, abbreviations included, roles not.
func (h *half) literals(e grammar.Expression, visit func(string)) {
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Literal:
			visit(e.Text)
		case *grammar.Look:
			return false
		case *grammar.Reference:
			if grammar.RoleOf(e.Name) == "" {
				h.literals(h.rules[e.Name].Body, visit)
			}
		}
		return true
	})
}

// firsts gathers the literals that an expression can begin with, roles not; it answers whether it can be nothing.
func (h *half) firsts(e grammar.Expression, visit func(string)) (nothing bool) {
	switch e := e.(type) {
	case *grammar.Literal:
		visit(e.Text)
		return false
	case *grammar.Blank, *grammar.Layout:
		return true
	case *grammar.Capture:
		if e.Shape != nil {
			h.firsts(e.Shape, visit)
		}
		return false
	case *grammar.Reference:
		return grammar.RoleOf(e.Name) == "" && h.firsts(h.rules[e.Name].Body, visit)
	case *grammar.Choice:
		for _, alternative := range e.Alternatives {
			nothing = h.firsts(alternative, visit) || nothing
		}
		return nothing
	case *grammar.Sequence:
		for _, item := range e.Items {
			if !h.firsts(item, visit) {
				return false
			}
		}
		return true
	case *grammar.Optional:
		h.firsts(e.Inner, visit)
		return true
	case *grammar.Repeat:
		h.firsts(e.Inner, visit)
		return true
	case *grammar.List:
		return h.firsts(e.Inner, visit)
	}
	return false
}

func (h *half) learnMarkers(rule *grammar.Rule) {
	add := func(list *[]string, text string) {
		if strings.ContainsFunc(text, unicode.IsLetter) && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	h.literals(rule.Body, func(text string) { add(&h.markers, text) })
	switch rule.Role() {
	case grammar.Call, grammar.Block, grammar.Message:
		h.firsts(rule.Body, func(text string) { add(&h.openers, text) })
		h.literals(rule.Body, func(text string) { add(&h.closers, text) })
	case grammar.Parameter:
		h.learnParameter(rule)
	}
	h.closers = slices.DeleteFunc(h.closers, func(text string) bool { return slices.Contains(h.openers, text) })
}

// learnParameter sees whether exactly one literal stands between the key and the value of a parameter.
func (h *half) learnParameter(rule *grammar.Rule) {
	for _, sequence := range rule.Body.Alternatives {
		opener, last, between, keyed := "", "", 0, false
		for k, item := range sequence.Items {
			f := h.facts[item]
			if literal, ok := item.(*grammar.Literal); ok {
				if opener == "" {
					opener = literal.Text
				}
				if keyed {
					last = literal.Text
					between++
				}
				continue
			}
			h.nests = h.nests || keyed && f.parameters
			switch {
			case slices.Contains(f.names, "value"):
				if keyed && between == 1 {
					h.parameterOpener, h.parameterEnd = opener, last
					closer := closerOf(sequence, k)
					h.endInCloser = strings.Contains(strings.TrimSuffix(closer, last), last) || strings.Contains(closer, " ")
				}
				return
			case slices.Contains(f.names, "key"):
				keyed = true
			case keyed && f.carries:
				between++
			}
		}
	}
}

// repeats tells whether thoughts may come again: where the output repeats one, or is made of messages.
func (h *half) repeats() bool {
	found := false
	var search func(e grammar.Expression, repeated bool)
	search = func(e grammar.Expression, repeated bool) {
		grammar.Walk(e, func(e grammar.Expression) bool {
			switch e := e.(type) {
			case *grammar.Repeat:
				search(e.Inner, true)
				return false
			case *grammar.Reference:
				switch grammar.RoleOf(e.Name) {
				case grammar.Thought, grammar.Message:
					found = found || repeated
				case "":
					search(h.rules[e.Name].Body, repeated)
				}
			}
			return true
		})
	}
	search(h.output, false)
	return found
}

// first tells what comes first in an expression, and before the other where there is a choice: Call, for calls and blocks,
// or Frame, for content.
func (h *half) first(e grammar.Expression) (role grammar.Role) {
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Look:
			return false
		case *grammar.Optional:
			return false // only what may come anywhere is ordered by its place
		case *grammar.Choice:
			if len(e.Alternatives[0].Items) == 0 {
				return false
			}
		case *grammar.Capture:
			if role == "" && e.Name == "content" {
				role = grammar.Frame
			}
		case *grammar.Reference:
			switch of := grammar.RoleOf(e.Name); {
			case role != "":
			case of == grammar.Call, of == grammar.Block:
				role = grammar.Call
			case of == grammar.Frame, of == grammar.Message:
				role = grammar.Frame
			case of == "":
				role = h.first(h.rules[e.Name].Body)
			}
		}
		return role == ""
	})
	return role
}

// closerOf is the first literal behind item k of a sequence.
func closerOf(sequence *grammar.Sequence, k int) string {
	for _, item := range sequence.Items[k+1:] {
		if literal, ok := item.(*grammar.Literal); ok {
			return literal.Text
		}
	}
	return ""
}
