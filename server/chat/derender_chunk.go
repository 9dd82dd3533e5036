package chat

import (
	"encoding/json/v2"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// derenderState is what a client carries from chunk to chunk.
type derenderState struct {
	ID       string   `json:"id"`
	Created  int64    `json:"created"`
	TokenIDs []int    `json:"token_ids"`
	CallIDs  []string `json:"tool_call_ids"`
	Choice   *int     `json:"choice"`
	Finished bool     `json:"finished"`
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
