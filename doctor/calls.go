package doctor

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
)

// object tells whether arguments are a JSON object.
func object(arguments string) bool {
	value := jsontext.Value(arguments)
	return value.IsValid(jsontext.AllowDuplicateNames(true)) && value.Kind() == '{'
}

// cut is a reply whose last call is not whole.
func (e *exchange) cut() *Reply {
	for _, r := range e.replies() {
		if n := len(r.Calls); n > 0 && !object(r.Calls[n-1].Arguments) {
			return r
		}
	}
	return nil
}

// begun tells whether a text ends in a call that has begun.
func (x *examination) begun() bool {
	text := x.written()
	if m := x.auto.read(x.parser); m != nil && len(m.Calls) > 0 {
		return m.Calls[len(m.Calls)-1].Cut || !object(m.Calls[len(m.Calls)-1].Arguments)
	}
	formats := x.formats.Formats()
	if format, ok := x.toolFormat(); ok {
		formats = []parlance.FormatInfo{format}
	}
	for _, format := range formats {
		if _, found := holdsAny(text, format.CallOpeners); found && len(x.samples.Tools) == 0 {
			return true
		}
	}
	return false
}

// cutByLimit looks for a call that ran into max_tokens.
func (x *examination) cutByLimit() []Finding {
	for _, r := range x.auto.replies() {
		if r.Finish == string(engine.FinishLength) && (x.auto.cut() != nil || x.begun()) {
			return one("the answer was cut off in a call (finish_reason length): its arguments are only a beginning, or it is missing",
				fmt.Sprintf("raise max_tokens (it was %d), or ask for shorter thoughts", x.options.MaxTokens))
		}
	}
	return nil
}

// cutByStop looks for a call that a stop string ended.
func (x *examination) cutByStop() []Finding {
	stop := ""
	for _, r := range x.auto.replies() {
		if r.Stop != "" && r.Finish != string(engine.FinishLength) {
			stop = r.Stop
		}
	}
	if raw := x.auto.raw; raw.known() && stop == "" {
		stop = raw.Stop
	}
	if stop == "" || x.auto.cut() == nil && !x.begun() {
		return nil
	}
	return one(fmt.Sprintf("the stop string %q ended the answer in a call", stop), "leave it out of stop, or take a stop string that cannot stand in arguments")
}

// malformed looks for calls with arguments that are no JSON object.
func (x *examination) malformed() []Finding {
	for _, e := range []*exchange{x.auto, x.forced} {
		if r := e.cut(); r != nil && r.Finish != string(engine.FinishLength) {
			return one(fmt.Sprintf("the model wrote arguments that are no JSON object: %s", r.Calls[len(r.Calls)-1].Arguments),
				"declare the tool as strict (strict: true), so that the engine holds the model to its schema; --calls validated holds such calls back")
		}
	}
	return nil
}

// made are the calls of all exchanges.
func (x *examination) made() (calls []Call) {
	for _, e := range []*exchange{x.auto, x.forced, x.off} {
		for _, r := range e.replies() {
			for _, c := range r.Calls {
				if !slices.Contains(calls, c) {
					calls = append(calls, c)
				}
			}
		}
	}
	return calls
}

func (x *examination) undeclared() []Finding {
	for _, c := range x.made() {
		if c.Name != toolName {
			return one(fmt.Sprintf("the model calls %q, which is not declared (only %s is)", c.Name, toolName),
				"--unknown-tools fail leaves such calls as text; tool_choice required, or strict tools, hold the model to the names")
		}
	}
	return nil
}

// againstSchema looks whether the arguments are what the schema allows, and no others.
func (x *examination) againstSchema() []Finding {
	compiled := compiledSchema()
	for _, c := range x.made() {
		if c.Name != toolName || !object(c.Arguments) {
			continue
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.Arguments))
		if err == nil {
			err = compiled.Validate(value)
		}
		if err != nil {
			return one(fmt.Sprintf("the arguments %s are against the schema of %s: %s", c.Arguments, toolName, strings.ReplaceAll(err.Error(), "\n", " ")),
				"declare the tool as strict (strict: true), so that the engine holds the model to its schema; and see that the chat template shows the whole schema")
		}
	}
	return nil
}

