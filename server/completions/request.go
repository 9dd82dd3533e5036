package completions

import (
	"context"
	"encoding/json/jsontext"
	"strconv"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/sampling"
)

// request is a request of this interface.
type request struct {
	generate.Request
	prompts []engine.Prompt
	// echo shows the prompt before the text. promptOnly shows nothing else: it was asked for with max_tokens 0.
	echo, promptOnly              bool
	includeUsage, continuousUsage bool
	sampling                      sampling.Fields
}

// defaultMaxTokens is how long an answer is where the request does not say.
const defaultMaxTokens = 16

func (h *Handler) read(ctx context.Context, o *body.Object) (*request, error) {
	q := &request{}
	q.Interface = "completions"
	if options, _ := body.Members(o.Raw("stream_options")); len(options) > 0 && o.Raw("stream").Kind() != 't' {
		return nil, apierror.Invalidf("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	if model := o.String("model"); model != nil {
		q.Model.Name = *model
	}
	q.readPrompts(o, h.Settings.MaxPrompts)
	stream, echo := o.Bool("stream"), o.Bool("echo")
	q.Stream, q.echo = stream != nil && *stream, echo != nil && *echo
	if options := o.Object("stream_options"); options != nil {
		usage, continuous := options.Bool("include_usage"), options.Bool("continuous_usage_stats")
		q.includeUsage = usage != nil && *usage
		q.continuousUsage = q.includeUsage && continuous != nil && *continuous
	}
	var err error
	if q.ResponseFormat, err = generate.ReadFormat(o, generate.ToolChoice{}); err != nil {
		return nil, err
	}
	q.sampling = sampling.Read(o, &q.Request)
	q.sampling.TokensAsIDs = q.sampling.TokensAsIDs || h.Settings.TokensAsIDs
	if o.Raw("max_tokens") == nil {
		q.MaxTokens = defaultMaxTokens
	}
	if logprobs := o.Int("logprobs"); logprobs != nil {
		q.Logprobs, q.TopLogprobs = true, int(*logprobs)
	}
	o.String("suffix")
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := q.refuse(o); err != nil {
		return nil, err
	}
	if q.echo && q.sampling.NoTokens {
		// No engine answers with nothing. One token is asked for and not shown, as vLLM does it: so the engine checks and counts
		// the prompt as that of any other request.
		q.promptOnly, q.sampling.NoTokens, q.MaxTokens, q.Sampling.MinTokens = true, false, 1, 0
	}
	if h.Settings.ForceUsage && q.Stream {
		q.includeUsage, q.continuousUsage = true, true
	}
	q.CountSteps = q.continuousUsage
	model, err := h.Models.Resolve(ctx, q.Model.Name)
	if err != nil {
		return nil, err
	}
	q.Model = generate.Model{Name: model.Name, Upstream: model.Upstream} // without its parser: nothing is parsed
	q.ToolChoice.Mode, q.IncludeReasoning, q.Parallel = generate.ToolChoiceNone, true, true
	if err := h.Settings.Limits.Check(&q.Request); err != nil {
		return nil, err
	}
	return q, q.sampling.Check()
}

// refuse says what cannot be had of any engine here, rather than leave it out of the answer.
func (q *request) refuse(o *body.Object) error {
	switch suffix := o.Raw("suffix"); {
	case suffix != nil && body.Text(suffix) != "":
		return apierror.Invalidf("suffix", "suffix is not supported: the engine writes on from the prompt")
	case o.Raw("prompt_embeds") != nil:
		return apierror.Invalidf("prompt_embeds", "prompt_embeds is not supported: the prompt must be text or token ids")
	case o.Raw("prompt_logprobs") != nil:
		return apierror.Invalidf("prompt_logprobs", "`prompt_logprobs` are not available: this server does not evaluate prompts.")
	case q.TopLogprobs < 0:
		return apierror.Invalidf("logprobs", "`logprobs` must be a positive value, found %d.", q.TopLogprobs)
	case q.Logprobs && q.echo:
		return apierror.Invalidf("logprobs", "`logprobs` with `echo` are not available: those of the prompt would be among them, and this server does not evaluate prompts.")
	}
	return nil
}

// readPrompts reads the prompt: text, token ids, or a list of either.
func (q *request) readPrompts(o *body.Object, limit int) {
	if !o.Require("prompt") {
		return
	}
	value := o.Raw("prompt")
	if value.Kind() == '"' {
		q.prompts = []engine.Prompt{{Text: body.Text(value)}}
		return
	}
	elements, ok := body.Elements(value)
	switch {
	case !ok || len(elements) == 0:
		o.Complain("prompt", "expected a text, token ids, or a list of either")
		return
	case elements[0].Kind() == '0':
		q.prompts = []engine.Prompt{{Tokens: o.Ints("prompt")}}
		return
	case len(elements) > limit:
		o.Complain("prompt", "expected at most "+strconv.Itoa(limit)+" prompts")
		return
	}
	for _, element := range elements {
		prompt, ok := onePrompt(element)
		if !ok {
			o.Complain("prompt", "expected a text, token ids, or a list of either")
			return
		}
		q.prompts = append(q.prompts, prompt)
	}
}

func onePrompt(value jsontext.Value) (p engine.Prompt, ok bool) {
	if value.Kind() == '"' {
		return engine.Prompt{Text: body.Text(value)}, true
	}
	ids, ok := body.Elements(value)
	for _, id := range ids {
		n, err := strconv.Atoi(string(id))
		if err != nil {
			return p, false
		}
		p.Tokens = append(p.Tokens, n)
	}
	return p, ok && len(ids) > 0
}
