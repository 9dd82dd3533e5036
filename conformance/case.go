package conformance

import (
	"encoding/json/jsontext"

	"github.com/parlance-llm/parlance/internal/explain"
)

// Case is one case of a file.
type Case struct {
	// File is where the case was read from.
	File string `json:"-"`

	ID  string `json:"id"`
	Why string `json:"why"`
	Input
	// PlainTokens are markers that are ordinary text in the vocabulary; only a reader of token ids can know.
	PlainTokens []string `json:"plain_tokens,omitzero"`
	// Want is the right answer; WantStream replaces it for streams, if it is there (ruling 1).
	Want       *Want `json:"want"`
	WantStream *Want `json:"want_stream,omitzero"`
	// Reference and Chunkings tell what a reference implementation made of the case. They are information.
	Reference jsontext.Value `json:"reference,omitzero"`
	Chunkings jsontext.Value `json:"chunkings,omitzero"`
}

// Want is what must come of a case.
type Want struct {
	Reasoning string     `json:"reasoning"`
	Content   string     `json:"content"`
	ToolCalls []WantCall `json:"tool_calls"`
}

// WantCall is a call that must come.
type WantCall struct {
	Name      string        `json:"name"`
	Arguments WantArguments `json:"arguments"`
}

// WantArguments are the arguments of a call that must come: an object, compared as a JSON value, or a string, which is
// the argument text sent so far, compared byte for byte (rulings 2, 3).
type WantArguments struct {
	// Object is the object, nil if the text is wanted.
	Object    jsontext.Value
	Text      string
	canonical string // Object in canonical form
	given     bool   // that there are any
}

// UnmarshalJSON reads an object or a string.
func (a *WantArguments) UnmarshalJSON(data []byte) error {
	a.given = true
	switch kind := jsontext.Value(data).Kind(); kind {
	case '{':
		a.Object = jsontext.Value(data).Clone()
		var err error
		a.canonical, err = canonical(a.Object)
		return err
	case '"':
		return Decode(data, &a.Text)
	default:
		return explain.Expected("expected an object or a string, found %s", explain.Kind(kind))
	}
}

// MarshalJSON writes the object or the string.
func (a WantArguments) MarshalJSON() ([]byte, error) {
	if a.Object != nil {
		return a.Object, nil
	}
	return Encode(a.Text)
}

func (a *WantArguments) String() string {
	if a.Object != nil {
		return compact(a.Object)
	}
	return a.Text
}

// wants is what a case wants of one chunking.
func (c *Case) wants(k Chunking) *Want {
	if k.Stream && c.WantStream != nil {
		return c.WantStream
	}
	return c.Want
}
