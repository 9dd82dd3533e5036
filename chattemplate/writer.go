package chattemplate

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ardanlabs/jinja"
)

// writer writes a template anew for the library. What means the same there is written as it is; the rest becomes calls
// of functions, whose names begin with two underscores, as no name of a template does that is used.
type writer struct {
	// functions are the functions that are called, and so must be there for a rendering.
	functions map[string]bool
	// variables are the names that are read, assigned those that the template gives a value itself.
	variables, assigned map[string]bool
	// sure are names that always have a value where they are used.
	sure map[string]bool
	// conditional counts the conditions around what is being written.
	conditional int
	// texts are the strings and the text of the template, in order.
	texts []string
	// compiled is what the library has read.
	compiled *jinja.Template
	// out is what has been written; some of it is filled in late.
	out []string
	// blocks are the open tags.
	blocks []*block
	// content finds out how the content of messages is read.
	content contentReader
	// traced: what is written also notes the line of each tag before it runs.
	traced bool
	// temporaries counts the names that the writer itself has made.
	temporaries int
}

func newWriter() *writer {
	return &writer{
		functions: map[string]bool{}, variables: map[string]bool{}, assigned: map[string]bool{},
		sure:    map[string]bool{"loop": true, "messages": true},
		content: contentReader{held: map[string][]*node{}, parameters: map[string][]string{}},
	}
}

// call notes that a function is used and writes a call of it.
func (w *writer) call(name string, arguments ...string) string {
	w.functions[name] = true
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// literal writes text as a string of the library's expressions.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// identifier writes a name. The library takes null for none, and only letters of ASCII.
func identifier(name string) string {
	if name == "null" {
		return "null_"
	}
	var out strings.Builder
	for _, r := range name {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "_u%x_", r)
		}
	}
	return out.String()
}

// read reads the next expression of a tag and writes it.
func (w *writer) read(p *parser) (string, error) {
	n, err := p.expression()
	if err != nil {
		return "", err
	}
	return w.expression(n)
}

// expression writes an expression so that it can stand anywhere.
func (w *writer) expression(n *node) (string, error) {
	var err error
	all := func(children []*node) []string {
		written := make([]string, len(children))
		for i, child := range children {
			if err == nil {
				written[i], err = w.expression(child)
			}
		}
		return written
	}
	var out string
	switch n.kind {
	case nameNode:
		w.variables[n.text] = true
		if globals[n.text] != nil {
			w.functions[n.text] = true
		}
		return identifier(n.text), nil
	case stringNode:
		w.texts = append(w.texts, n.text)
		return literal(n.text), nil
	case integerNode:
		return w.integer(n)
	case floatNode, boolNode:
		return n.text, nil
	case noneNode:
		return "none", nil
	case listNode:
		out = w.made(n, "["+strings.Join(all(n.children), ", ")+"]")
	case tupleNode:
		if out = strings.Join(all(n.children), ", "); len(n.children) == 1 {
			out += ","
		}
		out = w.made(n, "("+out+")")
	case dictNode:
		parts := all(n.children)
		for i := 0; i < len(n.children); i += 2 {
			if n.children[i].kind != stringNode {
				return w.made(n, w.call("__dict", parts...)), err
			}
		}
		pairs := make([]string, 0, len(parts)/2)
		for i := 0; i+1 < len(parts); i += 2 {
			pairs = append(pairs, parts[i]+": "+parts[i+1])
		}
		out = w.made(n, "{"+strings.Join(pairs, ", ")+"}")
	case attributeNode:
		return w.attribute(n)
	case itemNode:
		return w.item(n)
	case sliceNode:
		return w.slice(n)
	case callNode:
		return w.callExpression(n)
	case filterNode:
		return w.filter(n)
	case testNode:
		return w.test(n)
	case notNode:
		out = "(not " + all(n.children)[0] + ")"
	case andNode, orNode:
		parts := all(n.children)
		out = "(" + parts[0] + map[nodeKind]string{andNode: " and ", orNode: " or "}[n.kind] + parts[1] + ")"
	case conditionNode:
		return w.condition(n)
	case negativeNode:
		if inside := n.children[0]; inside.kind == integerNode || inside.kind == floatNode {
			out = "(-" + all(n.children)[0] + ")"
		} else {
			out = w.call("__negative", all(n.children)...)
		}
	case positiveNode:
		out = w.call("__positive", all(n.children)...)
	case binaryNode:
		out = w.call(operators[n.text], all(operands(n))...)
	case concatNode:
		out = w.call("__concat", all(n.children)...)
	case compareNode:
		return w.compare(n)
	default:
		err = &lineError{n.line, "this expression is not supported here"}
	}
	return out, err
}

// made writes a list or mapping; one that is made of other values is counted.
func (w *writer) made(n *node, written string) string {
	for _, child := range n.children {
		switch child.kind {
		case stringNode, integerNode, floatNode, boolNode, noneNode:
		default:
			return w.call("__made", written)
		}
	}
	return written
}

var operators = map[string]string{"+": "__add", "-": "__subtract", "*": "__multiply", "/": "__divide", "//": "__floordivide", "%": "__modulo", "**": "__power"}

// operands gives the operands of an operator. Those of a chain of plus signs are added by one call, which saves the
// texts between.
func operands(n *node) []*node {
	if left := n.children[0]; n.text == "+" && left.kind == binaryNode && left.text == "+" {
		return append(operands(left), n.children[1])
	}
	return n.children
}

