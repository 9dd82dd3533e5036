package chattemplate

import "fmt"

// nodeKind is what an expression is.
type nodeKind uint8

const (
	nameNode nodeKind = iota
	stringNode
	integerNode
	floatNode
	boolNode // text is "true" or "false"
	noneNode
	listNode
	tupleNode
	dictNode      // children: key, value, key, value
	attributeNode // of children[0], named text
	itemNode      // children[1] of children[0]
	sliceNode     // children[0] from [1] to [2] by [3], each of which may be nil
	callNode      // children[0] with the others
	filterNode    // filter text of children[0], with the others
	testNode      // test text of children[0], with the others
	notNode
	andNode
	orNode
	conditionNode // children[0] if children[1] else children[2], which may be nil
	negativeNode
	positiveNode
	binaryNode  // operator text
	concatNode  // ~ of all children
	compareNode // children[i] texts[i] children[i+1]
)

// node is an expression.
type node struct {
	kind     nodeKind
	text     string
	texts    []string
	children []*node
	keywords []keyword
	line     int
}

// keyword is an argument with a name; without one it is a mapping of such arguments.
type keyword struct {
	name  string
	value *node
}

// maxNesting bounds how deep expressions and tags nest. Python's own limit is of this size.
const maxNesting = 150

// parser reads expressions by the grammar of jinja2.
type parser struct {
	tokens []token
	at     int
	line   int
	depth  int
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{kind: endToken, line: p.line}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// skip goes past an operator or keyword if it is there.
func (p *parser) skip(text string) bool {
	if p.peek().is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) errorf(format string, arguments ...any) error {
	return &lineError{p.peek().line, fmt.Sprintf(format, arguments...)}
}

func (p *parser) expect(text string) error {
	if !p.skip(text) {
		return p.errorf("expected %q, found %s", text, p.peek())
	}
	return nil
}

func (p *parser) name() (string, error) {
	if t := p.peek(); t.kind == nameToken {
		p.at++
		return t.text, nil
	}
	return "", p.errorf("expected a name, found %s", p.peek())
}

// end refuses what is left over.
func (p *parser) end() error {
	if t := p.peek(); t.kind != endToken {
		return p.errorf("expected the end of the tag, found %s", t)
	}
	return nil
}

func (p *parser) node(kind nodeKind, text string, children ...*node) *node {
	return &node{kind: kind, text: text, children: children, line: p.peek().line}
}

// expression reads the loosest expression: a if b else c.
func (p *parser) expression() (*node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.errorf("the expression nests deeper than %d levels", maxNesting)
	}
	defer func() { p.depth-- }()
	value, err := p.or()
	for err == nil && p.skip("if") {
		var condition, otherwise *node
		if condition, err = p.or(); err == nil && p.skip("else") {
			otherwise, err = p.expression()
		}
		value = p.node(conditionNode, "", value, condition, otherwise)
	}
	return value, err
}

// tuple reads expressions with commas between them; without a comma it is the one expression. An empty tuple needs
// parentheses around it.
func (p *parser) tuple(parentheses, conditions bool, ends ...string) (*node, error) {
	var items []*node
	comma := false
	for {
		if t := p.peek(); t.kind == endToken || t.is(")") || t.kind == nameToken && contains(ends, t.text) {
			break
		}
		read := p.or
		if conditions {
			read = p.expression
		}
		item, err := read()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if !p.skip(",") {
			break
		}
		comma = true
	}
	switch {
	case comma || parentheses && len(items) == 0:
		return p.node(tupleNode, "", items...), nil
	case len(items) == 0:
		return nil, p.errorf("expected an expression, found %s", p.peek())
	}
	return items[0], nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// chain reads operands with one of some operators between them, from the left.
func (p *parser) chain(operand func() (*node, error), join func(operator string, left, right *node) *node, operators ...string) (*node, error) {
	left, err := operand()
	for err == nil {
		t := p.peek()
		if t.kind != operatorToken && t.kind != nameToken || !contains(operators, t.text) {
			break
		}
		p.at++
		var right *node
		if right, err = operand(); err == nil {
			left = join(t.text, left, right)
		}
	}
	return left, err
}

func (p *parser) binary(operator string, left, right *node) *node {
	return p.node(binaryNode, operator, left, right)
}

func (p *parser) or() (*node, error) {
	return p.chain(p.and, func(_ string, l, r *node) *node { return p.node(orNode, "", l, r) }, "or")
}

func (p *parser) and() (*node, error) {
	return p.chain(p.not, func(_ string, l, r *node) *node { return p.node(andNode, "", l, r) }, "and")
}

func (p *parser) not() (*node, error) {
	negations := 0
	for p.skip("not") {
		negations++
	}
	value, err := p.compare()
	for ; err == nil && negations > 0; negations-- {
		value = p.node(notNode, "", value)
	}
	return value, err
}

func (p *parser) compare() (*node, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	compared := p.node(compareNode, "", first)
	for {
		t := p.peek()
		switch {
		case t.kind == operatorToken && contains([]string{"==", "!=", "<", ">", "<=", ">="}, t.text), t.is("in"):
			p.at++
		case t.is("not") && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("in"):
			p.at += 2
			t.text = "not in"
		default:
			if len(compared.texts) == 0 {
				return first, nil
			}
			return compared, nil
		}
		operand, err := p.sum()
		if err != nil {
			return nil, err
		}
		compared.texts = append(compared.texts, t.text)
		compared.children = append(compared.children, operand)
	}
}

func (p *parser) sum() (*node, error) { return p.chain(p.concat, p.binary, "+", "-") }

// concat binds tighter than plus.
func (p *parser) concat() (*node, error) {
	return p.chain(p.product, func(_ string, l, r *node) *node {
		if l.kind == concatNode {
			l.children = append(l.children, r)
			return l
		}
		return p.node(concatNode, "", l, r)
	}, "~")
}

func (p *parser) product() (*node, error) { return p.chain(p.power, p.binary, "*", "/", "//", "%") }

func (p *parser) power() (*node, error) {
	return p.chain(func() (*node, error) { return p.unary(true) }, p.binary, "**")
}

// unary reads a sign and what it stands before. Filters bind looser than a sign.
func (p *parser) unary(filters bool) (value *node, err error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.errorf("the expression nests deeper than %d levels", maxNesting)
	}
	defer func() { p.depth-- }()
	switch {
	case p.skip("-"):
		if value, err = p.unary(false); err == nil {
			value = p.node(negativeNode, "", value)
		}
	case p.skip("+"):
		if value, err = p.unary(false); err == nil {
			value = p.node(positiveNode, "", value)
		}
	default:
		value, err = p.primary()
	}
	if err == nil {
		value, err = p.postfix(value, filters)
	}
	return value, err
}
