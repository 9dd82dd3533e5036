package pattern

import (
	"strconv"
	"strings"
	"unicode"
)

var controls = map[rune]rune{'n': '\n', 't': '\t', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a'}

// escape reads what stands behind a backslash outside a set.
func (p *parser) escape(at int) *node {
	if !p.more() {
		p.fail(at, "expected a character behind the backslash, found the end of the pattern")
	}
	c := p.text[p.at]
	switch c {
	case 'A':
		p.at++
		return &node{op: opStart, at: at}
	case 'Z', 'z':
		p.at++
		return &node{op: opEnd, at: at}
	case 'b', 'B', 'm', 'M':
		p.refuse(at, `a word boundary (\`+string(c)+")")
	case 'G', 'K':
		p.refuse(at, `\`+string(c))
	case 'X', 'R':
		p.refuse(at, `\`+string(c)+", a sequence of characters,")
	case 'g':
		p.refuse(at, `a back-reference or a call of a group (\g)`)
	case 'L':
		p.refuse(at, `a named list (\L)`)
	}
	if c >= '1' && c <= '9' {
		p.refuse(at, `a back-reference (\`+string(c)+")")
	}
	return &node{op: opSet, at: at, set: p.fold(p.escaped(at))}
}

// escaped reads an escape that stands for characters; it is used in sets too.
func (p *parser) escaped(at int) Set {
	c := p.text[p.at]
	p.at++
	if s, ok := class(c, p.flags.ascii); ok {
		return s
	}
	one := func(r rune) Set { return Set{{r, r}} }
	if r, ok := controls[c]; ok {
		return one(r)
	}
	switch c {
	case 'x':
		if p.is("{") {
			break
		}
		return one(p.hexadecimal(2, at))
	case 'u':
		return one(p.hexadecimal(4, at))
	case 'U':
		return one(p.hexadecimal(8, at))
	case '0':
		n := 0
		for n < 2 && p.at+n < len(p.text) && p.text[p.at+n] >= '0' && p.text[p.at+n] <= '7' {
			n++
		}
		code, _ := strconv.ParseInt("0"+string(p.text[p.at:p.at+n]), 8, 32)
		p.at += n
		return one(rune(code))
	case 'h':
		return union(one('\t'), tableSet(unicode.Zs))
	case 'N':
		p.fail(at, `a character by its name (\N{…}) is not supported; write the character, or \u with its number`)
	case 'p', 'P':
		return p.property(c == 'P', at)
	}
	if c < 128 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789", c) {
		p.fail(at, `expected an escape that Python knows, found \%c`, c)
	}
	return one(c)
}

func (p *parser) hexadecimal(digits, at int) rune {
	if p.at+digits > len(p.text) {
		p.fail(at, "expected %d hexadecimal digits, found the end of the pattern", digits)
	}
	text := string(p.text[p.at : p.at+digits])
	code, err := strconv.ParseUint(text, 16, 32)
	if err != nil || code > lastRune {
		p.fail(at, "expected %d hexadecimal digits of a character, found %q", digits, text)
	}
	p.at += digits
	return rune(code)
}

// property reads the name of a property behind \p or \P, with or without braces.
func (p *parser) property(negated bool, at int) Set {
	name := ""
	if p.accept("{") {
		from := p.at
		for p.more() && p.text[p.at] != '}' {
			p.at++
		}
		name = string(p.text[from:p.at])
		if !p.accept("}") {
			p.fail(at, "expected a '}' behind the property, found the end of the pattern")
		}
	} else if p.more() {
		name = string(p.text[p.at])
		p.at++
	}
	if rest, ok := strings.CutPrefix(name, "^"); ok {
		name, negated = rest, !negated
	}
	s, ok := property(name)
	if !ok {
		p.fail(at, "the property %q is not supported; known are general categories and scripts such as L, Lu, Greek", name)
	}
	if negated {
		return s.negate()
	}
	return s
}

// bracket reads a set in brackets.
func (p *parser) bracket(at int) *node {
	negated := p.accept("^")
	var out []Range
	for first := true; ; first = false {
		if !p.more() {
			p.fail(at, "expected a ']' to close the set, found the end of the pattern")
		}
		if p.text[p.at] == ']' && !first {
			p.at++
			break
		}
		if s, ok := p.posix(); ok {
			out = append(out, s...)
			continue
		}
		low, single := p.member()
		if !single || !p.is("-") || p.at+1 >= len(p.text) || p.text[p.at+1] == ']' {
			out = append(out, low...)
			continue
		}
		p.at++
		from := p.at
		high, single := p.member()
		if !single || high[0].First < low[0].First {
			p.fail(from-2, "expected a range of characters such as a-z, found one that runs backwards or has no end")
		}
		out = append(out, Range{low[0].First, high[0].First})
	}
	s := p.fold(setOf(out))
	if negated {
		s = s.negate()
	}
	return &node{op: opSet, at: at, set: s}
}

// member reads one character of a set, or a class.
func (p *parser) member() (s Set, single bool) {
	at := p.at
	c := p.text[p.at]
	p.at++
	if c != '\\' {
		return Set{{c, c}}, true
	}
	if !p.more() {
		p.fail(at, "expected a character behind the backslash, found the end of the pattern")
	}
	if p.text[p.at] == 'b' {
		p.at++
		return Set{{'\b', '\b'}}, true
	}
	s = p.escaped(at)
	return s, len(s) == 1 && s[0].First == s[0].Last
}

// posix reads a class such as [:alpha:].
func (p *parser) posix() (Set, bool) {
	if !p.is("[:") {
		return nil, false
	}
	rest := string(p.text[p.at+2:])
	end := strings.Index(rest, ":]")
	if end < 0 {
		return nil, false
	}
	name, negated := strings.CutPrefix(rest[:end], "^")
	s, ok := posix[name]
	if !ok {
		return nil, false
	}
	p.at += 4 + end
	if negated {
		s = s.negate()
	}
	return s, true
}
