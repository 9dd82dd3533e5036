package pattern

import (
	"slices"
	"strconv"
	"strings"
)

// flags of an expression. DOTALL is always on: response templates are compiled so.
type flags struct{ ignoreCase, multiline, verbose, ascii bool }

// parser reads a pattern from the left to the right; depth is how many groups are open.
type parser struct {
	e     *Expression
	text  []rune
	at    int
	flags flags
	depth int
}

// nesting bounds the groups inside groups.
const nesting = 100

// Parse reads an expression. The error is an *Error.
func Parse(source string) (e *Expression, err error) {
	p := &parser{e: &Expression{source: source}, text: []rune(source)}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			e, err = nil, r
		default:
			panic(r)
		}
	}()
	p.e.root = p.alternatives()
	if p.at < len(p.text) {
		p.fail(p.at, "expected the end of the pattern, found an unbalanced ')'")
	}
	return p.e, nil
}

func (p *parser) fail(at int, format string, arguments ...any) {
	panic(p.e.fail(at, format, arguments...))
}

// refuse names a construct that cannot be matched while the text arrives.
func (p *parser) refuse(at int, construct string) {
	p.fail(at, "%s cannot be matched while the text arrives", construct)
}

func (p *parser) more() bool { return p.at < len(p.text) }

func (p *parser) is(text string) bool {
	return strings.HasPrefix(string(p.text[p.at:min(len(p.text), p.at+len(text))]), text)
}

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at += len(text) // always ASCII
	return true
}

// alternatives reads sequences with | between them. Flags that are set inside hold up to the end.
func (p *parser) alternatives() *node {
	if p.depth++; p.depth > nesting {
		p.fail(p.at, "expected at most %d groups inside one another", nesting)
	}
	defer func(f flags) { p.depth--; p.flags = f }(p.flags)
	n := &node{op: opAlt, at: p.at}
	for {
		n.subs = append(n.subs, p.sequence())
		if !p.accept("|") {
			break
		}
	}
	if len(n.subs) == 1 {
		return n.subs[0]
	}
	return n
}

func (p *parser) sequence() *node {
	n := &node{op: opCat, at: p.at}
	for {
		p.skip()
		if !p.more() || p.text[p.at] == '|' || p.text[p.at] == ')' {
			return n
		}
		at := p.at
		item := p.item()
		if item == nil { // a comment or a flag
			continue
		}
		n.subs = append(n.subs, p.repeated(item, at))
	}
}

