// Package playground shows the server to the playground (package web): what each interface would send for a text, and the
// tokens of a text.
//
// A text is taken through the very code that answers live requests: the interface reads a client's request with the tools
// that were given, in its own shape, a generate.Reader sorts the text, and the interface's wire writes the steps down.
package playground

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/chat"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/messages"
	"github.com/parlance-llm/parlance/server/responses"
	"github.com/parlance-llm/parlance/server/sse"
	"github.com/parlance-llm/parlance/vocabulary"
	"github.com/parlance-llm/parlance/web"
)

// Options are what the playground shows of a server.
type Options struct {
	Generator *generate.Generator
	Chat      *chat.Handler
	Responses *responses.Handler
	Messages  *messages.Handler
	// Registry holds the formats that can be chosen.
	Registry *parlance.Registry
	// Vocabulary is the model's, nil if it is not known.
	Vocabulary *vocabulary.Vocabulary
}

// Handler is the playground of a server.
func Handler(o Options) http.Handler {
	return web.Handler(web.Options{Registry: o.Registry, Surfaces: o.surfaces(), Tokens: o.tokens(), SpecialTokensOnly: !o.Generator.Engine.Capabilities().Tokenizer})
}

// surfaces are the interfaces.
func (o Options) surfaces() []web.Surface {
	return []web.Surface{
		{Name: "chat", Title: "Chat Completions", Open: o.opens(chatTools, func(ctx context.Context, asked *body.Object) (*generate.Request, func(*sse.Writer) generate.Wire, error) {
			r, err := o.Chat.Read(ctx, asked)
			if err != nil {
				return nil, nil, err
			}
			return &r.Request, func(events *sse.Writer) generate.Wire { return o.Chat.Wire(r, events) }, nil
		})},
		{Name: "responses", Title: "Responses", Open: o.opens(responsesTools, func(ctx context.Context, asked *body.Object) (*generate.Request, func(*sse.Writer) generate.Wire, error) {
			r, err := o.Responses.Read(ctx, asked)
			if err != nil {
				return nil, nil, err
			}
			return &r.Request, func(events *sse.Writer) generate.Wire { return o.Responses.Wire(r, events) }, nil
		})},
		{Name: "messages", Title: "Messages", Open: o.opens(messagesTools, func(ctx context.Context, asked *body.Object) (*generate.Request, func(*sse.Writer) generate.Wire, error) {
			r, err := o.Messages.Read(ctx, asked, false)
			if err != nil {
				return nil, nil, err
			}
			return &r.Request, func(events *sse.Writer) generate.Wire { return o.Messages.Wire(r, events) }, nil
		})},
	}
}

// reader reads a client's request and opens the wire of its answer.
type reader func(context.Context, *body.Object) (*generate.Request, func(*sse.Writer) generate.Wire, error)

// opens gives what opens an interface for a text. tools writes the declared tools into a client's request.
func (o Options) opens(tools func(map[string]any, []tool), read reader) func(context.Context, web.Reading) (web.Wire, error) {
	return func(ctx context.Context, reading web.Reading) (web.Wire, error) {
		declared, err := declaredTools(reading.Tools)
		if err != nil {
			return nil, err
		}
		asked := map[string]any{
			"model": "", "stream": true, "max_tokens": 4096,
			"messages": []map[string]string{{"role": "user", "content": "."}}, "input": ".", "store": false,
		}
		if len(declared) > 0 {
			tools(asked, declared)
		}
		data, err := json.Marshal(asked, lenient)
		if err != nil {
			return nil, err
		}
		object, err := body.Parse(data)
		if err != nil {
			return nil, err
		}
		request, open, err := read(ctx, object)
		if err != nil {
			return nil, err
		}
		// The text is read as the question says, not as the server would read its own model.
		request.Model = generate.Model{Name: "playground", Parser: reading.Parser, AutoToolChoice: true}
		request.ToolChoice = generate.ToolChoice{Mode: reading.Request.ToolChoice.Mode, Name: reading.Request.ToolChoice.Name}
		switch {
		case reading.Parser.ToolName() == "":
			request.ToolChoice = generate.ToolChoice{Mode: generate.ToolChoiceNone}
		case request.ToolChoice.Mode == "":
			request.ToolChoice.Mode = generate.ToolChoiceAuto
		}
		request.Template.Kwargs, request.IncludeReasoning = reading.Request.ChatTemplateKwargs, true
		generator := generate.Generator{Engine: o.Generator.Engine, Exact: reading.Request.Exact, Validated: reading.Request.Validated}
		text, err := generator.NewReader(request, engine.Prompt{Text: reading.Request.Prompt}, 0)
		if err != nil {
			return nil, err
		}
		w := &wire{reader: text}
		w.wire = open(sse.Start(&w.page, 0))
		return w, nil
	}
}

