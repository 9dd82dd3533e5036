package machine

import (
	"bytes"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// inHead reads markup that must be just so.
func (m *Machine) inHead(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n {
		if m.tooLong(i) {
			m.fail(n, i, nil)
			return i
		}
		if m.inWord {
			size := m.wordCharacter(n.Words, piece[i:])
			if size == 0 {
				m.endWord(n, i)
				return i
			}
			m.word = append(m.word, piece[i:i+size]...)
			i += size
			continue
		}
		c := piece[i]
		if m.place == 0 {
			if n.Blank && isBlank(c) && n.Table.Next(0, match.Symbol(c)) == match.Dead {
				i++
				continue
			}
			if n.Words != nil && n.Table.Next(0, match.Symbol(c)) == match.Dead {
				m.wordState = 0
				if size := m.wordCharacter(n.Words, piece[i:]); size > 0 {
					m.inWord = true
					m.word = append(m.word[:0], piece[i:i+size]...)
					i += size
					continue
				}
			}
		}
		if !m.headSymbol(n, match.Symbol(c), i, i+1) {
			return i
		}
		i++
		if m.node != n || m.place == 0 {
			return i
		}
	}
	return i
}

// headSymbol offers a symbol to the markers of a head. at is where the symbol begins in the piece, end where it ends.
// It answers whether the symbol was used up; if not, the state has changed.
func (m *Machine) headSymbol(n *program.Node, s match.Symbol, at, end int) bool {
	before := m.place
	place, found, back, taken := n.Table.Step(before, s)
	switch {
	case found != match.None && taken:
		m.place = 0
		m.advance(n, &n.Edges[found], end)
		return true
	case found != match.None: // a shorter marker, and symbols of a longer one that did not come
		path := n.Table.Path(place)
		rest := path[len(path)-back:]
		m.shorten(at, m.width(rest))
		m.place = 0
		m.advance(n, &n.Edges[found], at)
		m.again(rest)
		return false
	case place == match.Dead:
		if path := n.Table.Path(before); n.Blank && before != 0 && path[0] < match.FirstToken && isBlank(byte(path[0])) {
			// A blank that could have begun a marker began none: it is passed over like any other.
			m.shorten(at, m.width(path[1:]))
			m.place = 0
			m.again(path[1:])
			return false
		}
		if n.Words != nil && m.asWord(n, before) {
			return false
		}
		m.fail(n, at, n.Table.Path(before))
		return false
	}
	m.place = place
	return true
}

// shorten takes the last bytes off what is held; they will be read again.
func (m *Machine) shorten(i, but int) {
	if but == 0 {
		return
	}
	m.suspend(i)
	m.held = m.held[:len(m.held)-but]
}

// asWord turns the beginning of a marker that did not come into the beginning of a word, if it can be one.
func (m *Machine) asWord(n *program.Node, place match.Place) bool {
	text := n.Table.PathText(place)
	if len(text) == 0 {
		return false
	}
	m.wordState = 0
	for from := 0; from < len(text); {
		size := m.wordCharacter(n.Words, text[from:])
		if size == 0 {
			return false
		}
		from += size
	}
	m.word = append(m.word[:0], text...)
	m.inWord, m.place = true, 0
	return true
}

// wordCharacter gives the length of the character at the beginning of text if the word may go on with it, else 0.
func (m *Machine) wordCharacter(w *program.Word, text []byte) int {
	if w.Automaton == nil {
		return wordCharacter(w.Class, text)
	}
	r, size := rune(text[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRune(text)
	}
	state, ok := w.Automaton.Next(m.wordState, r)
	if !ok {
		return 0
	}
	m.wordState = state
	return size
}

// wordCharacter gives the length of the character at the beginning of text if it is in the class, else 0.
func wordCharacter(class *grammar.Class, text []byte) int {
	if text[0] < utf8.RuneSelf {
		if class.Has(text[0]) {
			return 1
		}
		return 0
	}
	if class.Wide == grammar.WideNone {
		return 0
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size <= 1 || !class.HasWide(r) {
		return 0
	}
	return size
}

// endWord ends a word: what comes next is not part of it.
func (m *Machine) endWord(n *program.Node, i int) {
	m.inWord = false
	if e, ok := n.Keywords[string(m.word)]; ok {
		m.advance(n, &e, i)
		return
	}
	w := n.Words
	if w.Edge.To == nil || w.Count > 0 && utf8.RuneCount(m.word) != w.Count || w.Automaton != nil && !w.Automaton.Accepts(m.wordState) || !m.capture(w.Edge.Capture, m.word) {
		m.fail(n, i, nil)
		return
	}
	m.enterFrom(n, w.Edge.To)
}

// tokenInMarkup offers a token to a node that is not text. Where it is not a marker its characters are data.
func (m *Machine) tokenInMarkup(n *program.Node, s match.Symbol, text []byte) bool {
	switch n.Kind {
	case program.Head:
		if m.inWord {
			m.endWord(n, 0)
			return false
		}
		return m.headSymbol(n, s, 0, len(text))
	case program.Tail:
		return m.tailSymbol(n, s, 0, len(text))
	case program.Delimited:
		if bytes.Equal(text, n.Delimiter) {
			m.delimiterToken(n, text)
			return true
		}
		return m.delimitedToken(n, s, text)
	case program.Echo:
		return m.echoToken(n, text)
	case program.Envelope:
		return m.envelopeToken(n, s, text)
	case program.Value:
		if m.value.starting(n) && n.Value.Start.Knows(s) || n.Table.Knows(s) {
			return m.valueToken(n, s, text)
		}
	case program.Whole:
		return m.wholeToken(n, s, text)
	case program.Gap:
		return m.gapSymbol(n, s, text)
	case program.Until, program.Attribute:
		if n.Table.Knows(s) {
			return m.tokenStep(n, s, text)
		}
	}
	return m.readToken(text)
}

// inUntil captures text up to a marker.
func (m *Machine) inUntil(n *program.Node, piece []byte, i int) int {
	place, read, found, back := n.Table.Find(m.place, piece[i:i+m.room(len(piece)-i, max(m.heldLength(i), len(m.word)))])
	m.word = append(m.word, piece[i:i+read]...)
	i += read
	if found == match.None {
		m.place = place
		if m.tooLong(i) || len(m.word) > m.options.HeldLimit {
			m.fail(n, i, nil)
		}
		return i
	}
	path := n.Table.Path(place)
	m.foundUntil(n, &n.Edges[found], path[len(path)-back:], i)
	return i
}

// foundUntil ends a captured text at a marker. rest was read behind the marker.
func (m *Machine) foundUntil(n *program.Node, e *program.Edge, rest []match.Symbol, i int) {
	width := m.width(rest)
	m.shorten(i, width)
	m.place = 0
	text := m.word[:len(m.word)-width-len(e.Bytes)]
	if n.Lines && e.Do&program.KeyDone == 0 {
		m.junkLine(i, len(e.Bytes), e.Do&program.AsText != 0)
	}
	switch {
	case n.Lines && e.Do&program.AsText != 0:
		m.enter(n)
		m.from = i
	case e.Do&program.AsText != 0: // what opens or closes something else shows that this is none
		m.advance(n, e, i)
	case n.Equals && !m.closesElement(text), !n.Equals && !m.capture(n.Capture, text):
		m.fail(n, i, nil)
	default:
		m.advance(n, e, i)
	}
	m.again(rest)
}

// junkLine makes junk of what is held of a line that is no parameter. A marker stands behind it, the last bytes that are
// held; if it only ends the line it goes with it.
func (m *Machine) junkLine(i, marker int, ends bool) {
	m.suspend(i)
	n := len(m.held) - marker
	m.junk(m.held[:n])
	m.held = append(m.held[:0], m.held[n:]...)
	if ends {
		m.settle(i, 0, AsMarkup, -1)
	}
}

// inAttribute captures the value of an attribute: quoted either way, or bare up to a blank or a marker.
func (m *Machine) inAttribute(n *program.Node, piece []byte, i int) int {
	for i < len(piece) {
		c := piece[i]
		switch {
		case m.tooLong(i):
			m.fail(n, i, nil)
			return i
		case m.quote == 0 && isBlank(c):
			i++
			continue
		case m.quote == 0 && (c == '"' || c == '\''):
			m.quote = c
			i++
			continue
		case m.quote == 0:
			m.quote = bare
		}
		if m.quote == c || m.quote == bare && isBlank(c) {
			if m.quote == c {
				i++
			}
			m.endAttribute(n, m.word, i)
			return i
		}
		place, found, back, taken := n.Table.Step(m.place, match.Symbol(c))
		if taken {
			m.word = append(m.word, c)
			i++
		}
		m.place = place
		if found != match.None {
			path := n.Table.Path(place)
			if m.foundAttribute(n, &n.Edges[found], path[len(path)-back:], i) {
				return i
			}
		}
	}
	return i
}

const bare = 1

// foundAttribute treats a marker in an attribute's value; it answers whether the value is over.
func (m *Machine) foundAttribute(n *program.Node, e *program.Edge, rest []match.Symbol, i int) bool {
	if e.Do&program.AsText != 0 {
		m.shorten(i, m.width(rest))
		m.place = 0
		m.advance(n, e, i)
		m.again(rest)
		return true
	}
	if m.quote != bare { // what ends a bare value is data in quotes
		m.place = 0
		return false
	}
	width := m.width(rest) + len(e.Bytes)
	text := m.word[:len(m.word)-width]
	m.shorten(i, width)
	m.endAttribute(n, text, i)
	m.again(e.Symbols)
	m.again(rest)
	return true
}

func (m *Machine) endAttribute(n *program.Node, text []byte, i int) {
	if !m.capture(n.Capture, unescape(text)) {
		m.fail(n, i, nil)
		return
	}
	m.enterFrom(n, n.Next)
}

// readToken reads a token that is no marker here as the characters it stands for.
func (m *Machine) readToken(text []byte) bool {
	for i := 0; i < len(text); {
		i = m.read(text, i)
	}
	return true
}

// tokenStep steps with a token through a text that is captured up to a marker, or the value of an attribute.
func (m *Machine) tokenStep(n *program.Node, s match.Symbol, text []byte) bool {
	if n.Kind == program.Attribute && m.quote == 0 {
		m.quote = bare
	}
	place, found, back, taken := n.Table.Step(m.place, s)
	end := 0
	if taken {
		m.word = append(m.word, text...)
		end = len(text)
	}
	m.place = place
	if found == match.None {
		return taken
	}
	path := n.Table.Path(place)
	if rest := path[len(path)-back:]; n.Kind == program.Attribute {
		m.foundAttribute(n, &n.Edges[found], rest, end)
	} else {
		m.foundUntil(n, &n.Edges[found], rest, end)
	}
	return taken
}
