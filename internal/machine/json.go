package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/program"
)

// inJSON reads a JSON object as arguments.
func (m *Machine) inJSON(n *program.Node, piece []byte, i int) int {
	switch {
	case m.open && n.Phase == program.InCall: // the arguments of a call that has begun already
		if !m.call.first {
			m.fail(n, i, nil) // they have begun in another way
			return i
		}
		m.settle(i, 0, AsMarkup, -1)
		m.call.syntax = inText
	case m.open:
		name := string(m.named("name"))
		if m.options.Forced != "" && name == "" {
			name = m.options.Forced
		}
		if !m.begin(name, string(m.named("id")), i, 0) {
			m.fail(n, i, nil)
			return i
		}
		m.call.syntax = inText
	}
	i, done := m.scan(piece, i)
	if done {
		m.leaveArguments(n, i)
	}
	return i
}

// leaveArguments goes to the tail of a call.
func (m *Machine) leaveArguments(n *program.Node, i int) {
	if !m.call.malformed {
		m.goodArguments()
	}
	m.enter(n.Tail)
	m.from = i
}

// scan passes JSON arguments on and answers whether they are over. JSON that goes wrong goes on raw, to the bracket
// that balances its first (ruling 34).
func (m *Machine) scan(piece []byte, i int) (int, bool) {
	for i < len(piece) {
		if m.raw.on {
			return m.scanRaw(piece, i)
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(piece, i)
		if i > from {
			m.take(piece[from:i], AsArguments, m.calls-1)
			m.passed(piece[from:i])
		}
		switch event {
		case jsonscan.Done:
			return i, true
		case jsonscan.Control:
			m.take(piece[i:i+1], AsArguments, m.calls-1)
			m.scratch = codec.AppendEscaped(m.scratch[:0], piece[i])
			m.arguments(m.scratch, memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			m.call.malformed = true
			m.raw = raw{on: true, depth: m.json.Depth(), inString: m.json.InString(), escape: m.json.AfterEscape()}
		}
	}
	return i, false
}

// passed gives out argument text as the model wrote it.
func (m *Machine) passed(text []byte) {
	m.call.first = false
	m.arguments(text, memoryChunk)
}

// raw follows argument text that is no JSON: brackets are counted, strings respected.
type raw struct {
	on       bool
	depth    int
	inString bool
	escape   bool
}

func (r *raw) step(c byte) (over bool) {
	switch {
	case r.escape:
		r.escape = false
	case r.inString:
		switch c {
		case '\\':
			r.escape = true
		case '"':
			r.inString = false
		}
	case c == '"':
		r.inString = true
	case c == '{' || c == '[':
		r.depth++
	case c == '}' || c == ']':
		r.depth--
		return r.depth <= 0
	}
	return false
}

func (m *Machine) scanRaw(piece []byte, i int) (int, bool) {
	from, over := i, false
	for i < len(piece) && !over {
		over = m.raw.step(piece[i])
		i++
	}
	m.take(piece[from:i], AsArguments, m.calls-1)
	m.passed(piece[from:i])
	if over {
		m.raw = raw{}
	}
	return i, over
}
