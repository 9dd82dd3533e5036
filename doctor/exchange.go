package doctor

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"slices"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/engine"
)

// The question. The recordings that come with the binary know the answer to it.
const (
	toolName = "get_weather"
	question = "What is the weather in Paris?"
	messages = `[{"role":"user","content":"` + question + `"}]`
	schema   = `{"type":"object","properties":{"city":{"type":"string","description":"The city"},"days":{"type":"integer","description":"How many days ahead"}},"required":["city"]}`
	tools    = `[{"type":"function","function":{"name":"` + toolName + `","description":"Tells the weather in a city","parameters":` + schema + `}}]`
	form     = `{"type":"json_schema","json_schema":{"name":"weather","schema":{"type":"object","properties":{"city":{"type":"string"},"celsius":{"type":"number"}},"required":["city","celsius"]}}}`
)

// exchange is one question with its answers.
type exchange struct {
	kwargs map[string]any
	whole  *Reply
	stream *Reply
	// again is a second whole answer, asked for where whole and streamed differ.
	again  *Reply
	prompt string
	raw    *Raw
}

// Raw is what the model wrote, as the engine's own route tells it.
type Raw struct {
	Text string `json:"text"`
	// Reasoning is what the engine has taken out of the text although it was asked not to.
	Reasoning string              `json:"reasoning,omitzero"`
	Finish    engine.FinishReason `json:"finish_reason"`
	Stop      string              `json:"stop_string,omitzero"`
	Error     string              `json:"error,omitzero"`
}

// known tells whether there is raw text.
func (r *Raw) known() bool { return r != nil && r.Error == "" }

// finish is why the text ended, for the parser.
func (r *Raw) finish() parlance.FinishReason {
	if r.Finish == engine.FinishStop {
		return parlance.FinishStop
	}
	return parlance.FinishLength
}

// ask has all exchanges take place.
func (x *examination) ask(ctx context.Context) {
	o := x.options
	x.auto = &exchange{kwargs: o.Kwargs}
	x.auto.whole = x.client.chat(ctx, x.body(o.Kwargs, nil))
	if x.auto.whole.answered() {
		x.auto.stream = x.client.chat(ctx, x.body(o.Kwargs, map[string]any{"stream": true}))
		if !same(x.auto.whole, x.auto.stream) {
			x.auto.again = x.client.chat(ctx, x.body(o.Kwargs, nil))
		}
	}
	x.getPrompt(ctx, x.auto)
	x.getRaw(ctx, x.auto)
	if len(o.Kwargs) > 0 && x.template == nil {
		plain := &exchange{whole: x.client.chat(ctx, x.body(nil, map[string]any{"max_tokens": 1}))}
		x.getPrompt(ctx, plain)
		x.plain = plain.prompt
	}
	x.assume()
	if x.auto.whole.answered() {
		x.forced = &exchange{kwargs: o.Kwargs, whole: x.client.chat(ctx, x.body(o.Kwargs, map[string]any{"tool_choice": "required"}))}
		x.format = &exchange{kwargs: o.Kwargs, whole: x.client.chat(ctx, x.body(o.Kwargs, map[string]any{"response_format": jsontext.Value(form)}))}
	}
	if off := x.switchOff(); off != nil && x.auto.whole.answered() {
		x.off = &exchange{kwargs: off, whole: x.client.chat(ctx, x.body(off, nil))}
		x.getPrompt(ctx, x.off)
		x.getRaw(ctx, x.off)
	}
}

// body is a request.
func (x *examination) body(kwargs, more map[string]any) map[string]any {
	body := map[string]any{
		"model": x.target.model, "messages": jsontext.Value(messages), "tools": jsontext.Value(tools), "tool_choice": "auto",
		"temperature": 0, "seed": 1, "max_tokens": x.options.MaxTokens,
	}
	if len(kwargs) > 0 {
		body["chat_template_kwargs"] = kwargs
	}
	if len(x.options.Stop) > 0 {
		body["stop"] = x.options.Stop
	}
	if x.target.kind == Parlance || x.target.stop != nil || x.target.kind == "vllm" {
		body["return_prompt_text"] = true
	}
	maps.Copy(body, more)
	return body
}

