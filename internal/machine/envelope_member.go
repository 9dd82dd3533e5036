package machine

import (
	"bytes"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/program"
)

// envelopeKeyText reads the key of a member. Without a marker before the envelope, its first key shows whether it is one.
func (m *Machine) envelopeKeyText(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	first := e.keys == 1 && m.open && !n.Marked
	before := len(e.key)
	if first { // the first character that fits none of the keys settles it (ruling 21)
		piece = piece[:i+1]
	}
	to, key, event := e.decoder.Step(piece, i, e.key)
	e.key = key
	if first && !m.firstKeyFits(n, event == jsonscan.Done) {
		e.key = e.key[:before]
		m.failEnvelope(n, i)
		return i
	}
	m.envelopeTake(piece, i, to)
	switch event {
	case jsonscan.Done:
		e.state = envelopeColon
		member, known := n.Envelope.Members[string(e.key)]
		e.member, e.foreign = member, !known
		if !known {
			e.member = program.MemberIgnored
		}
	case jsonscan.Broken:
		return m.wrong(n, to)
	}
	return to
}

// firstKeyFits tells whether the first key is, or may become, one that a call begins with.
func (m *Machine) firstKeyFits(n *program.Node, complete bool) bool {
	if n.Envelope.KeyIsName {
		return true
	}
	for key := range n.Envelope.Members {
		if complete && key == string(m.envelope.key) || !complete && strings.HasPrefix(key, string(m.envelope.key)) {
			return true
		}
	}
	return false
}

// envelopeBeginValue begins the value of a member, by what the member carries and how the value begins. Other members are
// passed over.
func (m *Machine) envelopeBeginValue(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	spec := n.Envelope
	switch {
	case e.member == program.MemberName && !e.foreign && c == '"', e.member == program.MemberID && !e.foreign && c == '"':
		e.state, e.decoder = envelopeText, jsonscan.Decoder{}
		if e.member == program.MemberName {
			e.name = e.name[:0]
		} else {
			e.id = e.id[:0]
		}
		m.envelopeTake(piece, i, i+1)
		return i + 1
	case e.member == program.MemberName && !e.foreign && !(spec.KeyIsName && c == '{'):
		return m.wrong(n, i)
	case spec.KeyIsName && c == '{' && !e.named && (e.foreign || e.member == program.MemberName || e.member == program.MemberArguments):
		e.keyName = append(e.keyName[:0], e.key...)
		if e.foreign || e.member == program.MemberName {
			e.name, e.named = append(e.name[:0], e.key...), true
		}
		return m.envelopeBeginObject(n, i)
	case spec.KeyIsName && c == '{' && e.complete && e.foreign && !m.open: // the next call of the same object
		m.endBadCall()
		e.complete = false
		e.name = append(e.name[:0], e.key...)
		m.startCandidate(nil)
		m.from = i
		return m.envelopeBeginObject(n, i)
	case e.member == program.MemberArguments && !e.foreign && !e.argued:
		return m.envelopeBeginArguments(n, piece, i)
	case spec.KeyIsName && e.foreign && !e.named && e.keys == 1 && m.open:
		return m.wrong(n, i)
	}
	switch c {
	case '{', '[':
		e.state = envelopeSkip
		m.skip.Reset()
	case '"':
		e.state, e.escape = envelopeSkipString, false
		m.envelopeTake(piece, i, i+1)
		return i + 1
	case ',', '}', ']', ':', '<':
		return m.wrong(n, i)
	default:
		e.state = envelopeSkipScalar
	}
	return i
}

// envelopeStringText reads the string that is the name or the id.
func (m *Machine) envelopeStringText(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	into := &e.name
	if e.member == program.MemberID {
		into = &e.id
	}
	to, text, event := e.decoder.Step(piece, i, *into)
	*into = text
	m.envelopeTake(piece, i, to)
	switch event {
	case jsonscan.Done:
		e.state = envelopeComma
		if e.member == program.MemberName {
			e.named = len(bytes.TrimSpace(text)) > 0
			if !e.named {
				return m.wrong(n, to)
			}
		}
	case jsonscan.Broken:
		return m.wrong(n, to)
	}
	return to
}

// envelopeSkipped passes over a value nobody asked for.
func (m *Machine) envelopeSkipped(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	from := i
	switch e.state {
	case envelopeSkipString:
		for i < len(piece) && e.state == envelopeSkipString {
			switch c := piece[i]; {
			case e.escape:
				e.escape = false
			case c == '\\':
				e.escape = true
			case c == '"':
				e.state = envelopeComma
			}
			i++
		}
	case envelopeSkipScalar:
		for i < len(piece) && !codec.IsBlank(piece[i]) && strings.IndexByte(`,}]{["<`, piece[i]) < 0 {
			i++
		}
		if i < len(piece) {
			e.state = envelopeComma
		}
	default:
		var event jsonscan.Event
		for i < len(piece) && e.state == envelopeSkip {
			switch i, event = m.skip.Scan(piece, i); event {
			case jsonscan.Done:
				e.state = envelopeComma
			case jsonscan.Control:
				i = m.skip.Skip(i)
			case jsonscan.Broken:
				m.envelopeTake(piece, from, i)
				return m.wrong(n, i)
			}
		}
	}
	m.envelopeTake(piece, from, i)
	return i
}
