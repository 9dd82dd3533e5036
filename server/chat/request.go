package chat

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/sampling"
)

// Request is a request of this interface: what is generated, and how it is shown.
type Request struct {
	generate.Request
	includeUsage, continuousUsage bool
	tokensAsIDs, promptText       bool
	echoes                        bool     // the last message is shown before the answer
	echo                          string   // what is shown
	allowed                       []string // the names of allowed_tools; nil allows all
	sampling                      sampling.Fields
	role                          string
}

// read reads a request. What the interface itself forbids is checked before the schema, as in vLLM; what depends on the
// sampling comes last.
func (h *Handler) read(o *body.Object) (*Request, error) {
	r := &Request{role: h.Settings.ResponseRole}
	r.Interface = "chat_completions"
	checks := []func(*body.Object) error{
		h.checkTools,
		r.readToolChoice,
		r.checkStreamOptions,
		r.checkLogprobs,
		r.checkMessages,
		h.checkTemplate,
		r.readFormat,
	}
	for _, check := range checks {
		if err := check(o); err != nil {
			return nil, err
		}
	}
	kwargs := r.readFields(o)
	r.sampling = sampling.Read(o, &r.Request)
	r.Logprobs = set(o.Bool("logprobs"), false)
	if top := o.Int("top_logprobs"); top != nil {
		r.TopLogprobs = int(*top)
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := h.Settings.Defaults.Apply(&r.Template, kwargs, r.Template.ReasoningEffort); err != nil {
		return nil, err
	}
	var err error
	if r.Messages, err = generate.NormalizeMessages(r.Messages); err != nil {
		return nil, err
	}
	r.readEcho()
	if h.Settings.ForceUsage && r.Stream {
		r.includeUsage, r.continuousUsage = true, true
	}
	r.CountSteps = r.continuousUsage
	r.tokensAsIDs = r.sampling.TokensAsIDs || h.Settings.TokensAsIDs
	r.promptText = r.sampling.PromptText
	if h.Settings.ExcludeTools && r.ToolChoice.Mode == generate.ToolChoiceNone {
		r.Tools = nil
	}
	return r, nil
}

// checkStreamOptions: options of a stream need one.
func (r *Request) checkStreamOptions(o *body.Object) error {
	options := o.Raw("stream_options")
	if options.Kind() != '{' {
		return nil
	}
	members, _ := body.Members(options)
	if stream := o.Raw("stream"); len(members) > 0 && (stream == nil || stream.Kind() == 'f') {
		return apierror.Invalidf("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	return nil
}

// checkLogprobs: the fields about log probabilities need them.
func (r *Request) checkLogprobs(o *body.Object) error {
	truth := func(name string) bool { v := o.Raw(name); return v != nil && v.Kind() != 'f' }
	if value := o.Raw("prompt_logprobs"); value != nil {
		n, err := number(value)
		switch {
		case err != nil || n < -1:
			return apierror.Invalidf("prompt_logprobs", "`prompt_logprobs` must be a positive value or -1, found %s.", body.Summary(value))
		case truth("stream") && n != 0:
			return apierror.Invalidf("prompt_logprobs", "`prompt_logprobs` are not available when `stream=True`.")
		}
		return apierror.Invalidf("prompt_logprobs", "`prompt_logprobs` are not available: this server does not evaluate prompts.")
	}
	if value := o.Raw("top_logprobs"); value != nil {
		n, err := number(value)
		switch {
		case err != nil || n < -1:
			return apierror.Invalidf("top_logprobs", "`top_logprobs` must be a positive value or -1, found %s.", body.Summary(value))
		case n != 0 && !truth("logprobs"):
			return apierror.Invalidf("top_logprobs", "when using `top_logprobs`, `logprobs` must be set to true.")
		}
	}
	if ids, _ := body.Elements(o.Raw("logprob_token_ids")); len(ids) > 0 && !truth("logprobs") {
		return apierror.Invalidf("logprob_token_ids", "when using `logprob_token_ids`, `logprobs` must be set to true.")
	}
	return nil
}

func number(value jsontext.Value) (n int, err error) {
	if value.Kind() != '0' {
		return 0, fmt.Errorf("expected a number")
	}
	_, err = fmt.Sscanf(string(value), "%d", &n)
	return n, err
}

// checkMessages: the conversation is there at all.
func (r *Request) checkMessages(o *body.Object) error {
	if o.Null("messages") {
		return apierror.Invalidf("messages", "expected a list of messages, found null")
	}
	if truth(o, "continue_final_message") && truth(o, "add_generation_prompt") {
		return apierror.Invalidf("continue_final_message", "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
	}
	return nil
}

func truth(o *body.Object, name string) bool { return o.Raw(name).Kind() == 't' }

// readFormat reads the form that the content must have.
func (r *Request) readFormat(o *body.Object) (err error) {
	r.ResponseFormat, err = generate.ReadFormat(o, r.ToolChoice)
	return err
}

// checkTemplate: a request brings its own template only to a server that trusts it.
func (h *Handler) checkTemplate(o *body.Object) error {
	if o.Raw("chat_template") != nil && !h.Settings.Defaults.TrustRequest {
		return apierror.Invalidf("chat_template", "Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.")
	}
	return nil
}

// readFields reads the fields that are neither tools nor sampling. It gives the template arguments of the request.
func (r *Request) readFields(o *body.Object) (kwargs map[string]any) {
	if model := o.String("model"); model != nil {
		r.Model.Name = *model
	}
	r.readMessages(o)
	r.Stream = set(o.Bool("stream"), false)
	if options := o.Object("stream_options"); options != nil {
		r.includeUsage = set(options.Bool("include_usage"), false)
		r.continuousUsage = set(options.Bool("continuous_usage_stats"), false) && r.includeUsage
	}
	o.NotNull("include_reasoning")
	r.IncludeReasoning = set(o.Bool("include_reasoning"), true)
	r.Parallel = set(o.Bool("parallel_tool_calls"), true)
	r.Template.NoGenerationPrompt = !set(o.Bool("add_generation_prompt"), true)
	r.Template.ContinueFinalMessage = set(o.Bool("continue_final_message"), false)
	r.Template.Source = set(o.String("chat_template"), "")
	o.Objects("documents")
	r.Template.Documents = o.Raw("documents")
	r.echoes = set(o.Bool("echo"), false)
	r.Template.ReasoningEffort = set(o.Choice("reasoning_effort", generate.Efforts...), "")
	kwargs = generate.ReadKwargs(o)
	r.readTools(o)
	return kwargs
}

// readMessages reads the conversation as it was written; what is no message has been complained of.
func (r *Request) readMessages(o *body.Object) {
	o.Need("messages")
	for _, message := range o.Objects("messages") {
		if message != nil && message.Need("role") {
			message.String("role")
		}
	}
	r.Messages, _ = body.Elements(o.Raw("messages"))
}

// set is a value, or what holds where there is none.
func set[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// readEcho takes the text of the last message, if it is to be shown before the answer, and the role of the answer.
func (r *Request) readEcho() {
	if len(r.Messages) == 0 {
		return
	}
	last, _ := body.Members(r.Messages[len(r.Messages)-1])
	role := generate.Role(r.Messages[len(r.Messages)-1])
	if r.Template.NoGenerationPrompt && role != "" {
		r.role = role
	}
	if !r.echoes || role != r.role {
		return
	}
	switch content := body.Lookup(last, "content"); content.Kind() {
	case '"':
		r.echo = body.Text(content)
	case '[':
		var texts []string
		parts, _ := body.Elements(content)
		for _, part := range parts {
			members, _ := body.Members(part)
			if text := body.Lookup(members, "text"); text.Kind() == '"' {
				texts = append(texts, body.Text(text))
			}
		}
		r.echo = strings.Join(texts, "\n")
	}
}
