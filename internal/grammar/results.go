package grammar

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ResultsRule is the name of the rule that says how tool results are written; a variant of it has a name behind a dot.
const ResultsRule = "results"

// TurnRule stands, in the rules for results, for what opens a turn of the model: `begin` of the key turn.
const TurnRule = "turn"

// ResultCaptures are the captures that the rules for results may have.
var ResultCaptures = []string{"content", "object", "name", "id", "index"}

// Results says how the results of tools are written behind a turn of the model. Nothing reads it but the renderer: what
// it describes is written by chat templates, never by a model.
type Results struct {
	// Rules are the rule `results`, its variants, and abbreviations.
	Rules []*Rule
	// Unknown is why the definition does not say how results are written; there are no rules then.
	Unknown string
}

// Variant finds the rule for a variant, "" being the rule `results` itself; nil if there is none.
func (r *Results) Variant(name string) *Rule {
	if name != "" {
		name = "." + name
	}
	return r.Rule(ResultsRule + name)
}

// Rule finds a rule by its name, or gives nil.
func (r *Results) Rule(name string) *Rule {
	for _, rule := range r.Rules {
		if rule.Name == name {
			return rule
		}
	}
	return nil
}

// Captures tells whether a rule, with its abbreviations, has a capture of a name.
func (r *Results) Captures(rule *Rule, name string) bool {
	found := false
	Walk(rule.Body, func(e Expression) bool {
		switch e := e.(type) {
		case *Capture:
			found = found || e.Name == name
		case *Envelope:
			found = found || slices.ContainsFunc(e.Members, func(m Member) bool { return m.Capture == name })
		case *Reference:
			if inner := r.Rule(e.Name); inner != nil {
				found = found || r.Captures(inner, name)
			}
		}
		return !found
	})
	return found
}

