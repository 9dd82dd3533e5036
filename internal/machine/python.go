package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/program"
)

// inPython reads keyword arguments.
func (m *Machine) inPython(n *program.Node, piece []byte, i int) int {
	if m.open && m.argumentsFrom < 0 {
		m.argumentsFrom = m.heldLength(i)
	}
	from := i
	rest := piece[i:]
	if m.open {
		rest = rest[:m.room(len(rest), m.heldLength(i))]
	}
	arena := len(m.arena)
	used, out, status := m.python.Step(rest, m.arena)
	m.arena, out = out, out[arena:]
	i += used
	if m.open {
		switch {
		case status == codec.Refused:
			m.fail(n, i, nil)
			return i
		case !m.python.Certain():
			if m.tooLong(i) {
				m.fail(n, i, nil)
			}
			return i
		}
		m.suspend(i)
		rest := m.held[m.argumentsFrom:]
		if !m.commit(i, len(rest)) {
			m.fail(n, i, nil)
			return i
		}
		m.call.syntax = inCode
		m.take(rest, AsArguments, m.calls-1)
		from = i
	}
	m.take(piece[from:i], AsArguments, m.calls-1)
	m.give(out)
	if status == codec.Done {
		m.finishArguments(n)
		m.from = i
	}
	return i
}
