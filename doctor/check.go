package doctor

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
)

// Finding is something that is wrong, or worth knowing.
type Finding struct {
	// Code is the check's.
	Code string `json:"code"`
	// Note: it is worth knowing, and need not be wrong.
	Note bool `json:"note,omitzero"`
	// Says is what is wrong, in a sentence, Change what to do about it.
	Says   string `json:"says"`
	Change string `json:"change"`
}

// Check looks for one thing that can be wrong.
type Check struct {
	// Code names the check, Title is the symptom.
	Code, Title string
	// Explains are the codes of what follows from it, and need not be told beside it.
	Explains []string
	look     func(*examination) []Finding
}

// Checks are all checks, causes before what follows from them.
func Checks() []Check { return slices.Clone(checks) }

var checks = []Check{
	{"tokenizer-without-markers", "a tokenizer without the markers that the parser needs", nil, (*examination).tokenizer},
	{"auto-tools-off", "no tool parser, or auto-tools off", nil, (*examination).autoTools},
	{"engine-parses", "an engine that parses by itself already", []string{"refused", "forced-not-constrained", "format-shuts-out-tools"}, (*examination).engineParses},
	{"template-ignores-tools", "a chat template that does not show the tools", noCalls, (*examination).toolsShown},
	{"markers-stripped", "markers stripped as special tokens", slices.Concat(noCalls, noParser), (*examination).stripped},
	{"call-cut-by-limit", "a call cut off by max_tokens", slices.Concat(noParser, []string{"no-call", "malformed-call", "stream-differs", "thought-not-closed"}), (*examination).cutByLimit},
	{"call-cut-by-stop", "a call cut off by a stop string", slices.Concat(noCalls, noParser, []string{"malformed-call", "stream-differs"}), (*examination).cutByStop},
	{"other-tool-parser", "the tool parser of another family", slices.Concat(noCalls, []string{"template-other-syntax"}), (*examination).otherToolParser},
	{"no-tool-parser", "calls left in the content by a server that reads none", noCalls, (*examination).noToolParser},
	{"no-reasoning-parser", "no reasoning parser", []string{"forced-not-constrained"}, (*examination).noReasoningParser},
	{"other-reasoning-parser", "the reasoning parser of another family", []string{"forced-not-constrained"}, (*examination).otherReasoningParser},
	{"template-other-syntax", "a chat template that shows another call syntax than the parser reads", []string{"template-drops-calls"}, (*examination).templateSyntax},
	{"template-drops-calls", "a chat template that leaves out the calls of earlier turns", nil, (*examination).templateCalls},
	{"unknown-kwargs", "template arguments that the template does not know", nil, (*examination).kwargs},
	{"thinking-against-switch", "a thought that is open or closed in the prompt against the switch", []string{"thought-not-closed", "thought-assumed", "forced-not-constrained"}, (*examination).againstSwitch},
	{"thought-never-opened", "a thought that was closed and never opened", []string{"forced-not-constrained"}, (*examination).neverOpened},
	{"thought-assumed", "an answer without a thought that is taken for one", []string{"thought-not-closed", "no-call"}, (*examination).thoughtAssumed},
	{"thought-not-closed", "an unclosed thought that eats the answer", []string{"no-call"}, (*examination).notClosed},
	{"malformed-call", "a call whose arguments are no JSON object", []string{"stream-differs"}, (*examination).malformed},
	{"undeclared-function", "a function that is not declared", nil, (*examination).undeclared},
	{"arguments-against-schema", "arguments that the tool's schema does not allow", nil, (*examination).againstSchema},
	{"forced-not-constrained", "a forced call that the engine did not hold the model to", nil, (*examination).notForced},
	{"format-shuts-out-tools", "a response_format that shuts the tools out", nil, (*examination).shutOut},
	{"stream-differs", "whole and streamed answers that differ", nil, (*examination).differs},
	{"reasoning-field", "a client that looks for the reasoning in another field", nil, (*examination).reasoningField},
	{"refused", "a request that the server refuses", nil, (*examination).refused},
	{"no-call", "an answer without a call", nil, (*examination).noCall},
}

// What follows from other faults.
var (
	noCalls  = []string{"no-call", "forced-not-constrained", "format-shuts-out-tools"}
	noParser = []string{"other-tool-parser", "no-tool-parser"}
)

// check runs all checks and leaves out what others explain.
func (x *examination) check() []Finding {
	explained := map[string]bool{}
	found := slices.Clone(x.found)
	for _, c := range checks {
		if explained[c.Code] {
			continue
		}
		for _, f := range c.look(x) {
			f.Code = c.Code
			found = append(found, f)
			for _, code := range c.Explains {
				explained[code] = true
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		switch {
		case a.Note == b.Note:
			return 0
		case a.Note:
			return 1
		}
		return -1
	})
	return found
}

// one is a list of one finding.
func one(says, change string) []Finding { return []Finding{{Says: says, Change: change}} }

// note is a list of one finding that need not be wrong.
func note(says, change string) []Finding { return []Finding{{Says: says, Change: change, Note: true}} }

// alarms are those that reading the raw text raises.
func (x *examination) alarms() []detect.Alarm {
	if x.parser == nil || x.assumed || !x.auto.raw.known() {
		return nil
	}
	request := x.auto.request()
	watch, stream := x.detector.NewWatch(x.parser, x.parser.PromptState(request)), x.parser.Stream(request)
	watch.Write([]byte(x.auto.raw.Text), stream.WriteString(x.auto.raw.Text))
	return watch.Close(stream.Close(x.auto.raw.finish()))
}

// alarm finds an alarm of a kind, or a warning of the server that has these words.
func (x *examination) alarm(kind detect.AlarmKind, words string) (detect.Alarm, bool) {
	for _, a := range x.alarms() {
		if a.Kind == kind {
			return a, true
		}
	}
	for _, reply := range x.auto.replies() {
		for _, warning := range reply.Warnings {
			if strings.Contains(warning, words) {
				return detect.Alarm{Kind: kind, Says: warning}, true
			}
		}
	}
	return detect.Alarm{}, false
}

// replies are the answers of an exchange that there are.
func (e *exchange) replies() (out []*Reply) {
	if e == nil {
		return nil
	}
	for _, r := range []*Reply{e.whole, e.stream} {
		if r.answered() {
			out = append(out, r)
		}
	}
	return out
}

// calls tells whether a client got a call.
func (e *exchange) calls() bool {
	return slices.ContainsFunc(e.replies(), func(r *Reply) bool { return len(r.Calls) > 0 })
}

// chosen are the names of the chosen parsers.
func (x *examination) chosen() (tool, reasoning string) {
	if x.parser == nil || x.assumed {
		return "", ""
	}
	return x.parser.ToolName(), x.parser.ReasoningName()
}

// markersOf are the markers of the formats that could be meant: the parsers', chosen or assumed, and the template's guess.
func (x *examination) toolFormat() (parlance.FormatInfo, bool) {
	if x.parser != nil && !x.assumed {
		return x.parser.ToolFormat()
	}
	if len(x.guess.Tools) > 0 {
		return x.formats.Format(x.guess.Tools[0].Format)
	}
	return parlance.FormatInfo{}, false
}

// holdsAny tells whether a text holds one of the markers.
func holdsAny(text string, markers []string) (string, bool) {
	for _, marker := range markers {
		if len(marker) > 1 && strings.Contains(text, marker) {
			return marker, true
		}
	}
	return "", false
}
