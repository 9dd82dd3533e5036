package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

type envelopeState uint8

const (
	envelopeOpen       envelopeState = iota // before the brace
	envelopeKeyOrEnd                        // a key, or the end
	envelopeKey                             // in a key
	envelopeColon                           // behind a key
	envelopeValue                           // before a value
	envelopeText                            // in the string of the name or the id
	envelopeArguments                       // in the argument object
	envelopeString                          // in arguments that are a string
	envelopeOther                           // in arguments that are neither
	envelopeSkipString                      // in a string nobody asked for
	envelopeSkip                            // in another value nobody asked for
	envelopeSkipScalar                      // the same, without brackets
	envelopeComma                           // behind a member
	envelopeProbe                           // behind the name, where a marker may end the object
	envelopeRest                            // name and arguments are complete, or it has gone wrong: up to its end
)

// envelope is the state of a JSON object that carries a call (ruling 25).
type envelope struct {
	state   envelopeState
	decoder jsonscan.Decoder
	key     []byte
	member  program.Member
	keys    int  // members that have begun
	foreign bool // the member's key is none the format knows
	named   bool
	name    []byte
	id      []byte
	// arguments kept because the name has not come, or the shape is not certain.
	kept     []byte
	argued   bool // the arguments have begun
	complete bool // they are complete
	blank    bool // only blanks of a string have come
	keyName  []byte
	inString bool
	escape   bool
	// back is text that has been read and may still be the beginning of a marker, or blanks at the end of an argument.
	back []byte
}

func (e *envelope) reset() {
	*e = envelope{key: e.key[:0], name: e.name[:0], id: e.id[:0], kept: e.kept[:0], keyName: e.keyName[:0], back: e.back[:0]}
}

// searching tells whether markers end the envelope where it stands.
func (e *envelope) searching() bool {
	return e.state == envelopeOther || e.state == envelopeProbe || e.state == envelopeRest && !e.inString
}

// inEnvelope reads the object. Until the call begins all of it is held.
func (m *Machine) inEnvelope(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n {
		if m.open && m.envelopeTooLong(i) {
			m.failEnvelope(n, i)
			return i
		}
		i = m.envelopeStep(n, piece[:m.envelopeRoom(piece, i)], i)
	}
	return i
}

// envelopeLimit is how much of an object may be held where it stands.
func (m *Machine) envelopeLimit() int {
	if e := &m.envelope; e.argued || m.node.Marked && e.keys > 0 && len(e.name) < m.options.HeldLimit {
		return m.options.ArgumentLimit
	}
	return m.options.HeldLimit
}

func (m *Machine) envelopeTooLong(i int) bool { return m.heldLength(i) > m.envelopeLimit() }

// envelopeRoom is how far a step from byte i may go, so that the limits are seen at the same byte however the text is
// cut.
func (m *Machine) envelopeRoom(piece []byte, i int) int {
	if !m.open {
		return len(piece)
	}
	room := m.envelopeLimit() + 1 - m.heldLength(i)
	if m.envelope.state == envelopeText { // a name is never longer than the text it is read from
		room = min(room, m.options.HeldLimit-len(m.envelope.name))
	}
	return min(len(piece), i+max(room, 1))
}

// failEnvelope ends an envelope that carries no call: text, or the plain arguments of a forced tool (ruling 16).
func (m *Machine) failEnvelope(n *program.Node, i int) {
	if n.Plain == nil {
		m.fail(n, i, nil)
		return
	}
	var text []byte
	m.both(i, 0, func(part []byte, _ memory) { text = append(text, part...) })
	m.held, m.from = m.held[:0], i
	m.node = n.Plain
	m.json.Reset()
	m.forget()
	m.reread(text)
	m.from = i
}

