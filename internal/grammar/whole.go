package grammar

import "encoding/json/jsontext"

// GroupCapture stands before the names of captures that a WholeReader asks for.
const GroupCapture = "group "

// WholeReader reads a region of calls that can only be read when all of it is there: the calls are made from its text by
// rules of a response template that nothing streams by. A reader is immutable and may be used by many goroutines.
type WholeReader interface {
	// Read gives the calls of a region. captured gives what the groups of its opener have captured. ok is false if the
	// text holds no calls.
	Read(text string, captured func(group string) string) (calls []WholeCall, ok bool)
	// Name is the name of the call as far as the opener tells it, else "".
	Name(captured func(group string) string) string
	// Certain tells that the opener names the call and that any text of the region holds it: the call begins at once.
	Certain() bool
	// Strings are the delimiters between which markers are text, opening and closing ones. Those of JSON ('"', with
	// backslashes) are among them as a pair of quotes.
	Strings() [][2]string
}

// WholeCall is a call of a region that was read whole. Its arguments are Members, if it has any, else the JSON text
// Arguments.
type WholeCall struct {
	Name      string
	Arguments string
	Members   []WholeMember
	// Made: the arguments are the object of the members, even if there are none.
	Made bool
}

// WholeMember is an argument: JSON, or one or several texts that become values by the schema.
type WholeMember struct {
	Key   string
	JSON  jsontext.Value
	Texts []string
	// List: the values are the elements of a list.
	List bool
	// Values are the elements of a list of JSON.
	Values []jsontext.Value
}
