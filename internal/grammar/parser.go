package grammar

import (
	"strings"
)

// ParseGrammar reads grammar text (docs/notation.md tells its syntax). file and first say where the text stands, for
// errors, which are of type *Error; all its lines begin in the same column.
func ParseGrammar(file, source string, first Position) ([]*Rule, error) {
	p := &parser{lexer: lexer{file: file, source: source, position: first, column: first.Column}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var rules []*Rule
	seen := map[string]*Rule{}
	for p.token.kind != tokenEnd {
		rule, err := p.rule()
		if err != nil {
			return nil, err
		}
		if other, ok := seen[rule.Name]; ok {
			return nil, p.fail(rule.Position, "the rule %s is given twice; the first is in line %d", rule.Name, other.Position.Line)
		}
		seen[rule.Name] = rule
		rules = append(rules, rule)
	}
	return rules, nil
}

// parser reads grammar text from the top down; token is the one it has not used yet. Each method that reads something
// begins at its first token and leaves off behind its last.
type parser struct {
	lexer
	token token
	inSet int // how many sets are open: a word before '=' is an attribute there
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

func (p *parser) is(symbol string) bool {
	return p.token.kind == tokenSymbol && p.token.text == symbol
}

func (p *parser) accept(symbol string) (bool, error) {
	if !p.is(symbol) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(symbol, why string) error {
	if !p.is(symbol) {
		return p.fail(p.token.position, "expected '%s' %s, found %s", symbol, why, p.token)
	}
	return p.advance()
}

// rule reads name = choice "." .
func (p *parser) rule() (*Rule, error) {
	rule := &Rule{File: p.file, Position: p.token.position}
	var err error
	if rule.Name, err = p.ruleName("the name of a rule"); err != nil {
		return nil, err
	}
	if err := p.expect("=", "behind the rule name "+rule.Name); err != nil {
		return nil, err
	}
	if rule.Body, err = p.choice(); err != nil {
		return nil, err
	}
	return rule, p.expect(".", "at the end of the rule "+rule.Name)
}

// ruleName reads word [ "." word ], the dot glued to both.
func (p *parser) ruleName(what string) (string, error) {
	if p.token.kind != tokenWord {
		return "", p.fail(p.token.position, "expected %s, found %s", what, p.token)
	}
	name := p.token.text
	if rest := p.source[p.at:]; len(rest) > 1 && rest[0] == '.' && isWordByte(rest[1]) {
		if err := p.advance(); err != nil {
			return "", err
		}
		if err := p.advance(); err != nil {
			return "", err
		}
		name += "." + p.token.text
	}
	return name, p.advance()
}

// choice reads sequences with | between them.
func (p *parser) choice() (*Choice, error) {
	choice := &Choice{Position: p.token.position}
	for {
		sequence, err := p.sequence()
		if err != nil {
			return nil, err
		}
		choice.Alternatives = append(choice.Alternatives, sequence)
		if more, err := p.accept("|"); err != nil {
			return nil, err
		} else if !more {
			return choice, nil
		}
	}
}

// sequence reads items one after the other, and the tests behind them.
func (p *parser) sequence() (*Sequence, error) {
	sequence := &Sequence{Position: p.token.position}
	for {
		if p.token.kind == tokenEnd || p.token.kind == tokenSymbol && strings.Contains(".|)}]", p.token.text) {
			return sequence, nil
		}
		if p.token.kind == tokenWord && p.token.text == "if" {
			return sequence, p.tests(sequence)
		}
		if before := len(sequence.Items) - 1; p.is("=") && before >= 0 {
			if reference, ok := sequence.Items[before].(*Reference); ok {
				return nil, p.fail(reference.Position, "expected '.' before the rule %s, at the end of the one above", reference.Name)
			}
		}
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		sequence.Items = append(sequence.Items, item)
	}
}

// tests reads if capture [ = pattern { or pattern } ] { and … } .
func (p *parser) tests(sequence *Sequence) error {
	for {
		if err := p.advance(); err != nil { // if, and
			return err
		}
		test := Test{Position: p.token.position}
		if p.token.kind != tokenWord {
			return p.fail(p.token.position, "expected the name of a capture to test, found %s", p.token)
		}
		test.Capture = p.token.text
		if err := p.advance(); err != nil {
			return err
		}
		if equals, err := p.accept("="); err != nil {
			return err
		} else if equals {
			for {
				switch {
				case p.token.kind == tokenLiteral:
					text, prefix := strings.CutSuffix(p.token.text, "*")
					test.Patterns = append(test.Patterns, Pattern{Text: text, Prefix: prefix})
				case p.token.kind == tokenWord && p.token.text == "none":
					test.Patterns = append(test.Patterns, Pattern{None: true})
				default:
					return p.fail(p.token.position, "expected a literal or none to compare %s with, found %s", test.Capture, p.token)
				}
				if err := p.advance(); err != nil {
					return err
				}
				if p.token.kind != tokenWord || p.token.text != "or" {
					break
				}
				if err := p.advance(); err != nil {
					return err
				}
			}
		}
		sequence.Tests = append(sequence.Tests, test)
		if p.token.kind != tokenWord || p.token.text != "and" {
			return nil
		}
	}
}

// item reads blanks, layout, a look ahead, or a primary with what may stand behind it: ? and % separator.
func (p *parser) item() (Expression, error) {
	position := p.token.position
	switch {
	case p.is("~"), p.is("^"):
		blank := p.is("~")
		if err := p.advance(); err != nil {
			return nil, err
		}
		text := ""
		switch {
		case p.token.kind == tokenLiteral && p.token.glued:
			text = p.token.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		case blank:
		case p.is("(") && p.token.glued:
			inner, err := p.primary()
			if err != nil {
				return nil, err
			}
			return &Layout{Position: position, Inner: inner.(*Choice)}, nil
		default:
			return nil, p.fail(p.token.position, "expected a literal or a group right behind '^', found %s", p.token)
		}
		if blank {
			return &Blank{Position: position, Canonical: text}, nil
		}
		return &Layout{Position: position, Text: text}, nil
	case p.is("&"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		inner, err := p.primary()
		if err != nil {
			return nil, err
		}
		return &Look{Position: position, Inner: inner}, nil
	}
	inner, err := p.primary()
	if err != nil {
		return nil, err
	}
	if optional, err := p.accept("?"); err != nil {
		return nil, err
	} else if optional {
		inner = &Optional{Position: position, Inner: inner}
	}
	if list, err := p.accept("%"); err != nil {
		return nil, err
	} else if list {
		if p.token.kind != tokenLiteral {
			return nil, p.fail(p.token.position, "expected the separator of the list as a literal behind '%%', found %s", p.token)
		}
		inner = &List{Position: position, Inner: inner, Separator: p.token.text}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return inner, nil
}

// primary reads a literal, a run, a capture, a group, a repetition, a set, an envelope, the end, or a reference.
func (p *parser) primary() (Expression, error) {
	t := p.token
	switch {
	case t.kind == tokenLiteral:
		if t.text == "" {
			return nil, p.fail(t.position, "an empty literal marks nothing")
		}
		return &Literal{Position: t.position, Text: t.text}, p.advance()
	case t.kind == tokenRun:
		run, err := p.parseClass(t)
		if err != nil {
			return nil, err
		}
		return run, p.advance()
	case p.is("@"):
		return p.capture()
	case p.is("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		choice, err := p.choice()
		if err != nil {
			return nil, err
		}
		return choice, p.expect(")", "to close the group")
	case p.is("{"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		choice, err := p.choice()
		if err != nil {
			return nil, err
		}
		repeat := &Repeat{Position: t.position, Inner: choice}
		if err := p.expect("}", "to close the repetition"); err != nil {
			return nil, err
		}
		if p.is("!") && p.token.glued {
			repeat.Once = true
			return repeat, p.advance()
		}
		return repeat, nil
	case p.is("["):
		return p.set()
	case t.kind == tokenWord && t.text == "json" && strings.HasPrefix(p.source[p.at:], "{"):
		return p.envelope()
	case t.kind == tokenWord && t.text == "end":
		return &End{Position: t.position}, p.advance()
	case t.kind == tokenWord:
		if p.inSet > 0 && strings.HasPrefix(strings.TrimLeft(p.source[p.at:], " "), "=") {
			return p.attribute()
		}
		name, err := p.ruleName("a rule")
		if err != nil {
			return nil, err
		}
		return &Reference{Position: t.position, Name: name}, nil
	}
	return nil, p.fail(t.position, "expected a literal, a capture, a rule or a group, found %s", t)
}
