package chat

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// Derender serves POST /v1/chat/completions/derender, the reference's way to have tokens read that another server has
// generated: whole, or chunk by chunk with the state carried by the client. The answer is made by the code that answers
// live requests.
func (h *Handler) Derender(w http.ResponseWriter, r *http.Request) {
	if err := h.derender(w, r); err != nil {
		apierror.ShapeOpenAI.Write(w, err)
	}
}

// generated is a choice that has been generated elsewhere: token ids, or their text.
type generated struct {
	Index        int     `json:"index"`
	TokenIDs     []int   `json:"token_ids"`
	Text         *string `json:"text"`
	FinishReason *string `json:"finish_reason"`
	// StopReason is the text or the id of the token that ended it.
	StopReason jsontext.Value `json:"stop_reason"`
}

// check tells what is wrong with a choice that has the right members.
func (g *generated) check(place string) error {
	known := []engine.FinishReason{engine.FinishStop, engine.FinishLength, engine.FinishAbort, engine.FinishRepetition, engine.FinishFilter, "tool_calls"}
	switch {
	case g.Index < 0:
		return apierror.Invalidf(place+".index", "expected the number of a choice, found %d", g.Index)
	case g.FinishReason != nil && *g.FinishReason != "" && !slices.Contains(known, engine.FinishReason(*g.FinishReason)):
		return apierror.Invalidf(place+".finish_reason", "expected a finish reason, found %q", *g.FinishReason)
	}
	return nil
}

// finish is why the choice ended; nil if it has not.
func (g *generated) finish() *generate.Finish {
	if g.FinishReason == nil || *g.FinishReason == "" {
		return nil
	}
	f := &generate.Finish{Reason: engine.FinishReason(*g.FinishReason)}
	if f.Reason == "tool_calls" {
		f.Reason = engine.FinishStop
	}
	if g.StopReason.Kind() == '"' {
		f.StopString = body.Text(g.StopReason)
	} else if id, err := strconv.Atoi(string(g.StopReason)); err == nil {
		f.StopToken = &id
	}
	return f
}

func (h *Handler) derender(w http.ResponseWriter, r *http.Request) error {
	o, err := body.Read(r, h.Settings.BodyLimit)
	if err != nil {
		return err
	}
	stream := set(o.Bool("stream"), false)
	promptIDs := o.Ints("prompt_token_ids")
	chat := o.Object("chat_request")
	if err := o.Err(); err != nil {
		return err
	}
	req := &Request{role: h.Settings.ResponseRole}
	req.N, req.IncludeReasoning, req.Parallel, req.ToolChoice.Mode = 1, true, true, generate.ToolChoiceNone
	if chat != nil {
		if req, err = h.Read(r.Context(), chat); err != nil {
			return err
		}
	} else if req.Model, err = h.Models.Resolve(r.Context(), ""); err != nil {
		return err
	}
	if chat == nil && req.Model.Parser != nil {
		return apierror.Invalidf("chat_request", "chat_request is needed where a parser is configured")
	}
	req.Stream = stream
	d := &derendering{handler: h, request: req, ctx: r.Context(), promptIDs: promptIDs}
	if stream {
		return d.chunk(w, o)
	}
	return d.whole(w, o)
}

type derendering struct {
	handler   *Handler
	request   *Request
	ctx       context.Context
	promptIDs []int
}

// prompt is what is known of the prompt: its end decides where the answer begins.
func (d *derendering) prompt() (engine.Prompt, error) {
	if len(d.promptIDs) == 0 {
		return engine.Prompt{}, nil
	}
	text, err := d.text(d.promptIDs)
	return engine.Prompt{Text: text, Tokens: d.promptIDs}, err
}

func (d *derendering) text(ids []int) (string, error) {
	if len(ids) == 0 {
		return "", nil
	}
	e := d.handler.Generator.Engine
	if !e.Capabilities().Tokenizer {
		return "", noTokenizer(e)
	}
	if limit := d.handler.maxLength(d.ctx, d.request.Model); limit != nil && len(ids) > *limit {
		return "", apierror.Invalidf("token_ids", "expected at most %d tokens, the length of the model's context, found %d", *limit, len(ids))
	}
	text, err := e.Detokenize(d.ctx, d.request.Model.Upstream, ids)
	if err != nil {
		return "", generate.FromEngine(err)
	}
	return text, nil
}

// choiceText is the text of a choice.
func (d *derendering) choiceText(g *generated) (string, error) {
	if g.Text != nil {
		return *g.Text, nil
	}
	text, err := d.text(g.TokenIDs)
	if err != nil || len(g.TokenIDs) == 0 {
		return text, err
	}
	// The token that ended the turn is among the ids, and no part of the text.
	if f := g.finish(); f != nil && f.Reason == engine.FinishStop && f.StopString == "" {
		for _, format := range d.request.Model.Formats() {
			if end := strings.TrimSpace(format.TurnEnd); end != "" {
				text = strings.TrimSuffix(text, end)
			}
		}
	}
	return text, nil
}

func (d *derendering) whole(w http.ResponseWriter, o *body.Object) error {
	var response struct {
		RequestID string      `json:"request_id"`
		Choices   []generated `json:"choices"`
	}
	if err := read(o, "generate_response", &response); err != nil {
		return err
	}
	if len(response.Choices) == 0 {
		return apierror.Invalidf("generate_response.choices", "expected at least one choice, found none")
	}
	prompt, err := d.prompt()
	if err != nil {
		return err
	}
	usage := generate.Usage{Prompt: len(d.promptIDs)}
	switch n := o.Int("prompt_tokens"); {
	case o.Err() != nil:
		return o.Err()
	case n != nil && *n < 0:
		return apierror.Invalidf("prompt_tokens", "prompt_tokens must be at least 0, got %d.", *n)
	case n != nil:
		usage.Prompt = int(*n)
	}
	var answers []*generate.Answer
	for i := range response.Choices {
		g := &response.Choices[i]
		if err := g.check(fmt.Sprintf("generate_response.choices.%d", i)); err != nil {
			return err
		}
		text, err := d.choiceText(g)
		if err != nil {
			return err
		}
		reader, err := d.handler.Generator.NewReader(&d.request.Request, prompt, g.Index)
		if err != nil {
			return err
		}
		finish := g.finish()
		if finish == nil {
			return apierror.Invalidf("generate_response.choices", "expected a finish_reason of every choice, found none at index %d", g.Index)
		}
		var collector generate.Collector
		collector.Add(reader.Write(text))
		collector.Add(reader.Close(*finish))
		answer := collector.Answer()
		answer.TokenIDs = g.TokenIDs
		answers = append(answers, answer)
		usage.Completion += len(g.TokenIDs)
		usage.Reasoning += int(float64(len(g.TokenIDs))*reader.ReasoningShare() + .5)
	}
	head := d.handler.head(d.request)
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(d.handler.whole(d.request, answers, usage, head, nil, prompt.Text))
	return ignore(err)
}

// read reads a member into a shape.
func read(o *body.Object, name string, into any) error {
	if !o.Require(name) {
		return o.Err()
	}
	if err := json.Unmarshal(o.Raw(name), into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil || o.Null(name) {
		return apierror.Invalidf(name, "expected a generated response of choices with token_ids, found %s", body.Found(o.Raw(name)))
	}
	return nil
}
