package doctor_test

import (
	"testing"

	"github.com/parlance-llm/parlance/doctor"
	"github.com/parlance-llm/parlance/engine"
)

// TestHealthy finds nothing on the recordings that come with the binary, whether or not it is told the parsers.
func TestHealthy(t *testing.T) {
	url := serve(t)
	for _, m := range engine.Bundled() {
		t.Run(m.Model, func(t *testing.T) {
			for _, o := range []doctor.Options{
				{URL: url, Model: m.Model},
				{URL: url, Model: m.Model, ToolCallParser: m.ToolCallParser, ReasoningParser: m.ReasoningParser},
			} {
				r := examine(t, o)
				for _, f := range r.Findings {
					t.Errorf("%s %s: %s: %s", o.ToolCallParser, o.ReasoningParser, f.Code, f.Says)
				}
				if r.Prompt == "" || r.Raw == nil || r.Raw.Text == "" || r.Read == nil || len(r.Read.Calls) != 1 || len(r.Streamed.Calls) != 1 {
					t.Errorf("expected the prompt, the raw text and a call, found %q, %+v, %+v", r.Prompt, r.Raw, r.Read)
				}
			}
		})
	}
}
