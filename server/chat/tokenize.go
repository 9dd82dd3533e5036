package chat

import (
	"context"
	"net/http"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// Tokenize serves POST /tokenize: the tokens of a text, or of the prompt that a conversation becomes. Of a conversation it
// also tells the prompt, so that one can see what the model is shown.
func (h *Handler) Tokenize(w http.ResponseWriter, r *http.Request) {
	if err := h.tokenize(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, err)
	}
}

type tokenized struct {
	Count     int       `json:"count"`
	MaxLength *int      `json:"max_model_len"`
	Tokens    []int     `json:"tokens"`
	Texts     *[]string `json:"token_strs"`
	// Prompt is what a conversation became.
	Prompt *string `json:"prompt,omitzero"`
}

func (h *Handler) tokenize(w http.ResponseWriter, r *http.Request) error {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	if !h.Generator.Engine.Capabilities().Tokenizer {
		return noTokenizer(h.Generator.Engine)
	}
	model, err := h.model(r.Context(), o)
	if err != nil {
		return err
	}
	texts := set(o.Bool("return_token_strs"), false)
	special := set(o.Bool("add_special_tokens"), !o.Has("messages"))
	prompt, shown, err := h.promptOf(r.Context(), o, model)
	if err != nil {
		return err
	}
	out := tokenized{Tokens: prompt.Tokens, MaxLength: h.maxLength(r.Context(), model)}
	if shown {
		out.Prompt = &prompt.Text
	}
	if out.Tokens == nil || texts {
		tokens, err := h.Generator.Engine.Tokenize(r.Context(), model.Upstream, prompt.Text, special)
		if err != nil {
			return generate.FromEngine(err)
		}
		out.Tokens = make([]int, len(tokens))
		strings := make([]string, len(tokens))
		for i, token := range tokens {
			out.Tokens[i], strings[i] = token.ID, token.Text
		}
		if texts {
			out.Texts = &strings
		}
	}
	out.Count = len(out.Tokens)
	return write(w, out)
}

// promptOf is the text that a request asks about. shown tells that it was made of a conversation.
func (h *Handler) promptOf(ctx context.Context, o *body.Object, model generate.Model) (prompt engine.Prompt, shown bool, err error) {
	if !o.Has("messages") {
		o.Need("prompt")
		text := o.String("prompt")
		if err := o.Err(); err != nil {
			return prompt, false, err
		}
		return engine.Prompt{Text: set(text, "")}, false, nil
	}
	r := &Request{}
	r.Model = model
	r.readMessages(o)
	r.Template.Source = set(o.String("chat_template"), "")
	r.Template.NoGenerationPrompt = !set(o.Bool("add_generation_prompt"), true)
	r.Template.ContinueFinalMessage = set(o.Bool("continue_final_message"), false)
	kwargs := generate.ReadKwargs(o)
	r.readTools(o)
	if err := o.Err(); err != nil {
		return prompt, false, err
	}
	if r.Template.ContinueFinalMessage && truth(o, "add_generation_prompt") {
		return prompt, false, apierror.Invalidf("continue_final_message", "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
	}
	if err := h.Settings.Defaults.Apply(&r.Template, kwargs, ""); err != nil {
		return prompt, false, err
	}
	if r.Messages, err = generate.NormalizeMessages(r.Messages); err != nil {
		return prompt, false, err
	}
	prompt, conversation, err := h.Generator.Renderer.Render(ctx, &r.Request)
	if err == nil && conversation != nil {
		err = apierror.New(apierror.NotImplemented, "messages", "The engine renders conversations itself and does not tell the prompt")
	}
	return prompt, true, generate.FromEngine(err)
}

func (h *Handler) model(ctx context.Context, o *body.Object) (generate.Model, error) {
	name := set(o.String("model"), "")
	if err := o.Err(); err != nil {
		return generate.Model{}, err
	}
	return h.Models.Resolve(ctx, name)
}

// maxLength is the length of a model's context; nil where it is not known.
func (h *Handler) maxLength(ctx context.Context, model generate.Model) *int {
	length := h.Models.ContextLength(ctx, model.Name)
	if length == 0 {
		return nil
	}
	return &length
}

func noTokenizer(e engine.Engine) error {
	return apierror.New(apierror.NotImplemented, "", "The engine %s has no tokenizer that could be asked", e.Name())
}

// Detokenize serves POST /detokenize: the text of tokens.
func (h *Handler) Detokenize(w http.ResponseWriter, r *http.Request) {
	if err := h.detokenize(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, err)
	}
}

func (h *Handler) detokenize(w http.ResponseWriter, r *http.Request) error {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	o.Need("tokens")
	tokens := o.Ints("tokens")
	model, err := h.model(r.Context(), o)
	if err != nil {
		return err
	}
	if !h.Generator.Engine.Capabilities().Tokenizer {
		return noTokenizer(h.Generator.Engine)
	}
	text, err := h.Generator.Engine.Detokenize(r.Context(), model.Upstream, tokens)
	if err != nil {
		return generate.FromEngine(err)
	}
	return write(w, struct {
		Prompt string `json:"prompt"`
	}{text})
}

// TokenizerInfo serves GET /tokenizer_info: the chat template and what it begins and ends with.
func (h *Handler) TokenizerInfo(w http.ResponseWriter, r *http.Request) {
	template, err := h.Generator.Engine.Template(r.Context(), "")
	if err != nil {
		apierror.ShapeOpenAI.Write(w, generate.FromEngine(err))
		return
	}
	_ = write(w, struct {
		ChatTemplate string `json:"chat_template"`
		ToolUse      string `json:"chat_template_tool_use,omitzero"`
		BOS          string `json:"bos_token"`
		EOS          string `json:"eos_token"`
	}{template.Source, template.ToolUse, template.BOS, template.EOS})
}

// write answers with JSON.
func write(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(encode(v))
	return ignore(err)
}
