package grammar

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// check finds the faults that need no automaton: rules that do not exist or are not used, roles that lack a part, parts
// that stand where they mean nothing, captures of which nothing tells where they end, spellings that hit nothing.
// Ambiguity is found by the compiler.
func (s *Source) check(d *Definition) error {
	if err := s.checkReferences(d); err != nil {
		return err
	}
	for _, rule := range s.own {
		if err := s.checkRule(d, rule); err != nil {
			return err
		}
	}
	if err := s.checkWritten(d); err != nil {
		return err
	}
	if err := s.checkResults(d); err != nil {
		return err
	}
	if err := s.checkHoleLiterals(d); err != nil {
		return err
	}
	for _, token := range d.Tokens {
		if !s.occurs(d, token) {
			return s.fail(s.given["tokens"], "tokens: %q occurs in no literal of the grammar", token)
		}
	}
	for _, token := range d.Needed {
		if !slices.Contains(d.Tokens, token) {
			return s.fail(s.given["needed"], "needed: %q is not among the tokens", token)
		}
	}
	return nil
}

func (s *Source) checkReferences(d *Definition) error {
	used := map[string]bool{}
	for _, rule := range d.Rules {
		if rule.Role() != "" && rule.Role() != Parameter {
			used[rule.Name] = true
		}
		var err error
		Walk(rule.Body, func(e Expression) bool {
			reference, ok := e.(*Reference)
			if !ok || err != nil {
				return err == nil
			}
			if d.Rule(reference.Name) == nil {
				err = s.fail(reference.Position, "the rule %s refers to %s, which is not defined", rule.Name, reference.Name)
			}
			used[reference.Name] = true
			return true
		})
		if err != nil {
			return err
		}
	}
	for _, rule := range s.own {
		if !used[rule.Name] && len(d.Tool)+len(d.Reasoning) > 0 {
			return s.fail(rule.Position, "the rule %s is used nowhere", rule.Name)
		}
	}
	return nil
}

// checkHoleLiterals finds holes that are read off what the model does not write.
func (s *Source) checkHoleLiterals(d *Definition) error {
	for _, name := range slices.Sorted(maps.Keys(s.Holes)) {
		for _, literal := range s.Holes[name] {
			if !strings.Contains(literal, "{"+name+"}") || !occursIn(d.Rules, literal) {
				return s.fail(s.given["holes"], "holes: expected literals of the grammar with {%s} in them, found %q", name, literal)
			}
		}
	}
	return nil
}

// occurs tells whether a text is a part of some literal, or of the delimiter of a codec, or of a literal of a hole.
func (s *Source) occurs(d *Definition, part string) bool {
	found := occursIn(d.Rules, part)
	for _, literals := range d.Holes {
		for _, literal := range literals {
			found = found || strings.Contains(literal, part)
		}
	}
	return found
}

// occursIn tells whether a text is a part of some literal of rules, or of the delimiter of a codec.
func occursIn(rules []*Rule, part string) bool {
	found := false
	for _, rule := range rules {
		Walk(rule.Body, func(e Expression) bool {
			switch e := e.(type) {
			case *Literal:
				found = found || strings.Contains(e.Text, part)
			case *Codec:
				found = found || e.Delimiter != "" && strings.Contains(e.Delimiter, part)
			}
			return !found
		})
	}
	return found
}

// needs are the captures that each way through a role must have: one of the list.
var needs = map[Role][]string{
	Thought:   {"reasoning"},
	Call:      {"name"},
	Parameter: {"key"},
	Citation:  {"text"},
}

// places are the roles in which a capture means something.
var places = map[string][]Role{
	"reasoning": {Thought, Message},
	"content":   {Output, Frame, Message},
	"drop":      {Output, Frame, Message},
	"arguments": {Call},
	"key":       {Parameter},
	"value":     {Parameter},
	"text":      {Citation},
	"sources":   {Citation},
}

func (s *Source) checkRule(d *Definition, rule *Rule) error {
	if len(d.Tool)+len(d.Reasoning) == 0 {
		return nil // only other definitions use it
	}
	if err := s.checkEnds(d, rule); err != nil {
		return err
	}
	role := rule.Role()
	if role == "" {
		return nil
	}
	var err error
	walkDeep(d, rule.Body, func(e Expression) {
		capture, ok := e.(*Capture)
		if !ok || err != nil {
			return
		}
		if at, known := places[capture.Name]; known && !slices.Contains(at, role) {
			err = s.fail(rule.Position, "@%s means nothing in the rule %s; expected it in %s", capture.Name, rule.Name, list(at))
		}
	})
	if err != nil {
		return err
	}
	for _, alternative := range rule.Body.Alternatives {
		if err := s.checkParts(d, rule, alternative); err != nil {
			return err
		}
	}
	return nil
}

// checkParts finds what is missing on one way through a role.
func (s *Source) checkParts(d *Definition, rule *Rule, way *Sequence) error {
	role := rule.Role()
	for _, name := range needs[role] {
		if captures(d, way, name) || role == Call && namedByMessage(d) {
			continue
		}
		return s.fail(way.Position, "expected @%s in the rule %s, on every way through it", name, rule.Name)
	}
	switch role {
	case Parameter:
		if !captures(d, way, "value") && !refers(d, way, Parameter) {
			return s.fail(way.Position, "expected @value, or parameters, in the rule %s", rule.Name)
		}
	case Block:
		if !refers(d, way, Call) {
			return s.fail(way.Position, "expected a call in the rule %s", rule.Name)
		}
	case Skip:
		fault := Expression(nil)
		walkDeep(d, way, func(e Expression) {
			switch e.(type) {
			case *Capture, *Envelope, *Set, *Run:
				fault = e
			}
		})
		if fault != nil || refers(d, way, "") {
			return s.fail(way.Position, "expected nothing but markers in the rule %s", rule.Name)
		}
	}
	return nil
}

