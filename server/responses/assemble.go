package responses

import (
	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/generate"
)

// event is an event of a stream. The fields of its type are set.
type event struct {
	Type         string      `json:"type"`
	Sequence     int         `json:"sequence_number"`
	Response     *object     `json:"response,omitzero"`
	OutputIndex  *int        `json:"output_index,omitzero"`
	ContentIndex *int        `json:"content_index,omitzero"`
	ItemID       string      `json:"item_id,omitzero"`
	Item         *item       `json:"item,omitzero"`
	Part         *outputPart `json:"part,omitzero"`
	Delta        *string     `json:"delta,omitzero"`
	Text         *string     `json:"text,omitzero"`
	Name         string      `json:"name,omitzero"`
	Arguments    *string     `json:"arguments,omitzero"`
	Input        *string     `json:"input,omitzero"`
	Logprobs     *[]logprob  `json:"logprobs,omitzero"`
}

// assembler makes items, and the events that tell of them, of the steps of an answer. Whole answers are made by it too, so
// that they are the same.
type assembler struct {
	request *Request
	object  *object
	// send takes an event with its data; nil tells nobody.
	send func(name string, data []byte) error
	// journal stores the events of a response that is made in the background; nil for others.
	journal  *journal
	sequence int
	open     *item
	input    inputDecoder // of a custom tool's call
	logprobs []logprob    // of the step, until a delta takes them
}

// tell sends an event.
func (a *assembler) tell(e event) error {
	e.Sequence = a.sequence
	a.sequence++
	if a.send == nil {
		return nil
	}
	return a.send(e.Type, encode(e))
}

// lifecycle tells of the response itself.
func (a *assembler) lifecycle(name string) error {
	return a.tell(event{Type: "response." + name, Response: a.object})
}

// step takes a step.
func (a *assembler) step(s generate.Step) error {
	a.logprobs = a.request.logprobsOf(s.Logprobs)
	for _, d := range s.Deltas {
		if err := a.delta(d); err != nil {
			return err
		}
	}
	if s.Finish == nil {
		return nil
	}
	status := completed
	if s.Finish.Incomplete() {
		status = incomplete
		if n := len(a.object.Output); a.open == nil && n > 0 && s.Finish.Cut {
			a.object.Output[n-1].Status = incomplete
		}
	}
	return a.close(status)
}

func (a *assembler) delta(d generate.Delta) error {
	switch d.Kind {
	case parlance.Reasoning:
		return a.text(typeReasoning, "rs_", d.Text)
	case parlance.Content:
		return a.text(typeMessage, "msg_", d.Text)
	case parlance.ToolCall:
		t := a.request.toolOf(d.Name)
		i := &item{Type: typeFunction, ID: generate.NewID("fc_"), CallID: d.ID, Name: t.name, Namespace: t.namespace}
		if t.custom {
			i.Type, i.ID = typeCustom, generate.NewID("ctc_")
			a.input = inputDecoder{}
		}
		return a.add(i)
	case parlance.Arguments:
		return a.arguments(d.Text)
	}
	if d.Cut {
		return a.close(incomplete)
	}
	return a.close(completed)
}

// add closes the open item and opens another.
func (a *assembler) add(i *item) error {
	if err := a.close(completed); err != nil {
		return err
	}
	i.Status = inProgress
	a.open = i
	a.object.Output = append(a.object.Output, i)
	return a.tell(event{Type: "response.output_item.added", OutputIndex: a.index(), Item: i})
}

func (a *assembler) index() *int {
	n := len(a.object.Output) - 1
	return &n
}

var first = new(int) // the index of the only content part

// text adds text to the open item of a type, or to a new one.
func (a *assembler) text(kind, prefix, text string) error {
	if a.open == nil || a.open.Type != kind {
		if err := a.add(&item{Type: kind, ID: generate.NewID(prefix)}); err != nil {
			return err
		}
		part := a.open.part()
		if err := a.tell(event{Type: "response.content_part.added", OutputIndex: a.index(), ContentIndex: first, ItemID: a.open.ID, Part: &part}); err != nil {
			return err
		}
		a.open.contentful = true
	}
	a.open.text += text
	e := event{Type: "response.output_text.delta", OutputIndex: a.index(), ContentIndex: first, ItemID: a.open.ID, Delta: &text}
	if kind == typeReasoning {
		e.Type = "response.reasoning_text.delta"
	} else {
		logprobs := append([]logprob{}, a.logprobs...)
		a.open.logprobs = append(a.open.logprobs, a.logprobs...)
		a.logprobs, e.Logprobs = nil, &logprobs
	}
	return a.tell(e)
}

// arguments adds to the arguments of the open call.
func (a *assembler) arguments(text string) error {
	if a.open == nil {
		return nil
	}
	kind := "response.function_call_arguments.delta"
	if a.open.Type == typeCustom {
		kind = "response.custom_tool_call_input.delta"
		if text = a.input.write(text); text == "" {
			return nil
		}
	}
	a.open.Arguments += text
	return a.tell(event{Type: kind, OutputIndex: a.index(), ItemID: a.open.ID, Delta: &text})
}

// close closes the open item.
func (a *assembler) close(status string) error {
	i := a.open
	if i == nil {
		return nil
	}
	a.open, i.Status = nil, status
	done := event{OutputIndex: a.index(), ItemID: i.ID}
	switch i.Type {
	case typeReasoning:
		if a.request.encrypted {
			secret := seal(i.text)
			i.encrypted = &secret
		}
		done.Type, done.ContentIndex, done.Text = "response.reasoning_text.done", first, &i.text
	case typeMessage:
		logprobs := append([]logprob{}, i.logprobs...)
		done.Type, done.ContentIndex, done.Text, done.Logprobs = "response.output_text.done", first, &i.text, &logprobs
	case typeFunction:
		done.Type, done.Name, done.Arguments = "response.function_call_arguments.done", i.Name, &i.Arguments
	case typeCustom:
		done.Type, done.Input = "response.custom_tool_call_input.done", &i.Arguments
	}
	if err := a.tell(done); err != nil {
		return err
	}
	if i.contentful {
		part := i.part()
		if err := a.tell(event{Type: "response.content_part.done", OutputIndex: a.index(), ContentIndex: first, ItemID: i.ID, Part: &part}); err != nil {
			return err
		}
	}
	return a.tell(event{Type: "response.output_item.done", OutputIndex: a.index(), Item: i})
}
