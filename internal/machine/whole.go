package machine

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// whole is the state of a region of calls that is read when all of it is there. The text is held with the candidate.
type whole struct {
	// ends is what ends the string that the text stands in, nil outside strings; escape tells that a backslash stands
	// before. Markers in strings are text (ruling 31).
	ends   []byte
	json   bool
	escape bool
	// since is how much of the text had been read where the string began, or ended: delimiters do not overlap.
	since int
	// begun: the call has begun, only its arguments are to come.
	begun bool
}

func (m *Machine) inWhole(n *program.Node, piece []byte, i int) int {
	if !m.startWhole(n, i) {
		return i
	}
	for i < len(piece) && m.node == n {
		if m.heldLength(i) > m.options.ArgumentLimit {
			m.wholeTooLong(n, i)
			return i
		}
		i = m.wholeByte(n, piece, i)
	}
	return i
}

// beginWhole begins a region that is read whole as soon as its opener has come, at the end of the piece.
func (m *Machine) beginWhole(i int) {
	if n := m.node; n.Kind == program.Whole && m.open && m.argumentsFrom < 0 {
		m.startWhole(n, i)
	}
}

// startWhole begins the region's text at byte i of the piece, and the call, if it is certain. It answers false if the call
// is of a tool that may not be called.
func (m *Machine) startWhole(n *program.Node, i int) bool {
	if m.argumentsFrom >= 0 {
		return true
	}
	m.argumentsFrom = m.heldLength(i)
	if !n.Whole.Certain() {
		return true
	}
	if !m.begin(n.Whole.Name(m.groupOf), "", i, 0) {
		m.fail(n, i, nil)
		return false
	}
	m.startCandidate(nil)
	m.from = i
	m.argumentsFrom, m.whole.begun = 0, true
	return true
}

// wholeByte reads a byte of a region that is read as a whole. Its closer does not count inside a string.
func (m *Machine) wholeByte(n *program.Node, piece []byte, i int) int {
	if w := &m.whole; w.ends != nil {
		m.inWholeString(piece, i)
		return i + 1
	}
	place, found, back, taken := n.Table.Step(m.place, match.Symbol(piece[i]))
	if taken {
		i++
	}
	m.place = place
	if found != match.None {
		path := n.Table.Path(place)
		m.foundWhole(n, &n.Edges[found], path[len(path)-back:], i)
		return i
	}
	if taken {
		m.beginWholeString(n, i)
	}
	return i
}

// wholeTooLong ends a region that has reached the limit (ruling 41): it is text, or a call without readable arguments.
func (m *Machine) wholeTooLong(n *program.Node, i int) {
	if !m.whole.begun {
		m.fail(n, i, nil)
		return
	}
	m.settle(i, 0, AsArguments, m.calls-1)
	m.call.malformed = true
	m.enter(n.Tail)
	m.from = i
}

// beginWholeString looks whether a string begins behind byte i of the piece.
func (m *Machine) beginWholeString(n *program.Node, i int) {
	for _, pair := range n.Whole.Strings() {
		if m.heldEnds(i, pair[0]) {
			m.whole = whole{ends: []byte(pair[1]), json: pair[0] == `"`, since: m.heldLength(i), begun: m.whole.begun}
			m.place = 0
			return
		}
	}
}

// inWholeString reads a byte of a string.
func (m *Machine) inWholeString(piece []byte, i int) {
	w := &m.whole
	switch {
	case w.escape:
		w.escape = false
	case w.json && piece[i] == '\\':
		w.escape = true
	case m.heldEnds(i+1, string(w.ends)):
		*w = whole{since: m.heldLength(i + 1), begun: w.begun}
	}
}

// heldEnds tells whether what is held up to byte i of the piece ends with a text that begins behind the last delimiter.
func (m *Machine) heldEnds(i int, text string) bool {
	n := m.heldLength(i)
	if n-max(m.whole.since, m.argumentsFrom) < len(text) {
		return false
	}
	for k := range len(text) {
		at := n - len(text) + k
		var c byte
		if at < len(m.held) {
			c = m.held[at]
		} else {
			c = m.buffer[m.from+at-len(m.held)]
		}
		if c != text[k] {
			return false
		}
	}
	return true
}

