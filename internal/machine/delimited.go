package machine

import (
	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

func (m *Machine) startDelimited(n *program.Node) {
	m.delimited.Quotes = n.Quotes
	m.delimited.Start(n.Delimiter, n.Closer, m.call.schema)
	m.call.syntax = inDelimiters
	m.typed = !m.tokenDelimiter(n)
}

// inDelimited reads arguments with delimited strings. Outside strings the closers of the call end them.
func (m *Machine) inDelimited(n *program.Node, piece []byte, i int) int {
	arena := len(m.arena)
	used, out, status := m.delimited.Step(piece[i:], m.arena, m.typed)
	m.arena, out = out, out[arena:]
	m.take(piece[i:i+used], AsArguments, m.calls-1)
	i += used
	m.give(out)
	if status == codec.Done {
		m.finishArguments(n)
		m.from = i
	}
	return i
}

// tokenDelimiter tells whether the delimiter counts only as a token.
func (m *Machine) tokenDelimiter(n *program.Node) bool {
	for _, token := range m.program.Tokens {
		if string(token) == string(n.Delimiter) {
			return true
		}
	}
	return false
}

func (m *Machine) delimiterToken(n *program.Node, text []byte) {
	m.take(text, AsArguments, m.calls-1)
	m.made(m.delimited.Delimiter(m.arena))
}

// delimitedToken reads a token that is not the delimiter: a closer of the call ends arguments whose bracket is missing.
func (m *Machine) delimitedToken(n *program.Node, s match.Symbol, text []byte) bool {
	if !m.delimited.InString() && n.Tail.Table.Knows(s) {
		m.finishArguments(n)
		return false
	}
	return m.readToken(text)
}
