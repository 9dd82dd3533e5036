package explain

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"testing"
)

type own struct{}

func (own) UnmarshalJSON([]byte) error { return Expected("expected something of our own") }

func TestError(t *testing.T) {
	var into struct {
		Text  string
		List  []struct{ Number int }
		Truth bool
		Own   own
		Map   map[string]int
	}
	for data, want := range map[string]string{
		`{"Text":3}`:                             "Text: expected a string, found a number",
		`{"List":{}}`:                            "List: expected an array, found an object",
		`{"List":[{"Number":1},{"Number":"x"}]}`: "List[1].Number: expected a number, found a string",
		`{"Truth":[]}`:                           "Truth: expected true or false, found an array",
		`{"Own":1}`:                              "Own: expected something of our own",
		`{"Map":null,"Text":true}`:               "Text: expected a string, found true or false",
		`[]`:                                     "expected an object, found an array",
		`{`:                                      "expected JSON: it ends too early, at byte 1",
	} {
		if err := Error(json.Unmarshal([]byte(data), &into)); err == nil || err.Error() != want {
			t.Errorf("%s: expected %q, found %v", data, want, err)
		}
	}
	if err := errors.New("another"); Error(err) != err || Error(nil) != nil {
		t.Error("what is no error of JSON has changed")
	}
	if found := Kind(jsontext.Value(`null`).Kind()); found != "null" {
		t.Errorf("found %s", found)
	}
}