// wholeToken offers a token to the region: a closer outside strings, else data.
func (m *Machine) wholeToken(n *program.Node, s match.Symbol, text []byte) bool {
	if !m.startWhole(n, 0) {
		return false
	}
	if m.whole.ends != nil || !n.Table.Knows(s) {
		for i := range text {
			if m.whole.ends == nil {
				m.place = 0
				m.beginWholeString(n, i+1)
				continue
			}
			m.inWholeString(text, i)
		}
		return true
	}
	place, found, back, taken := n.Table.Step(m.place, s)
	m.place = place
	if found != match.None {
		path := n.Table.Path(place)
		end := 0
		if taken {
			end = len(text)
		}
		m.foundWhole(n, &n.Edges[found], path[len(path)-back:], end)
	}
	return taken
}

// foundWhole reads the region now that its closer has come. rest was read behind the closer.
func (m *Machine) foundWhole(n *program.Node, e *program.Edge, rest []match.Symbol, i int) {
	width := m.width(rest)
	m.shorten(i, width)
	m.place = 0
	if !m.wholeCalls(n, i, len(e.Bytes)) {
		m.fail(n, i, nil) // with its closer (ruling 34)
		m.again(rest)
		return
	}
	m.held = m.held[:0]
	m.from = i
	m.enter(n.Tail)
	m.from = i
	m.again(e.Symbols)
	m.from = i
	m.again(rest)
	m.from = i
}

// wholeCalls gives out the calls of the region; the last bytes that are held are its closer. It answers false if the
// region holds none.
func (m *Machine) wholeCalls(n *program.Node, i, closer int) bool {
	m.suspend(i)
	body := bytes.Clone(m.held[m.argumentsFrom : len(m.held)-closer])
	calls, ok := n.Whole.Read(string(body), m.groupOf)
	if !ok {
		return false
	}
	begun := 0
	for _, call := range calls {
		but := 0
		if m.whole.begun {
			m.take(body, AsArguments, m.calls-1)
			m.open, m.from = false, i
			m.call.syntax, m.call.first = inText, false
			m.arguments(m.wholeArguments(&call), memoryReused)
			m.goodArguments()
			return true
		}
		if begun == 0 {
			but = len(body) + closer
		}
		if !m.begin(call.Name, "", i, but) {
			continue
		}
		if begun == 0 {
			m.take(body, AsArguments, m.calls-1)
			m.held, m.from = m.held[:0], i
		}
		begun++
		m.call.syntax = inText
		m.call.first = false
		m.arguments(m.wholeArguments(&call), memoryReused)
		m.goodArguments()
	}
	return begun > 0
}

// groupOf gives what a group of the opener has captured.
func (m *Machine) groupOf(group string) string { return string(m.named(grammar.GroupCapture + group)) }

// wholeArguments writes the arguments of a call.
func (m *Machine) wholeArguments(call *grammar.WholeCall) []byte {
	if !call.Made {
		return []byte(call.Arguments)
	}
	out := []byte{'{'}
	for k, member := range call.Members {
		if k > 0 {
			out = append(out, ", "...)
		}
		out = append(codec.AppendQuoted(out, []byte(member.Key)), ": "...)
		s := m.call.schema.Property(member.Key)
		switch {
		case member.JSON != nil:
			out = append(out, member.JSON...)
		case !member.List:
			out = schema.AppendValue(out, []byte(member.Texts[0]), s, schema.SilentString)
		default:
			out = append(out, '[')
			for k := range max(len(member.Texts), len(member.Values)) {
				if k > 0 {
					out = append(out, ", "...)
				}
				if member.Values != nil {
					out = append(out, member.Values[k]...)
					continue
				}
				out = schema.AppendValue(out, []byte(member.Texts[k]), s.Item(k), schema.SilentString)
			}
			out = append(out, ']')
		}
	}
	return append(out, '}')
}

// endWhole settles a region that is open at the end of the output (rulings 37, 38, 40).
func (m *Machine) endWhole(n *program.Node, reason Reason) {
	if !m.startWhole(n, 0) {
		m.atEnd(reason)
		return
	}
	if m.whole.begun && reason == Length {
		m.settle(0, 0, AsArguments, m.calls-1)
		return
	}
	if reason == Stop {
		if !m.wholeCalls(n, 0, 0) {
			m.endText(n)
		}
		return
	}
	name := n.Whole.Name(m.groupOf)
	if name == "" || !m.begin(name, "", 0, 0) {
		m.endHeld(n, reason)
	}
}
