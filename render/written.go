package render

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// layout writes a group that only the renderer reads: its first alternative that fits here. If none does, what it stands
// in is not written so.
func (w *writer) layout(h *half, group *grammar.Choice) bool {
	m := w.mark()
next:
	for _, alternative := range group.Alternatives {
		for _, test := range alternative.Tests {
			if !w.behind(test.Capture) {
				continue next
			}
		}
		for _, item := range alternative.Items {
			if !w.layoutItem(h, item) {
				w.undo(m)
				continue next
			}
		}
		return true
	}
	return false
}

func (w *writer) layoutItem(h *half, e grammar.Expression) bool {
	switch e := e.(type) {
	case *grammar.Literal:
		text := w.fill(h, e.Text)
		if strings.TrimSpace(text) == "" {
			w.space(pieceLayout, text)
			return true
		}
		return w.literal(text)
	case *grammar.Look:
		return w.follows(h, e.Inner)
	case *grammar.Capture: // the name of the call that comes next
		next := w.upcoming()
		if next == nil {
			return false
		}
		start := len(w.out)
		w.out = append(w.out, next.call.Name...)
		w.piece(pieceMarkup, start)
		return true
	}
	return false
}

// behind tells whether something was written last: reasoning, content or a call.
func (w *writer) behind(what string) bool {
	if w.next == 0 {
		return false
	}
	switch w.items[w.next-1].kind {
	case itemReasoning:
		return what == "reasoning"
	case itemContent:
		return what == "content"
	}
	return what == "call"
}

// follows tells whether what `&x` asks for comes next.
func (w *writer) follows(h *half, e grammar.Expression) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.End:
			found = found || w.next == len(w.items) && !w.framed
		case *grammar.Capture:
			found = found || e.Name == "content" && w.has(itemContent) || e.Name == "reasoning" && w.has(itemReasoning)
		case *grammar.Reference:
			switch grammar.RoleOf(e.Name) {
			case grammar.Block, grammar.Call:
				found = found || w.has(itemCall)
			case grammar.Message:
				found = found || w.next < len(w.items)
			case grammar.Frame:
				found = found || w.has(itemContent)
			case grammar.Thought:
				found = found || w.has(itemReasoning)
			case "":
				found = found || w.follows(h, h.rules[e.Name].Body)
			}
		}
		return !found
	})
	return found
}
