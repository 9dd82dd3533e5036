package parlance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/responsetemplate"
)

// ResponseTemplate is a response template: the description of a wire format that comes with a checkpoint, which the
// parsers hf and beam read. It is immutable and may be shared by goroutines.
type ResponseTemplate struct {
	template *responsetemplate.Template
	mutex    sync.Mutex
	// parsers are those made from it.
	parsers map[lookup]*Parser
}

// TemplateError says that a parser that reads a response template cannot be made.
type TemplateError struct {
	// Tool and Reasoning are the parser names, "" where none was chosen; both are "" if the template is at fault whatever
	// parser reads it.
	Tool, Reasoning string
	// Err says what is wrong with the template; nil if there is none.
	Err error
	// Field is the field that the template lacks, if that is what is wrong.
	Field string
}

func (e *TemplateError) Error() string {
	var flags []string
	if e.Reasoning != "" {
		flags = append(flags, "--reasoning-parser "+e.Reasoning)
	}
	if e.Tool != "" {
		flags = append(flags, "--tool-call-parser "+e.Tool)
	}
	names := "`" + strings.Join(flags, " ") + "`"
	switch {
	case e.Field != "":
		return fmt.Sprintf("%s requires a response_template with a %s field", names, e.Field)
	case e.Err != nil:
		return "Invalid response_template metadata: " + e.Err.Error()
	case len(flags) == 0:
		return "no `response_template` metadata in the tokenizer configuration"
	}
	return names + " requires `response_template` metadata in the tokenizer configuration"
}

// Unwrap gives what is wrong with the template, if anything is.
func (e *TemplateError) Unwrap() error { return e.Err }

// ParseResponseTemplate reads a response template: the object itself, or a whole tokenizer_config.json (or the
// configuration of a processor) that holds it under response_template. The template is checked as far as that is
// possible without a parser. The error is a *TemplateError.
func ParseResponseTemplate(data []byte) (*ResponseTemplate, error) {
	t, err := responsetemplate.Read(data)
	switch {
	case errors.Is(err, responsetemplate.ErrMissing):
		return nil, &TemplateError{}
	case err != nil:
		return nil, &TemplateError{Err: err}
	}
	return &ResponseTemplate{template: t, parsers: map[lookup]*Parser{}}, nil
}

// LoadResponseTemplate reads the response template of the model in a folder, from its tokenizer_config.json or its
// processor_config.json. It gives nil if they hold none, or are not there. The error is a *TemplateError, or one of
// reading a file.
func LoadResponseTemplate(folder string) (*ResponseTemplate, error) {
	for _, name := range []string{"tokenizer_config.json", "processor_config.json"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t, err := ParseResponseTemplate(data)
		var e *TemplateError
		if errors.As(err, &e) && e.Err == nil {
			continue
		}
		return t, err
	}
	return nil, nil
}

// ResponseTemplate is the template that the parser reads by, nil for formats that read none.
func (p *Parser) ResponseTemplate() *ResponseTemplate { return p.template }

// LookupTemplate is Registry.LookupTemplate for the built-in formats.
func LookupTemplate(tool, reasoning string, t *ResponseTemplate) (*Parser, error) {
	return Default().LookupTemplate(tool, reasoning, t)
}

// LookupTemplate gives the parser for the names hf or beam, whose grammar is that of a response template. Either name may
// be "", but not both; the two halves always come from the same template. The parser is made on its first use and kept
// with the template. For other names it is Lookup, and the template, which may be nil, does not matter.
//
// The error is a *NameError for a name that is not known, a *CombinationError for names that cannot be used together, and
// a *TemplateError if the template is missing, lacks a field, or holds something that cannot be read while the text
// arrives.
func (r *Registry) LookupTemplate(tool, reasoning string, t *ResponseTemplate) (*Parser, error) {
	o := &lookup{library: r.library(), tool: tool, reasoning: reasoning, template: t}
	reads, err := o.readsTemplate()
	switch {
	case err != nil:
		return nil, err
	case !reads:
		return r.Lookup(tool, reasoning)
	case t == nil:
		return nil, &TemplateError{Tool: tool, Reasoning: reasoning}
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if p, ok := t.parsers[*o]; ok {
		return p, nil
	}
	p, err := newParser(o)
	if err != nil {
		return nil, err
	}
	t.parsers[*o] = p
	return p, nil
}

// readsTemplate tells whether a parser reads a response template. The error says that one half does and the other does
// not, or reads it otherwise.
func (o *lookup) readsTemplate() (bool, error) {
	reads := func(half grammar.Half, name string) bool {
		if name == "" {
			return false
		}
		d, err := o.find(half, name)
		return err == nil && d.From != ""
	}
	tool, reasoning := reads(grammar.ToolHalf, o.tool), reads(grammar.ReasoningHalf, o.reasoning)
	if o.tool != "" && o.reasoning != "" && (tool != reasoning || tool && o.tool != o.reasoning) {
		return true, &CombinationError{Tool: o.tool, Reasoning: o.reasoning, Template: true}
	}
	return tool || reasoning, nil
}

// instantiate gives a definition its grammar, if that comes from the template.
func (o *lookup) instantiate(d *grammar.Definition) (*grammar.Definition, error) {
	if d.From == "" {
		return d, nil
	}
	fail := func(field string, err error) (*grammar.Definition, error) {
		e := &TemplateError{Err: err, Field: field}
		if field == "thinking" || o.template == nil {
			e.Reasoning = o.reasoning
		}
		if field == "tool_calls" || o.template == nil {
			e.Tool = o.tool
		}
		return nil, e
	}
	switch {
	case o.template == nil:
		return fail("", nil)
	case o.reasoning != "" && !o.template.template.Has(true):
		return fail("thinking", nil)
	case o.tool != "" && !o.template.template.Has(false):
		return fail("tool_calls", nil)
	}
	d, err := o.template.template.Definition(d)
	if err != nil {
		return fail("", err)
	}
	return d, nil
}
