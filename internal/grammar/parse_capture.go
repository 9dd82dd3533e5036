package grammar

import "slices"

// captureName reads @name.
func (p *parser) captureName() (string, error) {
	if err := p.expect("@", "before the name of a capture"); err != nil {
		return "", err
	}
	if p.token.kind != tokenWord || !p.token.glued {
		return "", p.fail(p.token.position, "expected the name of a capture right behind '@', found %s", p.token)
	}
	name := p.token.text
	return name, p.advance()
}

// capture reads @name, or @name: and its codec or its shape.
func (p *parser) capture() (*Capture, error) {
	capture := &Capture{Position: p.token.position}
	var err error
	if capture.Name, err = p.captureName(); err != nil {
		return nil, err
	}
	if !p.is(":") || !p.token.glued {
		return capture, nil
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	t := p.token
	switch {
	case t.kind == tokenWord:
		codec := &Codec{Position: t.position, Kind: t.text}
		if !slices.Contains(Codecs, codec.Kind) {
			return nil, p.fail(t.position, "expected the codec json, python, delimited, xml or text, found %s", t)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if codec.Kind == "delimited" {
			if err := p.expect("(", "and the delimiter behind delimited"); err != nil {
				return nil, err
			}
			if p.token.kind != tokenLiteral || p.token.text == "" {
				return nil, p.fail(p.token.position, "expected the delimiter as a literal, found %s", p.token)
			}
			codec.Delimiter = p.token.text
			if err := p.advance(); err != nil {
				return nil, err
			}
			if err := p.expect(")", "behind the delimiter"); err != nil {
				return nil, err
			}
		}
		capture.Shape = codec
	case t.kind == tokenLiteral, t.kind == tokenRun, p.is("("):
		if capture.Shape, err = p.primary(); err != nil {
			return nil, err
		}
	default:
		return nil, p.fail(t.position, "expected a codec, a literal, a run or a group behind @%s:, found %s", capture.Name, t)
	}
	return capture, nil
}

// set reads [ items ], in whatever order the model writes them.
func (p *parser) set() (Expression, error) {
	set := &Set{Position: p.token.position}
	if err := p.advance(); err != nil {
		return nil, err
	}
	p.inSet++
	defer func() { p.inSet-- }()
	for !p.is("]") {
		if p.token.kind == tokenEnd {
			return nil, p.fail(p.token.position, "expected ']' to close the set that begins in line %d", set.Position.Line)
		}
		element, err := p.item()
		if err != nil {
			return nil, err
		}
		set.Elements = append(set.Elements, element)
	}
	return set, p.advance()
}

// attribute reads name = capture.
func (p *parser) attribute() (Expression, error) {
	attribute := &Attribute{Position: p.token.position, Name: p.token.text}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("=", "behind the attribute "+attribute.Name); err != nil {
		return nil, err
	}
	if !p.is("@") {
		return nil, p.fail(p.token.position, "expected a capture for the attribute %s, found %s", attribute.Name, p.token)
	}
	var err error
	attribute.Capture, err = p.capture()
	return attribute, err
}

// envelope reads json{ members }.
func (p *parser) envelope() (Expression, error) {
	envelope := &Envelope{Position: p.token.position}
	for _, step := range []string{"", "{"} { // json, {
		if step != "" && !p.is(step) {
			return nil, p.fail(p.token.position, "expected '{', found %s", p.token)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	for {
		member, err := p.member()
		if err != nil {
			return nil, err
		}
		envelope.Members = append(envelope.Members, member)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			return envelope, p.expect("}", "to close the envelope")
		}
	}
}

// member reads key { | key } [?] : @capture, or a fixed text as the value, or a capture as the key.
func (p *parser) member() (member Member, err error) {
	member.Position = p.token.position
	if p.is("@") {
		if member.KeyCapture, err = p.captureName(); err != nil {
			return member, err
		}
	} else {
		for {
			if p.token.kind != tokenLiteral {
				return member, p.fail(p.token.position, "expected the key of a member as a literal, found %s", p.token)
			}
			member.Keys = append(member.Keys, p.token.text)
			if err := p.advance(); err != nil {
				return member, err
			}
			if more, err := p.accept("|"); err != nil {
				return member, err
			} else if !more {
				break
			}
		}
	}
	if member.Optional, err = p.accept("?"); err != nil {
		return member, err
	}
	if err := p.expect(":", "behind the key of a member"); err != nil {
		return member, err
	}
	if p.token.kind == tokenLiteral {
		member.Fixed = p.token.text
		return member, p.advance()
	}
	member.Capture, err = p.captureName()
	return member, err
}
