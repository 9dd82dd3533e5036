package responses

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/store"
)

// Request is a request of this interface.
type Request struct {
	generate.Request
	tools []tool
	names map[string]bool // those that the model sees of tools
	// given are the members of the request as they were written: the response object repeats some.
	given *body.Object
	// input are the request's own items, history those of the responses before it, or of its conversation.
	input, history []store.Item
	// references are the places in input of items that stand for stored ones.
	references             map[int]bool
	instructions           string
	previous, conversation string
	store, background      bool
	encrypted              bool // reasoning is wanted in a form to send back
	truncates              bool // what is oldest may be left out of a conversation that is too long
	notes                  []string
}

// Read reads a request, finds its model and the items that it goes on from.
func (h *Handler) Read(ctx context.Context, o *body.Object) (*Request, error) {
	r := &Request{given: o, references: map[int]bool{}, names: map[string]bool{}}
	r.Interface, r.N = "responses", 1
	name := ""
	if model := o.String("model"); model != nil {
		name = *model
	}
	if o.Raw("prompt") != nil {
		return nil, apierror.Invalidf("prompt", "stored prompts are not available here; send instructions and input")
	}
	r.readTools(o, "tools")
	r.readInput(o)
	r.readFields(o)
	r.readSampling(o)
	effort := r.readReasoning(o)
	kwargs := generate.ReadKwargs(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := h.Settings.Limits.CheckTools(len(r.tools)); err != nil {
		return nil, err
	}
	if err := h.checkStored(r); err != nil {
		return nil, err
	}
	if err := h.load(ctx, r); err != nil {
		return nil, err
	}
	if err := r.readToolChoice(o); err != nil {
		return nil, err
	}
	if err := r.readFormat(o); err != nil {
		return nil, err
	}
	if len(r.history)+len(r.input) == 0 {
		return nil, apierror.Invalidf("input", "expected at least one item")
	}
	if err := r.translate("input"); err != nil {
		return nil, err
	}
	var err error
	if r.Model, err = h.Models.Resolve(ctx, name); err != nil {
		return nil, err
	}
	if err := h.Settings.Defaults.Apply(&r.Template, kwargs, effort); err != nil {
		return nil, err
	}
	if err := h.Settings.Limits.Check(&r.Request); err != nil {
		return nil, err
	}
	return r, h.truncate(ctx, r)
}

// includable are what include may name. What the tools of OpenAI's own service would add is never there to be included.
var includable = []string{
	"message.output_text.logprobs", "reasoning.encrypted_content", "message.input_image.image_url", "file_search_call.results", "web_search_call.results",
	"web_search_call.action.sources", "computer_call_output.output.image_url", "code_interpreter_call.outputs",
}

// readFields reads what is neither input nor sampling.
func (r *Request) readFields(o *body.Object) {
	if instructions := o.String("instructions"); instructions != nil {
		r.instructions = *instructions
	}
	r.Stream = truth(o, "stream", false)
	r.store = truth(o, "store", true)
	r.background = truth(o, "background", false)
	r.Parallel = truth(o, "parallel_tool_calls", true)
	r.IncludeReasoning = truth(o, "include_reasoning", true)
	if previous := o.String("previous_response_id"); previous != nil {
		r.previous = *previous
	}
	switch conversation := o.Raw("conversation"); conversation.Kind() {
	case '"':
		r.conversation = body.Text(conversation)
	case '{':
		if id := o.Object("conversation"); id != nil {
			r.conversation = text(id, "id")
		}
	case 0:
	default:
		o.Complain("conversation", "Input should be the id of a conversation, or an object with one")
	}
	for _, name := range o.Strings("include", false) {
		switch {
		case name == "message.output_text.logprobs":
			r.Logprobs = true
		case name == "reasoning.encrypted_content":
			r.encrypted = true
		case !slices.Contains(includable, name):
			o.Complain("include", fmt.Sprintf("%q cannot be included; expected some of %s", name, strings.Join(includable, ", ")))
		}
	}
	if given := o.Choice("truncation", "auto", "disabled"); given != nil {
		r.truncates = *given == "auto"
	}
	readMetadata(o)
}

func truth(o *body.Object, name string, otherwise bool) bool {
	if value := o.Bool(name); value != nil {
		return *value
	}
	return otherwise
}

// checkStored: what needs the store, and what does not go together.
func (h *Handler) checkStored(r *Request) error {
	switch {
	case r.background && !r.store:
		return apierror.Invalidf("background", "a response in the background must be stored: `background` needs `store`")
	case r.background && h.Store == nil:
		return apierror.Invalidf("background", "a response in the background must be stored, and the server was started without a store (--responses-store)")
	case r.previous != "" && r.conversation != "":
		return apierror.Invalidf("conversation", "`conversation` and `previous_response_id` cannot be given together")
	case (r.previous != "" || r.conversation != "") && h.Store == nil:
		return apierror.Invalidf("previous_response_id", "the server was started without a store (--responses-store)")
	}
	r.store = r.store && h.Store != nil
	return nil
}

func (r *Request) readSampling(o *body.Object) {
	s := &r.Sampling
	s.Temperature, s.TopP, s.MinP = o.Float("temperature"), o.Float("top_p"), o.Float("min_p")
	s.PresencePenalty, s.FrequencyPenalty, s.RepetitionPenalty = o.Float("presence_penalty"), o.Float("frequency_penalty"), o.Float("repetition_penalty")
	s.Seed = o.Int("seed")
	s.IgnoreEOS = truth(o, "ignore_eos", false)
	if k := o.Int("top_k"); k != nil {
		n := int(*k)
		s.TopK = &n
	}
	r.Stop = o.Strings("stop", true)
	r.StopTokens = o.Ints("stop_token_ids")
	r.SkipSpecial, r.SpacesBetween = o.Bool("skip_special_tokens"), o.Bool("spaces_between_special_tokens")
	if n := o.Int("max_output_tokens"); n != nil {
		if r.MaxTokens = int(*n); *n < 1 {
			o.Complain("max_output_tokens", "max_output_tokens must be at least 1")
		}
	}
	if n := o.Int("top_logprobs"); n != nil {
		if r.TopLogprobs = int(*n); *n < 0 {
			o.Complain("top_logprobs", "top_logprobs must be at least 0")
		}
		r.Logprobs = r.Logprobs || *n > 0
	}
	if n := o.Int("max_tool_calls"); n != nil && *n < 1 {
		o.Complain("max_tool_calls", "max_tool_calls must be at least 1")
	}
}

// readReasoning gives the effort; "" asks for none in particular.
func (r *Request) readReasoning(o *body.Object) (effort string) {
	reasoning := o.Object("reasoning")
	if reasoning == nil {
		return ""
	}
	reasoning.Choice("summary", "auto", "concise", "detailed", "none")
	if given := reasoning.Choice("effort", generate.Efforts...); given != nil {
		return *given
	}
	return ""
}

// readFormat reads text.format, and vLLM's structured_outputs, which says the same in another way.
func (r *Request) readFormat(o *body.Object) error {
	r.readText(o)
	if err := o.Err(); err != nil {
		return err
	}
	structured, err := generate.StructuredOutputs(o.Raw("structured_outputs"), r.ToolChoice)
	if err != nil || structured == nil {
		return err
	}
	if r.ResponseFormat != nil {
		return apierror.Invalidf("structured_outputs", "text.format and structured_outputs cannot be given together")
	}
	r.ResponseFormat = structured
	return nil
}

// readText reads text.format.
func (r *Request) readText(o *body.Object) {
	t := o.Object("text")
	if t == nil {
		return
	}
	t.Choice("verbosity", "low", "medium", "high")
	format := t.Object("format")
	if format == nil {
		return
	}
	format.Need("type")
	kind := format.Choice("type", "text", "json_object", "json_schema")
	if kind == nil {
		return
	}
	switch *kind {
	case "json_object":
		r.ResponseFormat = &generate.ResponseFormat{Dialect: engine.JSONObject, Param: "text.format"}
	case "json_schema":
		text(format, "name")
		if format.Need("schema") && format.Object("schema") != nil {
			r.ResponseFormat = &generate.ResponseFormat{Dialect: engine.JSONSchema, Text: string(format.Raw("schema")), Param: "text.format"}
		}
	}
}

// readInput reads the request's own items. Each has an id; one without gets one. What goes on from somewhere needs none.
func (r *Request) readInput(o *body.Object) {
	goesOn := o.Raw("previous_response_id") != nil || o.Raw("conversation") != nil
	if o.Raw("input") == nil && goesOn || !o.Require("input") {
		return
	}
	switch value := o.Raw("input"); value.Kind() {
	case '"':
		r.input = append(r.input, newItem(value))
	case '[':
		values, _ := body.Elements(value)
		for i, item := range o.Objects("input") {
			if item == nil {
				continue
			}
			value := values[i]
			kind := item.String("type")
			switch {
			case kind != nil && *kind == "additional_tools":
				r.readTools(item, "tools")
			case isReference(item):
				r.references[len(r.input)] = true
				r.input = append(r.input, store.Item{ID: text(item, "id"), JSON: value})
			default:
				r.input = append(r.input, itemOf(value))
			}
		}
	default:
		o.Complain("input", "Input should be a text, or a list of items")
	}
}

// isReference tells whether an item only refers to one that is stored: it says so, or it has nothing but an id.
func isReference(item *body.Object) bool {
	if kind := item.String("type"); kind != nil {
		return *kind == "item_reference"
	}
	return item.Raw("id") != nil && !item.Has("role") && !item.Has("content")
}

// newItem makes an item of the user's text.
func newItem(quoted jsontext.Value) store.Item {
	id := generate.NewID("msg_")
	return store.Item{ID: id, JSON: fmt.Appendf(nil, `{"type":"message","id":%q,"status":"completed","role":"user","content":[{"type":"input_text","text":%s}]}`, id, quoted)}
}

// itemOf makes an item of one that a request has: with an id, unless it has one, and in full if it is a message in short.
func itemOf(value jsontext.Value) store.Item {
	members, _ := body.Members(value)
	members = inFull(members)
	if id := body.Lookup(members, "id"); id.Kind() == '"' && body.Text(id) != "" {
		return store.Item{ID: body.Text(id), JSON: body.Join(members)}
	}
	id := generate.NewID("msg_")
	return store.Item{ID: id, JSON: body.Join(with(members, "id", body.Quote(nil, id)))}
}

// inFull writes out a message that has no type, or a text for its parts, as the interface allows in a request: lists of items
// hold neither.
func inFull(members []body.Member) []body.Member {
	kind, role, content := body.Lookup(members, "type"), body.Lookup(members, "role"), body.Lookup(members, "content")
	switch {
	case kind.Kind() == '"' && body.Text(kind) != "message", role.Kind() != '"':
		return members
	case kind.Kind() != '"':
		members = with(members, "type", jsontext.Value(`"message"`))
	}
	if body.Lookup(members, "status").Kind() != '"' {
		members = with(members, "status", jsontext.Value(`"completed"`))
	}
	if content.Kind() != '"' {
		return members
	}
	if body.Text(role) == "assistant" {
		return with(members, "content", fmt.Appendf(nil, `[{"type":"output_text","text":%s,"annotations":[]}]`, content))
	}
	return with(members, "content", fmt.Appendf(nil, `[{"type":"input_text","text":%s}]`, content))
}

// with is an object with a member.
func with(members []body.Member, name string, value jsontext.Value) []body.Member {
	members = slices.DeleteFunc(members, func(m body.Member) bool { return m.Name == name })
	return append(members, body.Member{Name: name, Value: value})
}

// load finds the items that a request goes on from: those of all responses before it, none left out (W23), or those of
// its conversation; and it puts items in the place of references to them.
func (h *Handler) load(ctx context.Context, r *Request) error {
	switch {
	case r.conversation != "":
		if _, err := h.Store.Conversation(ctx, r.conversation); err != nil {
			return stored(err, "conversation", r.conversation)
		}
		items, err := h.Store.Items(ctx, r.conversation)
		if err != nil {
			return stored(err, "conversation", r.conversation)
		}
		r.history = items
	case r.previous != "":
		var chain []*store.Response
		for id, seen := r.previous, map[string]bool{}; id != "" && !seen[id]; {
			seen[id] = true
			response, err := h.Store.Get(ctx, id)
			if err != nil {
				return stored(err, "response", id)
			}
			if !store.Over(response.Status) {
				return apierror.Invalidf("previous_response_id", "the response %s is not over: its status is %s", id, response.Status)
			}
			chain = append(chain, response)
			id = response.Previous
		}
		for _, response := range slices.Backward(chain) {
			r.history = append(append(r.history, response.Input...), response.Output...)
		}
	}
	for i, item := range r.input {
		if !r.references[i] {
			continue
		}
		if h.Store == nil {
			return apierror.Invalidf(fmt.Sprintf("input.%d", i), "an item_reference needs the store, and the server was started without one (--responses-store)")
		}
		found, err := h.Store.Item(ctx, item.ID)
		if err != nil {
			return stored(err, "item", item.ID)
		}
		r.input[i] = found
	}
	return nil
}
