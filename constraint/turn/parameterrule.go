package turn

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// parameterRule is the rule of parameters, with what is known of it.
type parameterRule struct {
	*grammar.Rule
	lines []valueLine
	// repeatsKey: the name is written twice. nested: parameters may stand in parameters.
	repeatsKey, nested bool
	// typeOptional: the type of a value need not be written.
	typeOptional bool
}

// parameterRule is that of the definition, which must have one.
func (w *walker) parameterRule() *parameterRule {
	if w.parameter != nil {
		return w.parameter
	}
	for _, rule := range w.d.Rules {
		if rule.Role() != grammar.Parameter {
			continue
		}
		keys := 0
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if c, ok := e.(*grammar.Capture); ok && c.Name == "key" {
				keys++
			}
			return true
		})
		w.parameter = &parameterRule{rule, w.valueLines(rule), keys > 1, w.about(rule.Body).parameter, w.typeOptional(rule)}
		return w.parameter
	}
	return nil
}

// valueLine is one way in which the definition writes a value: the codec of the capture, and the types it stands for.
type valueLine struct {
	codec string
	// types are literals of the test that leads here. tested: there is a test.
	types  []string
	tested bool
	// untyped: it stands for values without a type too.
	untyped bool
}

func (w *walker) valueLines(rule *grammar.Rule) (lines []valueLine) {
	seen := map[string]bool{}
	var visit func(e grammar.Expression, line valueLine)
	visit = func(e grammar.Expression, line valueLine) {
		switch e := e.(type) {
		case *grammar.Choice:
			for _, a := range e.Alternatives {
				inner := line
				for _, test := range a.Tests {
					if test.Capture != "type" {
						continue
					}
					inner.tested = true
					for _, p := range test.Patterns {
						if p.None {
							inner.untyped = true
						} else {
							inner.types = append(inner.types, p.Text)
						}
					}
				}
				before := len(lines)
				for _, item := range a.Items {
					visit(item, inner)
				}
				if len(a.Tests) == 0 && !inner.tested && len(lines) > before && before > 0 && !lines[before-1].tested {
					lines = lines[:before] // a second way to write the same: the first is written
				}
			}
		case *grammar.Sequence:
			for _, item := range e.Items {
				visit(item, line)
			}
		case *grammar.Reference:
			if rule := w.d.Rule(e.Name); rule != nil && !seen[e.Name] {
				seen[e.Name] = true
				visit(rule.Body, line)
			}
		case *grammar.Optional:
			visit(e.Inner, line)
		case *grammar.Capture:
			if e.Name != "value" {
				return
			}
			if codec, ok := e.Shape.(*grammar.Codec); ok {
				line.codec = codec.Kind
			}
			lines = append(lines, line)
		}
	}
	seen[rule.Name] = true
	visit(rule.Body, valueLine{})
	return lines
}

// kinds are the types that the markup says for a value on a line of the definition, "" where it says none; none if the
// value is not written on that line.
func (w *walker) kinds(line *valueLine, value *syntax.Value) []string {
	rule := w.parameterRule()
	if len(rule.lines) < 2 {
		return untyped
	}
	// Where the type may be left out, whatever is written is read by the schema.
	var kinds []string
	if line.untyped && rule.typeOptional {
		kinds = untyped
	}
	// What is a string stands on a line for text, all else on one for JSON.
	if value.Raw == (line.codec == "json") {
		return kinds
	}
	if line.tested {
		if len(line.types) == 0 {
			return kinds
		}
		return slices.Concat(kinds, line.types[:1])
	}
	for i := range rule.lines {
		if rule.lines[i].tested && rule.lines[i].codec == line.codec {
			return nil // said there already
		}
	}
	for i := range rule.lines {
		switch types := rule.lines[i].types; {
		case slices.Contains(types, "true"):
			return []string{"false"} // the type says whether it is a string
		case slices.Contains(types, value.Kind):
			return kinds // what is said to be of that type is read otherwise
		}
	}
	if value.Kind == syntax.AnyKind {
		return slices.Concat(kinds, []string{anyType})
	}
	return slices.Concat(kinds, []string{value.Kind})
}

var untyped = []string{""}

// anyType is any of the types that JSON has besides strings.
var anyType = strings.Join([]string{"object", "array", "number", "boolean", "null"}, or)

// typeOptional tells whether the markup of a type in a rule is a part that may be left out. (An attribute of a tag is
// always written.)
func (w *walker) typeOptional(rule *grammar.Rule) bool {
	found := false
	grammar.Walk(rule.Body, func(e grammar.Expression) bool {
		if c, ok := e.(*grammar.Choice); ok {
			typed := 0
			for _, a := range c.Alternatives {
				if w.captures(a, "type") {
					typed++
				}
			}
			found = found || typed > 0 && typed < len(c.Alternatives)
		}
		return true
	})
	return found
}
