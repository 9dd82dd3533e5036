package oddvalue

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEach(t *testing.T) {
	const text = `{"a":[1,{"b":"x"}],"c":null}`
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	var got []string
	Each(value, []any{nil, true}, func(place string, odd any) {
		changed, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, place+" "+string(changed))
	})
	slices.Sort(got)
	want := []string{
		`a {"a":null,"c":null}`, `a {"a":true,"c":null}`,
		`a.0 {"a":[null,{"b":"x"}],"c":null}`, `a.0 {"a":[true,{"b":"x"}],"c":null}`,
		`a.1 {"a":[1,null],"c":null}`, `a.1 {"a":[1,true],"c":null}`,
		`a.1.b {"a":[1,{"b":null}],"c":null}`, `a.1.b {"a":[1,{"b":true}],"c":null}`,
		`c {"a":[1,{"b":"x"}],"c":null}`, `c {"a":[1,{"b":"x"}],"c":true}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if after, err := json.Marshal(value); err != nil || string(after) != text {
		t.Errorf("afterwards it is %s (%v)", after, err)
	}
}
