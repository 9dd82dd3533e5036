package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// Resolve works `extends` and `respell` into a source. base is the resolved definition it extends, nil if it extends
// none. The definition takes every key from its base except the names and the title; rules of the same name replace.
func (s *Source) Resolve(base *Definition) (*Definition, error) {
	d := s.Definition
	if base != nil {
		for from := range s.respell {
			if !s.occurs(base, from) && (base.Results == nil || !occursIn(base.Results.Rules, from)) {
				return nil, s.fail(s.respells, "respell: %q occurs in no literal of %s", from, base.Format)
			}
		}
		s.inherit(&d, base)
	} else if len(s.respell) > 0 {
		return nil, &Error{File: s.File, Position: s.respells, Message: "respell changes the literals of the definition it extends, and this one extends none"}
	}
	for _, rule := range s.own {
		i := slices.IndexFunc(d.Rules, func(other *Rule) bool { return other.Name == rule.Name })
		if i < 0 {
			d.Rules = append(d.Rules, rule)
		} else {
			d.Rules[i] = rule
		}
	}
	return &d, s.check(&d)
}

func (s *Source) inherit(d *Definition, base *Definition) {
	for _, rule := range base.Rules {
		d.Rules = append(d.Rules, s.respellRule(rule))
	}
	take := func(key string, set func()) {
		if _, ok := s.given[key]; !ok {
			set()
		}
	}
	take("models", func() { d.Models = nil })
	take("holes", func() { d.Holes = base.Holes })
	take("results", func() { d.Results = s.respellResults(base.Results) })
	take("tokens", func() { d.Tokens = s.respellAll(base.Tokens) })
	take("needed", func() { d.Needed = s.respellAll(base.Needed) })
	take("turn", func() { d.Turn = base.Turn })
	take("thinking", func() { d.Thinking = base.Thinking })
	take("without_prompt", func() { d.WithoutPrompt = base.WithoutPrompt })
	take("request", func() { d.Request = base.Request })
	take("constrain", func() {
		d.Constrain = base.Constrain
		d.Constrain.Excludes = s.respellAll(base.Constrain.Excludes)
	})
	take("join", func() { d.Join = base.Join })
	take("unwrap", func() { d.Unwrap = base.Unwrap })
	take("cannot", func() { d.Cannot = base.Cannot })
	take("ids", func() { d.IDs = base.IDs })
	take("written", func() { d.Written = base.Written })
	take("thoughts", func() { d.Thoughts = base.Thoughts })
	take("escapes", func() { d.Escapes = base.Escapes })
	take("alone", func() { d.Alone = base.Alone })
	take("from", func() { d.From = base.From })
	take("regions", func() { d.Regions = base.Regions })
	take("slow", func() { d.Slow = base.Slow })
}

// respellText replaces a literal: as a whole if it is listed so, else the listed parts of it, longest first.
func (s *Source) respellText(literal string) string {
	if to, ok := s.respell[literal]; ok {
		return to
	}
	parts := make([]string, 0, len(s.respell))
	for part := range s.respell {
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
next:
	for i := 0; i < len(literal); {
		for _, part := range parts {
			if strings.HasPrefix(literal[i:], part) {
				out.WriteString(s.respell[part])
				i += len(part)
				continue next
			}
		}
		out.WriteByte(literal[i])
		i++
	}
	return out.String()
}

func (s *Source) respellAll(literals []string) (out []string) {
	for _, literal := range literals {
		out = append(out, s.respellText(literal))
	}
	return out
}

func (s *Source) respellRule(rule *Rule) *Rule {
	if len(s.respell) == 0 {
		return rule
	}
	return &Rule{File: rule.File, Position: rule.Position, Name: rule.Name, Body: s.copy(rule.Body).(*Choice)}
}

// copy copies an expression with its literals respelled.
func (s *Source) copy(e Expression) Expression {
	switch e := e.(type) {
	case *Literal:
		return &Literal{e.Position, s.respellText(e.Text)}
	case *Layout:
		if e.Inner == nil {
			return e
		}
		return &Layout{Position: e.Position, Inner: s.copy(e.Inner).(*Choice)}
	case *Look:
		return &Look{e.Position, s.copy(e.Inner)}
	case *Capture:
		if e.Shape == nil {
			return e
		}
		return &Capture{e.Position, e.Name, s.copy(e.Shape)}
	case *Codec:
		return &Codec{e.Position, e.Kind, s.respellText(e.Delimiter), e.Quotes, e.Whole}
	case *Set:
		set := &Set{Position: e.Position}
		for _, element := range e.Elements {
			set.Elements = append(set.Elements, s.copy(element))
		}
		return set
	case *Attribute:
		return &Attribute{e.Position, e.Name, s.copy(e.Capture).(*Capture)}
	case *Choice:
		choice := &Choice{Position: e.Position}
		for _, alternative := range e.Alternatives {
			choice.Alternatives = append(choice.Alternatives, s.copy(alternative).(*Sequence))
		}
		return choice
	case *Sequence:
		sequence := &Sequence{Position: e.Position, Tests: e.Tests}
		for _, item := range e.Items {
			sequence.Items = append(sequence.Items, s.copy(item))
		}
		return sequence
	case *Optional:
		return &Optional{e.Position, s.copy(e.Inner)}
	case *Repeat:
		return &Repeat{e.Position, s.copy(e.Inner), e.Once}
	case *List:
		return &List{e.Position, s.copy(e.Inner), e.Separator}
	}
	return e
}

func (s *Source) fail(position Position, format string, arguments ...any) error {
	return &Error{File: s.File, Position: position, Message: fmt.Sprintf(format, arguments...)}
}
