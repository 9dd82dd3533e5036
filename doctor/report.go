package doctor

import (
	"slices"

	"github.com/parlance-llm/parlance"
)

// Report is what was found out.
type Report struct {
	URL string `json:"url"`
	// Target is the engine's name, or "parlance"; Through says who parsed what clients got.
	Target  string `json:"target"`
	Through string `json:"through"`
	Model   string `json:"model"`
	// ToolCallParser and ReasoningParser are the parsers that the raw text is read with; Assumed: no flag chose them.
	ToolCallParser  string `json:"tool_call_parser"`
	ReasoningParser string `json:"reasoning_parser"`
	Assumed         bool   `json:"assumed,omitzero"`
	// Template says where the chat template comes from, "" if it is not known; TemplateFlags are the flags for the formats
	// that it belongs to.
	Template      string `json:"template,omitzero"`
	TemplateFlags string `json:"template_flags,omitzero"`
	// Prompt is what the model was shown, as far as it is known.
	Prompt   string    `json:"prompt,omitzero"`
	Raw      *Raw      `json:"raw,omitzero"`
	Whole    *Reply    `json:"whole"`
	Streamed *Reply    `json:"streamed,omitzero"`
	Forced   *Reply    `json:"forced,omitzero"`
	Format   *Reply    `json:"response_format,omitzero"`
	Off      *Reply    `json:"thinking_off,omitzero"`
	Read     *Reply    `json:"read,omitzero"`
	Others   []Other   `json:"others"`
	Findings []Finding `json:"findings"`
}

// Other is what another parser makes of the raw text.
type Other struct {
	// Tool and Reasoning are the parser's names; one of them may be "".
	Tool      string `json:"tool_call_parser,omitzero"`
	Reasoning string `json:"reasoning_parser,omitzero"`
	// Like are names that explain the text just as well.
	Like []string `json:"like,omitzero"`
	Read *Reply   `json:"read"`
}

// Wrong tells whether something is wrong.
func (r *Report) Wrong() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Note })
}

// Verdict is the report in a sentence, and the change to make.
func (r *Report) Verdict() (says, change string) {
	if !r.Wrong() {
		return "nothing is wrong", ""
	}
	return r.Findings[0].Says, r.Findings[0].Change
}

func (x *examination) report() *Report {
	r := &Report{
		URL: x.options.URL, Target: x.target.kind, Through: "its own chat route", Model: x.target.model, Template: x.from, TemplateFlags: x.guess.Flags(),
		Prompt: x.auto.prompt, Raw: x.auto.raw, Whole: x.auto.whole, Streamed: x.auto.stream, Others: []Other{}, Findings: x.check(),
	}
	if x.target.stop != nil {
		r.Through = "Parlance in front of it, with the flags given"
	}
	if x.parser != nil {
		r.ToolCallParser, r.ReasoningParser, r.Assumed = x.parser.ToolName(), x.parser.ReasoningName(), x.assumed
	}
	for _, e := range []struct {
		to   **Reply
		from *exchange
	}{{&r.Forced, x.forced}, {&r.Format, x.format}, {&r.Off, x.off}} {
		if e.from != nil {
			*e.to = e.from.whole
		}
	}
	if m := x.auto.read(x.parser); m != nil {
		r.Read = replyOf(m)
	}
	r.Others = append(r.Others, x.others()...)
	return r
}

// others reads the raw text with the parsers that could have been meant.
func (x *examination) others() (out []Other) {
	if !x.auto.raw.known() {
		return nil
	}
	for _, g := range x.samples.Tools {
		if x.parser != nil && isOneOf(g, x.parser.ToolName()) {
			continue
		}
		if p, err := parlance.Lookup(g.Name, ""); err == nil {
			out = append(out, Other{Tool: g.Name, Like: g.Like, Read: replyOf(x.auto.read(p))})
		}
	}
	for _, g := range x.samples.Reasoning {
		if x.parser != nil && isOneOf(g, x.parser.ReasoningName()) {
			continue
		}
		if p, err := parlance.Lookup("", g.Name); err == nil {
			out = append(out, Other{Reasoning: g.Name, Like: g.Like, Read: replyOf(x.auto.read(p))})
		}
	}
	return out
}

// replyOf is a message as a client would get it.
func replyOf(m *parlance.Message) *Reply {
	r := &Reply{Reasoning: m.Reasoning, Content: m.Content}
	for _, c := range m.Calls {
		r.Calls = append(r.Calls, Call{c.Name, c.Arguments})
	}
	return r
}
