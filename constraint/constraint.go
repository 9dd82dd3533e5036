// Package constraint makes constraints: grammars that hold a model to tool calls of the declared tools, written as its
// format writes them, and to answers in a format. They come from the same definitions as the parsers.
//
//	c, err := constraint.New(parser, constraint.Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"}})
//	...
//	if c != nil { // nil: nothing has to be held
//		fmt.Println(c.StructuralTag().Text, c.Notes())
//	}
//
// A constraint is one language (package language), which is written in the dialect that an engine takes: a structural
// tag for xgrammar, GBNF for llama.cpp, Lark for llguidance, or a JSON schema for all others. What a dialect cannot say
// is widened, never narrowed, and said in a note. The constraint is made once and kept, by what it was made from.
package constraint

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/acceptor"
	"github.com/parlance-llm/parlance/constraint/dialect"
	"github.com/parlance-llm/parlance/constraint/jsonschema"
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/structuraltag"
	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/constraint/turn"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Level is how strictly calls are held, --tool-strict-level. A level only raises what a request asks for.
type Level string

// The levels.
const (
	// LevelDefault: the format's own, which is auto for nearly all.
	LevelDefault Level = ""
	// LevelAuto: what the request asks for.
	LevelAuto Level = "auto"
	// LevelFunction: calls are always held to the format and the declared names, arguments to any object.
	LevelFunction Level = "function"
	// LevelParameter: arguments are held to the tools' schemas too.
	LevelParameter Level = "parameter"
)

// ParseLevel reads a level; "" is the default. The error says which there are.
func ParseLevel(text string) (Level, error) {
	switch level := Level(text); level {
	case LevelDefault, LevelAuto, LevelFunction, LevelParameter:
		return level, nil
	}
	return "", fmt.Errorf("expected auto, function or parameter, found %q", text)
}

// Thinking says where the turn begins.
type Thinking = turn.Thinking

// The beginnings of a turn.
const (
	// ThinkingOver: no thought may come, or the engine lets the constraint begin behind it.
	ThinkingOver = turn.Over
	// ThinkingOpen: a thought is open; the constraint lets it go on and holds what follows it.
	ThinkingOpen = turn.Open
	// ThinkingPossible: the model may begin with a thought.
	ThinkingPossible = turn.Possible
)

// ThinkingOf says where the turn begins for a request: as its prompt shows, else as the switch of the family says. It
// does not depend on HideReasoning, which changes what is shown and nothing else.
func ThinkingOf(p *parlance.Parser, r parlance.Request) Thinking {
	_, reasoning, name := p.Definitions()
	if reasoning == nil {
		return ThinkingOver
	}
	state := p.PromptState(r)
	thinking := &reasoning.Thinking
	if name != nil && name.Thinking != nil {
		thinking = name.Thinking
	}
	switch {
	case state.Inside:
		return ThinkingOpen
	case state.Prompt == parlance.ThoughtClosed && !inMessages(reasoning) || thinking.Given:
		return ThinkingOver
	}
	return ThinkingPossible
}

// inMessages tells whether a format's thoughts are messages of their own, which may come after the prompt has begun the
// model's turn: what it began need not be the answer.
func inMessages(d *grammar.Definition) bool {
	for _, rule := range d.Rules {
		if rule.Role() == grammar.Thought {
			return false
		}
	}
	return true
}

// Request is what a constraint is made from.
type Request struct {
	Tools      []Tool
	ToolChoice parlance.ToolChoice
	// StrictLevel raises how strictly calls are held.
	StrictLevel Level
	// Unenforced: only forced calls are held, and their arguments to any object, whatever the tools and the level say
	// (VLLM_ENFORCE_STRICT_TOOL_CALLING=false).
	Unenforced bool
	// OneCall: there is at most one call (parallel_tool_calls false).
	OneCall bool
	// ResponseFormat is the format of the answer, nil for text.
	ResponseFormat *ResponseFormat
	// Thinking is where the turn begins; see ThinkingOf.
	Thinking Thinking
	// Suffix fills the holes in the markers of formats that have some; see parlance.Parser.Suffix.
	Suffix string
}

// Constraint is a language that a model is held to. It is immutable and safe for many goroutines. Each dialect is
// written once.
type Constraint struct {
	node  language.Node
	notes []string

	schema     func() string
	schemaNote string

	tag, gbnf, ebnf, lark func() Text
	acceptor              func() *acceptor.Acceptor
}

