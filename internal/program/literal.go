package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/match"
)

// openers are the first literals of a role in each half that has it, those of the reasoning half first.
func (c *compiler) openers(role grammar.Role) (out []string) {
half:
	for _, d := range []*grammar.Definition{c.options.Reasoning, c.options.Tool} {
		if d == nil {
			continue
		}
		for _, rule := range d.Rules {
			if rule.Role() != role {
				continue
			}
			if marker := opener(rule, d); marker != "" {
				if marker = c.fill(marker); !slices.Contains(out, marker) {
					out = append(out, marker)
				}
				continue half
			}
		}
	}
	return out
}

// fill fills the holes of a literal.
func (c *compiler) fill(literal string) string {
	for _, h := range c.graph.halves {
		for name := range h.definition.Holes {
			literal = strings.ReplaceAll(literal, "{"+name+"}", c.options.Holes[name])
		}
	}
	return literal
}

// symbols writes a literal as symbols: the parts that are whole tokens as tokens, the rest as bytes.
func (c *compiler) symbols(literal string) (out []match.Symbol) {
next:
	for i := 0; i < len(literal); {
		best := -1
		for k, token := range c.tokens {
			if strings.HasPrefix(literal[i:], string(token)) && (best < 0 || len(token) > len(c.tokens[best])) {
				best = k
			}
		}
		if best >= 0 {
			out = append(out, match.FirstToken+match.Symbol(best))
			i += len(c.tokens[best])
			continue next
		}
		out = append(out, match.Symbol(literal[i]))
		i++
	}
	return out
}

// table compiles a set of literals, or finds the same set compiled before.
func (c *compiler) table(literals []string, watch []match.Watch, search bool) *match.Table {
	key := fmt.Sprintf("%q %v %v", literals, watch, search)
	if t, ok := c.tables[key]; ok {
		return t
	}
	set := make([]match.Literal, len(literals))
	for i, literal := range literals {
		set[i] = match.Literal{Symbols: c.symbols(literal)}
		if watch != nil {
			set[i].Watch = watch[i]
		}
	}
	build := match.Anchored
	if search {
		build = match.Search
	}
	t, err := build(set, c.tokens)
	if err != nil {
		c.fail(grammar.Position{}, "the markers %q: %v", literals, err)
	}
	c.tables[key] = t
	return t
}

// hasLetter tells whether a literal is more than punctuation. The wide bar and the low block are punctuation too.
func hasLetter(literal string) bool {
	for _, r := range literal {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 128 && !strings.ContainsRune("｜▁", r) {
			return true
		}
	}
	return false
}

// inClass tells whether a literal could be a word of a class.
func inClass(literal string, class *grammar.Class) bool {
	for _, b := range []byte(literal) {
		if !class.Has(b) {
			return false
		}
	}
	return true
}

// plainWord tells whether a literal is made of letters, digits and blanks only.
func plainWord(text string) bool {
	for _, c := range []byte(text) {
		if c != ' ' && c != '_' && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}