// compiledSchema is the tool's schema, with nothing else allowed.
func compiledSchema() *jsonschema.Schema {
	var document map[string]any
	if err := json.Unmarshal([]byte(schema), &document); err != nil {
		panic("doctor: " + err.Error()) // it is right
	}
	document["additionalProperties"] = false
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:tool", document); err != nil {
		panic("doctor: " + err.Error())
	}
	return c.MustCompile("urn:tool")
}

// notForced looks for a forced call that did not come.
func (x *examination) notForced() []Finding {
	if x.forced == nil {
		return nil
	}
	r := x.forced.whole
	const change = "use an engine that takes grammars (vllm, sglang, llamacpp) under its own name in --engine; parlance constrain prints what it is sent"
	switch {
	case !r.answered():
		return one("a forced call is refused: "+r.Error, change)
	case len(r.Calls) == 0 && r.Finish == string(engine.FinishLength):
		return note("the forced call was cut off before it began", "raise max_tokens")
	case len(r.Calls) == 0:
		return one("tool_choice is required and no call came: the engine did not hold the model to it", change)
	}
	for _, w := range r.Warnings {
		if strings.Contains(w, "did not hold the model") {
			return one("tool_choice is required, and "+w, change)
		}
	}
	return nil
}

// shutOut looks for a response format beside which there are no calls.
func (x *examination) shutOut() []Finding {
	if x.format == nil || !x.auto.calls() {
		return nil
	}
	r := x.format.whole
	if !r.answered() {
		return one("tools and a response_format together are refused: "+r.Error, "leave response_format out while tools are given")
	}
	if len(r.Calls) > 0 || r.Finish == string(engine.FinishLength) {
		return nil
	}
	return one("with a response_format beside the tools the model makes no call, and without it it does: the format shuts the tools out",
		"leave response_format out until the tools have been called, or put Parlance in front of the engine, which allows both")
}

// same tells whether two replies say the same.
func same(a, b *Reply) bool {
	return a.answered() == b.answered() && a.Reasoning == b.Reasoning && a.Content == b.Content && a.Finish == b.Finish && slices.Equal(a.Calls, b.Calls)
}

// alike tells whether two replies fill the same trays, whatever the words.
func alike(a, b *Reply) bool {
	return a.answered() == b.answered() && (a.Reasoning == "") == (b.Reasoning == "") && (strings.TrimSpace(a.Content) == "") == (strings.TrimSpace(b.Content) == "") &&
		len(a.Calls) == len(b.Calls) && a.Finish == b.Finish
}

// differs looks whether the whole answer and the stream are the same; of a model that answers anew each time, whether they
// fill the same trays.
func (x *examination) differs() []Finding {
	whole, stream := x.auto.whole, x.auto.stream
	if stream == nil || same(whole, stream) {
		return nil
	}
	if again := x.auto.again; again.answered() && !same(whole, again) && alike(whole, stream) {
		return nil
	}
	var what []string
	for _, d := range []struct {
		name  string
		a, b  string
		equal bool
	}{
		{"error", whole.Error, stream.Error, whole.Error == stream.Error},
		{"reasoning", whole.Reasoning, stream.Reasoning, whole.Reasoning == stream.Reasoning},
		{"content", whole.Content, stream.Content, whole.Content == stream.Content},
		{"tool_calls", fmt.Sprint(whole.Calls), fmt.Sprint(stream.Calls), slices.Equal(whole.Calls, stream.Calls)},
		{"finish_reason", whole.Finish, stream.Finish, whole.Finish == stream.Finish},
	} {
		if !d.equal {
			what = append(what, fmt.Sprintf("%s (%q whole, %q streamed)", d.name, d.a, d.b))
		}
	}
	return one("the whole answer and the stream differ in "+strings.Join(what, ", "),
		"put Parlance in front of the engine's raw route (parlance serve --engine), which reads both alike; until then trust the one that clients use")
}

// refused looks for requests that were refused for another reason.
func (x *examination) refused() []Finding {
	if x.auto.whole.answered() || strings.Contains(x.auto.whole.Error, "enable-auto-tool-choice") {
		return nil
	}
	return one(fmt.Sprintf("the server does not answer a question with a tool (status %d): %s", x.auto.whole.Status, x.auto.whole.Error),
		"see to what the message says; the server's log may say more")
}

// noCall notes that the model answered in words.
func (x *examination) noCall() []Finding {
	if len(x.auto.replies()) == 0 || x.auto.calls() {
		return nil
	}
	return note("the model answered without calling the tool, and its text holds no call in any known format",
		"ask again with tool_choice required; a small model may not know how to call")
}
