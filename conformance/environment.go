package conformance

import (
	"encoding/json/jsontext"
	"fmt"
	"sync"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/vocabulary"
)

// Environment is what the inputs of one run share. It keeps what has been read or compiled once for all of them. Its
// zero value is ready; it is not copied, and any number of goroutines may use it at once.
type Environment struct {
	// Registry holds the formats; nil is the default one.
	Registry *parlance.Registry
	// Vocabulary is that of the model; nil if nothing is known of it.
	Vocabulary *vocabulary.Vocabulary

	// Template is the response template of the model, for the parsers that read one; nil if there is none.
	Template *parlance.ResponseTemplate

	tools     toolCache
	templates templateCache
	bound     boundCache
}

func (e *Environment) registry() *parlance.Registry {
	if e.Registry == nil {
		return parlance.Default()
	}
	return e.Registry
}

// Parser looks up a parser by the names of its halves and binds it to the vocabulary, if one is known. The error is as
// that of Registry.LookupTemplate and of Parser.Bind.
func (e *Environment) Parser(tool, reasoning string) (*parlance.Parser, error) {
	p, err := e.registry().LookupTemplate(tool, reasoning, e.Template)
	if err != nil || e.Vocabulary == nil {
		return p, err
	}
	return e.bound.get(p, "", func() *vocabulary.Vocabulary { return e.Vocabulary })
}

// parser is Parser for an input, which may bring a template and a vocabulary of its own.
func (e *Environment) parser(in *Input) (p *parlance.Parser, err error) {
	template := e.Template
	if given(in.ResponseTemplate) {
		if template, err = e.templates.parse(in.ResponseTemplate); err != nil {
			return nil, fmt.Errorf("response_template: %w", err)
		}
	}
	if p, err = e.registry().LookupTemplate(in.ToolParser, in.ReasoningParser, template); err != nil {
		return nil, err
	}
	switch {
	case given(in.ResponseTemplate) && p.ResponseTemplate() == nil:
		return nil, fmt.Errorf("response_template: expected the parser hf or beam, which reads one, found %s", parserNames(in))
	case len(in.AddedTokens) > 0: // maps are printed in the order of their keys
		return e.bound.get(p, fmt.Sprint(in.AddedTokens), func() *vocabulary.Vocabulary {
			return vocabulary.New("added_tokens", in.AddedTokens)
		})
	case e.Vocabulary != nil:
		return e.bound.get(p, "", func() *vocabulary.Vocabulary { return e.Vocabulary })
	}
	return p, nil
}

func parserNames(in *Input) string {
	if in.ToolParser == "" || in.ReasoningParser == "" {
		return in.ToolParser + in.ReasoningParser
	}
	return in.ToolParser + " and " + in.ReasoningParser
}

// boundCache keeps parsers that are bound to a vocabulary.
type boundCache struct {
	mutex sync.Mutex
	kept  map[boundKey]boundParser
}

type boundKey struct {
	parser     *parlance.Parser
	vocabulary string
}

type boundParser struct {
	parser *parlance.Parser
	err    error
}

// boundCacheSize bounds the number of parsers kept.
const boundCacheSize = 4096

func (c *boundCache) get(p *parlance.Parser, name string, v func() *vocabulary.Vocabulary) (*parlance.Parser, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	key := boundKey{p, name}
	found, ok := c.kept[key]
	if !ok {
		found.parser, found.err = p.Bind(v())
		if c.kept == nil || len(c.kept) >= boundCacheSize {
			c.kept = map[boundKey]boundParser{}
		}
		c.kept[key] = found
	}
	return found.parser, found.err
}

// A jsonCache keeps what has been read of JSON texts, since one text mostly serves many inputs. Its zero value is ready;
// any number of goroutines may use it at once.
type jsonCache[T any] struct {
	mutex sync.Mutex
	kept  map[string]T
	size  int
}

// jsonCacheSize bounds the JSON text kept, in bytes.
const jsonCacheSize = 16 << 20

func (c *jsonCache[T]) get(data jsontext.Value, read func([]byte) (T, error)) (T, error) {
	c.mutex.Lock()
	value, ok := c.kept[string(data)]
	c.mutex.Unlock()
	if ok {
		return value, nil
	}
	value, err := read(data)
	if err != nil {
		return value, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if other, ok := c.kept[string(data)]; ok {
		return other, nil
	}
	if c.kept == nil || c.size+len(data) > jsonCacheSize {
		c.kept, c.size = map[string]T{}, 0
	}
	c.kept[string(data)] = value
	c.size += len(data)
	return value, nil
}

type toolCache struct{ jsonCache[*parlance.Tools] }

func (c *toolCache) parse(data jsontext.Value) (*parlance.Tools, error) {
	if !given(data) {
		return parlance.ParseTools(data)
	}
	return c.get(data, parlance.ParseTools)
}

type templateCache struct {
	jsonCache[*parlance.ResponseTemplate]
}

func (c *templateCache) parse(data jsontext.Value) (*parlance.ResponseTemplate, error) {
	return c.get(data, parlance.ParseResponseTemplate)
}
