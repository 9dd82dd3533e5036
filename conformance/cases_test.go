package conformance_test

import (
	"errors"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
)

// splits is the number of random splits of each case in a test run; `parlance check --splits` takes more.
const splits = 20

// TestCases runs every case through the library. Cases of parsers that do not exist are skipped.
func TestCases(t *testing.T) {
	cases, err := conformance.Load("cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			_, err := parlance.Lookup(c.ToolParser, c.ReasoningParser)
			if unknown := (*parlance.NameError)(nil); errors.As(err, &unknown) {
				t.Skip(unknown)
			}
			conformance.Run(conformance.Library{}, []*conformance.Case{c}, splits, func(o *conformance.Outcome) {
				if !o.Passed() {
					t.Error(o)
				}
			})
		})
	}
}
