package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/internal/plugins"
	"github.com/parlance-llm/parlance/vocabulary"
)

// Options say what is examined, and with what.
type Options struct {
	// URL is the address of the target, APIKey what it wants as a bearer token.
	URL, APIKey string
	// Engine is what the target is, under the engine's name or "parlance"; "" finds out.
	Engine string
	// Model is the model to ask; "" is the target's first.
	Model string
	// ToolCallParser and ReasoningParser are the chosen parsers; both "" examines the target's own chat route, and assumes
	// the parsers that fit what the model writes.
	ToolCallParser, ReasoningParser string
	// Plugins are files with definitions of further formats, or folders of them; OverrideParsers lets them take names that
	// are there.
	Plugins         []string
	OverrideParsers bool
	// ChatTemplate is a file, a text or the name of one of our templates; "" is what the target has.
	ChatTemplate string
	// Tokenizer is the folder of the model's tokenizer, "" if there is none.
	Tokenizer string
	// Kwargs are the chat_template_kwargs to send with every request, Stop the stop strings.
	Kwargs map[string]any
	Stop   []string
	// ReasoningField is the field in which the client looks for reasoning; "" if it knows both.
	ReasoningField string
	// MaxTokens limits every answer; 0 is 2048.
	MaxTokens int
	// Logger hears what Parlance in front of the engine logs; nil is nobody.
	Logger *slog.Logger
}

// Examine asks the target and checks its answers. An error says that it could not be asked at all; what is wrong with its
// answers is in the report.
func Examine(ctx context.Context, o Options) (*Report, error) {
	o.MaxTokens = cmp.Or(o.MaxTokens, 2048)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	x := &examination{options: o}
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	defer x.close()
	x.ask(ctx)
	return x.report(), nil
}

// examination is everything that is known of a target. Checks read it.
type examination struct {
	options Options
	// formats are those that can be named, detector tells them apart.
	formats  *parlance.Registry
	detector *detect.Detector
	target   *target
	client   *client
	// parser are the chosen parsers, or the assumed ones; nil if there are none.
	parser  *parlance.Parser
	assumed bool
	// words is the vocabulary of the model; wordsErr says that the parsers cannot be used with it.
	words    *vocabulary.Vocabulary
	wordsErr error
	// template is the chat template for requests with tools; nil if it is not known. guess is what it tells of the formats.
	template *chattemplate.Template
	tokens   map[string]string
	from     string
	guess    detect.Result
	// The exchanges; nil if they did not take place.
	auto, forced, format, off *exchange
	// samples tell which formats could have written the raw answer, as far as it is known.
	samples detect.Result
	// plain is the prompt without the kwargs of the options, where there are some and no template is known.
	plain string
	found []Finding
}

// prepare reads the files that the options name and finds out what the target is.
func (x *examination) prepare(ctx context.Context) (err error) {
	o := x.options
	added := plugins.Flags{Tool: o.Plugins, Override: o.OverrideParsers}
	if x.formats, err = added.Registry(); err != nil {
		return err
	}
	x.detector = detect.For(x.formats)
	if o.ToolCallParser != "" || o.ReasoningParser != "" {
		if x.parser, err = x.formats.Lookup(o.ToolCallParser, o.ReasoningParser); err != nil {
			return err
		}
	}
	if o.Tokenizer != "" {
		if x.words, err = vocabulary.Load(o.Tokenizer); err != nil {
			return err
		}
		if x.parser != nil {
			bound, err := x.parser.Bind(x.words)
			if x.wordsErr = err; err == nil {
				x.parser = bound
			}
		}
	}
	if x.target, err = identify(ctx, o); err != nil {
		return err
	}
	if err := x.readTemplate(ctx); err != nil {
		return err
	}
	x.client = &client{base: x.target.base, key: o.APIKey, model: x.target.model}
	if x.parser == nil || x.target.parses() {
		return nil
	}
	return x.front(ctx)
}

// readTemplate finds the chat template: that of the options, else the target's, else the one beside the tokenizer.
func (x *examination) readTemplate(ctx context.Context) (err error) {
	o := x.options
	var set, model *chattemplate.Set
	if o.Tokenizer != "" {
		if model, err = chattemplate.Load(o.Tokenizer); err == nil && len(model.Names()) > 0 {
			set, x.from = model, "the tokenizer's folder"
		}
	}
	if told, err := x.target.engine.Template(ctx, x.target.model); err == nil && o.ChatTemplate == "" {
		source := cmp.Or(told.ToolUse, told.Source)
		t, err := chattemplate.Parse("the engine's template", source)
		if err != nil {
			x.find(Finding{Code: "template-unreadable", Says: "the engine's chat template cannot be read: " + err.Error(), Change: "give a template with --chat-template"})
			return nil
		}
		set, x.from = chattemplate.One(t), "the engine"
		set.Tokens = map[string]string{"bos_token": told.BOS, "eos_token": told.EOS}
	}
	if o.ChatTemplate != "" {
		if set, err = chattemplate.Resolve(o.ChatTemplate, model); err != nil {
			return fmt.Errorf("--chat-template: %w", err)
		}
		x.from = "--chat-template"
	}
	if set == nil {
		return nil
	}
	x.tokens = set.Tokens
	if x.template, err = set.For(true); err != nil {
		return fmt.Errorf("--chat-template: %w", err)
	}
	x.guess = x.detector.Template(x.template.Source())
	return nil
}

func (x *examination) close() {
	x.target.engine.Close()
	if x.target.stop != nil {
		x.target.stop()
	}
}

// find adds findings.
func (x *examination) find(findings ...Finding) { x.found = append(x.found, findings...) }

// conversation is the question for a template.
func (x *examination) conversation(kwargs map[string]any) *engine.Conversation {
	return &engine.Conversation{Model: x.target.model, Messages: []byte(messages), Tools: []byte(tools), ChatTemplateKwargs: kwargs}
}
