package chattemplate

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Shown tells how a prompt shows the tools of its request.
type Shown struct {
	Rendered
	// Start and End bound, in bytes, the part of the prompt that is there because of the tools. They are equal if the
	// template ignores the tools, or cannot do without.
	Start, End int
	// Missing are the names of tools that this part does not hold.
	Missing []string
}

// ShowTools renders a prompt and finds the part of it that shows the tools: what differs from the prompt of the same
// request without tools.
func (t *Template) ShowTools(c Chat) (Shown, error) {
	rendered, err := t.RenderChat(c)
	shown := Shown{Rendered: rendered}
	if err != nil {
		return shown, err
	}
	names, err := toolNames(c.Tools)
	if err != nil || len(names) == 0 {
		return shown, err
	}
	c.Tools = nil
	if without, err := t.RenderChat(c); err == nil {
		shown.Start, shown.End = added(rendered.Prompt, without.Prompt)
	}
	for _, name := range names {
		if !strings.Contains(rendered.Prompt[shown.Start:shown.End], name) {
			shown.Missing = append(shown.Missing, name)
		}
	}
	return shown, nil
}

// toolNames gives the names of the functions of a request.
func toolNames(tools []byte) (names []string, err error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var declared []struct {
		Name     string
		Function struct{ Name string }
	}
	if err := json.Unmarshal(tools, &declared); err != nil {
		return nil, &RequestError{"tools", err.Error()}
	}
	for _, tool := range declared {
		if tool.Function.Name == "" {
			tool.Function.Name = tool.Name
		}
		names = append(names, tool.Function.Name)
	}
	return names, nil
}

// added finds the part of a text that another one lacks. Where it can lie in several places, since what stands around it
// repeats, it begins with a line or with a bracket.
func added(text, other string) (start, end int) {
	for start < min(len(text), len(other)) && text[start] == other[start] {
		start++
	}
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start--
	}
	end = len(text)
	for rest := len(other); rest > start && end > start && text[end-1] == other[rest-1]; rest-- {
		end--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	best, score := 0, begins(text, start)
	for shift := 1; start-shift >= 0 && end > start && text[start-shift] == text[end-shift]; shift++ {
		if s := begins(text, start-shift); s > score {
			best, score = shift, s
		}
	}
	return start - best, end - best
}

// begins rates a place in a prompt as the beginning of something.
func begins(text string, at int) (score int) {
	if at == 0 || text[at-1] == '\n' {
		score++
	}
	if at < len(text) && (text[at] == '<' || text[at] == '[') {
		score += 2
	}
	return score
}

// turnMark is the content of a message that shows where a template begins and ends a turn.
const turnMark = "TURN_CONTENT_TAG"

// Turn renders an assistant's message behind the messages of a request, and gives the prompt before it and the text that
// the model would have written for it, without the end of the turn. The message is a JSON text.
//
// It is what a parser must read the message from: if it reads something else, the template shows the model another
// format than the parser's.
func (t *Template) Turn(c Chat, message []byte) (prompt, turn string, err error) {
	var messages []json.RawMessage
	if err := json.Unmarshal(c.Messages, &messages); err != nil {
		return "", "", &RequestError{"messages", err.Error()}
	}
	c.ContinueFinalMessage = false
	render := func(generation bool, more ...json.RawMessage) (string, error) {
		c.AddGenerationPrompt = generation
		if c.Messages, err = json.Marshal(append(messages[:len(messages):len(messages)], more...)); err != nil {
			return "", &RequestError{"messages", err.Error()}
		}
		rendered, err := t.RenderChat(c)
		return rendered.Prompt, err
	}
	whole, err := render(false, message)
	if err != nil {
		return "", "", err
	}
	marked, err := render(false, json.RawMessage(`{"role": "assistant", "content": "`+turnMark+`"}`))
	if err != nil {
		return "", "", err
	}
	head, end, _ := strings.Cut(marked, turnMark)
	for _, generation := range []bool{true, false} {
		if prompt, err = render(generation); err != nil {
			return "", "", err
		}
		turn, ok := strings.CutPrefix(whole, prompt)
		if !ok {
			continue
		}
		if !generation { // what the template prints before is not what the model is prompted with
			if rest, ok := strings.CutPrefix(whole, head); ok {
				prompt, turn = head, rest
			}
		}
		if without, ok := strings.CutSuffix(turn, end); ok {
			return prompt, without, nil
		}
		return prompt, strings.TrimSuffix(turn, strings.TrimLeftFunc(end, isSpace)), nil
	}
	return "", "", &RenderError{Template: t.name, Reason: Refused, Message: "the template shows earlier messages otherwise once the message is there"}
}
