package render

import "strings"

type pieceKind uint8

const (
	pieceMarkup pieceKind = iota
	pieceLayout
	pieceBlank
	pieceText
	pieceName     // of a call
	pieceArgument // the key or the value of an argument, or all of them
)

// piece is a stretch of the output, for what white space means there.
type piece struct {
	kind       pieceKind
	tray       itemKind // of text
	start, end int
	call       int // the call that a name or an argument belongs to
}

// literal writes a marker. A key or a value that it ends must not hold it.
func (w *writer) literal(text string) bool {
	if w.key >= 0 {
		key := w.out[w.key:]
		if at := strings.Index(string(key)+text, text); at < len(key) {
			return w.fail(ReasonKey, string(key), "expected a name without "+text)
		}
		w.key = -1
	}
	switch {
	case w.value >= 0 && w.closing < 0:
		w.closing = len(w.out)
		w.closers = w.closing + len(text)
	case w.value >= 0 && w.closers == len(w.out):
		w.closers += len(text)
	}
	start := len(w.out)
	w.out = append(w.out, text...)
	w.piece(pieceMarkup, start)
	return true
}

// piece notes what has been written from a place on.
func (w *writer) piece(kind pieceKind, start int) {
	p := piece{kind: kind, start: start, end: len(w.out), call: -1}
	if w.has(itemCall) {
		p.call = w.items[w.next].number
	}
	w.pieces = append(w.pieces, p)
}

func (w *writer) space(kind pieceKind, text string) {
	start := len(w.out)
	w.out = append(w.out, text...)
	w.piece(kind, start)
	if w.value >= 0 && w.closers == start {
		w.closers = len(w.out)
	}
}

// text writes text of a tray.
func (w *writer) text(kind itemKind, text string) {
	start := len(w.out)
	w.out = append(w.out, text...)
	w.pieces = append(w.pieces, piece{kind: pieceText, tray: kind, start: start, end: len(w.out), call: -1})
	w.next++
	w.consumed++
	w.verify = w.verify || w.looksLikeMarkup(text)
}

// looksLikeMarkup tells whether a text holds anything that a grammar of the combination knows.
func (w *writer) looksLikeMarkup(text string) bool {
	for _, h := range w.r.halves {
		if h.definition.Escapes != "" && strings.Contains(text, `\`) {
			return true
		}
	}
	return strings.ContainsAny(text, "{[") || w.holdsMarker(text)
}

// holdsMarker tells whether a text holds a marker of the combination.
func (w *writer) holdsMarker(text string) bool {
	for _, h := range w.r.halves {
		for _, marker := range h.markers {
			if strings.Contains(text, w.fill(h, marker)) {
				return true
			}
		}
	}
	return false
}
