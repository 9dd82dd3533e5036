package machine

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/program"
)

// envelopeBeginArguments begins the arguments: an object, an object in a string (which is unwrapped), or what is neither
// and so makes the call malformed.
func (m *Machine) envelopeBeginArguments(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	e.kept = e.kept[:0]
	switch c := piece[i]; {
	case c == '{':
		return m.envelopeBeginObject(n, i)
	case c == '"':
		if !n.Marked && m.open && !e.named {
			break
		}
		e.state, e.decoder, e.blank, e.argued = envelopeString, jsonscan.Decoder{}, true, true
		m.json.Reset()
		m.envelopeTake(piece, i, i+1)
		return i + 1
	}
	if m.open {
		if !n.Marked || !e.named { // not the shape of a call
			return m.wrong(n, i)
		}
		if !m.envelopeBegin(n, i) {
			return i
		}
	}
	m.call.malformed = true
	e.argued = true
	e.state = envelopeOther
	m.place = 0
	m.raw = raw{on: true}
	return i
}

func (m *Machine) envelopeBeginObject(n *program.Node, i int) int {
	e := &m.envelope
	e.state, e.argued = envelopeArguments, true
	m.json.Reset()
	if m.open && e.named && !m.envelopeBegin(n, i) {
		return i
	}
	return i
}

// envelopeBegin begins the call and gives out the arguments that came before its name.
func (m *Machine) envelopeBegin(n *program.Node, i int) bool {
	e := &m.envelope
	name := string(bytes.TrimSpace(e.name))
	if n.Plain != nil && name != m.options.Forced || name == "" {
		m.failEnvelope(n, i)
		return false
	}
	if !m.begin(name, string(e.id), i, 0) {
		m.failEnvelope(n, i)
		return false
	}
	m.call.syntax = inText
	if len(e.kept) > 0 {
		m.call.first = false
		m.arguments(e.kept, memoryReused)
		e.kept = e.kept[:0]
	}
	if e.complete {
		m.goodArguments()
	}
	return true
}

// envelopeArgument gives out argument text, or keeps it until the call has begun.
func (m *Machine) envelopeArgument(text []byte, kind memory) {
	if len(text) == 0 {
		return
	}
	if m.open {
		m.envelope.kept = append(m.envelope.kept, text...)
		return
	}
	m.call.first = false
	m.arguments(text, kind)
}

// envelopeObject reads the object of the arguments.
func (m *Machine) envelopeObject(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	for i < len(piece) {
		if m.raw.on {
			var over bool
			if i, over = m.scanRaw(piece, i); over {
				e.state = envelopeRest
				m.place = 0
			}
			return i
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(piece, i)
		m.envelopeTakeArguments(piece, from, i)
		m.envelopeArgument(piece[from:i], memoryChunk)
		switch event {
		case jsonscan.Done:
			e.complete = true
			e.state = envelopeComma
			if !m.open {
				m.goodArguments()
			}
			return i
		case jsonscan.Control:
			m.envelopeTakeArguments(piece, i, i+1)
			m.scratch = codec.AppendEscaped(m.scratch[:0], piece[i])
			m.envelopeArgument(m.scratch, memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			if m.open {
				return m.wrong(n, i)
			}
			m.call.malformed = true
			m.raw = raw{on: true, depth: m.json.Depth(), inString: m.json.InString(), escape: m.json.AfterEscape()}
		}
	}
	return i
}

func (m *Machine) envelopeTakeArguments(piece []byte, from, to int) {
	if !m.open && to > from {
		m.take(piece[from:to], AsArguments, m.calls-1)
	}
}
