package parlance

import (
	"fmt"
	"strings"
	"sync"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// builtin are the formats that come with the package, read when the first one is asked for.
var builtin = sync.OnceValues(func() (*grammar.Library, error) { return grammar.NewLibrary(formats.Files) })

func library() *grammar.Library {
	l, err := builtin()
	if err != nil {
		panic("parlance: a built-in definition is broken: " + err.Error())
	}
	return l
}

// ToolNames are the names of all tool parsers, sorted. Listing them compiles nothing.
func ToolNames() []string { return library().Names(grammar.ToolHalf) }

// ReasoningNames are the names of all reasoning parsers, sorted. Listing them compiles nothing.
func ReasoningNames() []string { return library().Names(grammar.ReasoningHalf) }

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

// lookedUp is a parser name with the definition that it leads to.
func (o *lookup) find(half grammar.Half, name string) (*grammar.Definition, error) {
	l := library()
	found := l.Find(half, name)
	if len(found) == 0 {
		what := "tool call"
		if half == grammar.ReasoningHalf {
			what = "reasoning"
		}
		return nil, &NameError{Half: what, Name: name, Nearest: l.Nearest(half, name)}
	}
	return l.Definition(found[0])
}

// compiled keeps parsers that have been compiled, by what they were compiled from.
var compiled sync.Map

// Lookup gives the parser for a tool-parser name and a reasoning-parser name. Either may be "", but not both. The
// formats are compiled on their first use and kept.
//
// The error is a *NameError for a name that is not known, a *CombinationError for names that cannot be used together, and
// a *TemplateError for hf and beam, which need LookupTemplate.
func Lookup(tool, reasoning string) (*Parser, error) {
	if tool == "" && reasoning == "" {
		return nil, fmt.Errorf("expected the name of a tool parser or of a reasoning parser, found neither")
	}
	key := [2]string{tool, reasoning}
	if p, ok := compiled.Load(key); ok {
		return p.(*Parser), nil
	}
	p, err := newParser(&lookup{tool: tool, reasoning: reasoning})
	if err != nil {
		return nil, err
	}
	kept, _ := compiled.LoadOrStore(key, p)
	return kept.(*Parser), nil
}

type lookup struct {
	tool, reasoning string
	template        *ResponseTemplate
}
