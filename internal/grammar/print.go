package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// printWidth is where the alternatives of a rule go on lines of their own.
const printWidth = 120

// Print writes rules as grammar text, which ParseGrammar reads as the same rules. Comments are not kept.
func Print(rules []*Rule) string {
	width := 0
	for _, rule := range rules {
		width = max(width, len(rule.Name))
	}
	var out strings.Builder
	for _, rule := range rules {
		head := fmt.Sprintf("%-*s = ", width, rule.Name)
		body := printChoice(rule.Body, " | ")
		tested := false
		for _, alternative := range rule.Body.Alternatives {
			tested = tested || len(alternative.Tests) > 0
		}
		if tested || utf8.RuneCountInString(head+body) > printWidth {
			body = printChoice(rule.Body, "\n"+strings.Repeat(" ", width)+" | ")
		}
		out.WriteString(head + body + " .\n")
	}
	return out.String()
}

func printChoice(choice *Choice, separator string) string {
	parts := make([]string, len(choice.Alternatives))
	for i, alternative := range choice.Alternatives {
		parts[i] = printSequence(alternative)
	}
	return strings.Join(parts, separator)
}

func printSequence(sequence *Sequence) string {
	var parts []string
	for _, item := range sequence.Items {
		parts = append(parts, printItem(item))
	}
	for i, test := range sequence.Tests {
		word := "and"
		if i == 0 {
			word = "if"
		}
		parts = append(parts, word+" "+printTest(test))
	}
	return strings.Join(parts, " ")
}

func printTest(test Test) string {
	var patterns []string
	for _, pattern := range test.Patterns {
		switch {
		case pattern.None:
			patterns = append(patterns, "none")
		case pattern.Prefix:
			patterns = append(patterns, quote(pattern.Text+"*"))
		default:
			patterns = append(patterns, quote(pattern.Text))
		}
	}
	if len(patterns) == 0 {
		return test.Capture
	}
	return test.Capture + " = " + strings.Join(patterns, " or ")
}

func printItem(e Expression) string {
	switch e := e.(type) {
	case *Literal:
		return quote(e.Text)
	case *Blank:
		if e.Canonical == "" {
			return "~"
		}
		return "~" + quote(e.Canonical)
	case *Layout:
		if e.Inner != nil {
			return "^" + printItem(e.Inner)
		}
		return "^" + quote(e.Text)
	case *Look:
		return "&" + printItem(e.Inner)
	case *Capture:
		if e.Shape == nil {
			return "@" + e.Name
		}
		return "@" + e.Name + ":" + printItem(e.Shape)
	case *Codec:
		if e.Delimiter == "" {
			return e.Kind
		}
		return e.Kind + "(" + quote(e.Delimiter) + ")"
	case *Run:
		return "/" + e.Source + "/"
	case *Envelope:
		return printEnvelope(e)
	case *Set:
		return printSet(e)
	case *Attribute:
		return e.Name + "=" + printItem(e.Capture)
	case *Reference:
		return e.Name
	case *End:
		return "end"
	case *Choice:
		return "( " + printGroup(e) + " )"
	case *Optional:
		return printItem(e.Inner) + "?"
	case *Repeat:
		if e.Once {
			return "{ " + printGroup(e.Inner) + " }!"
		}
		return "{ " + printGroup(e.Inner) + " }"
	case *List:
		return printItem(e.Inner) + " % " + quote(e.Separator)
	}
	panic(fmt.Sprintf("grammar: %T cannot be printed", e))
}

// printGroup writes what stands in parentheses or braces. An empty alternative in front shows by its bar alone.
func printGroup(e Expression) string {
	choice, ok := e.(*Choice)
	if !ok {
		return printItem(e)
	}
	return strings.TrimSpace(printChoice(choice, " | "))
}

func printEnvelope(e *Envelope) string {
	var members []string
	for _, member := range e.Members {
		key := "@" + member.KeyCapture
		if member.KeyCapture == "" {
			var keys []string
			for _, one := range member.Keys {
				keys = append(keys, quote(one))
			}
			key = strings.Join(keys, " | ")
		}
		if member.Optional {
			key += "?"
		}
		value := "@" + member.Capture
		if member.Capture == "" {
			value = quote(member.Fixed)
		}
		members = append(members, key+": "+value)
	}
	return "json{ " + strings.Join(members, ", ") + " }"
}

func printSet(e *Set) string {
	var elements []string
	attributes := true
	for _, element := range e.Elements {
		_, attribute := element.(*Attribute)
		attributes = attributes && attribute
		elements = append(elements, printItem(element))
	}
	if attributes {
		return "[" + strings.Join(elements, " ") + "]"
	}
	return "[ " + strings.Join(elements, " ") + " ]"
}

// quote writes a literal.
func quote(text string) string {
	mark := `"`
	if strings.Contains(text, `"`) && !strings.Contains(text, "'") {
		mark = "'"
	}
	return mark + escapes[mark].Replace(text) + mark
}

// escapes write what cannot stand in a literal as it is, by the mark around it.
var escapes = map[string]*strings.Replacer{`"`: escapesOf(`"`), "'": escapesOf("'")}

func escapesOf(mark string) *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, mark, `\`+mark)
}
