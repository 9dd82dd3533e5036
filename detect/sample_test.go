package detect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parlance-llm/parlance"
)

type sampleCase struct {
	ID        string          `json:"id"`
	Text      string          `json:"text"`
	Tool      string          `json:"tool_parser"`
	Reasoning string          `json:"reasoning_parser"`
	Choice    json.RawMessage `json:"tool_choice"`
	Prompt    string          `json:"prompt"`
	Finish    string          `json:"finish_reason"`
	Special   []string        `json:"special_tokens"`
	Template  json.RawMessage `json:"response_template"`
	Tools     json.RawMessage `json:"tools"`
}

// casesOf are all cases that a format of its own reads.
func casesOf(t testing.TB) (out []sampleCase) {
	files, err := filepath.Glob("../conformance/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		if filepath.Base(file) == "tools.json" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []sampleCase
		if err := json.Unmarshal(data, &cases); err != nil {
			continue
		}
		for _, c := range cases {
			if c.Template == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// plain tells whether a case is read as any output is: no forced call, no cut.
func (c *sampleCase) plain() bool {
	choice, err := parlance.ParseToolChoice(c.Choice)
	info, _ := parlance.Format(c.Tool)
	return c.Tool != "" && !info.ResponseTemplate && c.Finish != "length" && err == nil && (choice.Mode == "" || choice.Mode == "auto")
}

// formatOf is the definition behind a tool-parser name.
func formatOf(tool string) string {
	for _, f := range standard().families {
		if slices.Contains(f.ToolNames, tool) {
			return f.Name
		}
	}
	return ""
}

// TestSamplesOfTheCases holds the detector against every output with a whole call: the format that wrote it is the best
// guess, or as good as the best, in 98 % of them, and never is a guess sure and wrong.
func TestSamplesOfTheCases(t *testing.T) {
	right, all := 0, 0
	for _, c := range casesOf(t) {
		if !c.plain() {
			continue
		}
		p, err := parlance.Lookup(c.Tool, c.Reasoning)
		if err != nil {
			t.Fatal(err)
		}
		m := p.Parse(c.Text, parlance.Request{SpecialTokens: c.Special}, parlance.FinishStop)
		if len(m.Calls) == 0 || m.Malformed {
			continue
		}
		all++
		r := Samples(c.Text)
		if len(r.Tools) == 0 {
			t.Logf("%s: nothing for %q", c.ID, c.Text)
			continue
		}
		best, want := r.Tools[0], formatOf(c.Tool)
		if best.Format == want || slices.ContainsFunc(best.Like, func(name string) bool { return formatOf(name) == want }) {
			right++
			continue
		}
		if best.Sure {
			t.Errorf("%s: sure of %s, and it is %s: %q", c.ID, best.Format, want, c.Text)
		}
		t.Logf("%s: %s, want %s, for %q", c.ID, best.Format, want, c.Text)
	}
	t.Logf("%d of %d", right, all)
	if right*100 < all*98 {
		t.Error("less than 98 %")
	}
}

// TestSharedCallsAreNotSure: where several formats explain the calls alike, none of their thoughts is sure either, unless they
// write the same.
func TestSharedCallsAreNotSure(t *testing.T) {
	r := Samples("Hm.\n</think>\n<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>")
	if len(r.Tools) == 0 || len(r.Reasoning) == 0 || r.Tools[0].Sure || r.Reasoning[0].Sure {
		t.Errorf("expected guesses that are not sure, found %+v", r)
	}
}
