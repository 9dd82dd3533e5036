package render

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/delimited"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// resultWriter is one walk over a rule for results. Every method that writes answers whether it could.
type resultWriter struct {
	definition *grammar.Definition
	results    []answer
	suffix     string
	at         int // the result that is written, or -1

	out   []byte
	parts []Part

	failed  int    // the result that lacked something last
	lacking string // the capture that it lacked
}

func (w *resultWriter) write(e grammar.Expression) bool {
	switch e := e.(type) {
	case *grammar.Literal:
		return w.append(w.fill(e.Text), PartMarkup)
	case *grammar.Reference:
		if e.Name == grammar.TurnRule {
			return w.append(w.fill(w.definition.Turn.Begin), PartMarkup)
		}
		return w.write(w.definition.Results.Rule(e.Name).Body)
	case *grammar.Capture:
		return w.capture(e)
	case *grammar.Envelope:
		return w.envelope(e)
	case *grammar.Set:
		return w.attributes(e)
	case *grammar.Sequence:
		for _, item := range e.Items {
			if !w.write(item) {
				return false
			}
		}
		return true
	case *grammar.Choice:
		for _, alternative := range e.Alternatives {
			if w.try(alternative) {
				return true
			}
		}
		return false
	case *grammar.Optional:
		w.try(e.Inner)
		return true
	case *grammar.Repeat:
		return w.each(e.Inner, "")
	case *grammar.List:
		return w.each(e.Inner, e.Separator)
	}
	return false // the definition has been checked: nothing else stands there
}

// try writes an expression, or nothing of it.
func (w *resultWriter) try(e grammar.Expression) bool {
	out, parts := len(w.out), len(w.parts)
	if w.write(e) {
		return true
	}
	w.out, w.parts = w.out[:out], w.parts[:parts]
	if parts > 0 {
		w.parts[parts-1].End = out
	}
	return false
}

// each writes an expression for each result.
func (w *resultWriter) each(e grammar.Expression, separator string) bool {
	defer func() { w.at = -1 }()
	for k := range w.results {
		if k > 0 && separator != "" {
			w.at = -1
			w.append(separator, PartMarkup)
		}
		w.at = k
		if !w.write(e) {
			return false
		}
	}
	return true
}

func (w *resultWriter) append(text string, kind PartKind) bool {
	if text == "" {
		return true
	}
	call := -1
	if w.at >= 0 {
		call = w.results[w.at].call
	}
	start := len(w.out)
	w.out = append(w.out, text...)
	if k := len(w.parts); k > 0 && kind == PartMarkup && w.parts[k-1].Kind == kind && w.parts[k-1].Call == call {
		w.parts[k-1].End = len(w.out)
		return true
	}
	w.parts = append(w.parts, Part{start, len(w.out), kind, call})
	return true
}

func (w *resultWriter) fill(literal string) string {
	return w.definition.Fill(literal, w.suffix)
}

// lack notes what a result lacks; always false.
func (w *resultWriter) lack(capture string) bool {
	w.failed, w.lacking = w.at, capture
	return false
}

// text gives what a capture holds of the result that is written. ok is false if it has nothing of the kind.
func (w *resultWriter) text(capture string) (text string, kind PartKind, ok bool) {
	a := &w.results[w.at]
	switch capture {
	case "content":
		return a.content, PartContent, true
	case "object":
		return a.content, PartContent, a.value.Kind() == '{' || w.lack(capture)
	case "name":
		return a.name, PartName, a.name != "" || w.lack(capture)
	case "id":
		return a.id, PartName, a.id != "" || w.lack(capture)
	}
	return a.index, PartName, a.index != "" || w.lack(capture)
}

func (w *resultWriter) capture(e *grammar.Capture) bool {
	text, kind, ok := w.text(e.Name)
	if !ok {
		return false
	}
	shape, _ := e.Shape.(*grammar.Codec)
	switch {
	case shape == nil:
		return w.append(text, kind)
	case shape.Kind == "json":
		return w.append(w.json(e.Name, text), kind)
	}
	out, err := delimited.Append(nil, []byte(text), w.fill(shape.Delimiter))
	if err != nil {
		return w.lack(e.Name)
	}
	return w.append(string(out), kind)
}

// json gives what a capture holds as JSON.
func (w *resultWriter) json(capture, text string) string {
	if value := w.results[w.at].value; value != nil && (capture == "content" || capture == "object") {
		return string(value)
	}
	return string(codec.AppendQuoted(nil, []byte(text)))
}

// envelope writes the members in order; one that is optional is left out if the result has nothing for it.
func (w *resultWriter) envelope(e *grammar.Envelope) bool {
	separator := "{"
	for i := range e.Members {
		m := &e.Members[i]
		text, kind, ok := m.Fixed, PartMarkup, true
		if m.Capture != "" {
			text, kind, ok = w.text(m.Capture)
		}
		switch {
		case !ok && m.Optional:
			continue
		case !ok:
			return false
		}
		w.append(separator+string(codec.AppendQuoted(nil, []byte(m.Keys[0])))+": ", PartMarkup)
		if m.Capture == "" {
			text = string(codec.AppendQuoted(nil, []byte(text)))
		} else {
			text = w.json(m.Capture, text)
		}
		w.append(text, kind)
		separator = ", "
	}
	if separator == "{" {
		w.append(separator, PartMarkup)
	}
	return w.append("}", PartMarkup)
}

// attributes writes the attributes of a tag that the result has something for.
func (w *resultWriter) attributes(e *grammar.Set) bool {
	separator := ""
	for _, element := range e.Elements {
		attribute := element.(*grammar.Attribute)
		text, kind, ok := w.text(attribute.Capture.Name)
		if !ok {
			continue
		}
		w.append(separator+attribute.Name+`="`, PartMarkup)
		w.append(escapeEntities(text), kind)
		w.append(`"`, PartMarkup)
		separator = " "
	}
	return true
}
