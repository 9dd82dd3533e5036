package turn

import (
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
	if t.Entities {
		t.Ends, t.Literal = []string{regular.Quote("<"), regular.Quote("&")}, []string{"<", "&"}
		return t
	}
	before, after, between := w.around(rule.Rule)
	t.Layout = isLayout(after)
	ends := []marker{w.marker(after, p)}
	if between == 1 {
		ends = append(ends, w.marker(before, nil))
	}
	if rule.nested {
		ends = append(ends, w.marker(rule.Body.Alternatives[0].Items[:1], p))
	}
	closing := w.closingRun()
	t.Openers = closing.expressions
	for i, end := range ends {
		if end.implied(ends[:i], ends[i+1:]) {
			continue
		}
		if expression := end.expression(); expression != "" && !slices.Contains(t.Ends, expression) {
			t.Ends = append(t.Ends, expression)
			t.Literal = append(t.Literal, end.text())
		}
	}
	if run := closing.run; run != "" && slices.ContainsFunc(closing.openers, func(opener marker) bool { return !opener.implied(ends) }) {
		t.Ends = append(t.Ends, run)
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

// marker is markers that follow each other, cut where white space may stand between them.
type marker []string

// marker is that of items, up to what is not known.
func (w *walker) marker(items []grammar.Expression, p *parameter) (out marker) {
	text := func(text string) {
		if len(out) == 0 {
			out = append(out, "")
		}
		out[len(out)-1] += text
	}
	for _, item := range items {
		switch e := item.(type) {
		case *grammar.Literal:
			text(w.fill(e.Text))
		case *grammar.Blank:
			if len(out) == 0 {
				out = append(out, "")
			}
			out = append(out, "")
		case *grammar.Capture:
			if e.Name == "key" && p != nil && p.keys == nil {
				text(p.key)
				continue
			}
			return out
		}
	}
	if last := len(out) - 1; last >= 0 && out[last] == "" { // white space behind all is no part of it
		return out[:last]
	}
	return out
}

// expression is the regular expression of a marker.
func (m marker) expression() string {
	var out strings.Builder
	for i, text := range m {
		if i > 0 {
			out.WriteString(`\s*`)
		}
		out.WriteString(regular.Quote(text))
	}
	return out.String()
}

// text is the marker by the book, without white space.
func (m marker) text() string { return strings.Join(m, "") }

// implied tells whether a text in which the marker occurs always holds one of the others, which are plain texts.
func (m marker) implied(lists ...[]marker) bool {
	for _, others := range lists {
		for _, other := range others {
			if len(other) == 1 && other[0] != "" && !slices.Equal(m, other) && slices.ContainsFunc(m, func(text string) bool { return strings.Contains(text, other[0]) }) {
				return true
			}
		}
	}
	return false
}

// expression is the regular expression of the markers that items are, white space between them as it may be.
func (w *walker) expression(items []grammar.Expression, p *parameter) string {
	return w.marker(items, p).expression()
}

// closingRun is the closers of calls and blocks with a new call behind them: inside a value they end it (ruling 31).
type closingRun struct {
	// run is an expression, "" where the definition has no such closers; then there are no openers either.
	run string
	// openers are the beginnings of calls, expressions the same as such.
	openers     []marker
	expressions []string
}

// closingRun is found once for a definition.
func (w *walker) closingRun() *closingRun {
	if w.closing == nil {
		w.closing = w.findClosingRun()
	}
	return w.closing
}

func (w *walker) findClosingRun() *closingRun {
	var closers []string
	out := &closingRun{}
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
			opener := w.marker(a.Items, nil)
			if expression := opener.expression(); expression != "" {
				out.openers, out.expressions = append(out.openers, opener), append(out.expressions, expression)
			}
		}
	}
	if len(closers) == 0 || len(out.openers) == 0 {
		return &closingRun{}
	}
	run := "(?:" + strings.Join(closers, "|") + ")"
	out.run = run + `(?:\s|` + run + `)*(?:` + strings.Join(out.expressions, "|") + ")"
	return out
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
