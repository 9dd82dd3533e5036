// Package stops finds stop strings in text that arrives in pieces.
//
// A stop string ends an answer where it is complete, and is not part of it. Until then its beginning is held back, no byte
// more than could still become one (package match).
package stops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/match"
)

// Set is a set of stop strings. It is immutable and may be shared by goroutines.
type Set struct {
	table *match.Table
	texts []string
}

// Compile makes a set. No stop strings are a set that finds nothing; an empty stop string is an error.
func Compile(texts []string) (*Set, error) {
	s := &Set{}
	var literals []match.Literal
	for i, text := range texts {
		if text == "" {
			return nil, fmt.Errorf("stop string %d: expected a text, found an empty one", i)
		}
		if slices.Contains(texts[:i], text) || comesLate(texts, text) {
			continue
		}
		literal := match.Literal{}
		for _, b := range []byte(text) {
			literal.Symbols = append(literal.Symbols, match.Symbol(b))
		}
		literals = append(literals, literal)
		s.texts = append(s.texts, text)
	}
	if len(literals) == 0 {
		return s, nil
	}
	table, err := match.Search(literals, nil)
	if err != nil {
		return nil, fmt.Errorf("stop strings: %w", err)
	}
	s.table = table
	return s, nil
}

// comesLate tells whether a text can never be complete before another of the set is: that one ends inside it. Such texts are
// left out, since of markers that overlap package match finds the one that began first, and here the first that ends counts.
func comesLate(texts []string, text string) bool {
	return slices.ContainsFunc(texts, func(other string) bool {
		return other != "" && strings.Contains(text[:len(text)-1], other)
	})
}

// Matcher looks for a set's stop strings in one text. It belongs to one goroutine.
type Matcher struct {
	set  *Set
	at   match.Place
	held string
}

// Matcher starts a text.
func (s *Set) Matcher() *Matcher { return &Matcher{set: s} }

// Write reads more of the text and answers what is certain to stand before any stop string. If one is complete it answers
// which; the text is over then, and what follows in the piece is gone.
func (m *Matcher) Write(piece string) (text, stop string) {
	if m.set.table == nil {
		return piece, ""
	}
	to, read, found, _ := m.set.table.Find(m.at, []byte(piece))
	if found != match.None {
		stop = m.set.texts[found]
		text = m.held + piece[:read]
		m.held, m.at = "", 0
		return text[:len(text)-len(stop)], stop
	}
	text = m.held + piece
	hold := m.set.table.Hold(to, 0)
	m.at, m.held = to, text[len(text)-hold:]
	return text[:len(text)-hold], ""
}

// Flush ends the text and answers what was held back.
func (m *Matcher) Flush() string {
	held := m.held
	m.held, m.at = "", 0
	return held
}
