package doctor

import (
	"reflect"
	"slices"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
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
	// Like are the names that make the same of it.
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

// others reads the raw text with the parsers that could have been meant; those that make the same of it stand together,
// under the likeliest.
func (x *examination) others() (out []Other) {
	if !x.auto.raw.known() {
		return nil
	}
	add := func(guesses []detect.Guess, chosen func(*parlance.Parser) string, half func(name string) Other) {
		begin := len(out)
		for _, g := range guesses {
			if x.parser != nil && x.isOneOf(g, chosen(x.parser)) {
				continue
			}
			o := half(g.Name)
			p, err := x.formats.Lookup(o.Tool, o.Reasoning)
			if err != nil {
				continue
			}
			o.Read = replyOf(x.auto.read(p))
			same := slices.IndexFunc(out[begin:], func(other Other) bool { return reflect.DeepEqual(other.Read, o.Read) })
			if same < 0 {
				out = append(out, o)
				continue
			}
			if first := &out[begin+same]; first.Tool+first.Reasoning != g.Name && !slices.Contains(first.Like, g.Name) {
				first.Like = append(first.Like, g.Name)
			}
		}
	}
	add(x.samples.Tools, (*parlance.Parser).ToolName, func(name string) Other { return Other{Tool: name} })
	add(x.samples.Reasoning, (*parlance.Parser).ReasoningName, func(name string) Other { return Other{Reasoning: name} })
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
