package turn

import (
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
)

// strip is what may follow a text at the beginning of a language; nil if nothing begins so.
func strip(n language.Node, text string) language.Node {
	if text == "" {
		return n
	}
	switch n := n.(type) {
	case *language.Literal:
		if rest, ok := strings.CutPrefix(n.Text, text); ok {
			return language.Text(rest)
		}
	case *language.Sequence:
		if len(n.Items) == 0 {
			return nil
		}
		rest := language.Join(n.Items[1:]...)
		if literal, ok := n.Items[0].(*language.Literal); ok && len(literal.Text) < len(text) {
			if after, ok := strings.CutPrefix(text, literal.Text); ok {
				return strip(rest, after)
			}
			return nil
		}
		var options []language.Node
		if first := strip(n.Items[0], text); first != nil {
			options = append(options, language.Join(first, rest))
		}
		if nullable(n.Items[0]) {
			if behind := strip(rest, text); behind != nil {
				options = append(options, behind)
			}
		}
		if len(options) > 0 {
			return language.Any(options...)
		}
	case *language.Choice:
		var options []language.Node
		for _, option := range n.Options {
			if rest := strip(option, text); rest != nil {
				options = append(options, rest)
			}
		}
		if len(options) > 0 {
			return language.Any(options...)
		}
	case *language.Repeat:
		if first := strip(n.Inner, text); first != nil && n.Max != 0 {
			most := n.Max
			if most > 0 {
				most--
			}
			if most == 0 {
				return first
			}
			return language.Join(first, &language.Repeat{Inner: n.Inner, Min: max(n.Min-1, 0), Max: most, Soft: n.Soft})
		}
	case *language.Rule:
		return strip(n.Body, text)
	case *language.Mark:
		if rest := strip(n.Inner, text); rest != nil {
			return &language.Mark{Role: n.Role, Name: n.Name, Inner: rest}
		}
	}
	return nil
}

// nullable tells whether a node may be the empty text.
func nullable(n language.Node) bool {
	switch n := n.(type) {
	case *language.Literal:
		return n.Text == ""
	case *language.Sequence:
		for _, item := range n.Items {
			if !nullable(item) {
				return false
			}
		}
		return true
	case *language.Choice:
		for _, option := range n.Options {
			if nullable(option) {
				return true
			}
		}
		return false
	case *language.Repeat:
		return n.Min == 0 || nullable(n.Inner)
	case *language.Mark:
		return nullable(n.Inner)
	case *language.Regular:
		return n.Automaton.States[0].Accept
	}
	return false
}
