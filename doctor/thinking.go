package doctor

import (
	"encoding/json/v2"
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
)

// againstSwitch compares what the prompt shows of the thought with what the template's arguments say.
func (x *examination) againstSwitch() (found []Finding) {
	if x.parser == nil {
		return nil
	}
	format, ok := x.parser.ReasoningFormat()
	if !ok {
		return nil
	}
	thinking := format.Thinking[x.parser.ReasoningName()]
	for _, e := range []*exchange{x.auto, x.off} {
		if e == nil || e.prompt == "" {
			continue
		}
		off, said := switched(thinking, e.kwargs)
		state := x.parser.PromptState(e.request())
		kwargs, _ := json.Marshal(e.kwargs, json.Deterministic(true))
		switch {
		case said && off && state.Prompt == parlance.ThoughtOpen:
			found = append(found, one(fmt.Sprintf("chat_template_kwargs %s switch thinking off, and the prompt opens a thought all the same", kwargs),
				"take a chat template that heeds the switch (--chat-template), or leave the switch out and give the answer more tokens")...)
		case said && !off && state.Prompt == parlance.ThoughtClosed:
			found = append(found, one(fmt.Sprintf("chat_template_kwargs %s switch thinking on, and the prompt closes the thought all the same", kwargs),
				"take a chat template that heeds the switch (--chat-template), or leave the switch out")...)
		case !said && thinking.StartsInside && thinking.OnByDefault && state.Prompt == parlance.ThoughtClosed:
			found = append(found, one("thinking is on by default in this family, and the prompt closes the thought before the answer",
				"if no thought is wanted say so with "+disable(thinking)+"; else take a chat template that leaves the thought open (--chat-template)")...)
		case said && off && thoughtIn(e, format) && len(found) == 0:
			found = append(found, one(fmt.Sprintf("chat_template_kwargs %s switch thinking off, and the model thinks all the same: its thought is content", kwargs),
				"take a chat template that heeds the switch (--chat-template), or leave the switch out")...)
		}
		for _, r := range e.replies() {
			if state.Prompt == parlance.ThoughtClosed && r.Reasoning != "" && r.Content == "" && len(r.Calls) == 0 && len(found) == 0 {
				found = append(found, one("the prompt closes the thought, and the server gives the answer as reasoning",
					"the server's parser does not look at the prompt: put Parlance in front of the engine, or leave thinking on")...)
			}
		}
	}
	return found
}

// thoughtIn tells whether a thought's markers are in the content.
func thoughtIn(e *exchange, format parlance.FormatInfo) bool {
	for _, r := range e.replies() {
		if _, found := holdsAny(r.Content, format.ThoughtOpeners); found {
			return true
		}
	}
	return false
}

// switched tells what the arguments say of thinking.
func switched(t parlance.ThinkingInfo, kwargs map[string]any) (off, said bool) {
	is := func(by map[string][]any) bool {
		for name, values := range by {
			given, ok := kwargs[name]
			if !ok {
				continue
			}
			for _, value := range values {
				if fmt.Sprint(value) == fmt.Sprint(given) {
					return true
				}
			}
		}
		return false
	}
	if is(t.DisabledBy) {
		return true, true
	}
	return false, is(t.EnabledBy)
}

// disable is how thinking is switched off.
func disable(t parlance.ThinkingInfo) string {
	for name, values := range t.DisabledBy {
		if len(values) > 0 {
			text, _ := json.Marshal(map[string]any{name: values[0]})
			return "chat_template_kwargs " + string(text)
		}
	}
	return "--reasoning-parser left out"
}

// neverOpened looks for the end of a thought that nothing began.
func (x *examination) neverOpened() []Finding {
	a, ok := x.alarm(detect.NeverOpened, "that it never opened")
	if !ok {
		return nil
	}
	return one(a.Says, "take a chat template that opens the thought in the prompt (--chat-template), or switch thinking on with chat_template_kwargs")
}

// eaten is a reply that is nothing but reasoning.
func (x *examination) eaten() *Reply {
	for _, r := range x.auto.replies() {
		if strings.TrimSpace(r.Reasoning) != "" && strings.TrimSpace(r.Content) == "" && len(r.Calls) == 0 {
			return r
		}
	}
	return nil
}

// thoughtAssumed looks for an answer that is taken for a thought because the family usually begins with one.
func (x *examination) thoughtAssumed() []Finding {
	r := x.eaten()
	if r == nil || x.parser == nil || !x.auto.raw.known() || r.Finish == string(engine.FinishLength) {
		return nil
	}
	format, ok := x.parser.ReasoningFormat()
	if !ok || x.parser.PromptState(x.auto.request()).Prompt == parlance.ThoughtOpen {
		return nil
	}
	if _, found := holdsAny(x.auto.raw.Text, format.ThoughtMarkers); found {
		return nil
	}
	return one(fmt.Sprintf("the format %s takes an answer to begin in the thought, and the model wrote no thought: all of its answer is reasoning", format.Name),
		"say so with "+disable(format.Thinking[x.parser.ReasoningName()])+", take a chat template that opens the thought in the prompt (--chat-template), or leave --reasoning-parser out")
}

// notClosed looks for a thought that goes on to the end.
func (x *examination) notClosed() []Finding {
	r := x.eaten()
	if r == nil {
		if a, ok := x.alarm(detect.CallInThought, "a call stands in a thought"); ok {
			return one(a.Says, "close the thought before the call: a chat template of the model's own family (--chat-template), or thinking off")
		}
		return nil
	}
	if r.Finish == string(engine.FinishLength) {
		return one("the answer was cut off before its thought was closed: there is only reasoning", "raise max_tokens, or ask for a smaller reasoning_effort")
	}
	return one("the model ended its answer without closing its thought: there is only reasoning",
		"ask with thinking off, or set force_nonempty_content in chat_template_kwargs; if the closing marker is a special token, see that the engine keeps it (skip_special_tokens=false)")
}

// reasoningField looks whether the client finds the reasoning.
func (x *examination) reasoningField() []Finding {
	wanted := x.options.ReasoningField
	for _, r := range x.auto.replies() {
		if wanted != "" && r.Reasoning != "" && r.Field != "both" && r.Field != wanted {
			return one(fmt.Sprintf("the reasoning comes in the field %s, and the client looks for %s and finds nothing", r.Field, wanted),
				"start the server with --reasoning-field "+wanted+" (or both)")
		}
	}
	return nil
}
