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
	"unicode/utf8"

	"github.com/parlance-llm/parlance"
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

// derenderState is what a client carries from chunk to chunk.
type derenderState struct {
	ID       string   `json:"id"`
	Created  int64    `json:"created"`
	TokenIDs []int    `json:"token_ids"`
	CallIDs  []string `json:"tool_call_ids"`
	Choice   *int     `json:"choice"`
	Finished bool     `json:"finished"`
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

// chunk reads one chunk: the parser is run over all that came before, whose outcome the client has, and then over what is
// new.
func (d *derendering) chunk(w http.ResponseWriter, o *body.Object) error {
	var in struct {
		Choices []generated `json:"choices"`
	}
	if err := read(o, "generate_chunk", &in); err != nil {
		return err
	}
	state := &derenderState{}
	fresh := o.Raw("stream_state") == nil
	if fresh {
		head := d.handler.head(d.request)
		state.ID, state.Created = head.id, head.created
	} else if err := json.Unmarshal(o.Raw("stream_state"), state); err != nil || state.ID == "" {
		return invalidState("it is not one that this server has made")
	}
	switch {
	case !o.Has("prompt_token_ids"):
		return apierror.Invalidf("prompt_token_ids", "prompt_token_ids are needed in a stream")
	case len(d.request.Stop) > 0:
		return apierror.Invalidf("chat_request.stop", "stop strings are not possible in a stream of tokens")
	case len(in.Choices) > 1:
		return apierror.Invalidf("generate_chunk.choices", "expected at most one choice a chunk, found %d", len(in.Choices))
	case state.Finished:
		return invalidState("the stream is over")
	}
	answer := struct {
		Chunk *derendered    `json:"chunk"`
		State *derenderState `json:"stream_state"`
	}{State: state}
	if len(in.Choices) == 0 {
		return write(w, answer)
	}
	if err := in.Choices[0].check("generate_chunk.choices.0"); err != nil {
		return err
	}
	step, err := d.advance(&in.Choices[0], state)
	if err != nil {
		return err
	}
	answer.Chunk = d.derendered(step, state, fresh)
	return write(w, answer)
}

// advance reads the new tokens of a choice.
func (d *derendering) advance(g *generated, state *derenderState) (step generate.Step, err error) {
	if state.Choice != nil && *state.Choice != g.Index {
		return step, invalidState("it is another choice's")
	}
	state.Choice = &g.Index
	before, err := d.text(state.TokenIDs)
	if err != nil {
		return step, err
	}
	prompt, err := d.prompt()
	if err != nil {
		return step, err
	}
	reader, err := d.handler.Generator.NewReader(&d.request.Request, prompt, g.Index)
	if err != nil {
		return step, err
	}
	reader.ReuseCallIDs(state.CallIDs)
	before = wholeCharacters(before, false)
	known := callIDs(reader.Write(before))
	if len(known) != len(state.CallIDs) {
		return step, invalidState("its calls are not those of its tokens")
	}
	finish := g.finish()
	state.TokenIDs = append(state.TokenIDs, g.TokenIDs...)
	after, err := d.choiceText(&generated{TokenIDs: state.TokenIDs, FinishReason: g.FinishReason, StopReason: g.StopReason})
	if err != nil {
		return step, err
	}
	after = wholeCharacters(after, finish != nil)
	if !strings.HasPrefix(after, before) {
		return step, invalidState("its tokens do not add up")
	}
	step = reader.Write(after[len(before):])
	step.Usage = generate.Usage{Prompt: len(d.promptIDs), Completion: len(state.TokenIDs)}
	step.Usage.Reasoning = int(float64(len(state.TokenIDs))*reader.ReasoningShare() + .5)
	if finish != nil {
		last := reader.Close(*finish)
		step.Deltas, step.Finish, state.Finished = append(step.Deltas, last.Deltas...), last.Finish, true
	}
	state.CallIDs = append(state.CallIDs, callIDs(step)...)
	step.TokenIDs = g.TokenIDs
	return step, nil
}

// derendered is a chunk that holds all that is new: one piece of each tray, and one entry of each call.
type derendered struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []derenderedChoice `json:"choices"`
	Usage   *usageWhole        `json:"usage,omitzero"`
}

