package chattemplate

import (
	"strconv"
	"strings"
)

// present writes a value whose attribute or item is wanted. Python refuses that of an undefined value; the library does
// not, so it is checked, unless there always is a value.
func (w *writer) present(n *node) (string, error) {
	written, err := w.expression(n)
	switch n.kind {
	case nameNode:
		if w.sure[n.text] {
			return written, err
		}
	case attributeNode, itemNode, conditionNode, andNode, orNode:
	case filterNode:
		if !contains([]string{"first", "last", "default", "d", "min", "max", "attr"}, n.text) {
			return written, err
		}
	case stringNode, listNode, tupleNode, dictNode, callNode, concatNode, binaryNode, sliceNode, noneNode:
		return written, err
	default:
		return "(" + written + ")", err
	}
	return w.call("__present", written, literal(describe(n))), err
}

// describe names an expression in an error.
func describe(n *node) string {
	switch n.kind {
	case nameNode:
		return n.text
	case attributeNode:
		return describe(n.children[0]) + "." + n.text
	case itemNode:
		switch key := n.children[1]; key.kind {
		case stringNode:
			return describe(n.children[0]) + "[" + strconv.Quote(key.text) + "]"
		case integerNode, nameNode:
			return describe(n.children[0]) + "[" + key.text + "]"
		}
		return describe(n.children[0]) + "[…]"
	}
	return "the value"
}

func (w *writer) attribute(n *node) (string, error) {
	value, err := w.present(n.children[0])
	if methods[n.text] != nil || strings.HasPrefix(n.text, "_") || identifier(n.text) != n.text {
		return w.call("__attribute", value, literal(n.text)), err
	}
	return value + "." + n.text, err
}

func (w *writer) item(n *node) (string, error) {
	value, err := w.present(n.children[0])
	if err != nil {
		return "", err
	}
	key, err := w.expression(n.children[1])
	if k := n.children[1]; k.kind == stringNode && methods[k.text] == nil {
		return value + "[" + key + "]", err
	}
	return w.call("__item", value, key), err
}

func (w *writer) slice(n *node) (string, error) {
	value, err := w.present(n.children[0])
	if err != nil {
		return "", err
	}
	bounds := []string{value, "none", "none", "none"}
	for i, bound := range n.children[1:] {
		if bound == nil {
			continue
		}
		if bounds[i+1], err = w.expression(bound); err != nil {
			return "", err
		}
	}
	if constant(n) {
		return w.call("__constantslice", bounds...), nil
	}
	return w.call("__slice", bounds...), nil
}

// constant tells of an expression that it is the same in every rendering.
func constant(n *node) bool {
	switch {
	case n == nil:
		return true
	case n.kind == nameNode, n.kind == callNode:
		return false
	}
	for _, child := range n.children {
		if !constant(child) {
			return false
		}
	}
	return true
}
