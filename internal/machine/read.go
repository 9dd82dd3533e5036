package machine

import (
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// Write reads a piece and answers what has become certain. The events, and what they point to, are valid until the
// next call; they may point into the piece.
func (m *Machine) Write(piece []byte) []Event {
	m.next()
	m.run(piece)
	return m.events
}

// next begins a new list of events.
func (m *Machine) next() {
	m.events, m.arena = m.events[:0], m.arena[:0]
	if len(m.resumed) > 0 {
		m.events = append(m.events, m.resumed...)
		m.resumed = m.resumed[:0]
	}
}

// Piece is a part of an output: ordinary text, or a token that counts as a whole.
type Piece struct {
	Text []byte
	// Token is the number of the token among the program's, or Ordinary.
	Token int
	// Ends, if it is not 0, says that a token of the output ends behind the piece: how many bytes of output that makes.
	Ends int
}

// Ordinary is the number of no token.
const Ordinary = -1

// WritePieces reads pieces as Write reads one.
func (m *Machine) WritePieces(pieces []Piece) []Event {
	m.next()
	for _, piece := range pieces {
		if piece.Ends > 0 && m.count != nil {
			m.count.token(piece.Ends)
		}
		m.readPiece(piece)
	}
	return m.events
}

func (m *Machine) readPiece(piece Piece) {
	if piece.Token != Ordinary {
		m.symbol(match.FirstToken + match.Symbol(piece.Token))
		return
	}
	m.run(piece.Text)
}

// run reads bytes. It may be called from within itself, for what has to be read again.
func (m *Machine) run(piece []byte) {
	before, from := m.buffer, m.from
	m.buffer, m.from = piece, 0
	for i := 0; i < len(piece); {
		i = m.read(piece, i)
	}
	m.beginWhole(len(piece))
	m.suspend(len(piece))
	m.buffer, m.from = before, from
}

// suspend saves what is held of the piece that is being read, up to i.
func (m *Machine) suspend(i int) {
	if m.open {
		m.held = append(m.held, m.buffer[m.from:i]...)
		m.from = i
	}
}

// read goes on at byte i of the piece and answers how far it came.
func (m *Machine) read(piece []byte, i int) int {
	n := m.node
	m.steps++
	switch n.Kind {
	case program.Text:
		if n.OnText != nil {
			return m.beginning(n, piece, i)
		}
		return m.inText(n, piece, i)
	case program.Gap:
		return m.inGap(n, piece, i)
	case program.Head:
		return m.inHead(n, piece, i)
	case program.Tail:
		return m.inTail(n, piece, i)
	case program.Until:
		return m.inUntil(n, piece, i)
	case program.Attribute:
		return m.inAttribute(n, piece, i)
	case program.Value:
		return m.inValue(n, piece, i)
	case program.JSON:
		return m.inJSON(n, piece, i)
	case program.Envelope:
		return m.inEnvelope(n, piece, i)
	case program.Python:
		return m.inPython(n, piece, i)
	case program.Delimited:
		return m.inDelimited(n, piece, i)
	case program.Whole:
		return m.inWhole(n, piece, i)
	default:
		return m.inEcho(n, piece, i)
	}
}

// again reads symbols once more.
func (m *Machine) again(symbols []match.Symbol) {
	from := 0
	var scratch [64]byte
	for i := 0; i <= len(symbols); i++ {
		if i < len(symbols) && symbols[i] < match.FirstToken {
			continue
		}
		if i > from {
			text := scratch[:0]
			for _, s := range symbols[from:i] {
				text = append(text, byte(s))
			}
			m.reread(text)
		}
		if i < len(symbols) {
			m.symbol(symbols[i])
		}
		from = i + 1
	}
}

// reread reads bytes once more that are not part of the piece being read, or lie before its current place.
func (m *Machine) reread(text []byte) {
	if len(text) == 0 {
		return
	}
	m.run(m.copy(text))
}

// copy copies bytes to where they stay until the next piece.
func (m *Machine) copy(text []byte) []byte {
	from := len(m.arena)
	m.arena = append(m.arena, text...)
	return m.arena[from:len(m.arena):len(m.arena)]
}

// enter makes a node the current one.
func (m *Machine) enter(n *program.Node) {
	if m.silent && n.Kind == program.Text && n.Tray != program.Junk {
		switch {
		case n.InThought:
			m.thought = Open
		case m.thought == Open:
			m.thought = Over
		}
	}
	m.node, m.place = n, 0
	m.inWord, m.quote = false, 0
	switch n.Kind {
	case program.Until, program.Attribute:
		m.word = m.word[:0]
		if n.Lines {
			m.forgetParameter()
			m.startCandidate(nil)
		}
	case program.JSON:
		m.json.Reset()
	case program.Envelope:
		m.envelope.reset()
		m.json.Reset()
	case program.Python:
		m.python.Start()
		m.argumentsFrom = -1
	case program.Delimited:
		m.startDelimited(n)
	case program.Whole:
		m.whole = whole{}
		m.argumentsFrom = -1
	case program.Gap:
		m.keepGap(0)
	case program.Tail:
		m.startCandidate(nil)
	case program.Echo:
		m.echo.at = 0
	case program.Text:
		if n.Echo != nil && len(m.echo.text) > 0 {
			m.startCandidate(n)
			m.node = n.Echo
			m.echo.at = 0
		}
	}
}
