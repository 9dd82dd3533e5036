package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
)

// tokenizer looks whether the vocabulary has what the parsers need.
func (x *examination) tokenizer() []Finding {
	var lacks *parlance.VocabularyError
	if !errors.As(x.wordsErr, &lacks) {
		if x.wordsErr != nil {
			return one(x.wordsErr.Error(), "use the files of the model that the engine serves (--tokenizer)")
		}
		return nil
	}
	return one(fmt.Sprintf("%s: the vocabulary lacks %s", lacks, quotedList(lacks.Missing)),
		"use the parser of the model's own family, or give --tokenizer the folder of the model that the engine serves")
}

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = fmt.Sprintf("%q", text)
	}
	return strings.Join(out, ", ")
}

// autoTools looks for a server that refuses tool_choice auto.
func (x *examination) autoTools() []Finding {
	if x.auto.whole.answered() || !strings.Contains(x.auto.whole.Error, "enable-auto-tool-choice") {
		return nil
	}
	name := "NAME"
	if tool, _ := x.chosen(); tool != "" {
		name = tool
	} else if len(x.samples.Tools) > 0 {
		name = x.samples.Tools[0].Name
	} else if len(x.guess.Tools) > 0 {
		name = x.guess.Tools[0].Name
	}
	change := "start the server with --enable-auto-tool-choice --tool-call-parser " + name
	if len(x.samples.Reasoning) > 0 {
		change += " --reasoning-parser " + x.samples.Reasoning[0].Name
	}
	if name == "NAME" {
		change += "; parlance detect finds the NAME out, from the name of the model, the folder of its files or a text that it wrote"
	}
	return one("the server takes no request with tools: "+x.auto.whole.Error, change)
}

// engineParses looks for an engine whose own parsing comes before the chosen parsers.
func (x *examination) engineParses() []Finding {
	says := ""
	switch raw := x.auto.raw; {
	case raw == nil || !x.target.engine.Capabilities().ChatOnly:
		return nil
	case raw.Reasoning != "":
		says = "the engine takes the thought out of the text by itself, so that the parser never sees it"
	case strings.Contains(raw.Error, "parser"):
		says = "the engine reads tool calls by itself, so that the parser never sees them: " + raw.Error
	default:
		return nil
	}
	return one(says, "start the engine without its own parsers (--tool-call-parser, --enable-auto-tool-choice, --reasoning-parser), or have Parlance use its raw route with --engine openai-completions or the engine's own name")
}

// left is the format of the calls that a client finds in the content, or that the chosen parser leaves there.
func (x *examination) left() (guess detect.Guess, says string, ok bool) {
	if a, found := x.alarm(detect.OtherFormat, "the answer holds calls in the format"); found && !x.auto.calls() {
		if a.ToolName == "" {
			a.ToolName = flagIn(a.Says, "--tool-call-parser ")
		}
		return detect.Guess{Format: a.Format, Name: a.ToolName, Like: a.Like}, a.Says, true
	}
	for _, r := range x.auto.replies() {
		if len(r.Calls) > 0 || !strings.Contains(r.Content, toolName) {
			continue
		}
		if guesses := x.detector.Samples(r.Content).Tools; len(guesses) > 0 {
			return guesses[0], "the content holds a call in the format " + guesses[0].Format, true
		}
	}
	return detect.Guess{}, "", false
}

