package parlance

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
)

// Registry holds formats under their parser names: the built-in ones, and those that have been registered. Any number of
// goroutines may use it at once.
type Registry struct {
	mutex   sync.Mutex // of Register
	current atomic.Pointer[shelf]
}

// shelf is what a registry holds between two calls of Register.
type shelf struct {
	library *grammar.Library
	parsers sync.Map // parsers that have been compiled, by their names
}

// standard is the registry of the functions of the package.
var standard = sync.OnceValue(NewRegistry)

// builtin are the formats that come with the package, read when the first one is asked for.
var builtin = sync.OnceValues(func() (*grammar.Library, error) { return grammar.NewLibrary(formats.Files, "formats/") })

// NewRegistry makes a registry with the built-in formats.
func NewRegistry() *Registry {
	l, err := builtin()
	if err != nil {
		panic("parlance: a built-in definition is broken: " + err.Error())
	}
	r := &Registry{}
	r.current.Store(&shelf{library: l})
	return r
}

// Default is the registry of the package's functions Lookup, Formats and so on. What is registered in it is there for
// the whole program.
func Default() *Registry { return standard() }

func (r *Registry) library() *grammar.Library { return r.current.Load().library }

// ToolNames are the names of all built-in tool parsers, sorted. Listing them compiles nothing.
func ToolNames() []string { return Default().ToolNames() }

// ReasoningNames are the names of all built-in reasoning parsers, sorted. Listing them compiles nothing.
func ReasoningNames() []string { return Default().ReasoningNames() }

// ToolNames are the names of all tool parsers, sorted. Listing them compiles nothing.
func (r *Registry) ToolNames() []string { return r.library().Names(grammar.ToolHalf) }

// ReasoningNames are the names of all reasoning parsers, sorted. Listing them compiles nothing.
func (r *Registry) ReasoningNames() []string { return r.library().Names(grammar.ReasoningHalf) }

// NameError says that a parser name is not known. Nearest are known names like it.
type NameError struct {
	// Half is "tool call" or "reasoning".
	Half    string
	Name    string
	Nearest []string
}

func (e *NameError) Error() string {
	text := fmt.Sprintf("invalid %s parser: %s", e.Half, e.Name)
	if len(e.Nearest) > 0 {
		return text + " (did you mean " + strings.Join(e.Nearest, ", ") + "?)"
	}
	return text
}

// Lookup gives the parser for a tool-parser name and a reasoning-parser name of the built-in formats; see
// Registry.Lookup.
func Lookup(tool, reasoning string) (*Parser, error) { return Default().Lookup(tool, reasoning) }

// Lookup gives the parser for a tool-parser name and a reasoning-parser name. Either may be "", but not both. The
// formats are compiled on their first use and kept.
//
// The error is a *NameError for a name that is not known, a *CombinationError for names that cannot be used together, and
// a *TemplateError for formats that read a response template, which need LookupTemplate.
func (r *Registry) Lookup(tool, reasoning string) (*Parser, error) {
	if tool == "" && reasoning == "" {
		return nil, fmt.Errorf("expected the name of a tool parser or of a reasoning parser, found neither")
	}
	s := r.current.Load()
	key := [2]string{tool, reasoning}
	if p, ok := s.parsers.Load(key); ok {
		return p.(*Parser), nil
	}
	p, err := newParser(&lookup{library: s.library, tool: tool, reasoning: reasoning})
	if err != nil {
		return nil, err
	}
	kept, _ := s.parsers.LoadOrStore(key, p)
	return kept.(*Parser), nil
}

// lookup is what a parser is looked up by, and in what.
type lookup struct {
	library         *grammar.Library
	tool, reasoning string
	template        *ResponseTemplate
}

// find gives the definition that a parser name leads to.
func (o *lookup) find(half grammar.Half, name string) (*grammar.Definition, error) {
	found := o.library.Find(half, name)
	if len(found) == 0 {
		what := "tool call"
		if half == grammar.ReasoningHalf {
			what = "reasoning"
		}
		return nil, &NameError{Half: what, Name: name, Nearest: o.library.Nearest(half, name)}
	}
	return o.library.Definition(found[0])
}

// Registration says how definitions are registered.
type Registration struct {
	// Override lets a definition take the name of a format, or of a parser, that is there already. Formats that extend
	// one whose name is taken stay as they are, and the new one may extend it itself.
	Override bool
	// Where is put before the names of files in errors.
	Where string
}

// DefinitionError says what is wrong with the file of a definition: what was expected there, and what was found.
type DefinitionError struct {
	File string
	// Line and Column count from 1; Line is 0 if the fault is in no one place.
	Line, Column int
	Message      string
}

func (e *DefinitionError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Register adds the formats that the definition files (*.yaml) at the top of a file system define. They are written in
// the notation of the built-in ones (docs/notation.md), and may extend any format that is there. All of them are read
// and compiled at once, and if one is broken none is added.
//
// The error is a *DefinitionError if a definition is broken, or takes a name that it may not take. Parsers that have been
// looked up before go on as they are.
func (r *Registry) Register(files fs.FS, o Registration) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	l, err := r.library().Over(files, o.Where, o.Override)
	if err == nil {
		err = compileOwn(l)
	}
	if err != nil {
		return definitionError(err)
	}
	r.current.Store(&shelf{library: l})
	return nil
}

// compileOwn compiles each definition of a library's own files, the halves together and each alone.
func compileOwn(l *grammar.Library) error {
	for _, format := range l.Own() {
		d, err := l.Definition(format)
		if err != nil {
			return err
		}
		if d.From != "" { // its grammar comes later
			continue
		}
		var options []program.Options
		if len(d.Tool) > 0 {
			options = append(options, program.Options{Tool: d})
		}
		for i := range d.Reasoning {
			options = append(options, program.Options{Reasoning: d, Name: &d.Reasoning[i]})
			if len(d.Tool) > 0 {
				options = append(options, program.Options{Tool: d, Reasoning: d, Name: &d.Reasoning[i]})
			}
		}
		for _, o := range options {
			if _, err := program.Compile(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func definitionError(err error) error {
	if e, ok := err.(*grammar.Error); ok {
		return &DefinitionError{File: e.File, Line: e.Position.Line, Column: e.Position.Column, Message: e.Message}
	}
	return err
}