// skip passes over white space and comments where the flag x is set.
func (p *parser) skip() {
	for p.flags.verbose && p.more() {
		switch c := p.text[p.at]; {
		case strings.ContainsRune(" \t\n\r\f\v", c):
			p.at++
		case c == '#':
			for p.more() && p.text[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// repeated reads the quantifiers behind an item.
func (p *parser) repeated(item *node, at int) *node {
	for first := true; ; first = false {
		p.skip()
		from := p.at
		low, high, ok := p.quantifier()
		if !ok {
			return item
		}
		switch {
		case !first:
			p.fail(from, "expected one quantifier, found another behind it")
		case item.op == opStart || item.op == opEnd || item.op == opAhead:
			p.fail(from, "expected something that has characters before the quantifier, found an assertion")
		case high != unbounded && low > high:
			p.fail(from, "the quantifier {%d,%d} runs backwards", low, high)
		}
		n := &node{op: opRepeat, at: at, min: low, max: high, subs: []*node{item}}
		switch {
		case p.accept("?"):
			n.lazy = true
		case p.accept("+"):
			if item.op != opSet {
				p.refuse(from, "a possessive quantifier behind more than one character")
			}
		}
		item = n
	}
}

// quantifier reads how often what stands before is repeated; ok is false if nothing says it.
func (p *parser) quantifier() (low, high int, ok bool) {
	switch {
	case p.accept("*"):
		return 0, unbounded, true
	case p.accept("+"):
		return 1, unbounded, true
	case p.accept("?"):
		return 0, 1, true
	case !p.is("{"):
		return 0, 0, false
	}
	rest := string(p.text[p.at:])
	end := strings.IndexByte(rest, '}')
	if end < 0 {
		return 0, 0, false // a brace is itself
	}
	inside := rest[1:end]
	from, to, both := strings.Cut(inside, ",")
	number := func(text string, without int) (int, bool) {
		if text == "" {
			return without, true
		}
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 0
	}
	low, ok1 := number(from, 0)
	high, ok2 := number(to, unbounded)
	if !both {
		high, ok2 = low, from != ""
	}
	if !ok1 || !ok2 || inside == "," && !both {
		if strings.ContainsAny(inside, "eids") && strings.ContainsAny(inside, "<=") {
			p.refuse(p.at, "fuzzy matching ({"+inside+"})")
		}
		return 0, 0, false
	}
	if low > 1000 || high > 1000 {
		p.fail(p.at, "expected at most 1000 repetitions, found {%s}", inside)
	}
	p.at += len([]rune(rest[:end+1]))
	return low, high, true
}

func (p *parser) single(r rune, at int) *node {
	return &node{op: opSet, at: at, set: p.fold(Set{{r, r}})}
}

func (p *parser) fold(s Set) Set {
	if p.flags.ignoreCase {
		return s.folded()
	}
	return s
}

// item reads one character, set, group or anchor.
func (p *parser) item() *node {
	at := p.at
	c := p.text[p.at]
	p.at++
	switch c {
	case '.':
		return &node{op: opSet, at: at, set: all}
	case '^':
		if p.flags.multiline {
			p.refuse(at, "'^' with the flag m, the beginning of any line,")
		}
		return &node{op: opStart, at: at}
	case '$':
		if p.flags.multiline {
			p.refuse(at, "'$' with the flag m, the end of any line,")
		}
		return &node{op: opEnd, at: at}
	case '[':
		return p.bracket(at)
	case '(':
		return p.group(at)
	case '\\':
		return p.escape(at)
	case '*', '+', '?':
		p.fail(at, "expected something before the quantifier, found nothing")
	}
	return p.single(c, at)
}

// group reads what begins with a parenthesis; nil for comments and flags.
func (p *parser) group(at int) *node {
	n := &node{op: opGroup, at: at}
	switch {
	case p.accept("?#"):
		for p.more() && p.text[p.at] != ')' {
			p.at++
		}
		p.close(at)
		return nil
	case p.accept("?P<"), p.is("?<") && !p.is("?<=") && !p.is("?<!") && p.accept("?<"):
		n.name = p.name('>', at)
		if !slices.Contains(p.e.names, n.name) {
			p.e.names = append(p.e.names, n.name)
		}
	case p.accept("?:"):
	case p.accept("?="):
		n.op = opAhead
	case p.accept("?P="):
		p.refuse(at, "a back-reference ((?P=…))")
	case p.accept("?P>"), p.accept("?&"), p.accept("?R"), p.accept("?0"):
		p.refuse(at, "recursion into a group")
	case p.accept("?!"):
		p.refuse(at, "a negative look-ahead ((?!…))")
	case p.accept("?<="), p.accept("?<!"):
		p.refuse(at, "a look-behind ((?<=…) or (?<!…))")
	case p.accept("?>"):
		p.refuse(at, "an atomic group ((?>…))")
	case p.accept("?|"):
		p.refuse(at, "a branch reset ((?|…))")
	case p.accept("?("):
		p.refuse(at, "a condition ((?(…)…))")
	case p.accept("*"):
		p.refuse(at, "a verb ((*…))")
	case p.is("?") && p.at+1 < len(p.text) && p.text[p.at+1] >= '1' && p.text[p.at+1] <= '9':
		p.refuse(at, "recursion into a group")
	case p.accept("?"):
		before := p.flags
		if !p.setFlags(at) { // (?i): for the rest of what it stands in
			return nil
		}
		n.subs = []*node{p.alternatives()}
		p.flags = before
		p.close(at)
		return n
	}
	n.subs = []*node{p.alternatives()}
	p.close(at)
	return n
}

func (p *parser) close(at int) {
	if !p.accept(")") {
		p.fail(at, "expected a ')' to close the group, found the end of the pattern")
	}
}

// name reads the name of a group up to the character that ends it.
func (p *parser) name(end rune, at int) string {
	from := p.at
	for p.more() && p.text[p.at] != end {
		p.at++
	}
	name := string(p.text[from:p.at])
	if !p.more() {
		p.fail(at, "expected a '%c' behind the name of the group, found the end of the pattern", end)
	}
	p.at++
	if name == "" {
		p.fail(at, "expected the name of the group, found nothing")
	}
	for i, r := range name {
		if !words.Has(r) || i == 0 && digits.Has(r) {
			p.fail(at, "expected a name of letters, digits and _ for the group, found %q", name)
		}
	}
	return name
}

// setFlags reads flags behind "(?"; it answers whether a group follows to which alone they apply.
func (p *parser) setFlags(at int) (group bool) {
	on := true
	for p.more() {
		c := p.text[p.at]
		p.at++
		switch c {
		case 'i':
			p.flags.ignoreCase = on
		case 'm':
			p.flags.multiline = on
		case 's':
			if !on {
				p.refuse(at, "the flag -s: templates are read with DOTALL, and '.' without line breaks")
			}
		case 'x':
			p.flags.verbose = on
		case 'a':
			p.flags.ascii = on
		case 'u':
			p.flags.ascii = !on
		case '-':
			on = false
		case ':':
			return true
		case ')':
			return false
		case 'V':
			if p.accept("0") {
				continue
			}
			p.refuse(at, "the flag V1, another syntax of sets,")
		case 'L', 'b', 'e', 'f', 'p', 'r', 'w':
			p.refuse(at, "the flag "+string(c))
		default:
			p.fail(at, "expected a group or flags behind '(?', found %q", c)
		}
	}
	p.fail(at, "expected a ')' behind the flags, found the end of the pattern")
	return false
}
