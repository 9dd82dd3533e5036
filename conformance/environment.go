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

	tools toolCache
	bound boundCache
}

func (e *Environment) registry() *parlance.Registry {
	if e.Registry == nil {
		return parlance.Default()
	}
	return e.Registry
}

// Parser looks up a parser by the names of its halves and binds it to the vocabulary, if one is known. The error is as
// that of Registry.Lookup and of Parser.Bind.
func (e *Environment) Parser(tool, reasoning string) (*parlance.Parser, error) {
	p, err := e.registry().Lookup(tool, reasoning)
	if err != nil || e.Vocabulary == nil {
		return p, err
	}
	return e.bound.get(p, "", func() *vocabulary.Vocabulary { return e.Vocabulary })
}

// parser is Parser for an input, which may bring a vocabulary of its own.
func (e *Environment) parser(in *Input) (*parlance.Parser, error) {
	if len(in.AddedTokens) == 0 {
		return e.Parser(in.ToolParser, in.ReasoningParser)
	}
	p, err := e.registry().Lookup(in.ToolParser, in.ReasoningParser)
	if err != nil {
		return nil, err
	}
	// Maps are printed in the order of their keys.
	return e.bound.get(p, fmt.Sprint(in.AddedTokens), func() *vocabulary.Vocabulary {
		return vocabulary.New("added_tokens", in.AddedTokens)
	})
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

// toolCache keeps tools that have been read, since one array mostly serves many requests. Its zero value is ready, a nil
// cache keeps nothing; any number of goroutines may use it at once.
type toolCache struct {
	mutex sync.Mutex
	kept  map[string]*parlance.Tools
	size  int
}

// toolCacheSize bounds the JSON text of the tools kept, in bytes.
const toolCacheSize = 16 << 20

func (c *toolCache) parse(data jsontext.Value) (*parlance.Tools, error) {
	if c == nil || !given(data) {
		return parlance.ParseTools(data)
	}
	c.mutex.Lock()
	tools, ok := c.kept[string(data)]
	c.mutex.Unlock()
	if ok {
		return tools, nil
	}
	tools, err := parlance.ParseTools(data)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.kept == nil || c.size+len(data) > toolCacheSize {
		c.kept, c.size = map[string]*parlance.Tools{}, 0
	}
	c.kept[string(data)] = tools
	c.size += len(data)
	return tools, nil
}
