package machine

import (
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// inText reads text of a tray, or junk between parameters, until a marker comes.
func (m *Machine) inText(n *program.Node, piece []byte, i int) int {
	t := n.Table
	before := m.place
	place, read, found, back := t.Find(before, piece[i:])
	owed := t.Held(before, m.circumstances()) // read with earlier pieces, not given out
	chunk := piece[i : i+read]
	i += read
	if found == match.None {
		m.place = place
		m.release(n, owed, chunk, t.Hold(place, m.circumstances()))
		return i
	}
	e := &n.Edges[found]
	var rest []match.Symbol
	if path := t.Path(place); back > 0 {
		rest = path[len(path)-back:]
	}
	m.release(n, owed, chunk, m.keptBack(e)+m.width(rest))
	m.place = 0
	m.marker(n, e)
	m.from = i
	m.again(rest)
	return i
}

// circumstances are those in which some markers in text are text.
func (m *Machine) circumstances() (c match.Watch) {
	if m.pairs > 0 {
		c = program.Paired
	}
	if m.blockCalls == 0 {
		c |= program.NoCalls
	}
	return c
}

// isText tells whether a marker in text is text itself; then it goes out with the text around it.
func (m *Machine) isText(e *program.Edge) bool {
	return e.Watch == match.Always || e.Watch&m.circumstances() != 0
}

// keptBack is how many bytes of a marker in text are held: all, unless it is text whether it is found or not.
func (m *Machine) keptBack(e *program.Edge) int {
	if m.isText(e) {
		return 0
	}
	return len(e.Bytes)
}

// width is the length of symbols in bytes.
func (m *Machine) width(symbols []match.Symbol) (bytes int) {
	for _, s := range symbols {
		if s < match.FirstToken {
			bytes++
		} else {
			bytes += len(m.program.Tokens[s-match.FirstToken])
		}
	}
	return bytes
}

// release gives out what is no longer held: all of owed and chunk but the last hold bytes.
func (m *Machine) release(n *program.Node, owed, chunk []byte, hold int) {
	count := len(owed) + len(chunk) - hold
	if count <= 0 {
		return
	}
	if k := min(count, len(owed)); k > 0 {
		m.text(n.Tray, owed[:k], memoryStatic)
		count -= k
	}
	if count > 0 {
		m.text(n.Tray, chunk[:count], memoryChunk)
	}
}

// beginning reads where something may stand only before the first text, byte by byte: at the first letter the node
// changes.
func (m *Machine) beginning(n *program.Node, piece []byte, i int) int {
	for i < len(piece) {
		m.at = i
		taken, done := m.beginningSymbol(n, match.Symbol(piece[i]), piece[i:i+1])
		if taken {
			i++
			m.from = i
		}
		if done {
			return i
		}
	}
	return i
}

// beginningSymbol takes one symbol; text is what it stands for. taken tells whether it was used up, done whether the
// node has changed.
func (m *Machine) beginningSymbol(n *program.Node, symbol match.Symbol, text []byte) (taken, done bool) {
	t := n.Table
	before := m.place
	owed := t.Held(before, m.circumstances())
	if n.Words != nil && before == 0 && t.Next(0, symbol) == 0 && symbol < match.FirstToken && m.beginsWord(n.Words) {
		m.startCandidate(n)
		m.from = m.at
		m.enterHeld(n.Element)
		return false, true
	}
	place, found, back, settled := t.Step(before, symbol)
	if found != match.None {
		e := &n.Edges[found]
		path := t.Path(place)
		rest := path[len(path)-back:]
		if !settled {
			text = nil
		}
		kept := len(e.Bytes) + m.width(rest)
		prior := len(owed) + len(text) - kept // began like a marker, and was none
		if prior > 0 && !(n.KeepBlank && allBlank(owed[:prior])) {
			m.leaveBeginning(n, before, owed, nil)
			return false, true
		}
		m.release(n, owed, text, m.keptBack(e)+m.width(rest))
		m.place = 0
		m.marker(n, e)
		m.again(rest)
		return settled, true
	}
	hold := t.Hold(place, m.circumstances())
	released := len(owed) + len(text) - hold
	if released <= 0 || n.KeepBlank && allBlank(owed[:min(released, len(owed))]) && allBlank(text[:max(0, released-len(owed))]) {
		m.place = place
		m.release(n, owed, text, hold)
		return true, false
	}
	m.leaveBeginning(n, place, owed, text)
	return true, true
}

// leaveBeginning goes on in the node behind the first letter, with what has been read on the way to place: owed, and
// then text.
func (m *Machine) leaveBeginning(n *program.Node, place match.Place, owed, text []byte) {
	to := n.OnText
	m.node = to
	m.place = to.Table.Walk(n.Table.Path(place))
	m.release(to, owed, text, to.Table.Hold(m.place, m.circumstances()))
}

func allBlank(text []byte) bool {
	for _, c := range text {
		if !isBlank(c) {
			return false
		}
	}
	return true
}

// symbol reads one symbol: a byte, or a token as a whole.
func (m *Machine) symbol(s match.Symbol) {
	if s < match.FirstToken {
		m.run([]byte{byte(s)})
		return
	}
	text := m.program.Tokens[s-match.FirstToken]
	before, from := m.buffer, m.from
	m.buffer, m.from = text, 0
	for taken := false; !taken; {
		taken = m.token(s, text)
	}
	m.beginWhole(len(text))
	m.suspend(len(text))
	m.buffer, m.from = before, from
}

// token offers a token to the current node; a node that does not use it up has changed the state.
func (m *Machine) token(s match.Symbol, text []byte) (taken bool) {
	n := m.node
	m.steps++
	switch n.Kind {
	case program.Text:
		if n.OnText != nil {
			taken, _ = m.beginningSymbol(n, s, text)
			if taken {
				m.from = len(text)
			}
			return taken
		}
		return m.tokenInText(n, s, text)
	}
	return m.tokenInMarkup(n, s, text)
}

// tokenInText reads a token in text, where it is a marker or a part of one, or text itself. It answers whether the token was
// used up; if not, it is read again where the marker leads.
func (m *Machine) tokenInText(n *program.Node, s match.Symbol, text []byte) bool {
	t := n.Table
	before := m.place
	owed := t.Held(before, m.circumstances())
	place, found, back, settled := t.Step(before, s)
	if found == match.None {
		m.place = place
		m.release(n, owed, text, t.Hold(place, m.circumstances()))
		m.from = len(text)
		return true
	}
	e := &n.Edges[found]
	if settled {
		m.release(n, owed, text, m.keptBack(e))
		m.place = 0
		m.marker(n, e)
		m.from = len(text)
		return true
	}
	path := t.Path(before)
	rest := path[len(path)-back:]
	m.release(n, owed, nil, m.keptBack(e)+m.width(rest))
	m.place = 0
	m.marker(n, e)
	m.again(rest)
	return false
}

// beginsWord tells whether a word begins at the byte that is being read.
func (m *Machine) beginsWord(w *program.Word) bool {
	m.wordState = 0
	return m.wordCharacter(w, m.buffer[m.at:]) > 0
}
