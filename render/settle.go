package render

import (
	"bytes"
	"strings"
	"unicode"
)

// settleLayout takes out the layout that would come to stand inside a tray: what is put together of pieces must hold
// nothing that was not in the message. It also takes off what the prompt holds already.
func (w *writer) settleLayout() *Error {
	text := func(k, step int) int { // the text beside piece k
		for k += step; k >= 0 && k < len(w.pieces); k += step {
			switch w.pieces[k].kind {
			case pieceText:
				if w.pieces[k].start < w.pieces[k].end {
					return k
				}
			case pieceLayout, pieceBlank:
			default:
				return -1
			}
		}
		return -1
	}
	more := func(k, step int) bool { // more text of the same tray
		for j := k + step; j >= 0 && j < len(w.pieces); j += step {
			if p := w.pieces[j]; p.kind == pieceText && p.tray == w.pieces[k].tray && p.start < p.end {
				return true
			}
		}
		return false
	}
	from := w.promptHolds()
	if w.cut < 0 { // the prompt ends behind the opener
		for _, p := range w.pieces {
			if p.kind == pieceText && p.tray == itemReasoning {
				from = p.start
				break
			}
		}
	}
	var drop []piece
	for k, p := range w.pieces {
		switch p.kind {
		case pieceLayout:
			before, after := text(k, -1), text(k, 1)
			if before >= 0 && more(before, 1) || after >= 0 && more(after, -1) {
				drop = append(drop, p)
			}
		case pieceBlank:
			if t := text(k, -1); t >= 0 && more(t, 1) && isSpace(w.out[w.pieces[t].end-1]) || w.edge(text(k, 1), more) {
				return &Error{Format: w.r.format, Reason: ReasonSpace, Call: -1, Detail: "expected no white space here, which would be taken for markup"}
			}
		}
	}
	if len(drop) == 0 && from == 0 {
		return nil
	}
	n := 0 // how much is kept, in front
	begin := from
	for _, p := range drop {
		if p.start >= from {
			n += copy(w.out[n:], w.out[from:p.start])
			from = p.end
		}
	}
	n += copy(w.out[n:], w.out[from:])
	w.out = w.out[:n]
	moved := func(at int) int {
		to := at - begin
		for _, p := range drop {
			if p.start >= begin && p.end <= at {
				to -= p.end - p.start
			}
		}
		return max(to, 0)
	}
	for k := range w.pieces {
		p := &w.pieces[k]
		p.start, p.end = moved(p.start), moved(p.end)
	}
	return nil
}

// promptHolds is how much of the output, markers and nothing else, stands at the end of the prompt already: the header of
// a message, or the opener of a frame.
func (w *writer) promptHolds() (n int) {
	prompt := w.options.Request.Prompt
	for _, p := range w.pieces {
		if p.kind == pieceText || p.kind == pieceName || p.kind == pieceArgument {
			break
		}
		if text := string(w.out[:p.end]); p.kind == pieceMarkup && strings.ContainsFunc(text, unicode.IsLetter) && strings.HasSuffix(prompt, text) {
			n = p.end
		}
	}
	return n
}

func (w *writer) edge(t int, more func(k, step int) bool) bool {
	return t >= 0 && more(t, -1) && isSpace(w.out[w.pieces[t].start])
}

func isSpace(c byte) bool { return bytes.IndexByte([]byte(" \t\r\n"), c) >= 0 }