// wrong is called where the object breaks the rules of JSON.
func (m *Machine) wrong(n *program.Node, i int) int {
	e := &m.envelope
	if m.open {
		m.failEnvelope(n, i)
		return i
	}
	if !e.complete {
		m.call.malformed = true
	}
	e.state = envelopeRest
	m.place = 0
	return i
}

// envelopeStep reads on at byte i in the state of the envelope, and answers how far it came. What is out of place makes
// the envelope go wrong.
func (m *Machine) envelopeStep(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	switch e.state {
	case envelopeKey:
		return m.envelopeKeyText(n, piece, i)
	case envelopeText:
		return m.envelopeStringText(n, piece, i)
	case envelopeArguments:
		return m.envelopeObject(n, piece, i)
	case envelopeString:
		return m.envelopeEncoded(n, piece, i)
	case envelopeOther:
		return m.envelopeRaw(n, piece, i)
	case envelopeSkip, envelopeSkipString, envelopeSkipScalar:
		return m.envelopeSkipped(n, piece, i)
	case envelopeProbe:
		return m.envelopeProbing(n, piece, i)
	case envelopeRest:
		return m.envelopeEnd(n, piece, i)
	}
	if codec.IsBlank(c) {
		m.envelopeTake(piece, i, i+1)
		return i + 1
	}
	switch e.state {
	case envelopeOpen:
		if c == '{' {
			e.state = envelopeKeyOrEnd
			return i + 1
		}
	case envelopeKeyOrEnd:
		switch {
		case c == '"':
			e.state, e.key, e.decoder = envelopeKey, e.key[:0], jsonscan.Decoder{}
			e.keys++
			m.envelopeTake(piece, i, i+1)
			return i + 1
		case c == '}' && e.keys == 0:
			return m.envelopeClosed(n, piece, i)
		}
	case envelopeColon:
		if c == ':' {
			e.state = envelopeValue
			m.envelopeTake(piece, i, i+1)
			return i + 1
		}
	case envelopeValue:
		return m.envelopeBeginValue(n, piece, i)
	case envelopeComma:
		if m.open && e.named && (n.Marked || e.argued) {
			switch {
			case c == ',' || c == '}':
				if !m.envelopeBegin(n, i) {
					return i
				}
			case n.Table.First[c]:
				m.envelopeBeginProbe()
				return i
			}
		}
		switch c {
		case ',':
			e.state = envelopeKeyOrEnd
			m.envelopeTake(piece, i, i+1)
			return i + 1
		case '}':
			return m.envelopeClosed(n, piece, i)
		}
	}
	return m.wrong(n, i)
}

// envelopeProbing reads on behind the name: a marker of the call ends the object, anything else shows that it is none.
func (m *Machine) envelopeProbing(n *program.Node, piece []byte, i int) int {
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	m.envelope.back = append(m.envelope.back, piece[i:i+read]...)
	m.envelopeProbed(n, place, found, back, i+read)
	return i + read
}

func (m *Machine) envelopeBeginProbe() {
	e := &m.envelope
	e.state, e.back, m.place = envelopeProbe, e.back[:0], 0
}

// envelopeProbed goes on with what a probe has come to, at byte i of the piece.
func (m *Machine) envelopeProbed(n *program.Node, place match.Place, found int32, back, i int) {
	if found == match.None {
		m.place = place
		if n.Table.Hold(place, 0) < len(m.envelope.back) {
			m.failEnvelope(n, i)
		}
		return
	}
	path := n.Table.Path(place)
	rest := path[len(path)-back:]
	m.shorten(i, m.width(rest)+len(n.Edges[found].Bytes))
	if m.envelopeBegin(n, i) {
		m.leaveEnvelope(n, i)
	}
	m.again(n.Edges[found].Symbols)
	m.again(rest)
	m.from = i
}

// envelopeTake accounts for the object's own characters once the call has begun.
func (m *Machine) envelopeTake(piece []byte, from, to int) {
	if !m.open {
		m.take(piece[from:to], AsMarkup, -1)
	}
}