// wire implements web.Wire.
type wire struct {
	reader *generate.Reader
	wire   generate.Wire
	page   page
}

func (w *wire) Write(piece string) (string, error) {
	step := w.reader.Write(piece)
	step.Usage = w.reader.Usage()
	err := w.wire.Step(step)
	return w.page.take(), err
}

func (w *wire) Close(reason parlance.FinishReason) (string, error) {
	step := w.reader.Close(generate.Finish{Reason: engine.FinishReason(reason)})
	step.Usage = w.reader.Usage()
	if err := w.wire.Step(step); err != nil {
		return "", err
	}
	err := w.wire.End(step.Usage)
	return w.page.take(), err
}

// page is a client that keeps what it is sent.
type page struct {
	header http.Header
	sent   bytes.Buffer
}

func (p *page) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

func (p *page) WriteHeader(int)                {}
func (p *page) Write(data []byte) (int, error) { return p.sent.Write(data) }
func (p *page) Flush()                         {}
func (p *page) take() string                   { defer p.sent.Reset(); return p.sent.String() }

// lenient passes on the schemas of tools as they were written.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// tool is a tool as the Chat Completions interface has it.
type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters,omitzero"`
		Strict      *bool          `json:"strict,omitzero"`
	} `json:"function"`
}

func declaredTools(data []byte) (tools []tool, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	err = json.Unmarshal(data, &tools, lenient)
	return tools, err
}

func chatTools(asked map[string]any, tools []tool) { asked["tools"] = tools }

func responsesTools(asked map[string]any, tools []tool) {
	var flat []map[string]any
	for _, t := range tools {
		one := map[string]any{"type": "function", "name": t.Function.Name, "parameters": parameters(t), "strict": t.Function.Strict != nil && *t.Function.Strict}
		if t.Function.Description != "" {
			one["description"] = t.Function.Description
		}
		flat = append(flat, one)
	}
	asked["tools"] = flat
}

func messagesTools(asked map[string]any, tools []tool) {
	var plain []map[string]any
	for _, t := range tools {
		one := map[string]any{"name": t.Function.Name, "input_schema": parameters(t)}
		if t.Function.Description != "" {
			one["description"] = t.Function.Description
		}
		plain = append(plain, one)
	}
	asked["tools"] = plain
}

// parameters is the schema of a tool's arguments; any object where it has none.
func parameters(t tool) jsontext.Value {
	if len(t.Function.Parameters) == 0 || t.Function.Parameters.Kind() == 'n' {
		return jsontext.Value(`{"type":"object"}`)
	}
	return t.Function.Parameters
}

// tokens gives what cuts a text into tokens: the engine, if it can; else the special tokens of the vocabulary; nil if
// nothing is known of tokens.
func (o Options) tokens() func(context.Context, string) ([]web.Token, error) {
	e := o.Generator.Engine
	switch {
	case e.Capabilities().Tokenizer:
		return func(ctx context.Context, text string) ([]web.Token, error) {
			model, err := o.Chat.Models.Resolve(ctx, "")
			if err != nil {
				return nil, err
			}
			tokens, err := e.Tokenize(ctx, model.Upstream, text, false)
			if err != nil {
				return nil, err
			}
			out := make([]web.Token, len(tokens))
			for i, t := range tokens {
				out[i] = web.Token{Text: t.Text, ID: t.ID}
			}
			return out, nil
		}
	case o.Vocabulary != nil:
		return func(_ context.Context, text string) (out []web.Token, _ error) {
			for _, piece := range o.Vocabulary.Split(text) {
				out = append(out, web.Token{Text: piece.Text, ID: piece.ID})
			}
			return out, nil
		}
	}
	return nil
}
