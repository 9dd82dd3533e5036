package doctor

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/templates"
)

// toolsShown looks whether the prompt names the tool.
func (x *examination) toolsShown() []Finding {
	a, shown := detect.ToolsShown(x.auto.prompt, []string{toolName})
	if shown {
		for _, r := range x.auto.replies() {
			for _, w := range r.Warnings {
				if strings.Contains(w, "does not show tools") {
					a.Says, shown = w, false
				}
			}
		}
	}
	if shown && x.auto.prompt == "" && x.template != nil {
		if block, err := x.template.ShowTools(x.chat()); err == nil && len(block.Missing) > 0 {
			a.Says, shown = "the chat template does not show the tools of a request", false
		}
	}
	if shown {
		return nil
	}
	change := "start the server with --chat-template and a template that shows tools"
	if format, ok := x.toolFormat(); ok && slices.Contains(templates.Names(), format.Name) {
		change = "start the server with --chat-template " + format.Name
	}
	return one(a.Says, change)
}

const (
	pastCall = `{"role":"assistant","content":"","tool_calls":[{"id":"abcdefgh1","type":"function","function":{"name":"` + toolName + `","arguments":{"city":"Paris"}}}]}`
)

// turn is an earlier call as the template shows it.
func (x *examination) turn() (prompt, turn string, ok bool) {
	if x.template == nil {
		return "", "", false
	}
	chat := x.chat()
	chat.AddGenerationPrompt = false
	prompt, turn, err := x.template.Turn(chat, []byte(pastCall))
	return prompt, turn, err == nil
}

// templateSyntax looks whether the parser reads the calls that the template shows.
func (x *examination) templateSyntax() []Finding {
	prompt, turn, ok := x.turn()
	if !ok || x.parser == nil || x.parser.ToolName() == "" || !strings.Contains(turn, toolName) {
		return nil
	}
	// The tool half alone: an earlier turn has no thought, whatever the prompt opens.
	parser, err := x.formats.Lookup(x.parser.ToolName(), "")
	if err != nil {
		return nil
	}
	request := x.auto.request()
	request.Prompt = prompt
	m := parser.Parse(turn, request, parlance.FinishStop)
	if len(m.Calls) == 1 && m.Calls[0].Name == toolName {
		return nil
	}
	says := fmt.Sprintf("the chat template shows calls that the parser %s does not read: %s", x.parser.ToolName(), strings.TrimSpace(turn))
	if len(x.guess.Tools) == 0 {
		return one(says, "take a chat template that shows the format of the parser, with --chat-template")
	}
	return one(says, fmt.Sprintf("start the server with --tool-call-parser %s, or with a chat template that shows the format of %s (--chat-template)", x.guess.Tools[0].Name, x.parser.ToolName()))
}

// templateCalls looks whether the template shows earlier calls at all.
func (x *examination) templateCalls() []Finding {
	if _, turn, ok := x.turn(); !ok || strings.Contains(turn, toolName) {
		return nil
	}
	return one("the chat template leaves out the calls of earlier turns, so that the model forgets what it has asked for",
		"take a chat template that shows them, with --chat-template")
}

// kwargs looks for template arguments that change nothing.
func (x *examination) kwargs() (found []Finding) {
	told := func(name string) []Finding {
		return one(fmt.Sprintf("the chat template does not know the argument %s: it changes nothing", name),
			"leave "+name+" out of chat_template_kwargs, or take a template that reads it (--chat-template)")
	}
	if x.template != nil {
		known := x.template.Variables()
		for _, name := range slices.Sorted(maps.Keys(x.options.Kwargs)) {
			if !slices.Contains(known, name) {
				found = append(found, told(name)...)
			}
		}
		return found
	}
	if len(x.options.Kwargs) > 0 && x.plain != "" && x.plain == x.auto.prompt {
		names, _ := json.Marshal(x.options.Kwargs, json.Deterministic(true))
		return one(fmt.Sprintf("the prompt is the same with and without chat_template_kwargs %s: the chat template knows none of them", names),
			"leave them out, or take a template that reads them (--chat-template)")
	}
	return nil
}
