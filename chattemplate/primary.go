package chattemplate

func (p *parser) primary() (*node, error) {
	switch t := p.next(); {
	case t.kind == stringToken:
		n := p.node(stringNode, t.text)
		for p.peek().kind == stringToken {
			n.text += p.next().text
		}
		return n, nil
	case t.kind == integerToken:
		return p.node(integerNode, t.text), nil
	case t.kind == floatToken:
		return p.node(floatNode, t.text), nil
	case t.is("true"), t.is("True"):
		return p.node(boolNode, "true"), nil
	case t.is("false"), t.is("False"):
		return p.node(boolNode, "false"), nil
	case t.is("none"), t.is("None"):
		return p.node(noneNode, ""), nil
	case t.kind == nameToken:
		return p.node(nameNode, t.text), nil
	case t.is("("):
		inside, err := p.tuple(true, true)
		if err != nil {
			return nil, err
		}
		return inside, p.expect(")")
	case t.is("["):
		n := p.node(listNode, "")
		err := p.list("]", func() error { return p.child(n) })
		return n, err
	case t.is("{"):
		n := p.node(dictNode, "")
		err := p.list("}", func() error {
			if err := p.child(n); err != nil {
				return err
			}
			if err := p.expect(":"); err != nil {
				return err
			}
			return p.child(n)
		})
		return n, err
	default:
		p.at--
		return nil, p.errorf("expected an expression, found %s", t)
	}
}

// list reads items up to a closing bracket.
func (p *parser) list(end string, item func() error) error {
	for first := true; !p.skip(end); first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return err
			}
			if p.skip(end) {
				return nil
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) child(n *node) error {
	value, err := p.expression()
	n.children = append(n.children, value)
	return err
}

// postfix reads what follows a value: attributes, items, calls, and filters and tests where they may stand.
func (p *parser) postfix(value *node, filters bool) (*node, error) {
	filtered := false
	for {
		var err error
		switch {
		case !filtered && p.skip("."):
			value, err = p.attribute(value)
		case !filtered && p.skip("["):
			value, err = p.item(value)
		case p.skip("("):
			n := p.node(callNode, "", value)
			err = p.arguments(n)
			value = n
		case filters && p.skip("|"):
			filtered = true
			value, err = p.filter(value)
		case filters && p.skip("is"):
			filtered = true
			value, err = p.test(value)
		default:
			return value, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) attribute(value *node) (*node, error) {
	if t := p.peek(); t.kind == integerToken {
		p.at++
		return p.node(itemNode, "", value, p.node(integerNode, t.text)), nil
	}
	name, err := p.name()
	return p.node(attributeNode, name, value), err
}

func (p *parser) item(value *node) (*node, error) {
	bounds := p.node(sliceNode, "", value, nil, nil, nil)
	place := 1
	for ; place < 4; place++ {
		if !p.peek().is(":") && !p.peek().is("]") {
			bound, err := p.expression()
			if err != nil {
				return nil, err
			}
			bounds.children[place] = bound
		}
		if !p.skip(":") {
			break
		}
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	if place > 1 {
		return bounds, nil
	}
	if bounds.children[1] == nil {
		return nil, p.errorf("expected an expression, found \"]\"")
	}
	return p.node(itemNode, "", value, bounds.children[1]), nil
}

// arguments reads the arguments of a call behind its opening parenthesis.
func (p *parser) arguments(n *node) error {
	return p.list(")", func() error {
		switch {
		case p.skip("**"):
			value, err := p.expression()
			n.keywords = append(n.keywords, keyword{value: value})
			return err
		case p.peek().is("*"):
			return p.errorf("a list of arguments behind * is not supported")
		case p.peek().kind == nameToken && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("="):
			name := p.next().text
			p.at++
			value, err := p.expression()
			n.keywords = append(n.keywords, keyword{name, value})
			return err
		case len(n.keywords) > 0:
			return p.errorf("an argument without a name stands behind one with a name")
		}
		return p.child(n)
	})
}

// filter reads a filter behind its bar.
func (p *parser) filter(value *node) (*node, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	n := p.node(filterNode, name, value)
	if p.skip("(") {
		err = p.arguments(n)
	}
	return n, err
}

// test reads a test behind its is. An argument may stand without parentheses.
func (p *parser) test(value *node) (*node, error) {
	negated := p.skip("not")
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	n := p.node(testNode, name, value)
	switch t := p.peek(); {
	case p.skip("("):
		err = p.arguments(n)
	case t.is("is"):
		err = p.errorf("a test cannot follow a test")
	case t.is("else"), t.is("or"), t.is("and"):
	case t.kind != endToken && t.kind != operatorToken, t.is("["), t.is("{"):
		var argument *node
		if argument, err = p.primary(); err == nil {
			argument, err = p.postfix(argument, false)
			n.children = append(n.children, argument)
		}
	}
	if err != nil {
		return nil, err
	}
	if negated {
		return p.node(notNode, "", n), nil
	}
	return n, nil
}
