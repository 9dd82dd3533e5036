// Package turn writes the turn of a model as a language, from the definition of its format: the thought, the text and
// the tool calls, as the format's grammar says, with the names and the arguments that the declared tools allow.
//
// The words: a *target* is what a piece of the grammar is walked for, the calls or the thought. Walking takes of every
// choice what leads to the target, and of all else what a writer would write first. A *region* is a part of the output
// that holds calls; its *opener* is the text it begins with.
package turn

import (
	"fmt"
	"slices"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/syntax"
	"github.com/parlance-llm/parlance/constraint/toolschema"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// Tool is a declared tool.
type Tool struct {
	Name string
	// Arguments is what the arguments must be. Read reads the same schema as the reader of values has it; it is called
	// for formats that have one.
	Arguments *toolschema.Node
	Read      func() (*schema.Schema, error)
	// Pinned: the arguments are held to the schema; else they are any object.
	Pinned bool
}

// Thinking says where the turn begins.
type Thinking uint8

const (
	// Over: no thought may come, or someone else cares for it.
	Over Thinking = iota
	// Open: a thought is open.
	Open
	// Possible: the model may open a thought itself.
	Possible
)

// Options say what the turn may be.
type Options struct {
	Tool, Reasoning *grammar.Definition
	Holes           map[string]string
	Tools           []Tool
	Thinking        Thinking
	// Forced: there is at least one call and no text; else calls may stand in text. Once: there is at most one call, and
	// nothing behind it.
	Forced, Once bool
	// Instead, if there is one, is what may be written instead of calls, where text may not.
	Instead language.Node
	Builder *syntax.Builder
}

// Error says that a format cannot write something.
type Error struct {
	// Tool is the name of the tool, and Pointer the place in its schema, where there is one.
	Tool, Pointer string
	Message       string
}

func (e *Error) Error() string {
	text := e.Message
	if e.Pointer != "" {
		text = fmt.Sprintf("at %q: %s", e.Pointer, text)
	}
	if e.Tool != "" {
		text = fmt.Sprintf("the tool %s: %s", e.Tool, text)
	}
	return text
}

// stop ends a walk with an error.
type stop struct{ err error }

// New writes the turn. Notes of what is not held are left in the Builder.
func New(o Options) (n language.Node, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = r.err
		default:
			panic(r)
		}
	}()
	w := &walker{Options: o, facts: map[factsKey]*facts{}, tests: map[testsKey][]testedCapture{}, calls: map[callKey]*language.Rule{}, literals: map[*grammar.Literal]language.Node{}, read: map[*Tool]*schema.Schema{}, inners: map[*toolschema.Node]*language.Rule{}, tags: map[tagsKey]*syntax.Tagged{}, declaredBefore: map[declaredKey]*declaredParameter{}}
	if o.Tool != nil {
		w.d = o.Tool
		written := &w.d.Written
		w.Builder.Spelling = syntax.Spelling{SingleQuotes: written.Strings == "single", PythonWords: written.Words == "python",
			JSONWords: written.Words == "json" || written.Lists == "json" || written.Objects == "json"}
		if w.Builder.Sorted = w.d.Written.Keys == "sorted"; w.Builder.Sorted {
			w.Tools = slices.Clone(o.Tools)
			sorted := toolschema.Sorted()
			for i := range w.Tools {
				w.Tools[i].Arguments = sorted(w.Tools[i].Arguments)
			}
		}
	}
	body := w.body()
	return w.thinking(body), nil
}

type walker struct {
	Options
	d     *grammar.Definition // whose rules are walked
	facts map[factsKey]*facts
	tests map[testsKey][]testedCapture
	calls map[callKey]*language.Rule
	// literals are the literals of the definitions that have been walked.
	literals map[*grammar.Literal]language.Node
	// read are the schemas of the tools as the reader of values has them.
	read map[*Tool]*schema.Schema
	// inners are the parameters in parameters whose schema holds itself.
	inners map[*toolschema.Node]*language.Rule
	// declaredBefore are the declared parameters that have been walked.
	declaredBefore map[declaredKey]*declaredParameter
	// parameter is the rule of parameters, tags how the texts of values are read.
	parameter *parameterRule
	tags      map[tagsKey]*syntax.Tagged
	// closing is the closing run of the definition of calls.
	closing *closingRun
	// first: begin stops at the first marker, even one that means nothing by itself.
	first bool
}

type callKey struct {
	rule *grammar.Rule
	tool *Tool
}

// tagsKey tells apart how the texts of values are read: by the line that they are written on, and by the parameter where
// its name ends them.
type tagsKey struct {
	codec, name string
	tested, any bool
}

func (w *walker) fail(tool *Tool, pointer, message string) {
	name := ""
	if tool != nil {
		name = tool.Name
	}
	panic(stop{&Error{name, pointer, message}})
}

// output is the output rule of a definition, or the one that holds where there is none.
func output(d *grammar.Definition) *grammar.Choice {
	if rule := d.Rule("output"); rule != nil {
		return rule.Body
	}
	loop := &grammar.Choice{Alternatives: []*grammar.Sequence{{Items: []grammar.Expression{&grammar.Capture{Name: "content"}}}}}
	body := &grammar.Sequence{}
	for _, name := range []string{"thought", "frame", "message", "block", "call"} {
		if d.Rule(name) == nil || name == "call" && d.Rule("block") != nil {
			continue
		}
		reference := &grammar.Reference{Name: name}
		if name == "thought" {
			body.Items = append(body.Items, &grammar.Optional{Inner: reference})
			continue
		}
		loop.Alternatives = append(loop.Alternatives, &grammar.Sequence{Items: []grammar.Expression{reference}})
	}
	body.Items = append(body.Items, &grammar.Repeat{Inner: loop})
	return &grammar.Choice{Alternatives: []*grammar.Sequence{body}}
}
