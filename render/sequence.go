package render

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

func (w *writer) sequence(h *half, items []grammar.Expression) bool {
	m := w.mark()
	for k, item := range items {
		if literal, always := layoutLiteral(item); literal != "" && w.inside {
			// Layout beside a value: written where the value would lose its own otherwise.
			switch {
			case k+1 < len(items) && isValue(items[k+1]):
				if always || strings.HasPrefix(w.valueText(), literal) {
					w.literal(literal)
				}
				continue
			case k > 0 && isValue(items[k-1]):
				if always || strings.HasSuffix(w.valueText(), literal) {
					w.out = append(w.out, literal...)
				}
				continue
			}
		}
		if !w.write(h, item) || isValue(item) && w.losesBlanks(items, k) {
			return w.undo(m)
		}
	}
	return true
}

// losesBlanks tells whether a value has white space at an end where the format passes it over.
func (w *writer) losesBlanks(items []grammar.Expression, k int) bool {
	text := w.valueText()
	if text == "" {
		return false
	}
	blank := func(k int) bool {
		if k < 0 || k >= len(items) {
			return false
		}
		_, ok := items[k].(*grammar.Blank)
		return ok
	}
	if blank(k-1) && isSpace(text[0]) || blank(k+1) && isSpace(text[len(text)-1]) {
		return !w.fail(ReasonSpace, text, "expected text without white space at its ends")
	}
	return false
}

// layoutLiteral gives the white space that may stand, or not, beside a value, and whether it is written always.
func layoutLiteral(e grammar.Expression) (text string, always bool) {
	switch e := e.(type) {
	case *grammar.Optional:
		if literal, ok := e.Inner.(*grammar.Literal); ok && strings.TrimSpace(literal.Text) == "" {
			return literal.Text, true
		}
	case *grammar.Choice:
		if len(e.Alternatives) == 2 && len(e.Alternatives[0].Items) == 0 && len(e.Alternatives[1].Items) == 1 {
			if literal, ok := e.Alternatives[1].Items[0].(*grammar.Literal); ok && strings.TrimSpace(literal.Text) == "" {
				return literal.Text, false
			}
		}
	}
	return "", false
}

func isValue(e grammar.Expression) bool {
	capture, ok := e.(*grammar.Capture)
	return ok && capture.Name == "value"
}

// optional writes an optional part if it carries something, or if nothing that could be carried is in it.
func (w *writer) optional(h *half, inner grammar.Expression) bool {
	m := w.mark()
	if !w.write(h, inner) || w.consumed == m.consumed && w.idle > m.idle {
		w.undo(m)
	}
	return true
}

// repeat writes a part as often as there is something for it. Parameters are all written or none, so that what cannot
// be written so is tried otherwise.
func (w *writer) repeat(h *half, e, inner grammar.Expression, separator *string) bool {
	m := w.mark()
	for written := 0; written == 0 || !once(e); written++ {
		before := w.mark()
		if separator != nil {
			w.literal(*separator)
		}
		if !w.write(h, inner) || w.consumed == before.consumed {
			w.undo(before)
			break
		}
	}
	if h.facts[e].parameters {
		if w.member < len(w.members) {
			return w.undo(m)
		}
		if !w.inside {
			w.argued = true
		}
	}
	return true
}

// once tells whether a repetition is written once at most.
func once(e grammar.Expression) bool {
	repeat, ok := e.(*grammar.Repeat)
	return ok && repeat.Once
}
