package machine

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// inTail reads the closing markers behind a call's arguments, or behind an element of a list.
func (m *Machine) inTail(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n {
		c := piece[i]
		if m.place == 0 && isBlank(c) && !m.inWord {
			if i++; m.tooLong(i) {
				m.leaveTail(n, i, nil)
				return i
			}
			continue
		}
		if m.inWord || m.place == 0 && n.Words != nil && n.Table.Next(0, match.Symbol(c)) == match.Dead {
			if m.tailWord(n, piece, i) {
				return i
			}
		}
		if !m.tailSymbol(n, match.Symbol(c), i, i+1) {
			return i
		}
		i++
	}
	return i
}

// tailWord begins a candidate with a word: the next element of a list whose separator is missing.
func (m *Machine) tailWord(n *program.Node, piece []byte, i int) bool {
	if m.wordState = 0; m.wordCharacter(n.Words, piece[i:]) == 0 {
		return false
	}
	m.leadIn = m.heldLength(i)
	m.outer = outerOf(n)
	m.node = n.Element
	m.place, m.inWord = 0, false
	return true
}

// outerOf is the text node that a tail leads to if nothing of what it expects comes.
func outerOf(n *program.Node) *program.Node {
	if n.Fail.Kind == program.Gap {
		return n.Fail.Fail
	}
	return n.Fail
}

// tailSymbol offers a symbol to a tail; see headSymbol.
func (m *Machine) tailSymbol(n *program.Node, s match.Symbol, at, end int) bool {
	before := m.place
	place, found, back, taken := n.Table.Step(before, s)
	switch {
	case found != match.None && taken:
		m.place = 0
		m.tailMarker(n, &n.Edges[found], end)
		return true
	case found != match.None:
		path := n.Table.Path(place)
		rest := path[len(path)-back:]
		m.shorten(at, m.width(rest))
		m.place = 0
		m.tailMarker(n, &n.Edges[found], at)
		m.again(rest)
		return false
	case place == match.Dead:
		path := n.Table.Path(before)
		// Brackets, commas and fences behind the arguments mean nothing (ruling 25).
		if len(path) == 0 && s < match.FirstToken && isLeftover(byte(s)) {
			m.settle(end, 0, AsJunk, m.calls-1)
			m.startCandidate(nil)
			m.from = end
			return true
		}
		if len(path) > 0 && path[0] < match.FirstToken && isLeftover(byte(path[0])) {
			m.shorten(at, m.width(path)-1)
			m.settle(at, 0, AsJunk, m.calls-1)
			m.startCandidate(nil)
			m.from = at
			m.place = 0
			m.again(path[1:])
			m.from = at
			return false
		}
		m.place = 0
		m.leaveTail(n, at, path)
		return false
	}
	m.place = place
	return true
}

func isLeftover(c byte) bool { return c == '}' || c == ']' || c == ',' || c == '`' }

// leaveTail goes on in the text behind the call: what is held is text there.
func (m *Machine) leaveTail(n *program.Node, i int, rest []match.Symbol) {
	m.endBadCall()
	var text []byte
	m.both(i, m.width(rest), func(part []byte, _ memory) { text = append(text, part...) })
	m.open, m.from = false, i
	to := n.Fail
	if n.Block >= 0 && m.blockCalls == 0 {
		to = n.Rejected
	}
	m.enter(to)
	m.reread(text)
	m.from = i
	m.again(rest)
	m.from = i
}

// tailMarker follows a marker found in a tail: all that is held ends with it.
func (m *Machine) tailMarker(n *program.Node, e *program.Edge, i int) {
	if e.To == nil || e.To.Kind != program.Tail && e.Do&program.Resolve == 0 || e.Do&program.Again != 0 {
		m.fromTail(n, e, i)
		return
	}
	if e.Do&program.StopEcho != 0 {
		m.echo.recording = false
	}
	over := e.To.Kind != program.Tail || e.To.Call < 0
	if over && e.Do&program.BlockCloser != 0 {
		m.endBadCall()
	}
	if e.Do&program.BlockCloser != 0 && m.blockCalls == 0 {
		// No call of the block has been read: its markers are text (rulings 34, 35).
		m.both(i, 0, func(text []byte, kind memory) { m.text(program.Content, text, kind) })
		m.open, m.from = false, i
	} else {
		m.settle(i, 0, AsMarkup, -1)
		if over {
			m.endBadCall()
		}
		m.piece()
	}
	m.enter(e.To)
}

// fromTail begins a candidate behind a call: a separator, or the opener of what comes next.
func (m *Machine) fromTail(n *program.Node, e *program.Edge, i int) {
	m.endBadCall()
	m.forget()
	width := len(e.Bytes)
	m.leadIn = m.heldLength(i) - width
	m.outer = outerOf(n)
	e = m.choose(e)
	if e.Do&program.Again != 0 {
		m.suspend(i)
		m.held = m.held[:len(m.held)-width]
		m.enterHeld(e.To)
		m.again(e.Symbols)
		return
	}
	if e.Do&program.Resolve != 0 {
		m.settle(i, 0, AsMarkup, -1)
		m.piece()
		if e.Do&program.BeginMessage != 0 {
			m.message(e.To.Tray)
		}
		m.enter(e.To)
		return
	}
	if e.To.Phase == program.InList { // a separator
		m.leadIn += width
	}
	m.enterHeld(e.To)
}