// getPrompt finds the prompt of an exchange: the server's word, else the engine's, else the template's.
func (x *examination) getPrompt(ctx context.Context, e *exchange) {
	if e.prompt = e.whole.prompt; e.prompt != "" {
		return
	}
	if !e.whole.answered() && x.target.kind == Parlance {
		// A request whose calls are not read is answered, and tells the prompt.
		if reply := x.client.chat(ctx, x.body(e.kwargs, map[string]any{"tool_choice": "none", "max_tokens": 1})); reply.prompt != "" {
			e.prompt = reply.prompt
			return
		}
	}
	if x.options.ChatTemplate == "" {
		if prompt, err := x.target.engine.ApplyTemplate(ctx, x.conversation(e.kwargs)); err == nil {
			e.prompt = prompt.Text
			return
		}
	}
	if x.template == nil {
		return
	}
	chat := x.chat()
	if data, err := json.Marshal(e.kwargs); err == nil && len(e.kwargs) > 0 {
		chat.Kwargs = data
	}
	rendered, err := x.template.RenderChat(chat)
	if err != nil {
		x.find(Finding{Code: "template-refuses", Says: "the chat template does not render a question with a tool: " + err.Error(),
			Change: "give another template with --chat-template"})
		return
	}
	e.prompt = rendered.Prompt
}

// chat is the question as the template package takes it.
func (x *examination) chat() chattemplate.Chat {
	return chattemplate.Chat{Messages: []byte(messages), Tools: []byte(tools), AddGenerationPrompt: true, Tokens: x.tokens}
}

// getRaw asks the engine's own route for the text.
func (x *examination) getRaw(ctx context.Context, e *exchange) {
	zero, seed := 0.0, int64(1)
	request := &engine.Request{Model: x.target.model, MaxTokens: x.options.MaxTokens, Stop: x.options.Stop,
		Sampling: engine.Sampling{Temperature: &zero, Seed: &seed}}
	// Whatever the format, its markers are to show.
	for _, format := range x.formats.Formats() {
		request.PreservedTokens = append(request.PreservedTokens, format.Tokens...)
	}
	if x.target.engine.Capabilities().ChatOnly {
		request.Conversation = x.conversation(e.kwargs)
	} else if request.Prompt.Text = e.prompt; e.prompt == "" {
		return
	}
	e.raw = &Raw{}
	stream, err := x.target.engine.Generate(ctx, request)
	if err == nil {
		var answer *engine.Answer
		if answer, err = engine.Collect(stream); answer != nil {
			e.raw.Text, e.raw.Reasoning, e.raw.Finish, e.raw.Stop = answer.Text, answer.Reasoning, answer.Finish, answer.StopString
		}
	}
	if err != nil {
		e.raw.Error = err.Error()
	}
}

// written is the model's text as far as it is known: the raw text, else the content, where what no parser has read still
// stands.
func (x *examination) written() string {
	if x.auto.raw.known() {
		return x.auto.raw.Text
	}
	if x.auto.whole.answered() {
		return x.auto.whole.Content
	}
	return ""
}

// assume finds the formats that could have written the answer and, where no parser is chosen, takes the likeliest.
func (x *examination) assume() {
	text := x.written()
	x.samples = x.detector.Samples(text)
	if x.parser != nil {
		return
	}
	tool, reasoning := x.target.tool, x.target.reasoning
	if tool == "" && len(x.samples.Tools) > 0 {
		tool = x.samples.Tools[0].Name
	}
	if reasoning == "" && len(x.samples.Reasoning) > 0 {
		reasoning = x.samples.Reasoning[0].Name
	}
	if len(x.guess.Tools) > 0 && x.guess.Tools[0].Sure && tool == "" {
		tool = x.guess.Tools[0].Name
	}
	for _, names := range [][2]string{{tool, reasoning}, {tool, ""}, {"", reasoning}} {
		if names[0]+names[1] == "" {
			continue
		}
		if parser, err := x.formats.Lookup(names[0], names[1]); err == nil {
			x.parser, x.assumed = parser, true
			return
		}
	}
}

// read reads the raw text of an exchange with a parser.
func (e *exchange) read(p *parlance.Parser) *parlance.Message {
	if p == nil || !e.raw.known() {
		return nil
	}
	return p.Parse(e.raw.Text, e.request(), e.raw.finish())
}

func (e *exchange) request() parlance.Request {
	declared, err := parlance.ParseTools([]byte(tools))
	if err != nil {
		panic("doctor: " + err.Error()) // they are right
	}
	return parlance.Request{Tools: declared, Prompt: e.prompt, ChatTemplateKwargs: e.kwargs}
}

// switchOff are the template arguments that switch the thinking of the reasoning format off; nil if there are none, or if
// the options decide.
func (x *examination) switchOff() map[string]any {
	if x.parser == nil || len(x.options.Kwargs) > 0 {
		return nil
	}
	format, ok := x.parser.ReasoningFormat()
	if !ok {
		return nil
	}
	by := format.Thinking[x.parser.ReasoningName()].DisabledBy
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if values := by[name]; len(values) > 0 {
			return map[string]any{name: values[0]}
		}
	}
	return nil
}
