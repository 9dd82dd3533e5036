package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/program"
)

// envelopeEncoded reads arguments that are an object written as a JSON string (ruling 25).
func (m *Machine) envelopeEncoded(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	for i < len(piece) {
		c := piece[i]
		if e.decoder.Plain() && c != '"' && c != '\\' {
			to := i + 1
			for to < len(piece) && piece[to] != '"' && piece[to] != '\\' {
				to++
			}
			read, ok := m.encodedText(piece[i:to], memoryChunk)
			m.envelopeTakeArguments(piece, i, i+read)
			if i += read; !ok {
				return m.encodedWrong(n, i, true)
			}
			continue
		}
		_, text, event := e.decoder.Step(piece[:i+1], i, m.scratch[:0])
		m.scratch = text[:0]
		_, ok := m.encodedText(m.copy(text), memoryChunk)
		m.envelopeTakeArguments(piece, i, i+1)
		i++
		switch {
		case event == jsonscan.Broken || !ok:
			return m.encodedWrong(n, i, event != jsonscan.Done)
		case event != jsonscan.Done:
			continue
		case e.blank:
			m.envelopeArgument(empty, memoryStatic)
		case !e.complete:
			return m.encodedWrong(n, i, false)
		}
		e.complete = true
		e.state = envelopeComma
		if !m.open {
			m.goodArguments()
		}
		return i
	}
	return i
}

// encodedText passes on decoded argument text; it answers how much of it, and false if it goes on as no object does.
func (m *Machine) encodedText(text []byte, kind memory) (read int, ok bool) {
	e := &m.envelope
	i := 0
	for i < len(text) {
		switch {
		case e.complete: // junk behind the object, in the string
			return len(text), true
		case e.blank && codec.IsBlank(text[i]):
			i++
			continue
		case e.blank:
			if text[i] != '{' {
				return i, false
			}
			e.blank = false
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(text, i)
		m.envelopeArgument(text[from:i], kind)
		switch event {
		case jsonscan.Done:
			e.complete = true
		case jsonscan.Control:
			m.envelopeArgument(codec.AppendEscaped(nil, text[i]), memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			return i, false
		}
	}
	return i, true
}

// encodedWrong: the string holds no object. The call has no readable arguments.
func (m *Machine) encodedWrong(n *program.Node, i int, inString bool) int {
	e := &m.envelope
	if m.open && (!e.named || !n.Marked) {
		m.failEnvelope(n, i)
		return i
	}
	if m.open && !m.envelopeBegin(n, i) {
		return i
	}
	m.call.malformed = true
	e.complete = false
	e.state = envelopeRest
	e.inString = inString
	m.place = 0
	return i
}