// enterHeld goes to a node of a candidate that is open already.
func (m *Machine) enterHeld(n *program.Node) {
	open, leadIn := m.open, m.leadIn
	m.enter(n)
	m.open, m.leadIn = open, leadIn
}

// inGap reads text between the elements of a list.
func (m *Machine) inGap(n *program.Node, piece []byte, i int) int {
	if m.gapTooLong(n) {
		m.from = i
		return i
	}
	place, read, found, back := n.Table.Find(m.place, piece[i:i+m.room(len(piece)-i, len(m.gap))])
	m.gap = append(m.gap, piece[i:i+read]...)
	i += read
	if found == match.None {
		if m.place = place; len(m.gap) > m.options.HeldLimit {
			m.giveUpGap(n, n.Table.Path(place))
			m.from = i
		}
		return i
	}
	path := n.Table.Path(place)
	m.gapMarker(n, &n.Edges[found], path[len(path)-back:])
	m.from = i
	return i
}

// gapTooLong gives up a list between whose elements stands too much that looked like one and was none (ruling 41).
func (m *Machine) gapTooLong(n *program.Node) bool {
	if m.place != 0 || len(m.gap) <= m.options.HeldLimit {
		return false
	}
	m.giveUpGap(n, nil)
	return true
}

// gapSymbol offers a symbol to the markers of a gap. It answers whether the symbol was used up; if not, the state has
// changed.
func (m *Machine) gapSymbol(n *program.Node, s match.Symbol, text []byte) bool {
	if m.gapTooLong(n) {
		m.from = 0
		return false
	}
	place, found, back, taken := n.Table.Step(m.place, s)
	end := 0
	if taken {
		m.gapTokens = append(m.gapTokens, gapToken{len(m.gap), s})
		m.gap = append(m.gap, text...)
		end = len(text)
	}
	m.place = place
	if found != match.None {
		path := n.Table.Path(place)
		m.gapMarker(n, &n.Edges[found], path[len(path)-back:])
	} else if len(m.gap) > m.options.HeldLimit {
		m.giveUpGap(n, n.Table.Path(place))
	}
	m.from = end
	return taken
}

// gapMarker follows a marker found in the text between elements.
func (m *Machine) gapMarker(n *program.Node, e *program.Edge, rest []match.Symbol) {
	width := m.width(rest) + len(e.Bytes)
	text := m.gap[:len(m.gap)-width]
	m.place = 0
	e = m.choose(e)
	switch {
	case e.To.Phase == program.InList && (e.To.Kind == program.Head || e.To.Kind == program.Envelope):
		// Perhaps the next element: the text stays here until that is known.
		m.keepGap(len(text))
		m.startCandidate(nil)
		m.outer = n.Fail
		if e.Do&program.Again != 0 {
			m.enterHeld(e.To)
			m.again(e.Symbols)
		} else {
			m.held = append(m.held, e.Bytes...)
			m.leadIn = len(m.held)
			m.enterHeld(e.To)
		}
	case e.Do&program.Resolve != 0: // a closer
		m.settleGap(text)
		if e.Do&program.StopEcho != 0 {
			m.echo.recording = false
		}
		if e.Do&program.BlockCloser != 0 && m.blockCalls == 0 {
			m.text(program.Content, e.Bytes, memoryStatic)
		} else {
			m.take(e.Bytes, AsMarkup, -1)
			m.piece()
		}
		m.enter(e.To)
	default: // the opener of something else: the list does not go on
		m.keepGap(len(text))
		m.giveUpGap(n, e.Symbols)
	}
	m.again(rest)
}

// settleGap makes junk of the text between two elements.
func (m *Machine) settleGap(text []byte) {
	if n := leadingBlanks(text); n == len(text) {
		m.take(text, AsMarkup, -1)
	} else {
		m.take(text, AsJunk, m.calls-1)
	}
	m.keepGap(0)
}

// gapToken is a token in the text between two elements, where it means nothing; behind the list it may be a marker.
type gapToken struct {
	at     int
	symbol match.Symbol
}

// keepGap leaves of the text between two elements the first n bytes.
func (m *Machine) keepGap(n int) {
	m.gap = m.gap[:n]
	for k := len(m.gapTokens); k > 0 && m.gapTokens[k-1].at >= n; k-- {
		m.gapTokens = m.gapTokens[:k-1]
	}
}

// rereadGap reads the first n bytes of the text between two elements once more, where it is no such text any more.
func (m *Machine) rereadGap(n int) {
	m.keepGap(n)
	text, from := m.copy(m.gap), 0
	tokens := slices.Clone(m.gapTokens)
	m.keepGap(0)
	for _, token := range tokens {
		m.reread(text[from:token.at])
		m.symbol(token.symbol)
		from = token.at + len(m.program.Tokens[token.symbol-match.FirstToken])
	}
	m.reread(text[from:])
}

// giveUpGap makes content of the text in a list that does not go on. rest is read again behind it.
func (m *Machine) giveUpGap(n *program.Node, rest []match.Symbol) {
	length := len(m.gap)
	if n.Table != nil && m.place != 0 {
		length -= m.width(rest)
	}
	m.enter(n.Fail)
	m.rereadGap(length)
	m.again(rest)
}

// endGap goes from a failed element of a list without brackets to the text behind the list.
func (m *Machine) endGap(to *program.Node) {
	m.enter(to)
	m.rereadGap(len(m.gap))
}
