package machine

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// split takes a captured text apart by its pattern (`@id:( "functions."? @name ( ":" @index:/[0-9]+/ )? )`): optional
// parts win over captures, and a capture that is written twice must repeat itself. It answers false if the pattern
// does not fit.
func (m *Machine) split(pattern *grammar.Choice, text string) bool {
	found, ok := Split(pattern, text)
	if !ok {
		return false
	}
	for number, name := range m.program.Captures {
		if part, ok := found[name]; ok {
			m.captures[number] = append(m.captures[number][:0], part...)
			m.captured[number] = true
			if name == "name" && part != text {
				m.parted, m.unsplit = part, text
			}
		}
	}
	return true
}

// Split gives the captures that a pattern finds in a text, and whether it fits at all.
func Split(pattern *grammar.Choice, text string) (found map[string]string, ok bool) {
	found = map[string]string{}
	return found, splitChoice(pattern, text, found, func(rest string) bool { return rest == "" })
}

func splitChoice(choice *grammar.Choice, text string, found map[string]string, then func(string) bool) bool {
	for _, alternative := range choice.Alternatives {
		if splitItems(alternative.Items, text, found, then) {
			return true
		}
	}
	return false
}

// splitItems tries the items of a pattern on a text, one behind the other, and then what is to come behind them. found is
// what they capture.
func splitItems(items []grammar.Expression, text string, found map[string]string, then func(string) bool) bool {
	if len(items) == 0 {
		return then(text)
	}
	next := func(rest string) bool { return splitItems(items[1:], rest, found, then) }
	switch item := items[0].(type) {
	case *grammar.Literal:
		rest, ok := strings.CutPrefix(text, item.Text)
		return ok && next(rest)
	case *grammar.Optional:
		return splitItems([]grammar.Expression{item.Inner}, text, found, next) || next(text)
	case *grammar.Choice:
		return splitChoice(item, text, found, next)
	case *grammar.Capture:
		if before, again := found[item.Name]; again {
			rest, ok := strings.CutPrefix(text, before)
			return ok && next(rest)
		}
		// The shortest that lets the rest fit, so that optional parts win.
		for n := 1; n <= len(text); n++ {
			if run, ok := item.Shape.(*grammar.Run); ok && !run.Class.Has(text[n-1]) {
				break
			}
			found[item.Name] = text[:n]
			if next(text[n:]) {
				return true
			}
		}
		delete(found, item.Name)
	}
	return false
}
