package parlance

import (
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Definitions are the definitions that the parser was made from, for the packages of this module that make something
// else from them, such as render: the tool half, the reasoning half and what the reasoning-parser name says beside it.
// What belongs to a half that was not chosen is nil. They must not be changed.
func (p *Parser) Definitions() (tool, reasoning *grammar.Definition, name *grammar.ReasoningName) {
	return p.toolHalf, p.reasoningHalf, p.name
}

// Suffix is what fills the holes in the format's markers for a request: off the vocabulary, the special tokens or the
// prompt, "" where none shows any or the format has no holes.
func (p *Parser) Suffix(r Request) string { return p.suffix(&r) }

// Schema is the schema of a tool's parameters, nil (which is a schema that says nothing) if the tool is not declared.
func (t *Tools) Schema(name string) *schema.Schema {
	if t == nil {
		return nil
	}
	return t.schemas[name]
}
