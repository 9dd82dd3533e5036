package templates_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/render"
	"github.com/parlance-llm/parlance/templates"
	"github.com/parlance-llm/parlance/vocabulary"
)

// variants are the variants of the rules for results that templates show, where it is not the one of their parser.
var variants = map[string]string{"gemma3_pythonic": "gemma3", "xlam_llama": "llama"}

// opened is what the templates write of the next turn behind what the definition says, by template: the opener of a
// thought, or its closer, as the switch has it.
var opened = map[string][]string{
	"deepseek_v32": {"</think>"},
	"deepseek_v4":  {"<think>", "</think>", "<think></think>"},
	"deepseek_v41": {"<think>", "</think>", "<think></think>"},
	"hunyuan_a13b": {"助手："},
	"kimi_k3":      {"<|open|>think<|sep|>", "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|>"},
	"inkling":      {"<|content_text|>"},
}

// lastNine are the templates that cut the ids of calls to their last nine characters, since their models know no others.
// The renderer writes the ids that it is given.
var lastNine = map[string]bool{"mistral": true, "mistral_parallel": true}

// chatMessage is a message of a golden conversation.
type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Name       string          `json:"name"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m *chatMessage) text(t *testing.T) string {
	t.Helper()
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		text += part.Text
	}
	return text
}

// calls is the message as the renderer takes it, without its text, which is nothing to results.
func (m *chatMessage) calls() *parlance.Message {
	out := &parlance.Message{}
	for _, call := range m.ToolCalls {
		arguments := string(call.Function.Arguments)
		var text string
		if json.Unmarshal(call.Function.Arguments, &text) == nil {
			arguments = text
		}
		out.Calls = append(out.Calls, parlance.Call{ID: call.ID, Name: call.Function.Name, Arguments: arguments})
	}
	return out
}

// TestResults holds that a template writes the results of a golden conversation as the definition of its format does:
// what stands between the text of the model and what the model goes on with is what package render writes. The template for
// Gemma 3 takes white space off the ends of a result, which the renderer does not; no conversation has any there.
func TestResults(t *testing.T) {
	compared := 0
	for _, name := range templates.Names() {
		p := parsers[name]
		parser, err := parlance.Lookup(p.tool, p.reasoning)
		if err != nil {
			t.Fatal(err)
		}
		if lastNine[name] { // the templates show what tokenizers before version 7 write
			if parser, err = parser.Bind(vocabulary.New("v3", map[string]int{"[TOOL_CALLS]": 5, "[/TOOL_CALLS]": 6, "</s>": 2})); err != nil {
				t.Fatal(err)
			}
		}
		source, _ := templates.Source(name)
		template, err := chattemplate.Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range conversations(t) {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				prompt, err := template.Render(c.request)
				if err != nil {
					t.Skipf("the template refuses the conversation: %v", err)
				}
				compared += compareResults(t, render.New(parser), name, c.request, prompt)
			})
		}
	}
	if refused := 3; compared != 6*len(templates.Names())-refused {
		t.Errorf("expected the results of six conversations for each template, but for %d that are refused; found %d in all", refused, compared)
	}
}

// compareResults compares the results of each message with calls, and answers how many such messages there are.
func compareResults(t *testing.T, r *render.Renderer, name string, request chattemplate.Request, prompt string) (compared int) {
	t.Helper()
	var messages []chatMessage
	if err := json.Unmarshal(request.Messages, &messages); err != nil {
		t.Fatal(err)
	}
	tools, err := parlance.ParseTools(request.Tools)
	if err != nil {
		t.Fatal(err)
	}
	id := func(id string) string {
		if lastNine[name] && len(id) > 9 {
			return id[len(id)-9:]
		}
		return id
	}
	at := 0 // where the prompt goes on behind the results that have been compared
	for k := range messages {
		if len(messages[k].ToolCalls) == 0 {
			continue
		}
		answered := messages[k].calls()
		for i := range answered.Calls {
			answered.Calls[i].ID = id(answered.Calls[i].ID)
		}
		var results []render.Result
		next := k + 1
		for ; next < len(messages) && messages[next].Role == "tool"; next++ {
			m := &messages[next]
			results = append(results, render.Result{ID: id(m.ToolCallID), Name: m.Name, Content: m.text(t)})
		}
		o := render.Options{Request: parlance.Request{Tools: tools}, Results: variants[name]}
		text, err := r.Results(answered, results, o)
		if err != nil {
			t.Fatal(err)
		}
		before, behind, found := strings.Cut(prompt[at:], text)
		if !found {
			t.Fatalf("expected %q\nin %q", text, prompt[max(0, len(prompt)-len(text)-300):])
		}
		answered.Content = messages[k].text(t)
		followsTheCalls(t, r.Parser(), before, answered, o)
		meets(t, r, name, before, answered, o)
		goesOn(t, name, behind, messages, next)
		at = len(prompt) - len(behind)
		compared++
	}
	return compared
}

// followsTheCalls holds that a prompt ends in what the model wrote, with nothing behind it that the results should have
// begun with.
func followsTheCalls(t *testing.T, parser *parlance.Parser, prompt string, answered *parlance.Message, o render.Options) {
	t.Helper()
	tool, _ := parser.ToolFormat()
	if tool.TurnEnd != "" && strings.HasSuffix(prompt, tool.TurnEnd) {
		t.Errorf("the turn has ended before the results: %q", prompt[max(0, len(prompt)-60):])
	}
	first := strings.LastIndex(prompt, answered.Calls[0].Name)
	for from := first; from >= 0; from-- { // where the calls begin
		read := parser.Parse(prompt[from:], o.Request, parlance.FinishStop)
		if content := strings.TrimSpace(read.Content); len(read.Calls) < len(answered.Calls) || content != "" && content != strings.TrimSpace(answered.Content) {
			continue // the content stands before the calls, or behind them
		}
		for i, call := range read.Calls {
			if call.Name != answered.Calls[i].Name {
				t.Errorf("expected a call of %s, found %s", answered.Calls[i].Name, call.Name)
			}
		}
		return
	}
	t.Errorf("expected the calls, and nothing behind them, in %q", prompt[max(first, 0):])
}

// otherEnds are templates that end a turn with calls otherwise than the renderer, so that nothing tells where the results
// begin: Hunyuan's leaves out the frame around the answer.
var otherEnds = map[string]bool{"hunyuan_a13b": true}

// meets holds that results begin where the renderer's text of the message ends: the markup behind the last call is the
// same in the prompt.
func meets(t *testing.T, r *render.Renderer, name, prompt string, answered *parlance.Message, o render.Options) {
	t.Helper()
	if otherEnds[name] || strings.Contains(t.Name(), "arguments_as_text") { // which some templates write as they are
		return
	}
	calls := &parlance.Message{Calls: answered.Calls}
	text, parts, err := r.Outline(calls, o)
	if err != nil {
		t.Fatal(err)
	}
	end := len(text)
	for k := len(parts) - 1; k >= 0 && (parts[k].Kind == render.PartMarkup || parts[k].Kind == render.PartSpace); k-- {
		end = parts[k].Start
	}
	prompt = strings.TrimSuffix(prompt, strings.TrimSpace(answered.Content)) // Gemma's stands behind the calls
	if !strings.HasSuffix(prompt, text[end:]) {
		t.Errorf("the renderer ends the message with %q, the prompt in %q", text[end:], prompt[max(0, len(prompt)-len(text[end:])-20):])
	}
}

// goesOn holds that a prompt goes on behind results with the next message of the model, or ends where it is to go on.
func goesOn(t *testing.T, name, prompt string, messages []chatMessage, next int) {
	t.Helper()
	for _, opening := range append(slices.Clone(opened[name]), "") {
		rest, ok := strings.CutPrefix(prompt, opening)
		switch {
		case !ok:
		case next == len(messages) && rest == "":
			return
		case next < len(messages) && messages[next].Role == "assistant" && strings.HasPrefix(strings.TrimLeft(rest, " "), strings.TrimSpace(messages[next].text(t))):
			return
		}
	}
	t.Errorf("there is more behind the results: %q", prompt)
}
