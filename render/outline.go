package render

import "github.com/parlance-llm/parlance"

// PartKind says what a stretch of a rendered text is.
type PartKind uint8

// The kinds.
const (
	// PartMarkup: a marker, or punctuation.
	PartMarkup PartKind = iota
	// PartSpace: white space that is not the message's.
	PartSpace
	// PartReasoning: text of the reasoning.
	PartReasoning
	// PartContent: text of the content.
	PartContent
	// PartName: the name of a call.
	PartName
	// PartArgument: the key or the value of an argument, or all of them, as the format writes them.
	PartArgument
)

func (k PartKind) String() string {
	return [...]string{"markup", "space", "reasoning", "content", "name", "argument"}[k]
}

// Part is a stretch of a rendered text, in bytes from its beginning. Markers stand in parts of their own, one a literal
// of the definition.
type Part struct {
	Start, End int
	Kind       PartKind
	// Call is the number of the call that the part belongs to, or that comes next; -1 if there is none.
	Call int
}

// Outline writes a message as Render does, and tells what every part of the text is, in order and without gaps: for
// training, where the markup counts otherwise than what the model says, and for tests.
func (r *Renderer) Outline(m *parlance.Message, o Options) (text string, parts []Part, err error) {
	return r.render(m, o, true)
}

// parts gives the pieces of the text, with what lies between them as markup.
func (w *writer) parts() (parts []Part) {
	at := 0
	for _, p := range w.pieces {
		if p.start < at || p.end <= p.start {
			continue // nothing, or a part of what stands there already
		}
		if p.start > at {
			parts = append(parts, Part{at, p.start, PartMarkup, p.call})
		}
		part := Part{p.start, p.end, PartMarkup, p.call}
		switch p.kind {
		case pieceLayout, pieceBlank:
			part.Kind = PartSpace
		case pieceText:
			part.Kind = PartContent
			if p.tray == itemReasoning {
				part.Kind = PartReasoning
			}
		case pieceName:
			part.Kind = PartName
		case pieceArgument:
			part.Kind = PartArgument
		}
		parts = append(parts, part)
		at = p.end
	}
	if at < len(w.out) {
		parts = append(parts, Part{at, len(w.out), PartMarkup, -1})
	}
	return parts
}
