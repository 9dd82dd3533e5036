package render

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/codec/delimited"
	"github.com/parlance-llm/parlance/internal/codec/python"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/machine"
)

// capture writes what a capture holds. quoted tells whether it stands between quotation marks, where any text may.
func (w *writer) capture(h *half, e *grammar.Capture, quoted bool) bool {
	switch e.Name {
	case "reasoning":
		if !h.thoughts || !w.has(itemReasoning) {
			return false
		}
		w.text(itemReasoning, w.items[w.next].text)
		return true
	case "content":
		switch {
		case e.Shape != nil:
			return false
		case h.content != nil && w.left:
			return false // what begins an output stands behind a marker of the other half, not behind mere text
		case h.content != nil:
			before := w.consumed
			written := w.write(h.content, h.content.output)
			w.left = w.consumed > before
			return written
		case w.has(itemContent):
			w.text(itemContent, w.items[w.next].text)
		default:
			w.idle++
		}
		return true
	case "drop", "text", "sources":
		return false
	case "echo":
		if shape, ok := e.Shape.(*grammar.Choice); ok {
			return w.choice(h, shape)
		}
		return false
	case "arguments":
		return w.arguments(h, e)
	case "value":
		return w.tagged(h, e)
	}
	start := len(w.out)
	if !w.word(h, e) {
		return w.undoTo(start)
	}
	text := string(w.out[start:])
	if !w.fits(e, text, quoted) {
		return w.undoTo(start)
	}
	if w.lookup(e.Name) != nil {
		return true
	}
	w.bound = append(w.bound, binding{e.Name, text})
	switch e.Name {
	case "name":
		w.piece(pieceName, start)
	case "key":
		w.piece(pieceArgument, start)
	}
	return true
}

func (w *writer) undoTo(length int) bool {
	w.out = w.out[:length]
	return false
}

func (w *writer) has(kind itemKind) bool {
	return w.next < len(w.items) && w.items[w.next].kind == kind
}

// word writes the text of a capture that is no tray and no argument.
func (w *writer) word(h *half, e *grammar.Capture) bool {
	if before := w.lookup(e.Name); before != nil { // it repeats itself
		w.out = append(w.out, before.text...)
		w.idle++
		return true
	}
	for _, a := range w.assigned {
		if a.name != e.Name || a.mode == free {
			continue
		}
		if a.mode == missing {
			return false
		}
		if a.mode == natural {
			w.out = append(w.out, w.natural(a.name)...)
		} else {
			w.out = append(w.out, a.text...)
		}
		w.consumed++
		return true
	}
	switch e.Name {
	case "key":
		if !w.inside || w.keyed {
			return false
		}
		w.keyed = true
		w.out = append(w.out, w.members[w.member].key...)
		w.consumed++
		return true
	case "name":
		item := w.upcoming()
		if item == nil || w.named == w.next {
			return false
		}
		w.named = w.next
		w.out = append(w.out, item.call.Name...)
		w.consumed++
		return true
	case "index":
		item := w.upcoming()
		if item == nil {
			return false
		}
		w.out = strconv.AppendInt(w.out, int64(w.index(h, item)), 10)
		w.consumed++
		return true
	}
	if shape, ok := e.Shape.(*grammar.Choice); ok {
		return w.pattern(h, shape)
	}
	if e.Name == "id" {
		item := w.upcoming()
		if item == nil {
			return false
		}
		w.out = append(w.out, w.id(h, item)...)
		w.consumed++
		return true
	}
	if literal, ok := e.Shape.(*grammar.Literal); ok {
		w.out = append(w.out, literal.Text...)
		return true
	}
	return false
}

// upcoming is the call that is open, or that comes next.
func (w *writer) upcoming() *item {
	if w.has(itemCall) && !w.noCalls {
		return &w.items[w.next]
	}
	return nil
}

// index is the number of a call: the one that its id holds, if the format has written it, else its place.
func (w *writer) index(h *half, item *item) int {
	switch h.definition.IDs {
	case grammar.IDsPerConversation:
		if k := strings.LastIndexByte(item.call.ID, ':'); k >= 0 && strings.HasSuffix(item.call.ID[:k], item.call.Name) {
			if n, err := strconv.Atoi(item.call.ID[k+1:]); err == nil && n >= 0 {
				return n
			}
		}
		return w.options.EarlierCalls + item.number
	case grammar.IDsPerMessageFromOne:
		return item.number + 1
	}
	return item.number
}

// id is the id of a call: its own, or where the format counts, its number, unless the id is one.
func (w *writer) id(h *half, item *item) string {
	if strings.HasPrefix(h.definition.IDs, "per_") {
		if _, err := strconv.ParseUint(item.call.ID, 10, 32); err != nil {
			return strconv.Itoa(w.index(h, item))
		}
	}
	return item.call.ID
}

// pattern writes a capture that is taken apart when it is read. What is read must be what was written.
func (w *writer) pattern(h *half, shape *grammar.Choice) bool {
	start, scope := len(w.out), w.mark()
	if !w.choice(h, shape) || len(w.out) == start {
		return w.undo(scope)
	}
	written := w.bound[scope.bound:]
	found, ok := machine.Split(shape, string(w.out[start:]))
	for _, b := range written {
		ok = ok && found[b.name] == b.text
	}
	if !ok {
		return w.fail(ReasonName, string(w.out[start:]), "expected a name that the format does not take apart")
	}
	return true
}

