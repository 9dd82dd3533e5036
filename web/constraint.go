package web

import (
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"slices"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
)

// dialect is a dialect that constraints are written in.
type dialect struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	json  bool
	write func(*constraint.Constraint) (constraint.Text, bool)
}

var dialects = []dialect{
	{"structural_tag", "structural tag (xgrammar, vLLM, SGLang)", true, func(c *constraint.Constraint) (constraint.Text, bool) { return c.StructuralTag(), true }},
	{"gbnf", "GBNF (llama.cpp)", false, func(c *constraint.Constraint) (constraint.Text, bool) { return c.GBNF(), true }},
	{"ebnf", "EBNF (xgrammar)", false, func(c *constraint.Constraint) (constraint.Text, bool) { return c.EBNF(), true }},
	{"lark", "Lark (llguidance)", false, func(c *constraint.Constraint) (constraint.Text, bool) { return c.Lark(), true }},
	{"json_schema", "JSON schema (any engine)", true, (*constraint.Constraint).JSONSchema},
}

// Constraint is what an engine would be given so that the model must call a tool.
type Constraint struct {
	Text string `json:"text"`
	// Notes say what the text lets through that it should not.
	Notes []string `json:"notes"`
	// None says why there is no constraint; the rest is empty then.
	None string `json:"none,omitzero"`
}

// serveConstraint answers the constraint of a forced call of the given tools, in a dialect.
func (h *handler) serveConstraint(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Question
		Dialect string `json:"dialect"`
	}
	if !readQuestion(w, r, &question, &question.Text) {
		return
	}
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.Name == question.Dialect })
	if i < 0 {
		refuse(w, http.StatusBadRequest, "the dialect "+question.Dialect+" is not known")
		return
	}
	made, err := h.constraint(&question.Question, dialects[i])
	if err != nil {
		made = &Constraint{Notes: []string{}, None: err.Error()}
	}
	answer(w, made)
}

// constraint makes a constraint. The error says in words why there is none.
func (h *handler) constraint(q *Question, d dialect) (*Constraint, error) {
	if q.ToolParser == "" {
		return nil, errors.New("no tool parser is chosen, so no call can be forced")
	}
	tools, err := constraint.ParseTools(q.Tools)
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		return nil, errors.New("no tools are given, and a constraint holds the model to those")
	}
	parser, err := h.registry().Lookup(q.ToolParser, q.ReasoningParser)
	if err != nil {
		return nil, err
	}
	reading := parlance.Request{Prompt: q.Prompt, ChatTemplateKwargs: q.ChatTemplateKwargs}
	c, err := constraint.New(parser, constraint.Request{
		Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"}, Thinking: constraint.ThinkingOf(parser, reading), Suffix: parser.Suffix(reading),
	})
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("nothing has to be held")
	}
	text, ok := d.write(c)
	if !ok {
		return nil, errors.New("no JSON schema says it, since what comes before the call is no JSON")
	}
	if indented := jsontext.Value(text.Text); d.json && indented.Indent(jsontext.WithIndent(" ")) == nil {
		text.Text = string(indented) // easier to read
	}
	return &Constraint{Text: text.Text, Notes: append(append([]string{}, c.Notes()...), text.Notes...)}, nil
}