// Variants are the names of the variants, in the order of the definition, without the rule `results` itself.
func (r *Results) Variants() (names []string) {
	for _, rule := range r.Rules {
		if name, ok := strings.CutPrefix(rule.Name, ResultsRule+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// resultsKey reads the key results: rules, or a mapping that tells why there are none.
func (s *Source) resultsKey(r *reader, node *yaml.Node) error {
	s.Results = &Results{}
	if node.Kind == yaml.MappingNode {
		if err := group(map[string]decode{"unknown": text(&s.Results.Unknown)})(r, node); err != nil {
			return err
		}
		if strings.TrimSpace(s.Results.Unknown) == "" {
			return r.fail(node, "expected the reason behind unknown, why the definition does not say how results are written")
		}
		return nil
	}
	rules, err := r.rules(node, "the rules for tool results as a block of text, or a mapping with the key unknown")
	if err != nil {
		return err
	}
	s.Results.Rules = rules
	return nil
}

// rules reads grammar text.
func (r *reader) rules(node *yaml.Node, expected string) ([]*Rule, error) {
	if node.Kind != yaml.ScalarNode {
		return nil, r.fail(node, "expected %s, found %s", expected, kindOf(node))
	}
	first := Position{Line: node.Line, Column: node.Column}
	if node.Style == yaml.LiteralStyle {
		first = Position{Line: node.Line + 1, Column: 1 + r.indentation(node.Line+1)}
	}
	return ParseGrammar(r.file, node.Value, first)
}

// respellResults gives the rules for results of the definition that is extended.
func (s *Source) respellResults(base *Results) *Results {
	if base == nil || len(s.respell) == 0 {
		return base
	}
	out := &Results{Unknown: base.Unknown}
	for _, rule := range base.Rules {
		out.Rules = append(out.Rules, s.respellRule(rule))
	}
	return out
}

// resultsChecker finds the faults of the rules for results.
type resultsChecker struct {
	source     *Source
	definition *Definition
	entered    []string // the abbreviations on the way
	used       map[string]bool
}

// checkResults checks the rules for results of a definition: that each of them is reached, that every one of several
// results is written once, and that nothing stands in them that only a reader could understand.
func (s *Source) checkResults(d *Definition) error {
	if _, own := s.given["results"]; !own || d.Results.Unknown != "" {
		return nil
	}
	c := &resultsChecker{source: s, definition: d, used: map[string]bool{}}
	if d.Results.Variant("") == nil {
		return s.fail(s.given["results"], "results: expected a rule named %s", ResultsRule)
	}
	for _, rule := range d.Results.Rules {
		if RoleOf(rule.Name) != "" || rule.Name == TurnRule {
			return s.fail(rule.Position, "the rule name %s means something else; expected %s, a variant of it, or the name of an abbreviation", rule.Name, ResultsRule)
		}
		if rule.Name == ResultsRule || strings.HasPrefix(rule.Name, ResultsRule+".") {
			written, err := c.check(rule.Body, false)
			if err != nil {
				return err
			}
			if !written.content {
				return s.fail(rule.Position, "expected @content or @object in the rule %s, on every way through it", rule.Name)
			}
			c.used[rule.Name] = true
		}
	}
	for _, rule := range d.Results.Rules {
		if !c.used[rule.Name] {
			return s.fail(rule.Position, "the rule %s is used nowhere", rule.Name)
		}
	}
	return nil
}

// resultParts is what an expression writes of the results.
type resultParts struct {
	content  bool // of each result its content, on every way
	captured bool // anything of a result, on some way
	repeats  bool // it repeats itself for the results
}

// check checks an expression. inside tells that it stands in the repetition for the results.
func (c *resultsChecker) check(e Expression, inside bool) (w resultParts, err error) {
	fail := func(format string, arguments ...any) (resultParts, error) {
		return resultParts{}, c.source.fail(e.At(), format, arguments...)
	}
	switch e := e.(type) {
	case *Literal:
		return w, c.source.checkHoles(c.definition, e)
	case *Reference:
		return c.reference(e, inside)
	case *Capture:
		return c.capture(e, e.Name, e.Shape, inside)
	case *Envelope:
		return c.envelope(e, inside)
	case *Attribute:
		return c.check(e.Capture, inside)
	case *Set:
		for _, element := range e.Elements {
			if _, ok := element.(*Attribute); !ok {
				return resultParts{}, c.source.fail(element.At(), "expected nothing but attributes in a set of the rules for results, which are written in one order")
			}
			one, err := c.check(element, inside)
			if err != nil {
				return w, err
			}
			w.captured = w.captured || one.captured
		}
		return w, nil // an attribute may be left out
	case *Sequence:
		if len(e.Tests) > 0 {
			return resultParts{}, c.source.fail(e.Tests[0].Position, "a test means nothing in the rules for results: the first way is taken that can hold the result")
		}
		for _, item := range e.Items {
			one, err := c.check(item, inside)
			if err != nil {
				return w, err
			}
			if w.repeats && one.repeats {
				return resultParts{}, c.source.fail(item.At(), "the results are written twice: expected one repetition")
			}
			w = resultParts{w.content || one.content, w.captured || one.captured, w.repeats || one.repeats}
		}
		return w, nil
	case *Choice:
		w.content = true
		for _, alternative := range e.Alternatives {
			one, err := c.check(alternative, inside)
			if err != nil {
				return w, err
			}
			w = resultParts{w.content && one.content, w.captured || one.captured, w.repeats || one.repeats}
		}
		return w, nil
	case *Optional:
		w, err = c.check(e.Inner, inside)
		w.content = false
		return w, err
	case *Repeat:
		return c.repeated(e, e.Inner, inside)
	case *List:
		return c.repeated(e, e.Inner, inside)
	case *Blank, *Layout:
		return fail("white space that may vary means nothing in the rules for results, which no one reads: expected a literal")
	}
	return fail("this means nothing in the rules for results: expected a literal, a capture, an envelope, attributes, a rule, a choice or a repetition")
}

func (c *resultsChecker) reference(e *Reference, inside bool) (resultParts, error) {
	if e.Name == TurnRule {
		if c.definition.Turn.Begin == "" {
			return resultParts{}, c.source.fail(e.Position, "turn stands for what opens a turn of the model, and the definition has no turn: {begin: …}")
		}
		return resultParts{}, nil
	}
	rule := c.definition.Results.Rule(e.Name)
	if rule == nil {
		return resultParts{}, c.source.fail(e.Position, "the rule %s is not among the rules for results", e.Name)
	}
	if slices.Contains(c.entered, e.Name) {
		return resultParts{}, c.source.fail(e.Position, "the rule %s holds itself", e.Name)
	}
	c.used[e.Name] = true
	c.entered = append(c.entered, e.Name)
	defer func() { c.entered = c.entered[:len(c.entered)-1] }()
	return c.check(rule.Body, inside)
}

// capture checks a capture, in an envelope too.
func (c *resultsChecker) capture(e Expression, name string, shape Expression, inside bool) (resultParts, error) {
	if !slices.Contains(ResultCaptures, name) {
		return resultParts{}, c.source.fail(e.At(), "@%s means nothing in the rules for results; expected one of @%s", name, strings.Join(ResultCaptures, ", @"))
	}
	if !inside {
		return resultParts{}, c.source.fail(e.At(), "@%s stands outside the repetition: expected { … } or %% around what is written for each result", name)
	}
	codec, ok := shape.(*Codec)
	switch {
	case shape == nil:
	case ok && codec.Kind == "json":
	case ok && codec.Kind == "delimited" && name == "object":
	case name == "object":
		return resultParts{}, c.source.fail(shape.At(), "expected @object, @object:json or @object:delimited")
	default:
		return resultParts{}, c.source.fail(shape.At(), "expected @%s or @%s:json", name, name)
	}
	return resultParts{content: name == "content" || name == "object", captured: true}, nil
}

func (c *resultsChecker) envelope(e *Envelope, inside bool) (w resultParts, err error) {
	for i := range e.Members {
		m := &e.Members[i]
		if m.KeyCapture != "" || len(m.Keys) != 1 {
			return w, &Error{File: c.source.File, Position: m.Position, Message: "expected one key as a literal: nothing reads the rules for results"}
		}
		if m.Capture == "" {
			continue
		}
		one, err := c.capture(&Capture{Position: m.Position, Name: m.Capture}, m.Capture, nil, inside)
		if err != nil {
			return w, err
		}
		w.captured = true
		w.content = w.content || one.content && !m.Optional
	}
	return w, nil
}

// repeated checks what is written for each result.
func (c *resultsChecker) repeated(e, inner Expression, inside bool) (w resultParts, err error) {
	if inside {
		return w, c.source.fail(e.At(), "a repetition in the repetition for the results repeats nothing")
	}
	w, err = c.check(inner, true)
	if err == nil && !w.captured {
		err = c.source.fail(e.At(), "nothing in the repetition is of a result: expected @content or @object")
	}
	w.repeats = true
	return w, err
}
