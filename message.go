package parlance

// Message is a whole output, sorted.
type Message struct {
	// Reasoning and Content are the text of the trays, put together in the order of the output.
	Reasoning string
	Content   string
	// Calls are the tool calls in the order of the output.
	Calls []Call
	// Segments are the same in the order in which they were written.
	Segments []Segment
	// Malformed: the arguments of some call of a stream could not be read (ruling 34).
	Malformed bool
	// ReasoningTokens is how many tokens became reasoning; only ParseTokens counts them.
	ReasoningTokens int
	// Trace tells what became of every byte, if the request asked for it.
	Trace []Span
}

// Call is a tool call.
type Call struct {
	// ID is the id that the model wrote, "" where its format has none.
	ID string
	// Name is the name of the function.
	Name string
	// Arguments is the argument text: one JSON object, unless the call is malformed or was cut off.
	Arguments string
	// Malformed: the arguments could not be read; they stand as they were written.
	Malformed bool
	// Cut: the output was cut off in the arguments.
	Cut bool
}

// Kind says what a segment, or a delta, is.
type Kind uint8

// The kinds. A segment is of one of the first three.
const (
	// Content: text for the user.
	Content Kind = iota
	// Reasoning: text of the thought.
	Reasoning
	// ToolCall: a call; of a delta: a call begins, with its name.
	ToolCall
	// Arguments: more of the argument text of a call.
	Arguments
	// ToolCallEnd: a call is over.
	ToolCallEnd
)

func (k Kind) String() string {
	return [...]string{"content", "reasoning", "tool_call", "arguments", "tool_call_end"}[k]
}

// Segment is a stretch of text of one tray, or a call.
type Segment struct {
	Kind Kind
	// Text is the text of a tray's segment.
	Text string
	// Call is the number of the call, from 0.
	Call int
}

// Delta is one thing that has become certain in a stream.
type Delta struct {
	Kind Kind
	// Text is text of a tray or of arguments. It is valid until the next call of a method of the Stream.
	Text []byte
	// Call is the number of the call for the kinds that belong to one.
	Call int
	// Name and ID come with ToolCall.
	Name, ID string
	// Malformed and Cut come with ToolCallEnd.
	Malformed, Cut bool
}

// Span is a piece of the input, in bytes from its beginning, and what became of it.
type Span struct {
	Start, End int
	// Became is markup, content, reasoning, arguments, junk (text inside a call that means nothing there), dropped
	// (text that a channel drops) or layout (white space that belongs to no tray).
	Became string
	// Call is the number of the call for arguments and junk, else -1.
	Call int
}
