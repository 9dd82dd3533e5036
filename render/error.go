package render

import "fmt"

// Reason says in a word why a format cannot carry a message, so that refusals can be counted.
type Reason string

// The reasons.
const (
	// ReasonArguments: the arguments of a call are not one JSON object.
	ReasonArguments Reason = "arguments"
	// ReasonCalls: no calls can be written, because no tool half is chosen or the tool choice is none.
	ReasonCalls Reason = "calls"
	// ReasonCloser: a text value holds the marker that would end it.
	ReasonCloser Reason = "closer"
	// ReasonKey: the name of an argument has characters that the format cannot write in one.
	ReasonKey Reason = "key"
	// ReasonLone: the only argument holds an object and would be taken for all the arguments (ruling 30).
	ReasonLone Reason = "lone argument"
	// ReasonMarker: text of the message would be read as markup.
	ReasonMarker Reason = "marker"
	// ReasonName: the name of the function has characters that the format cannot write in one.
	ReasonName Reason = "name"
	// ReasonOrder: the format has no place for this part of the message where it stands.
	ReasonOrder Reason = "order"
	// ReasonResult: a tool result lacks something that the format writes of every one, such as the name of the function.
	ReasonResult Reason = "result"
	// ReasonResults: the definition of the format does not say how tool results are written.
	ReasonResults Reason = "results"
	// ReasonSpace: white space inside the message would be taken for markup.
	ReasonSpace Reason = "white space"
	// ReasonTemplate: the response template reads arguments in a way that cannot be turned round.
	ReasonTemplate Reason = "template"
	// ReasonThought: no reasoning can be written here: no reasoning half is chosen, thinking is off, or the thought is over.
	ReasonThought Reason = "thought"
	// ReasonType: a value would be read as one of another type, because the format does not write types and the tool's
	// schema says another one, or none.
	ReasonType Reason = "type"
)

// Error says what of a message its format cannot carry, and why.
type Error struct {
	// Format is the name of the format.
	Format string
	Reason Reason
	// Call is the number of the call at fault, from 0, or -1.
	Call int
	// Argument is the JSON pointer of the argument at fault, or "".
	Argument string
	// Value is what cannot be carried, shortened.
	Value string
	// Detail says what was expected.
	Detail string
}

func (e *Error) Error() string {
	where := ""
	if e.Call >= 0 {
		where = fmt.Sprintf(" of call %d", e.Call)
		if e.Argument != "" {
			where = fmt.Sprintf(" at %s%s", e.Argument, where)
		}
	}
	value := ""
	if e.Value != "" {
		value = fmt.Sprintf(", found %q", e.Value)
	}
	return fmt.Sprintf("%s cannot carry the message (%s%s): %s%s", e.Format, e.Reason, where, e.Detail, value)
}

// shortly shortens a value for an error.
func shortly(value string) string {
	const most = 80
	if len(value) <= most {
		return value
	}
	return value[:most] + "…"
}
