package conformance

import (
	"encoding/json/jsontext"
	"fmt"
	"sync"

	"github.com/parlance-llm/parlance"
)

// Input is a model's output with what its request says. The keys are those of a case file and of a line of
// `parlance batch` (ruling 4); null is the same as nothing.
type Input struct {
	Text               string         `json:"text"`
	ToolParser         string         `json:"tool_parser,omitzero"`
	ReasoningParser    string         `json:"reasoning_parser,omitzero"`
	Tools              jsontext.Value `json:"tools,omitzero"`
	ToolChoice         jsontext.Value `json:"tool_choice,omitzero"`
	Prompt             string         `json:"prompt,omitzero"`
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitzero"`
	IncludeReasoning   *bool          `json:"include_reasoning,omitzero"`
	FinishReason       string         `json:"finish_reason,omitzero"`
	ResponseTemplate   jsontext.Value `json:"response_template,omitzero"`
	// SpecialTokens are markers that are single tokens in the vocabulary; a suffix of all markers is read off them.
	SpecialTokens []string `json:"special_tokens,omitzero"`
}

// Prepared is what the library needs to sort an Input.
type Prepared struct {
	Parser  *parlance.Parser
	Request parlance.Request
	Finish  parlance.FinishReason
}

// Prepare looks up what an input names. Tools that occur again and again are read once if their cache is given. The
// error is a *parlance.NameError for a parser that does not exist, a *parlance.ToolError for a tool that is broken, and
// else names the key at fault.
func (in *Input) Prepare(tools *ToolCache) (p Prepared, err error) {
	if p.Parser, err = parlance.Lookup(in.ToolParser, in.ReasoningParser); err != nil {
		return p, err
	}
	if p.Finish, err = ParseFinishReason(in.FinishReason); err != nil {
		return p, err
	}
	if given(in.ResponseTemplate) {
		return p, fmt.Errorf("response_template: response templates need the hf or the beam parser, which this build does not have")
	}
	if p.Request.Tools, err = tools.parse(in.Tools); err != nil {
		return p, err
	}
	if p.Request.ToolChoice, err = parlance.ParseToolChoice(in.ToolChoice); err != nil {
		return p, err
	}
	p.Request.Prompt = in.Prompt
	p.Request.ChatTemplateKwargs = in.ChatTemplateKwargs
	p.Request.SpecialTokens = in.SpecialTokens
	p.Request.HideReasoning = in.IncludeReasoning != nil && !*in.IncludeReasoning
	return p, nil
}

// ParseFinishReason reads a finish reason; nothing is stop.
func ParseFinishReason(reason string) (parlance.FinishReason, error) {
	switch reason {
	case "", string(parlance.FinishStop):
		return parlance.FinishStop, nil
	case string(parlance.FinishLength):
		return parlance.FinishLength, nil
	}
	return "", fmt.Errorf("finish_reason: expected stop or length, found %q", reason)
}

// given tells whether a JSON value is there and not null.
func given(value jsontext.Value) bool { return len(value) > 0 && value.Kind() != 'n' }

// ToolCache keeps tools that have been read, since one array mostly serves many requests. Its zero value is ready, a nil
// cache keeps nothing; any number of goroutines may use it at once.
type ToolCache struct {
	mutex sync.Mutex
	kept  map[string]*parlance.Tools
	size  int
}

// toolCacheSize bounds the JSON text of the tools kept, in bytes.
const toolCacheSize = 16 << 20

func (c *ToolCache) parse(data jsontext.Value) (*parlance.Tools, error) {
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