// integer writes an integer; those beyond 64 bits are made by a function.
func (w *writer) integer(n *node) (string, error) {
	value, ok := new(big.Int).SetString(n.text, 0)
	if !ok {
		value, ok = new(big.Int).SetString(n.text, 10)
	}
	switch {
	case !ok:
		return "", &lineError{n.line, fmt.Sprintf("expected an integer, found %q", n.text)}
	case value.IsInt64():
		return value.String(), nil
	}
	return w.call("__integer", literal(value.String())), nil
}

// arguments writes the arguments of a call, behind those already written.
func (w *writer) arguments(n *node, written ...string) ([]string, error) {
	for _, child := range n.children[1:] {
		argument, err := w.expression(child)
		if err != nil {
			return nil, err
		}
		written = append(written, argument)
	}
	for _, named := range n.keywords {
		argument, err := w.expression(named.value)
		if err != nil {
			return nil, err
		}
		if named.name == "" {
			written = append(written, "**"+argument)
		} else {
			written = append(written, identifier(named.name)+"="+argument)
		}
	}
	return written, nil
}

func (w *writer) callExpression(n *node) (string, error) {
	w.content.calls = append(w.content.calls, n)
	callee := n.children[0]
	if callee.kind == attributeNode && methods[callee.text] != nil {
		object, err := w.present(callee.children[0])
		if err != nil {
			return "", err
		}
		arguments, err := w.arguments(n, object)
		return w.call("__method_"+callee.text, arguments...), err
	}
	function, err := w.expression(callee)
	if err != nil {
		return "", err
	}
	arguments, err := w.arguments(n)
	if function == "loop" && len(arguments) == 1 { // a loop that goes down into itself
		return w.call("__up", "loop("+w.call("__down", arguments...)+")"), err
	}
	return function + "(" + strings.Join(arguments, ", ") + ")", err
}

// unknown is a filter or test that there is not. Like jinja2 it is an error of the template unless a condition stands
// before it.
func (w *writer) unknown(n *node, what string) (string, error) {
	message := fmt.Sprintf("there is no %s %q", what, n.text)
	if w.conditional == 0 {
		return "", &lineError{n.line, message}
	}
	return w.call("__refuse", literal(message)), nil
}

func (w *writer) filter(n *node) (string, error) {
	value, err := w.expression(n.children[0])
	if err != nil {
		return "", err
	}
	return w.filtered(n, value)
}

// filtered writes a filter of a value that is written already.
func (w *writer) filtered(n *node, value string) (string, error) {
	if filters[n.text] == nil {
		return w.unknown(n, "filter")
	}
	arguments, err := w.arguments(n, value)
	return w.call("__filter_"+n.text, arguments...), err
}

func (w *writer) test(n *node) (string, error) {
	if tests[n.text] == nil && !libraryTests[n.text] {
		return w.unknown(n, "test")
	}
	w.content.text = w.content.text || n.text == "string"
	value, err := w.expression(n.children[0])
	if err != nil {
		return "", err
	}
	if libraryTests[n.text] {
		arguments, err := w.arguments(n)
		if len(arguments) > 0 {
			return "(" + value + " is " + n.text + "(" + strings.Join(arguments, ", ") + "))", err
		}
		return "(" + value + " is " + n.text + ")", err
	}
	arguments, err := w.arguments(n, value)
	return w.call("__test_"+n.text, arguments...), err
}

func (w *writer) condition(n *node) (string, error) {
	condition, err := w.expression(n.children[1])
	if err != nil {
		return "", err
	}
	w.conditional++
	defer func() { w.conditional-- }()
	value, err := w.expression(n.children[0])
	if err != nil {
		return "", err
	}
	out := "(" + value + " if " + condition
	if n.children[2] != nil {
		otherwise, err := w.expression(n.children[2])
		if err != nil {
			return "", err
		}
		out += " else " + otherwise
	}
	return out + ")", nil
}

// compare writes a comparison; a chain becomes one of its pairs.
func (w *writer) compare(n *node) (string, error) {
	pairs := make([]string, len(n.texts))
	for i, operator := range n.texts {
		left, err := w.expression(n.children[i])
		if err != nil {
			return "", err
		}
		right, err := w.expression(n.children[i+1])
		if err != nil {
			return "", err
		}
		literalList := n.children[i+1].kind == listNode || n.children[i+1].kind == tupleNode
		switch {
		case operator == "==" || operator == "!=", literalList && (operator == "in" || operator == "not in"):
			pairs[i] = "(" + left + " " + operator + " " + right + ")"
		case operator == "in":
			pairs[i] = w.call("__in", left, right)
		case operator == "not in":
			pairs[i] = "(not " + w.call("__in", left, right) + ")"
		default:
			pairs[i] = w.call("__compare", literal(operator), left, right)
		}
	}
	if len(pairs) == 1 {
		return pairs[0], nil
	}
	return "(" + strings.Join(pairs, " and ") + ")", nil
}

// isText tells of an expression that its value is text whatever it is made of, or that it is refused.
func isText(n *node) bool {
	switch n.kind {
	case stringNode, concatNode:
		return true
	case binaryNode:
		return n.text == "+" && (isText(n.children[0]) || isText(n.children[1]))
	case filterNode:
		return contains([]string{"tojson", "trim", "string", "replace", "join", "upper", "lower"}, n.text)
	case conditionNode:
		return isText(n.children[0]) && n.children[2] != nil && isText(n.children[2])
	}
	return false
}
