package parlance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/vocabulary"
)

// VocabularyError says that a parser cannot be used with a model's vocabulary, because it lacks markers that the format
// cannot do without.
type VocabularyError struct {
	// Tool and Reasoning are the parser names, "" where none was chosen; Model is the name of the vocabulary.
	Tool, Reasoning, Model string
	// Missing are the markers that are no tokens of it.
	Missing []string
}

func (e *VocabularyError) Error() string {
	name := func(name string) string {
		if name == "" {
			return "None"
		}
		return name
	}
	return fmt.Sprintf("--tool-call-parser %s and --reasoning-parser %s cannot be used with the tokenizer of '%s': expected the tokens %s, found none of that text",
		name(e.Tool), name(e.Reasoning), e.Model, strings.Join(e.Missing, ", "))
}

// bound is what a parser knows of a vocabulary.
type bound struct {
	vocabulary *vocabulary.Vocabulary
	suffix     string
	// tokens are the markers, or parts of them, that count only as whole tokens; numbers gives their place by token id.
	tokens  []string
	numbers map[int]int
}

// Bind gives the same parser for a model whose vocabulary is known: of formats that share a name the vocabulary chooses
// (the dialects of Mistral), a suffix of all markers is read off it (hy_v3, hy_v4), and a marker that is a token of it
// counts only as that token where the output comes with token ids (see TokenStream); the same characters written as
// ordinary text are text.
//
// The error is a *VocabularyError if the vocabulary lacks a marker that the format needs.
func (p *Parser) Bind(v *vocabulary.Vocabulary) (*Parser, error) {
	out := &Parser{library: p.library, tool: p.tool, reasoning: p.reasoning, template: p.template, programs: map[variant]*program.Program{}}
	var err error
	if p.template != nil { // it came with the vocabulary
		out.toolHalf, out.reasoningHalf, out.name = p.toolHalf, p.reasoningHalf, p.name
	} else if err = out.chooseHalves(p, v); err != nil {
		return nil, err
	}
	if err := out.settle(); err != nil {
		return nil, err
	}
	b := &bound{vocabulary: v, numbers: map[int]int{}}
	out.bound = b
	b.suffix = out.suffixOf(v.Added())
	var missing []string
	for _, d := range out.halves() {
		for _, marker := range d.Needed {
			if marker = out.filled(marker, b.suffix); !v.Has(marker) && !slices.Contains(missing, marker) {
				missing = append(missing, marker)
			}
		}
		for _, marker := range markerTokens(d, v) {
			marker = out.filled(marker, b.suffix)
			if id, ok := v.ID(marker); ok && !slices.Contains(b.tokens, marker) {
				b.numbers[id] = len(b.tokens)
				b.tokens = append(b.tokens, marker)
			}
		}
	}
	if len(missing) > 0 {
		return nil, &VocabularyError{Tool: p.tool, Reasoning: p.reasoning, Model: v.Name, Missing: missing}
	}
	_, err = out.program(variant{holes: b.suffix, tokens: true})
	return out, err
}

// chooseHalves finds the definitions of a parser's halves once more, for a vocabulary.
func (p *Parser) chooseHalves(from *Parser, v *vocabulary.Vocabulary) (err error) {
	if from.toolHalf != nil {
		if p.toolHalf, err = from.choose(grammar.ToolHalf, from.tool, v); err != nil {
			return err
		}
	}
	if from.reasoningHalf != nil {
		if p.reasoningHalf, err = from.choose(grammar.ReasoningHalf, from.reasoning, v); err != nil {
			return err
		}
		p.name = p.reasoningHalf.ReasoningName(from.reasoning)
	}
	return nil
}

// markerTokens are the markers of a definition, or parts of them, that may be tokens. A grammar that came at run time
// knows of none; there they are the added tokens of the vocabulary that occur in its markers.
func markerTokens(d *grammar.Definition, v *vocabulary.Vocabulary) []string {
	if d.From == "" {
		return d.Tokens
	}
	var out []string
	all := markers(d)
	for _, token := range v.Added() {
		if slices.ContainsFunc(all, func(marker string) bool { return strings.Contains(marker, token) }) {
			out = append(out, token)
		}
	}
	return out
}

// Vocabulary is the vocabulary the parser is bound to, or nil.
func (p *Parser) Vocabulary() *vocabulary.Vocabulary {
	if p.bound == nil {
		return nil
	}
	return p.bound.vocabulary
}

// choose picks, of the formats that share a parser name, the one whose evidence the vocabulary holds. Most evidence
// wins, then the order of the library.
func (p *Parser) choose(half grammar.Half, name string, v *vocabulary.Vocabulary) (*grammar.Definition, error) {
	var best *grammar.Definition
	evidence := 0
	for _, format := range p.library.Find(half, name) {
		d, err := p.library.Definition(format)
		if err != nil {
			return nil, err
		}
		fits := len(d.Detect.Vocabulary) > 0
		for _, text := range d.Detect.Vocabulary {
			fits = fits && v.Has(text)
		}
		for _, text := range d.Detect.Not {
			fits = fits && !v.Has(text)
		}
		if best == nil || fits && len(d.Detect.Vocabulary) > evidence {
			best = d
			if fits {
				evidence = len(d.Detect.Vocabulary)
			}
		}
	}
	return best, nil
}

// halves are the definitions of the halves, each once.
func (p *Parser) halves() (out []*grammar.Definition) {
	for _, d := range []*grammar.Definition{p.toolHalf, p.reasoningHalf} {
		if d != nil && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// filled fills the holes of a literal.
func (p *Parser) filled(literal, suffix string) string {
	for name := range p.holes() {
		literal = strings.ReplaceAll(literal, "{"+name+"}", suffix)
	}
	return literal
}
