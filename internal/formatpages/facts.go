package formatpages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance"
)

// Fact is one thing to know of a format. What stands between backquotes in Text is meant to the letter.
type Fact struct {
	Name string
	Text string
}

// Facts are what a definition says beside its grammar, in the order of the page.
func Facts(f *parlance.FormatInfo) (facts []Fact) {
	add := func(name, format string, arguments ...any) {
		facts = append(facts, Fact{name, fmt.Sprintf(format, arguments...)})
	}
	if len(f.ToolNames) > 0 {
		add("tool parsers", "%s", codes(f.ToolNames))
	}
	if len(f.ReasoningNames) > 0 {
		add("reasoning parsers", "%s", codes(f.ReasoningNames))
	}
	if len(f.Models) > 0 {
		add("models", "%s", codes(f.Models))
	}
	for _, name := range f.ReasoningNames {
		switch models, given := f.ReasoningModels[name]; {
		case given && len(models) > 0:
			add("models, reasoning parser "+name, "%s", codes(models))
		case given:
			add("models, reasoning parser "+name, "none known")
		}
	}
	if f.Alone {
		add("stands alone", "the format reads both halves itself, whichever parser is named for the other")
	}
	if f.TurnBegin != "" || f.TurnEnd != "" {
		add("a turn in a prompt", "begins after `%s`, ends with `%s`", strconv.Quote(f.TurnBegin), strconv.Quote(f.TurnEnd))
	}
	if f.TurnResume != "" {
		add("results inside a turn", "end with `%s`", strconv.Quote(f.TurnResume))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Thinking)) {
		add("thinking, "+name, "%s", thinking(f.Thinking[name]))
	}
	if f.SkipSpecialTokens != nil {
		add("the engine needs", "`skip_special_tokens=%t`", *f.SkipSpecialTokens)
	}
	if f.SpacesBetweenSpecialTokens != nil {
		add("the engine needs", "`spaces_between_special_tokens=%t`", *f.SpacesBetweenSpecialTokens)
	}
	if forced := forced(f); forced != "" {
		add("forced calls", "%s", forced)
	}
	switch f.CallIDs {
	case parlance.CallIDsPerConversation:
		add("call ids", "numbered through the conversation")
	case parlance.CallIDsPerMessage:
		add("call ids", "numbered from 0 in each message")
	case parlance.CallIDsPerMessageFromOne:
		add("call ids", "numbered from 1 in each message")
	case parlance.CallIDsNineAlphanumerics:
		add("call ids", "nine letters or digits")
	}
	if f.Slow != "" {
		add("slower because", "%s", f.Slow)
	}
	if len(f.ToolNames) > 0 && len(f.Cannot) > 0 {
		add(cannotCarry, "values for reasons of %s", strings.Join(f.Cannot, ", "))
	}
	for _, note := range f.Notes {
		add("note", "%s", note)
	}
	return facts
}

// cannotCarry is the name of the fact that the page on the round trip explains.
const cannotCarry = "cannot carry some"

// codes lists texts that are meant to the letter.
func codes(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }

// thinking tells what switches thinking.
func thinking(t parlance.ThinkingInfo) string {
	parts := []string{"off by default"}
	if t.OnByDefault {
		parts[0] = "on by default"
	}
	for _, by := range []struct {
		what      string
		arguments map[string][]any
	}{{"on", t.EnabledBy}, {"off", t.DisabledBy}} {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(by.arguments)) {
			for _, value := range by.arguments[name] {
				list = append(list, fmt.Sprintf("`%s=%v`", name, value))
			}
		}
		if len(list) > 0 {
			parts = append(parts, by.what+" with "+strings.Join(list, " or "))
		}
	}
	if t.StartsInside {
		parts = append(parts, "while it is on the output begins in the thought")
	}
	return strings.Join(parts, "; ")
}

// forced tells how a call is forced, or "" where nothing is said of it.
func forced(f *parlance.FormatInfo) string {
	if len(f.ToolNames) == 0 {
		return ""
	}
	switch {
	case f.ForcedCalls == "native" && f.StructuralTag != "":
		return "in the format's own syntax; engines know it as the structural tag `" + f.StructuralTag + "`"
	case f.ForcedCalls == "native":
		return "in the format's own syntax"
	case f.ForcedCalls == "json":
		return "as plain JSON, held to the schema of the tool"
	}
	return ""
}