// fits tells whether a text can be written for a capture, and notes what else must be seen to.
func (w *writer) fits(e *grammar.Capture, text string, quoted bool) bool {
	reason := ReasonName
	if e.Name == "key" {
		reason = ReasonKey
	}
	switch {
	case text == "" || strings.TrimSpace(text) != text || len(text) > mostWord:
		return w.fail(reason, text, "expected a name without white space at its ends")
	case quoted:
		return true
	}
	class, count := &grammar.WordClass, 0
	codec, ok := e.Shape.(*grammar.Codec)
	upTo := ok && codec.Kind == "text" || e.Shape == nil && (e.Name == "key" || e.Name == "type")
	switch shape := e.Shape.(type) {
	case *grammar.Run:
		if shape.Automaton != nil {
			return shape.Automaton.Matches(text) || w.fail(reason, text, "expected a name that the format's pattern allows")
		}
		class, count = &shape.Class, shape.Count
	default:
		if upTo {
			w.key = len(w.out) - len(text)
			if w.makesMarker(w.key, text) {
				return w.fail(reason, text, "expected a name that makes no other marker of the one before it")
			}
			for _, h := range w.r.halves {
				for _, marker := range h.markers {
					if strings.Contains(text, w.fill(h, marker)) {
						return w.fail(reason, text, "expected a name without markers")
					}
				}
			}
			return true
		}
	}
	n := 0
	for _, r := range text {
		if r < utf8.RuneSelf && !class.Has(byte(r)) || r >= utf8.RuneSelf && !class.HasWide(r) {
			return w.fail(reason, text, "expected a name of the characters that the format allows")
		}
		n++
	}
	return count == 0 || n == count
}

// makesMarker tells whether a text that begins at a place makes a marker together with what stands before it.
func (w *writer) makesMarker(at int, text string) bool {
	for _, h := range w.r.halves {
		for _, marker := range h.markers {
			marker = w.fill(h, marker)
			for k := 1; k < len(marker); k++ {
				if strings.HasPrefix(text, marker[k:]) && bytes.HasSuffix(w.out[:at], []byte(marker[:k])) {
					return true
				}
			}
		}
	}
	return false
}

// mostWord is the most that is held of a name (ruling 41).
const mostWord = 4 << 10

// set writes elements that may come in any order, each if there is something for it. In a tag, which has nothing but
// attributes, their values stand in quotation marks.
func (w *writer) set(h *half, e *grammar.Set) bool {
	tag := true
	for _, element := range e.Elements {
		_, attribute := element.(*grammar.Attribute)
		tag = tag && attribute
	}
	any := false
	for _, element := range e.Elements {
		m := w.mark()
		if tag && any {
			w.literal(" ")
		}
		start := len(w.out)
		ok := false
		if attribute, is := element.(*grammar.Attribute); is {
			ok = w.attribute(h, attribute, tag)
		} else if capture, is := element.(*grammar.Capture); !is || w.lookup(capture.Name) == nil {
			ok = w.write(h, element)
		}
		if !ok || w.consumed == m.consumed {
			w.undo(m)
			continue
		}
		any = true
		if !tag && start > 0 && isWord(w.out[start-1]) && isWord(w.out[start]) {
			w.out = slices.Insert(w.out, start, ' ')
			for k := m.pieces; k < len(w.pieces); k++ {
				w.pieces[k].end++
				if k > m.pieces || w.pieces[k].start >= start {
					w.pieces[k].start++
				}
			}
		}
	}
	return true
}

func isWord(c byte) bool { return grammar.WordClass.Has(c) || c >= utf8.RuneSelf }

func (w *writer) attribute(h *half, e *grammar.Attribute, tag bool) bool {
	w.literal(e.Name + "=")
	if !tag {
		return w.capture(h, e.Capture, false)
	}
	w.out = append(w.out, '"')
	start := len(w.out)
	if !w.capture(h, e.Capture, true) {
		return false
	}
	if text := string(w.out[start:]); strings.ContainsAny(text, `&<>"`) {
		w.out = append(w.out[:start], escapeEntities(text)...)
		for k := range w.pieces {
			if w.pieces[k].start >= start {
				w.pieces[k].end = len(w.out)
			}
		}
	}
	w.literal(`"`)
	return true
}

// textEntities are written where a tag ends a text, and quotation marks do not.
var textEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;")

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeEntities(text string) string { return entities.Replace(text) }

// arguments writes all arguments of the open call.
func (w *writer) arguments(h *half, e *grammar.Capture) bool {
	if w.call < 0 || w.argued {
		return false
	}
	item := &w.items[w.call]
	codec, ok := e.Shape.(*grammar.Codec)
	if !ok {
		return false
	}
	start := len(w.out)
	switch codec.Kind {
	case "json":
		w.out = appendObject(w.out, item.members, &w.r.written)
	case "python":
		out, err := python.AppendStyled(w.out, appendObject(nil, item.members, &w.r.written), pythonStyle(&w.r.written))
		if err != nil {
			return w.fail(ReasonKey, item.call.Arguments, err.Error())
		}
		w.out = out
	case "delimited":
		if !w.delimited(h, item, w.fill(h, codec.Delimiter)) {
			return false
		}
	default:
		return w.fail(ReasonTemplate, item.call.Arguments, "expected arguments in a syntax that can be written back, and the template reads them by its own rules")
	}
	w.piece(pieceArgument, start)
	w.argued = true
	w.consumed++
	return true
}

func (w *writer) delimited(h *half, item *item, delimiter string) bool {
	if bad := typed(item.members, w.schema); bad != nil {
		return w.fail(ReasonType, bad.key+": "+string(bad.raw), "expected a value that the schema does not read as another type")
	}
	out, err := delimited.Append(w.out, appendObject(nil, item.members, &w.r.written), delimiter)
	if err != nil {
		return w.fail(ReasonCloser, item.call.Arguments, err.Error())
	}
	w.out = out
	return true
}
