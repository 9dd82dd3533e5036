// Package prompt makes the prompts of conversations: with a chat template where the server has one, else by the engine's
// own route.
package prompt

import (
	"context"
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// Renderer makes prompts. It implements generate.Renderer; any number of goroutines may use it.
type Renderer struct {
	engine  engine.Engine
	format  chattemplate.ContentFormat
	options []chattemplate.Option
	logger  *slog.Logger
	// set are the server's templates, nil where the engine's are meant; name chooses one of them, or one of the engine's.
	set  *chattemplate.Set
	name string

	mutex    sync.Mutex
	requests map[[sha256.Size]byte]*chattemplate.Set // templates that requests have brought
	engines  map[string]*chattemplate.Set            // templates that the engine has told, by model
}

// Options say where templates come from.
type Options struct {
	Engine engine.Engine
	// Template is --chat-template: a file, the name of a template, or the template itself. "" is the model's own.
	Template string
	// Folder is the folder of the model's files, "" if there is none.
	Folder string
	// ContentFormat is how content reaches the template.
	ContentFormat string
	// Lenient lets templates do what Python refuses.
	Lenient bool
	// Named finds a template that the program brings along; nil has none.
	Named  func(name string) (source string, ok bool)
	Logger *slog.Logger
}

// New reads the templates. The error says what is wrong with --chat-template.
func New(o Options) (*Renderer, error) {
	r := &Renderer{engine: o.Engine, format: chattemplate.ContentFormat(o.ContentFormat), logger: o.Logger,
		requests: map[[sha256.Size]byte]*chattemplate.Set{}, engines: map[string]*chattemplate.Set{}}
	if o.Lenient {
		r.options = append(r.options, chattemplate.Lenient())
	}
	var err error
	if o.Folder != "" {
		r.set, err = chattemplate.Load(o.Folder, r.options...)
		if err != nil {
			return nil, err
		}
		if len(r.set.Names()) == 0 {
			r.set = nil
		}
	}
	if o.Template == "" {
		return r, nil
	}
	return r, r.choose(o)
}

// choose finds the template that --chat-template means.
func (r *Renderer) choose(o Options) error {
	if info, err := os.Stat(o.Template); err == nil && !info.IsDir() {
		r.set, err = chattemplate.Load(o.Template, r.options...)
		return err
	}
	if strings.ContainsAny(o.Template, "{}\n") {
		template, err := chattemplate.Parse("--chat-template", o.Template, r.options...)
		if err != nil {
			return err
		}
		r.set = r.one(template)
		return nil
	}
	if r.set != nil {
		if _, ok := r.set.Named(o.Template); ok {
			r.name = o.Template
			return nil
		}
	}
	if o.Named != nil {
		if source, ok := o.Named(o.Template); ok {
			template, err := chattemplate.Parse(o.Template, source, r.options...)
			if err != nil {
				return err
			}
			r.set = r.one(template)
			return nil
		}
	}
	// tool_use is the name under which tokenizers keep a template for requests with tools; the engine may have one (W3).
	if o.Template == toolUse && r.set == nil && (r.engine.Capabilities().TemplateSource || r.engine.Capabilities().Renders) {
		r.name = o.Template
		return nil
	}
	return fmt.Errorf("the supplied chat template (%s) is no file, no template of the model, and no template", o.Template)
}

const toolUse = "tool_use"

// one is a set of one template, with the special tokens of the model.
func (r *Renderer) one(t *chattemplate.Template) *chattemplate.Set {
	set := chattemplate.One(t)
	if r.set != nil {
		set.Tokens = r.set.Tokens
	}
	return set
}

// Render implements generate.Renderer.
func (r *Renderer) Render(ctx context.Context, q *generate.Request) (engine.Prompt, *engine.Conversation, error) {
	can := r.engine.Capabilities()
	if can.ChatOnly {
		conversation, err := q.Conversation()
		return engine.Prompt{}, conversation, err
	}
	set, err := r.templates(ctx, q)
	if err != nil {
		return engine.Prompt{}, nil, err
	}
	if set == nil {
		conversation, err := q.Conversation()
		if err != nil {
			return engine.Prompt{}, nil, err
		}
		prompt, err := r.engine.ApplyTemplate(ctx, conversation)
		return prompt, nil, err
	}
	template, err := r.pick(set, len(q.Tools) > 0)
	if err != nil {
		return engine.Prompt{}, nil, err
	}
	text, err := r.render(template, set, q)
	return engine.Prompt{Text: text}, nil, err
}

// pick takes the template for a request out of a set.
func (r *Renderer) pick(set *chattemplate.Set, tools bool) (*chattemplate.Template, error) {
	if r.name != "" {
		if template, ok := set.Named(r.name); ok {
			return template, nil
		}
	}
	template, err := set.For(tools)
	if err != nil {
		return nil, noTemplate()
	}
	return template, nil
}

func noTemplate() error {
	return apierror.Invalidf("", "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one (--chat-template).")
}

// templates are the templates for a request: its own, the server's, else the engine's; nil if the engine renders.
func (r *Renderer) templates(ctx context.Context, q *generate.Request) (*chattemplate.Set, error) {
	if q.Template.Source != "" {
		return r.brought(q.Template.Source)
	}
	if r.set != nil {
		return r.set, nil
	}
	can := r.engine.Capabilities()
	switch {
	case can.Renders && r.name == "":
		return nil, nil
	case can.TemplateSource:
		return r.told(ctx, q.Model.Upstream)
	case can.Renders:
		return nil, nil
	}
	return nil, noTemplate()
}

// brought reads a template that a request has brought. Those seen are kept, a few.
func (r *Renderer) brought(source string) (*chattemplate.Set, error) {
	key := sha256.Sum256([]byte(source))
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if set, ok := r.requests[key]; ok {
		return set, nil
	}
	template, err := chattemplate.Parse("chat_template", source, r.options...)
	if err != nil {
		return nil, apierror.Invalidf("chat_template", "%v", err)
	}
	if len(r.requests) >= 64 {
		clear(r.requests)
	}
	set := r.one(template)
	r.requests[key] = set
	return set, nil
}

// told reads the templates that the engine tells of a model. They are asked for once.
func (r *Renderer) told(ctx context.Context, model string) (*chattemplate.Set, error) {
	r.mutex.Lock()
	set, ok := r.engines[model]
	r.mutex.Unlock()
	if ok {
		return set, nil
	}
	template, err := r.engine.Template(ctx, model)
	if err != nil {
		return nil, err
	}
	source := template.Source
	if r.name == toolUse && template.ToolUse != "" {
		source = template.ToolUse
	}
	parsed, err := chattemplate.Parse("the engine's chat template", source, r.options...)
	if err != nil {
		return nil, apierror.New(apierror.Internal, "", "%v", err)
	}
	set = chattemplate.One(parsed)
	set.Tokens = map[string]string{"bos_token": template.BOS, "eos_token": template.EOS}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.engines[model] = set
	return set, nil
}

// render renders a request.
func (r *Renderer) render(template *chattemplate.Template, set *chattemplate.Set, q *generate.Request) (string, error) {
	conversation, err := q.Conversation()
	if err != nil {
		return "", err
	}
	kwargs, err := json.Marshal(q.Template.Kwargs)
	if err != nil {
		return "", apierror.Invalidf("chat_template_kwargs", "%v", err)
	}
	chat := chattemplate.Chat{
		Messages: conversation.Messages, Tools: conversation.Tools, Documents: q.Template.Documents, Kwargs: kwargs,
		ReasoningEffort: q.Template.ReasoningEffort, AddGenerationPrompt: !q.Template.NoGenerationPrompt && !q.Template.ContinueFinalMessage,
		ContinueFinalMessage: q.Template.ContinueFinalMessage, ContentFormat: r.format, Tokens: set.Tokens,
	}
	if q.Model.ReadsCalls() {
		format, _ := q.Model.Parser.ToolFormat()
		chat.ShortToolCallIDs = format.CallIDs == parlance.CallIDsNineAlphanumerics
	}
	rendered, err := template.RenderChat(chat)
	if len(rendered.Warnings) > 0 {
		r.logger.Warn("messages were put right for the chat template", "request_id", q.ID, "warnings", len(rendered.Warnings))
	}
	var request *chattemplate.RequestError
	switch {
	case errors.As(err, &request):
		return "", apierror.Invalidf(request.Field, "%s", request.Message)
	case err != nil:
		return "", apierror.New(apierror.Invalid, "", "%v", err)
	}
	return rendered.Prompt, nil
}