// flagIn is the value of a flag in a sentence.
func flagIn(text, flag string) string {
	_, rest, _ := strings.Cut(text, flag)
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// flags are the flags that would read what the model writes.
func (x *examination) flags(g detect.Guess) string {
	change := "--enable-auto-tool-choice --tool-call-parser " + g.Name
	if len(g.Like) > 0 {
		change += " (or " + strings.Join(g.Like, ", ") + ")"
	}
	if len(x.samples.Reasoning) > 0 {
		if _, reasoning := x.chosen(); !x.isOneOf(x.samples.Reasoning[0], reasoning) {
			change += " --reasoning-parser " + x.samples.Reasoning[0].Name
		}
	}
	return change
}

// isOneOf tells whether a name is a guess's, or explains the evidence just as well.
func (x *examination) isOneOf(g detect.Guess, name string) bool {
	if name == g.Name || slices.Contains(g.Like, name) {
		return true
	}
	format, ok := x.formats.Format(g.Format)
	return ok && (slices.Contains(format.ToolNames, name) || slices.Contains(format.ReasoningNames, name))
}

// otherToolParser looks for calls that the server's parser does not read.
func (x *examination) otherToolParser() []Finding {
	g, says, ok := x.left()
	tool, _ := x.chosen()
	if !ok || x.isOneOf(g, tool) || tool == "" && !strings.Contains(says, "does not read them") {
		return nil
	}
	if tool != "" && !strings.Contains(says, tool) {
		says += ", and the tool parser " + tool + " does not read it"
	}
	return one(says, "start the server with "+x.flags(g))
}

// noToolParser looks for calls that nobody reads.
func (x *examination) noToolParser() []Finding {
	g, says, ok := x.left()
	tool, _ := x.chosen()
	if !ok || tool != "" && !x.isOneOf(g, tool) || strings.Contains(says, "does not read them") {
		return nil
	}
	switch {
	case tool != "":
		says += fmt.Sprintf(", which the parser %s reads; the server does not use it", tool)
	case !strings.Contains(says, "no tool parser"):
		says += ", and the server has no tool parser, or that of another family"
	}
	return one(says, "start the server with "+x.flags(g))
}

// strange is a thought that a client finds in the content.
func (x *examination) strange() (guess detect.Guess, says string, ok bool) {
	if a, found := x.alarm(detect.OtherThought, "the content holds a thought in the format"); found {
		if a.ReasoningName == "" {
			a.ReasoningName = flagIn(a.Says, "--reasoning-parser ")
		}
		return detect.Guess{Format: a.Format, Name: a.ReasoningName, Like: a.Like}, a.Says, true
	}
	for _, r := range x.auto.replies() {
		if r.Reasoning != "" {
			continue
		}
		if guesses := x.detector.Samples(r.Content).Reasoning; len(guesses) > 0 {
			return guesses[0], "the content holds a thought in the format " + guesses[0].Format, true
		}
		// A thought that the prompt opened shows only its end.
		if _, reasoning := x.chosen(); reasoning != "" {
			continue
		}
		for _, guess := range slices.Concat(x.guess.Reasoning, x.samples.Reasoning) {
			format, _ := x.formats.Format(guess.Format)
			if marker, found := holdsAny(r.Content, format.ThoughtMarkers); found {
				return guess, fmt.Sprintf("the content holds %s, the end of a thought", marker), true
			}
		}
	}
	return detect.Guess{}, "", false
}

func (x *examination) noReasoningParser() []Finding {
	g, says, ok := x.strange()
	if !ok {
		return nil
	}
	_, reasoning := x.chosen()
	if reasoning != "" && !x.isOneOf(g, reasoning) || strings.Contains(says, "does not take it out") {
		return nil
	}
	switch {
	case reasoning != "":
		says += fmt.Sprintf(", which the parser %s reads; the server does not use it", reasoning)
	case !strings.Contains(says, "no reasoning parser"):
		says += ", and the server has no reasoning parser, or that of another family"
	}
	return one(says, "start the server with --reasoning-parser "+g.Name)
}

func (x *examination) otherReasoningParser() []Finding {
	g, says, ok := x.strange()
	_, reasoning := x.chosen()
	if !ok || x.isOneOf(g, reasoning) || reasoning == "" && !strings.Contains(says, "does not take it out") {
		return nil
	}
	if reasoning != "" && !strings.Contains(says, reasoning) {
		says += ", and the reasoning parser " + reasoning + " does not take it out"
	}
	return one(says, "start the server with --reasoning-parser "+g.Name)
}

// stripped looks for a call whose markers are gone.
func (x *examination) stripped() []Finding {
	format, ok := x.toolFormat()
	if !ok || x.auto.calls() || len(format.Tokens) == 0 || format.CallsBare && len(format.CallOpeners) == 0 {
		return nil
	}
	text := x.written()
	for _, r := range x.auto.replies() {
		if text == "" {
			text = r.Content
		}
	}
	if !strings.Contains(text, toolName) || !strings.Contains(text, "Paris") {
		return nil
	}
	if _, found := holdsAny(text, slices.Concat(format.Tokens, format.CallOpeners)); found {
		return nil
	}
	// What is left looks like a call, and not like one of a format that has markers of its own.
	if len(x.samples.Tools) > 0 {
		if other, _ := x.formats.Format(x.samples.Tools[0].Format); len(other.CallOpeners) > 0 {
			if _, found := holdsAny(text, other.CallOpeners); found {
				return nil
			}
		}
	}
	// The model was shown this format, so that it is not simply another family's parser.
	shown := len(x.guess.Tools) > 0 && x.guess.Tools[0].Format == format.Name
	if !shown {
		_, shown = holdsAny(x.auto.prompt, format.CallOpeners)
	}
	if !shown {
		return nil
	}
	return one(fmt.Sprintf("the answer holds a call of %s without the markers of the format %s (%s): the engine leaves special tokens out of the text", toolName, format.Name, quotedList(format.CallOpeners)),
		`have the engine keep special tokens: skip_special_tokens=false in the request (vLLM, SGLang), --special (llama.cpp); a proxy between the two may drop the field`)
}