// namedByMessage tells whether the name of a call stands in the header of its message.
func namedByMessage(d *Definition) bool {
	return slices.ContainsFunc(d.Rules, func(rule *Rule) bool { return rule.Role() == Message && captures(d, rule.Body, "name") })
}

// hole is how a hole is written in a literal.
var hole = regexp.MustCompile(`\{[a-z_]+\}`)

// checkEnds finds captures of which nothing tells where they end, tests of what nothing captures, and holes that are
// not declared.
func (s *Source) checkEnds(d *Definition, rule *Rule) (err error) {
	Walk(rule.Body, func(e Expression) bool {
		if err != nil {
			return false
		}
		switch e := e.(type) {
		case *Literal:
			err = s.checkHoles(d, e)
		case *Look:
			return false
		case *End:
			err = s.fail(e.Position, "the end of the output can only be looked ahead to; expected '&' before it")
		case *Capture:
			_, pattern := e.Shape.(*Choice)
			return !pattern || e.Name == "echo" // the text is split when it is complete; optional parts win
		case *Sequence:
			for _, test := range e.Tests {
				if !slices.ContainsFunc(d.Rules, func(rule *Rule) bool { return captures(d, rule.Body, test.Capture) }) {
					err = s.fail(test.Position, "the test asks for @%s, which nothing captures", test.Capture)
				}
			}
			for i := 1; i < len(e.Items); i++ {
				if err == nil {
					err = s.checkEnd(e.Items[i-1], e.Items[i])
				}
			}
		}
		return err == nil
	})
	return err
}

// checkHoles finds holes in a literal that are not declared.
func (s *Source) checkHoles(d *Definition, e *Literal) error {
	for _, name := range hole.FindAllString(e.Text, -1) {
		if _, ok := d.Holes[name[1:len(name)-1]]; !ok {
			return s.fail(e.Position, "the hole %s is not among the holes of the definition", name)
		}
	}
	return nil
}

// checkEnd finds fault with a capture and what follows it.
func (s *Source) checkEnd(e, next Expression) error {
	capture, ok := e.(*Capture)
	if !ok {
		return nil
	}
	switch capture.Shape.(type) {
	case nil:
	case *Codec:
		if capture.Name != "value" {
			return nil // it ends by itself
		}
	default:
		return nil
	}
	switch next := next.(type) {
	case *Capture:
		return s.fail(next.Position, "nothing tells where @%s ends: expected a marker or white space between it and @%s", capture.Name, next.Name)
	case *Envelope:
		return s.fail(next.Position, "nothing tells where @%s ends: expected a marker or white space between it and the envelope", capture.Name)
	case *Literal:
		if isWord(capture.Name) && WordClass.Has(next.Text[0]) {
			return s.fail(next.Position, "nothing tells where @%s ends: the marker %q begins with a character that a word may hold", capture.Name, next.Text)
		}
	}
	return nil
}

// isWord tells whether a capture without a shape is a word.
func isWord(capture string) bool {
	switch capture {
	case "reasoning", "content", "drop", "text", "value", "key", "type", "sources":
		return false
	}
	return true
}

// walkDeep visits an expression and the abbreviations it refers to, each once.
func walkDeep(d *Definition, e Expression, visit func(Expression)) {
	seen := map[string]bool{}
	var walk func(e Expression)
	walk = func(e Expression) {
		Walk(e, func(e Expression) bool {
			visit(e)
			if reference, ok := e.(*Reference); ok && RoleOf(reference.Name) == "" && !seen[reference.Name] {
				seen[reference.Name] = true
				if rule := d.Rule(reference.Name); rule != nil {
					walk(rule.Body)
				}
			}
			return true
		})
	}
	walk(e)
}

// Reads tells whether a grammar has anything for a half to read: a call, or the text of a thought.
func (d *Definition) Reads(half Half) bool {
	return slices.ContainsFunc(d.Rules, func(rule *Rule) bool {
		if half == ToolHalf {
			return rule.Role() == Call
		}
		return captures(d, rule.Body, "reasoning")
	})
}

// captures tells whether an expression, with its abbreviations, has a capture of a name.
func captures(d *Definition, e Expression, name string) (found bool) {
	walkDeep(d, e, func(e Expression) {
		switch e := e.(type) {
		case *Capture:
			found = found || e.Name == name
		case *Envelope:
			for _, member := range e.Members {
				found = found || member.Capture == name || member.KeyCapture == name
			}
		}
	})
	return found
}

// refers tells whether an expression, with its abbreviations, refers to a role; "" is any role.
func refers(d *Definition, e Expression, role Role) (found bool) {
	walkDeep(d, e, func(e Expression) {
		if reference, ok := e.(*Reference); ok {
			if of := RoleOf(reference.Name); of != "" && (role == "" || of == role) {
				found = true
			}
		}
	})
	return found
}

func list(roles []Role) string {
	var names []string
	for _, role := range roles {
		names = append(names, string(role))
	}
	return strings.Join(names, " or ")
}