// Text is a constraint in a dialect.
type Text struct {
	Text string
	// Notes say what the dialect lets through that the constraint does not.
	Notes []string
}

// Error says why there is no constraint: which tool, or which part of the request, and what is wrong with it.
type Error struct {
	// Param is the field of the request: tools, tools[2].function.parameters, tool_choice, response_format.
	Param string
	// Tool is the name of the tool, "" if none is at fault.
	Tool string
	Err  error
}

func (e *Error) Error() string {
	if e.Tool != "" {
		return fmt.Sprintf("%s: the tool %s: %v", e.Param, e.Tool, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Param, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// New makes the constraint of a request for a parser, or finds one made before. It is nil if nothing has to be held. The
// error is an *Error.
func New(p *parlance.Parser, r Request) (*Constraint, error) {
	key := keyOf(p, &r)
	if c, ok := kept.get(key); ok {
		return c, nil
	}
	c, err := build(p, &r)
	if err == nil {
		kept.put(key, c)
	}
	return c, err
}

func build(p *parlance.Parser, r *Request) (*Constraint, error) {
	tool, reasoning, _ := p.Definitions()
	level := LevelAuto
	if tool != nil && tool.Constrain.Level != "" {
		level = Level(tool.Constrain.Level)
	}
	plan, err := r.plan(level)
	if err != nil {
		return nil, err
	}
	if !plan.calls && plan.format == nil {
		return nil, nil
	}
	if plan.calls && tool == nil {
		return nil, &Error{Param: "tool_choice", Err: errors.New("expected a tool parser, found none chosen")}
	}
	tools, places, err := r.chosen()
	if err != nil {
		return nil, err
	}
	builder := syntax.New()
	o := turn.Options{Tool: tool, Reasoning: reasoning, Thinking: r.Thinking, Forced: plan.forced, Once: plan.once, Builder: builder, Holes: map[string]string{}}
	if tool != nil {
		for hole := range tool.Holes {
			o.Holes[hole] = r.Suffix
		}
	}
	c := &Constraint{notes: plan.notes}
	var choices []jsonschema.Choice
	if plan.calls {
		var shared toolschema.Shared
		for i, t := range tools {
			wrong := func(err error) error {
				return &Error{Param: fmt.Sprintf("tools[%d].function.parameters", places[i]), Tool: t.Name, Err: err}
			}
			node, notes, readArguments, err := t.arguments()
			if err != nil {
				return nil, wrong(err)
			}
			read := func() (*schema.Schema, error) { // only formats that read values by the schema need it
				read, err := readArguments()
				if err != nil {
					return nil, wrong(err)
				}
				return read, nil
			}
			shared.Share(node)
			pinned := plan.pinned(t)
			if pinned {
				for _, note := range notes {
					c.notes = append(c.notes, fmt.Sprintf("tool %s: %s", t.Name, note))
				}
			}
			o.Tools = append(o.Tools, turn.Tool{Name: t.Name, Arguments: node, Read: read, Pinned: pinned})
			choices = append(choices, jsonschema.Choice{Name: t.Name, Parameters: node})
		}
	} else {
		o.Tool = nil
	}
	if plan.format != nil {
		var text string
		if o.Instead, text, err = plan.format.node(builder, &c.notes); err != nil {
			return nil, &Error{Param: "response_format", Err: err}
		}
		if !plan.calls {
			c.schema = func() string { return text }
		}
	}
	node, err := turn.New(o)
	if p.ResponseTemplate() != nil && plan.forced && (err != nil || language.Pruned(node) == nil) {
		c.fallback(plan, choices, r.Thinking)
		if node, err = c.plainJSON(builder); err != nil {
			return nil, &Error{Param: "tools", Err: err}
		}
		c.notes = append(c.notes, "the response template has no form that can be forced: calls are forced as plain JSON")
	}
	if err != nil {
		var own *Error
		if errors.As(err, &own) {
			return nil, own
		}
		var wrong *turn.Error
		if errors.As(err, &wrong) && wrong.Tool != "" {
			i := slices.IndexFunc(tools, func(t *Tool) bool { return t.Name == wrong.Tool })
			return nil, &Error{Param: fmt.Sprintf("tools[%d].function", places[i]), Tool: wrong.Tool, Err: errors.New(wrong.Message)}
		}
		return nil, &Error{Param: "tools", Err: err}
	}
	if c.node = language.Pruned(node); c.node == nil {
		return nil, c.unwritable(tools, places, plan, builder)
	}
	for _, note := range builder.Notes {
		c.notes = append(c.notes, note.String())
	}
	c.notes = slices.Compact(c.notes)
	c.fallback(plan, choices, r.Thinking)
	c.write()
	return c, nil
}

// unwritable says which tool cannot be called in the format.
func (c *Constraint) unwritable(tools []*Tool, places []int, plan *plan, builder *syntax.Builder) error {
	reason := "expected arguments that the format can write, found some that it cannot"
	for _, note := range builder.Notes {
		reason += "; " + note.String()
	}
	if len(tools) == 0 {
		return &Error{Param: "response_format", Err: errors.New(reason)}
	}
	return &Error{Param: fmt.Sprintf("tools[%d].function.parameters", places[0]), Tool: tools[0].Name, Err: errors.New(reason)}
}

// plainJSON is the fallback as a language: what the parsers read for forced calls in every format.
func (c *Constraint) plainJSON(builder *syntax.Builder) (language.Node, error) {
	node, _, err := toolschema.Read([]byte(c.schema()))
	if err != nil {
		return nil, err
	}
	builder.Name = "calls"
	return &language.Schema{Schema: node, Body: builder.JSON(node)}, nil
}

// fallback is the JSON schema for engines that take no other dialect: plain JSON, which the parsers read for forced calls.
func (c *Constraint) fallback(plan *plan, choices []jsonschema.Choice, thinking Thinking) {
	switch {
	case plan.named:
		c.schema = sync.OnceValue(func() string { return jsonschema.Write(choices[0].Parameters) })
	case plan.forced:
		c.schema = sync.OnceValue(func() string { return jsonschema.Required(choices, plan.once) })
	}
	if thinking == ThinkingOpen {
		c.schemaNote = "a JSON schema has no place for the thought: it holds from the first character"
	}
}

func (c *Constraint) write() {
	c.tag = sync.OnceValue(func() Text {
		tag := structuraltag.Write(c.node)
		return Text{tag.Text, tag.Widened}
	})
	grammar := func(write func(language.Node) dialect.Grammar) func() Text {
		return sync.OnceValue(func() Text {
			g := write(c.node)
			return Text{g.Text, g.Widened}
		})
	}
	c.gbnf, c.ebnf, c.lark = grammar(dialect.GBNF), grammar(dialect.EBNF), grammar(dialect.Lark)
	c.acceptor = sync.OnceValue(func() *acceptor.Acceptor { return acceptor.New(c.node) })
}

// StructuralTag is the constraint as xgrammar takes it, and vLLM and SGLang with it: the JSON object
// {"type": "structural_tag", "format": …}.
func (c *Constraint) StructuralTag() Text { return c.tag() }

// GBNF is the constraint as llama.cpp takes it. The start rule is root.
func (c *Constraint) GBNF() Text { return c.gbnf() }

// EBNF is the constraint as a grammar of xgrammar. The start rule is root.
func (c *Constraint) EBNF() Text { return c.ebnf() }

// Lark is the constraint as llguidance takes it. The start rule is start.
func (c *Constraint) Lark() Text { return c.lark() }

// JSONSchema is the constraint as a JSON schema of the whole answer: of plain JSON instead of calls in the format's own
// syntax. It answers false where no JSON schema says it: calls that are not forced, or an answer that is no JSON.
func (c *Constraint) JSONSchema() (Text, bool) {
	var t Text
	if c.schema != nil {
		t.Text = c.schema()
	}
	if c.schemaNote != "" {
		t.Notes = []string{c.schemaNote}
	}
	return t, t.Text != ""
}

// Notes say what of the request is not held in any dialect: keywords of schemas that no constraint can hold.
func (c *Constraint) Notes() []string { return c.notes }

// Language is the language itself.
func (c *Constraint) Language() language.Node { return c.node }

// Accepts tells whether an output satisfies the constraint.
func (c *Constraint) Accepts(text string) bool { return c.acceptor().Accepts(text) }

// Reader reads an output while it arrives and tells whether it still can satisfy the constraint.
func (c *Constraint) Reader() *acceptor.Reader { return c.acceptor().Reader() }

// anyArguments are the arguments of a tool without a schema.
var anyArguments = toolschema.AnyObject
