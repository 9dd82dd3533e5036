package parlance

import (
	"fmt"
	"sync"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/machine"
	"github.com/parlance-llm/parlance/internal/program"
)

// Parser reads the output of models of one format, or of two formats whose halves are put together. It is immutable;
// any number of goroutines may use it at once.
type Parser struct {
	library                 *grammar.Library
	tool, reasoning         string
	toolHalf, reasoningHalf *grammar.Definition
	name                    *grammar.ReasoningName
	bound                   *bound            // nil if nothing is known of a vocabulary
	template                *ResponseTemplate // nil if the grammar is not one's

	mutex    sync.Mutex
	programs map[variant]*program.Program
}

// variant is what a request changes in the automaton.
type variant struct {
	noCalls bool
	forced  program.Forced
	holes   string
	tokens  bool // markers that are tokens count only as such
	shown   bool // thoughts that stay content are read as thoughts, to see what the prompt shows
}

func newParser(o *lookup) (*Parser, error) {
	p := &Parser{library: o.library, tool: o.tool, reasoning: o.reasoning, template: o.template, programs: map[variant]*program.Program{}}
	reads, err := o.readsTemplate()
	if err != nil {
		return nil, err
	}
	if !reads {
		p.template = nil
	}
	if o.tool != "" {
		if p.toolHalf, err = o.find(grammar.ToolHalf, o.tool); err != nil {
			return nil, err
		}
	}
	if o.reasoning != "" {
		if p.reasoningHalf, err = o.find(grammar.ReasoningHalf, o.reasoning); err != nil {
			return nil, err
		}
		p.name = p.reasoningHalf.ReasoningName(o.reasoning)
	}
	if err := p.instantiate(o); err != nil {
		return nil, err
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	if _, err = p.program(variant{}); err != nil && p.template != nil {
		err = &TemplateError{Err: err}
	}
	return p, err
}

// instantiate gives the halves their grammar, if that comes from a template.
func (p *Parser) instantiate(o *lookup) (err error) {
	if p.toolHalf != nil {
		if p.toolHalf, err = o.instantiate(p.toolHalf); err != nil {
			return err
		}
	}
	if p.reasoningHalf == nil {
		return nil
	}
	if p.template != nil && p.toolHalf != nil { // the same template
		p.reasoningHalf = p.toolHalf
		return nil
	}
	p.reasoningHalf, err = o.instantiate(p.reasoningHalf)
	return err
}

// settle gives both halves to a format that always reads the whole output itself, if one half was chosen of it and the
// other half of another.
func (p *Parser) settle() error {
	t, r := p.toolHalf, p.reasoningHalf
	switch {
	case t == nil || r == nil || t.Format == r.Format:
	case t.Alone && r.Alone:
		return &CombinationError{Tool: p.tool, Reasoning: p.reasoning}
	case t.Alone:
		p.reasoningHalf, p.name = t, &grammar.ReasoningName{}
		if len(t.Reasoning) > 0 {
			p.name = &t.Reasoning[0]
		}
	case r.Alone:
		p.toolHalf = r
	}
	return nil
}

// CombinationError says that two parsers cannot be used together.
type CombinationError struct {
	Tool, Reasoning string
	// Template: one of them reads a response template, which both halves come from.
	Template bool
}

func (e *CombinationError) Error() string {
	why := "each reads the whole output itself"
	if e.Template {
		why = "both halves of a response template come from the one template"
	}
	return fmt.Sprintf("--reasoning-parser %s and --tool-call-parser %s cannot be combined: %s", e.Reasoning, e.Tool, why)
}

// ToolName is the tool-parser name the parser was looked up with.
func (p *Parser) ToolName() string { return p.tool }

// ReasoningName is the reasoning-parser name the parser was looked up with.
func (p *Parser) ReasoningName() string { return p.reasoning }

// program compiles a variant, or finds it.
func (p *Parser) program(v variant) (*program.Program, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if compiled, ok := p.programs[v]; ok {
		return compiled, nil
	}
	o := program.Options{Tool: p.toolHalf, Reasoning: p.reasoningHalf, Name: p.name, NoCalls: v.noCalls, Forced: v.forced}
	if v.shown {
		name := *p.name
		name.Thoughts = "reasoning"
		o.Name = &name
	}
	if v.tokens {
		o.Tokens = p.bound.tokens
	}
	if v.holes != "" {
		o.Holes = map[string]string{}
		for name := range p.holes() {
			o.Holes[name] = v.holes
		}
	}
	if v.forced != program.NotForced {
		plain, err := p.library.Definition("plain")
		if err != nil {
			return nil, err
		}
		o.Plain = plain
	}
	compiled, err := program.Compile(o)
	if err != nil {
		return nil, err
	}
	if len(p.programs) < variantLimit {
		p.programs[v] = compiled
	}
	return compiled, nil
}

// holes are the holes of the definitions' literals.
func (p *Parser) holes() map[string][]string {
	for _, d := range []*grammar.Definition{p.toolHalf, p.reasoningHalf} {
		if d != nil && len(d.Holes) > 0 {
			return d.Holes
		}
	}
	return nil
}

// thinking is the switch of the reasoning half.
func (p *Parser) thinking() *grammar.Thinking {
	switch {
	case p.reasoningHalf == nil:
		return &grammar.Thinking{}
	case p.name != nil && p.name.Thinking != nil:
		return p.name.Thinking
	}
	return &p.reasoningHalf.Thinking
}

// thoughtsStayContent tells whether thoughts are content, markers included.
func (p *Parser) thoughtsStayContent() bool {
	return p.reasoningHalf != nil && (p.name.Thoughts == "content" || p.name.Thoughts == "" && p.reasoningHalf.Thoughts == "content")
}

// escapesNewlines tells whether written-out line breaks in the trays are real ones.
func (p *Parser) escapesNewlines() bool {
	return p.reasoningHalf != nil && p.reasoningHalf.Escapes == "newlines" || p.toolHalf != nil && p.toolHalf.Escapes == "newlines"
}

// start says where a turn begins for a request. tokens tells whether markers that are tokens count only as such.
func (p *Parser) start(r *Request, compiled *program.Program, tokens bool) machine.Start {
	s := machine.Start{Prompt: p.prompt(r, compiled, tokens)}
	given := len(s.Prompt) > 0
	switch thinking := p.thinking(); {
	case !thinking.Given:
		s.Inside = !given && p.reasoningHalf != nil && p.reasoningHalf.WithoutPrompt == "inside"
	case thinking.On(r.ChatTemplateKwargs):
		s.Inside = thinking.Start == "inside"
	default:
		s.Mode, s.After = program.Off, true
	}
	return s
}
