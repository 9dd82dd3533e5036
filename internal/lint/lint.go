// Package lint looks at the definition of a format for what its author may not have meant, and tells what its parser
// will hold back.
//
// A definition that is wrong is refused when it is read, with its place; a text that can be read in two ways is such a
// fault. What is found here is legal, but odd: a rule that no output reaches, a marker that nothing ever reads because
// what else may stand there comes first, a marker that is the beginning of another one and has to wait for it. What is
// held back is no fault at all: text that may be the beginning of a marker waits until that is settled, and a marker
// that counts only before something waits for that. It is told so that a slow stream can be explained.
package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
)

// Finding is something odd in a definition.
type Finding struct {
	File         string `json:"file"`
	Line, Column int    `json:"-"`
	Text         string `json:"text"`
}

func (f Finding) String() string {
	return (&grammar.Error{File: f.File, Position: grammar.Position{Line: f.Line, Column: f.Column}, Message: f.Text}).Error()
}

// Waits are places in the output, with the markers that text waits for there.
type Waits struct {
	// Where says where: in which tray, and in which circumstances.
	Where   []string `json:"where"`
	Markers []Waited `json:"markers"`
}

// Waited is a marker that text waits for.
type Waited struct {
	Marker string `json:"marker"`
	// Bytes is the most that is held of text that begins like the marker.
	Bytes int `json:"bytes"`
	// Until is what must follow the marker for it to count; "" if it counts at once.
	Until string `json:"until,omitzero"`
}

// Report is what is to be said of a definition.
type Report struct {
	Format   string    `json:"format"`
	Findings []Finding `json:"findings"`
	Waits    []Waits   `json:"waits"`
	// Results tells what the definition says of tool results; "" where it has no calls.
	Results string `json:"results,omitzero"`
}

// Definition looks at a definition. The error is the fault for which it is refused.
func Definition(d *grammar.Definition) (*Report, error) {
	live := reached(d)
	o := program.Options{}
	for _, rule := range d.Rules {
		switch role := rule.Role(); {
		case !live[rule.Name]:
		case role == grammar.Call:
			o.Tool = d
		case role == grammar.Thought:
			o.Reasoning = d
		}
	}
	if o.Tool == nil || len(d.Reasoning) > 0 {
		o.Reasoning = d
	}
	if o.Reasoning != nil {
		o.Name = &grammar.ReasoningName{}
		if len(d.Reasoning) > 0 {
			o.Name = &d.Reasoning[0]
		}
	}
	p, err := program.Compile(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Format: d.Format, Findings: []Finding{}, Waits: waits(p), Results: results(d)}
	if len(d.Tool)+len(d.Reasoning) == 0 {
		return r, nil // it is there for others to extend, and need not be whole
	}
	if len(d.Tool) > 0 && d.From == "" && !d.Reads(grammar.ToolHalf) {
		r.Findings = append(r.Findings, Finding{d.File, 1, 1, fmt.Sprintf("the tool parser %s reads nothing: the grammar has no rule call", d.Tool[0])})
	}
	if len(d.Reasoning) > 0 && d.From == "" && !d.Reads(grammar.ReasoningHalf) {
		r.Findings = append(r.Findings, Finding{d.File, 1, 1, fmt.Sprintf("the reasoning parser %s reads nothing: the grammar has no @reasoning", d.Reasoning[0].Name)})
	}
	if len(d.Reasoning) == 0 && d.From == "" && d.Extends == "" && d.Reads(grammar.ReasoningHalf) {
		r.Findings = append(r.Findings, Finding{d.File, 1, 1, "the grammar has @reasoning, and the key reasoning names no parser that reads it: thoughts stay content"})
	}
	for _, rule := range d.Rules {
		if !live[rule.Name] {
			r.find(rule, rule.Position, "the rule %s is not reached: nothing that the output may hold refers to it", rule.Name)
		}
	}
	r.unread(d, p)
	r.prefixes(d)
	r.inheritedResults(d)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r, nil
}