type derenderedChoice struct {
	Index        int             `json:"index"`
	Delta        derenderedDelta `json:"delta"`
	Logprobs     *logprobs       `json:"logprobs"`
	FinishReason *string         `json:"finish_reason"`
	StopReason   any             `json:"stop_reason"`
	TokenIDs     *[]int          `json:"token_ids"`
}

type derenderedDelta struct {
	Role             string           `json:"role,omitzero"`
	Content          string           `json:"content,omitzero"`
	Reasoning        string           `json:"reasoning,omitzero"`
	ReasoningContent string           `json:"reasoning_content,omitzero"`
	ToolCalls        []derenderedCall `json:"tool_calls,omitzero"`
}

type derenderedCall struct {
	ID       string `json:"id,omitzero"`
	Type     string `json:"type,omitzero"`
	Index    int    `json:"index"`
	Function struct {
		Name      string `json:"name,omitzero"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// derendered writes a step as one chunk; nil if it says nothing.
func (d *derendering) derendered(step generate.Step, state *derenderState, first bool) *derendered {
	if !first && step.Finish == nil && len(step.Deltas) == 0 && !d.request.TokenIDs {
		return nil
	}
	c := derenderedChoice{Index: step.Choice}
	if first {
		c.Delta.Role = d.request.role
	}
	for _, delta := range step.Deltas {
		c.Delta.add(delta, d.handler.Settings.ReasoningField)
	}
	if d.request.TokenIDs && !d.handler.hidden(d.request) {
		c.TokenIDs = &step.TokenIDs
	}
	chunk := &derendered{ID: state.ID, Object: "chat.completion.chunk", Created: state.Created, Model: d.request.Model.Name}
	if step.Finish != nil {
		reason := finishReason(step.Finish, d.request.ToolChoice)
		c.FinishReason, c.StopReason = &reason, step.Finish.StopReason()
		usage := d.handler.usage(step.Usage, d.request.Model.ReadsReasoning())
		chunk.Usage = &usage
	}
	chunk.Choices = []derenderedChoice{c}
	return chunk
}

func (d *derenderedDelta) add(delta generate.Delta, reasoningField string) {
	last := len(d.ToolCalls) - 1
	switch delta.Kind {
	case parlance.Content:
		d.Content += delta.Text
	case parlance.Reasoning:
		if reasoningField != "reasoning_content" {
			d.Reasoning += delta.Text
		}
		if reasoningField != "reasoning" {
			d.ReasoningContent += delta.Text
		}
	case parlance.ToolCall:
		call := derenderedCall{ID: delta.ID, Type: "function", Index: delta.Call}
		call.Function.Name = delta.Name
		d.ToolCalls = append(d.ToolCalls, call)
	case parlance.Arguments:
		if last < 0 || d.ToolCalls[last].Index != delta.Call {
			d.ToolCalls = append(d.ToolCalls, derenderedCall{Index: delta.Call})
			last++
		}
		d.ToolCalls[last].Function.Arguments += delta.Text
	}
}

// wholeCharacters leaves out the beginning of a character at the end of a text that goes on.
func wholeCharacters(text string, over bool) string {
	for !over && strings.HasSuffix(text, string(utf8.RuneError)) {
		text = strings.TrimSuffix(text, string(utf8.RuneError))
	}
	return text
}

func callIDs(s generate.Step) (ids []string) {
	for _, delta := range s.Deltas {
		if delta.Kind == parlance.ToolCall {
			ids = append(ids, delta.ID)
		}
	}
	return ids
}

func invalidState(why string) error {
	return apierror.Invalidf("stream_state", "invalid stream_state: %s", why)
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
