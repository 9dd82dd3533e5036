package generate

import (
	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
)

// Step is what one piece of an engine's stream has made certain in one choice.
type Step struct {
	Choice int
	// Deltas are in the order of the output.
	Deltas []Delta
	// Logprobs and TokenIDs are of the tokens that arrived with the piece; the deltas need not be of the same tokens.
	// Both are nil unless they were asked for.
	Logprobs []engine.TokenLogprob
	TokenIDs []int
	// PromptTokenIDs come with the first step, if token ids were asked for and the engine tells.
	PromptTokenIDs []int
	// Finish is set in the last step of a choice.
	Finish *Finish
	// Usage counts the choice's tokens so far.
	Usage Usage
}

// Delta is a part of a step.
type Delta struct {
	Kind parlance.Kind
	// Text is text of a tray or of arguments.
	Text string
	// Call is the number of the call in its choice, from 0 without gaps, for the kinds that belong to one.
	Call int
	// Name and ID come with a ToolCall. There is always an ID.
	Name, ID string
	// Malformed and Cut come with a ToolCallEnd: the arguments are not a JSON object, or are only the beginning of one.
	Malformed, Cut bool
}

// Finish is why a choice ended.
type Finish struct {
	// Reason is the engine's.
	Reason engine.FinishReason
	// StopString is the stop string that was met, StopToken the stop token; "" and nil if the model ended by itself.
	StopString string
	StopToken  *int
	// Calls is how many calls the choice has, Cut whether the last of them is unfinished.
	Calls int
	Cut   bool
}

// Incomplete tells whether the model was cut off before it was done. A stop string is an end that was asked for.
func (f *Finish) Incomplete() bool { return f.Reason != engine.FinishStop }

// OpenAI is the reason in the words of OpenAI's interfaces, tool calls aside. What an engine gave up, or ended because it
// went round in circles, was cut off; other words are none of the interfaces' (W37).
func (f *Finish) OpenAI() string {
	switch {
	case f.Reason == engine.FinishFilter:
		return string(engine.FinishFilter)
	case f.Incomplete():
		return string(engine.FinishLength)
	}
	return string(engine.FinishStop)
}

// StopReason is the stop string or the stop token that ended the choice, or what else did; nil if the model ended by
// itself, or at a limit.
func (f *Finish) StopReason() any {
	switch {
	case f.StopString != "":
		return f.StopString
	case f.StopToken != nil:
		return *f.StopToken
	case f.Reason == engine.FinishRepetition:
		return "repetition_detected"
	case f.Reason == engine.FinishAbort:
		return "abort"
	}
	return nil
}

// Usage counts tokens.
type Usage struct {
	Prompt, Completion, Cached int
	// Reasoning is how many of Completion became reasoning, shown or not; without the markers of the thought.
	Reasoning int
	// Estimated: the engine did not count, so these are guesses from the length of the text.
	Estimated bool
}

// Add adds another choice's usage; the prompt counts once.
func (u Usage) Add(other Usage) Usage {
	return Usage{
		Prompt: max(u.Prompt, other.Prompt), Cached: max(u.Cached, other.Cached),
		Completion: u.Completion + other.Completion, Reasoning: u.Reasoning + other.Reasoning,
		Estimated: u.Estimated || other.Estimated,
	}
}

// Answer is a whole choice.
type Answer struct {
	Choice             int
	Reasoning, Content string
	Calls              []Call
	// Segments are the same in the order in which they were written.
	Segments       []parlance.Segment
	Logprobs       []engine.TokenLogprob
	TokenIDs       []int
	PromptTokenIDs []int
	Finish         Finish
	Usage          Usage
}

// Call is a tool call of an answer.
type Call struct {
	ID, Name, Arguments string
	Malformed, Cut      bool
}

// Collector puts the steps of one choice together.
type Collector struct {
	message parlance.Collector
	answer  Answer
}

// Add takes a step.
func (c *Collector) Add(s Step) {
	deltas := make([]parlance.Delta, len(s.Deltas))
	for i, d := range s.Deltas {
		deltas[i] = parlance.Delta{Kind: d.Kind, Text: []byte(d.Text), Call: d.Call, Name: d.Name, ID: d.ID, Malformed: d.Malformed, Cut: d.Cut}
	}
	c.message.Add(deltas)
	a := &c.answer
	a.Choice, a.Usage = s.Choice, s.Usage
	a.Logprobs = append(a.Logprobs, s.Logprobs...)
	a.TokenIDs = append(a.TokenIDs, s.TokenIDs...)
	if s.PromptTokenIDs != nil {
		a.PromptTokenIDs = s.PromptTokenIDs
	}
	if s.Finish != nil {
		a.Finish = *s.Finish
	}
}

// Answer is what the steps make.
func (c *Collector) Answer() *Answer {
	m := c.message.Message()
	a := c.answer
	a.Reasoning, a.Content, a.Segments = m.Reasoning, m.Content, m.Segments
	for _, call := range m.Calls {
		a.Calls = append(a.Calls, Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments, Malformed: call.Malformed, Cut: call.Cut})
	}
	return &a
}
