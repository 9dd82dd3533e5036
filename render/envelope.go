package render

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// envelope writes a JSON object that carries a call: its members in order, by their first spelling.
func (w *writer) envelope(h *half, e *grammar.Envelope) bool {
	if w.call < 0 || w.argued {
		return false
	}
	item := &w.items[w.call]
	w.literal("{")
	written := 0
	for _, m := range e.Members {
		key := ""
		if len(m.Keys) > 0 {
			key = m.Keys[0]
		}
		if m.KeyCapture == "name" {
			key = item.call.Name
			if !w.envelopeName(key) {
				return false
			}
		}
		value, ok := w.memberValue(h, item, m)
		if !ok && m.Optional {
			continue
		}
		if !ok {
			return false
		}
		if written > 0 {
			w.out = append(w.out, comma(&w.r.written)...)
		}
		written++
		start := len(w.out)
		w.out = codec.AppendQuoted(w.out, []byte(key))
		if m.KeyCapture == "name" {
			w.piece(pieceName, start)
		}
		w.out = append(w.out, colon(&w.r.written)...)
		start = len(w.out)
		if m.Capture == "arguments" {
			w.out = appendObject(w.out, item.members, &w.r.written)
		} else {
			w.out = append(w.out, value...)
		}
		switch m.Capture {
		case "name":
			w.piece(pieceName, start)
		case "arguments":
			w.piece(pieceArgument, start)
		}
	}
	w.literal("}")
	return true
}

func (w *writer) envelopeName(name string) bool {
	if name == "" || strings.TrimSpace(name) != name {
		return w.fail(ReasonName, name, "expected a name without white space at its ends")
	}
	w.named = w.next
	w.consumed++
	return true
}

// memberValue gives the value of a member as JSON, but for arguments; ok is false if there is none.
func (w *writer) memberValue(h *half, item *item, m grammar.Member) (value []byte, ok bool) {
	switch m.Capture {
	case "":
		return codec.AppendQuoted(nil, []byte(m.Fixed)), true
	case "name":
		return codec.AppendQuoted(nil, []byte(item.call.Name)), w.envelopeName(item.call.Name)
	case "arguments":
		w.argued = true
		w.consumed++
		return nil, true
	case "id":
		id := w.id(h, item)
		return codec.AppendQuoted(nil, []byte(id)), id != ""
	}
	return nil, false
}
