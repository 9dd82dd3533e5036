package turn

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// tagged says how the text of a value is read, and where it would end.
func (w *walker) tagged(rule *parameterRule, line *valueLine, p *parameter) *syntax.Tagged {
	key := tagsKey{codec: line.codec, tested: line.tested}
	if rule.repeatsKey {
		key.name, key.any = p.key, p.keys != nil
	}
	if t, ok := w.tags[key]; ok {
		return t
	}
	t := w.taggedBy(rule, line, p)
	w.tags[key] = t
	return t
}

func (w *walker) taggedBy(rule *parameterRule, line *valueLine, p *parameter) *syntax.Tagged {
	t := &syntax.Tagged{Entities: line.codec == "xml", JSON: line.codec == "json"}
	if line.tested || line.codec == "json" && len(line.types) == 0 {
		t.JSON = line.codec == "json"
	}
	if len(rule.lines) > 1 { // what is a string stands on a line for text, all else on one for JSON
		t.NoRaw, t.NoJSON = line.codec == "json", line.codec != "json" && !(line.untyped && w.parameterRule().typeOptional)
	}
	end := func(expression string) {
		if expression == "" || slices.Contains(t.Ends, expression) {
			return
		}
		t.Ends = append(t.Ends, expression)
	}
	if t.Entities {
		end(regular.Quote("<"))
		end(regular.Quote("&"))
		t.Literal = []string{"<", "&"}
		return t
	}
	before, after, between := w.around(rule.Rule)
	t.Layout = isLayout(after)
	closer := w.expression(after, p)
	end(closer)
	if between == 1 {
		end(w.expression(before, nil))
	}
	if rule.nested {
		end(w.expression(rule.Body.Alternatives[0].Items[:1], p))
	}
	run, openers := w.closingRun()
	end(run)
	t.Openers = openers
	for _, e := range t.Ends {
		if text, ok := byTheBook(e); ok {
			t.Literal = append(t.Literal, text)
		}
	}
	return t
}

// around are the items of a parameter's rule before its key, and behind its value; between is the number of literals
// from the key to the value.
func (w *walker) around(rule *grammar.Rule) (before, after []grammar.Expression, between int) {
	items := rule.Body.Alternatives[0].Items
	key, value := -1, -1
	for i, item := range items {
		if key < 0 && w.captures(item, "key") {
			key = i
		}
		if value < 0 && w.captures(item, "value") {
			value = i
		}
	}
	for _, item := range items[key:value] {
		if _, ok := item.(*grammar.Literal); ok {
			between++
		}
	}
	return items[:key], items[value+1:], between
}

func isLayout(after []grammar.Expression) bool {
	if len(after) == 0 {
		return false
	}
	switch e := after[0].(type) {
	case *grammar.Optional:
		literal, ok := e.Inner.(*grammar.Literal)
		return ok && literal.Text == "\n"
	case *grammar.Choice:
		return len(e.Alternatives) == 2 && len(e.Alternatives[0].Items) == 0
	}
	return false
}

// expression is the regular expression of the markers that items are, white space between them as it may be.
func (w *walker) expression(items []grammar.Expression, p *parameter) string {
	var out strings.Builder
	for _, item := range items {
		switch e := item.(type) {
		case *grammar.Literal:
			out.WriteString(regular.Quote(w.fill(e.Text)))
		case *grammar.Blank:
			out.WriteString(`\s*`)
		case *grammar.Capture:
			if e.Name == "key" && p != nil && p.keys == nil {
				out.WriteString(regular.Quote(p.key))
				continue
			}
			return out.String()
		}
	}
	return strings.TrimSuffix(out.String(), `\s*`)
}

// closingRun is the expression of the closers of calls and blocks with a new call behind them: inside a value they end
// it (ruling 31). "" where the definition has no such closers.
func (w *walker) closingRun() (expression string, openers []string) {
	var closers []string
	for _, rule := range w.d.Rules {
		if role := rule.Role(); role != grammar.Call && role != grammar.Block {
			continue
		}
		for _, a := range rule.Body.Alternatives {
			last := -1
			for i, item := range a.Items {
				if w.captures(item, "name", "value", "arguments") || w.leads(item, toCall) {
					last = i
				}
			}
			if closer := w.expression(trimBlanks(a.Items[last+1:]), nil); closer != "" {
				closers = append(closers, closer)
			}
			if opener := w.expression(a.Items, nil); opener != "" {
				openers = append(openers, opener)
			}
		}
	}
	if len(closers) == 0 || len(openers) == 0 {
		return "", nil
	}
	run := "(?:" + strings.Join(closers, "|") + ")"
	return run + `(?:\s|` + run + `)*(?:` + strings.Join(openers, "|") + ")", openers
}

func trimBlanks(items []grammar.Expression) []grammar.Expression {
	for len(items) > 0 {
		if _, ok := items[0].(*grammar.Blank); !ok {
			break
		}
		items = items[1:]
	}
	return items
}

var quotedCharacter = regexp.MustCompile(`\\x\{([0-9a-f]+)\}`)

// byTheBook is the text that an expression of markers stands for if there is no white space in them.
func byTheBook(expression string) (string, bool) {
	return unquoted(strings.ReplaceAll(expression, `\s*`, ""))
}

// unquoted is the text that an expression made by regular.Quote stands for.
func unquoted(expression string) (string, bool) {
	if strings.ContainsAny(quotedCharacter.ReplaceAllString(expression, ""), `\()[]{}*+?|.^$`) {
		return "", false
	}
	return quotedCharacter.ReplaceAllStringFunc(expression, func(code string) string {
		var r rune
		for _, c := range code[3 : len(code)-1] {
			r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c))
		}
		return string(r)
	}), true
}