func (r *Report) find(rule *grammar.Rule, at grammar.Position, format string, arguments ...any) {
	r.Findings = append(r.Findings, Finding{rule.File, at.Line, at.Column, fmt.Sprintf(format, arguments...)})
}

// reached are the rules that can be reached from the output, by name. A skip or a citation may stand anywhere.
func reached(d *grammar.Definition) map[string]bool {
	out := map[string]bool{}
	var enter func(e grammar.Expression)
	enter = func(e grammar.Expression) {
		grammar.Walk(e, func(e grammar.Expression) bool {
			if reference, ok := e.(*grammar.Reference); ok && !out[reference.Name] {
				out[reference.Name] = true
				if rule := d.Rule(reference.Name); rule != nil {
					enter(rule.Body)
				}
			}
			return true
		})
	}
	enter(d.Output())
	for _, rule := range d.Rules {
		if role := rule.Role(); role == grammar.Skip || role == grammar.Citation || role == grammar.Output {
			out[rule.Name] = true
			enter(rule.Body)
		}
	}
	return out
}

// unread finds markers that no state of the automaton knows.
func (r *Report) unread(d *grammar.Definition, p *program.Program) {
	var known []string
	for _, n := range p.Nodes {
		known = append(known, texts(n)...)
	}
	for _, rule := range d.Rules {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if _, ok := e.(*grammar.Capture); ok {
				return false // a shape is looked for in what was captured
			}
			literal, ok := e.(*grammar.Literal)
			if !ok || strings.TrimSpace(literal.Text) == "" {
				return true
			}
			text := literal.Text
			for hole := range d.Holes {
				text = strings.ReplaceAll(text, "{"+hole+"}", "")
			}
			if !slices.ContainsFunc(known, func(other string) bool { return strings.Contains(other, text) }) {
				r.find(rule, literal.Position, "the marker %q is never read: whatever can stand there is read otherwise", literal.Text)
			}
			return true
		})
	}
}

// texts are what a node reads, as far as it is fixed.
func texts(n *program.Node) (out []string) {
	var edge func(e *program.Edge)
	edge = func(e *program.Edge) {
		out = append(out, e.Text)
		for i := range e.Branches {
			edge(&e.Branches[i].Edge)
		}
	}
	for i := range n.Edges {
		edge(&n.Edges[i])
	}
	if n.Value != nil {
		for i := range n.Value.StartEdges {
			edge(&n.Value.StartEdges[i])
		}
	}
	for word := range n.Keywords {
		out = append(out, word)
	}
	if n.Closer != 0 {
		out = append(out, string(n.Closer))
	}
	if n.Kind == program.Delimited || n.Kind == program.Python {
		out = append(out, "(", ")", "{", "}")
	}
	return out
}

// prefixes finds markers that wait because another marker that may stand in the same place begins with them.
func (r *Report) prefixes(d *grammar.Definition) {
	told := map[[2]string]bool{}
	for _, w := range r.Waits {
		for _, a := range w.Markers {
			for _, b := range w.Markers {
				pair := [2]string{a.Marker, b.Marker}
				if a.Marker == b.Marker || !strings.HasPrefix(b.Marker, a.Marker) || told[pair] || strings.TrimSpace(b.Marker[len(a.Marker):]) == "" {
					continue
				}
				told[pair] = true
				rule, at := place(d, a.Marker)
				r.find(rule, at, "the marker %q is the beginning of %q: where both may stand it waits for up to %s more", a.Marker, b.Marker, bytesOf(len(b.Marker)-len(a.Marker)))
			}
		}
	}
}

// place is where a marker is written in a definition.
func place(d *grammar.Definition, marker string) (in *grammar.Rule, at grammar.Position) {
	for _, rule := range d.Rules {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if literal, ok := e.(*grammar.Literal); ok && literal.Text == marker && in == nil {
				in, at = rule, literal.Position
			}
			return true
		})
	}
	if in == nil { // put together of several
		in = &grammar.Rule{File: d.File}
	}
	return in, at
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
