package constraint

import (
	"bufio"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// reference is a structural tag of vLLM with texts that it accepts.
type reference struct {
	Parser     string         `json:"parser"`
	Key        string         `json:"key"`
	Strict     bool           `json:"strict"`
	ToolChoice jsontext.Value `json:"tool_choice"`
	Tag        jsontext.Value `json:"structural_tag"`
	Texts      []string       `json:"texts"`
}

func references(t testing.TB) (out []reference) {
	file, err := os.Open("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r reference
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// request is the request for which the reference made its tag.
func (r *reference) request(t testing.TB) (Request, *parlance.Parser) {
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := ParseTools(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tools {
		tools[i].Strict = r.Strict
	}
	choice, err := parlance.ParseToolChoice(r.ToolChoice)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parlance.Lookup(r.Parser, "")
	if err != nil {
		t.Fatal(err)
	}
	return Request{Tools: tools, ToolChoice: choice, StrictLevel: LevelFunction}, p
}

// What the reference's own tags accept is accepted, where the reference is right.
func TestReferenceTags(t *testing.T) {
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := parlance.ParseTools(data)
	if err != nil {
		t.Fatal(err)
	}
	schemas := validators(t, data)
	accepted, wrong := 0, map[string]int{}
	for _, r := range references(t) {
		request, p := r.request(t)
		c, err := New(p, request)
		if err != nil {
			t.Errorf("%s: %v", r.Key, err)
			continue
		}
		for _, text := range r.Texts {
			if c.Accepts(text) {
				accepted++
				continue
			}
			m := p.Parse(text, parlance.Request{Tools: tools}, parlance.FinishStop)
			if reason := r.wrong(m, schemas); reason != "" {
				wrong[reason]++
				continue
			}
			t.Errorf("%s strict=%v %s: refused %q", r.Key, r.Strict, r.ToolChoice, text)
		}
	}
	t.Logf("%d accepted; where the reference is wrong: %v", accepted, wrong)
}

// wrong says why the reference should not have let an output through, "" if it was right to.
func (r *reference) wrong(m *parlance.Message, schemas map[string]*schemaOf) string {
	forced := string(r.ToolChoice) != `"auto"`
	switch {
	case forced && len(m.Calls) == 0:
		return "a forced call that does not come"
	case r.ToolChoice.Kind() == '{' && len(m.Calls) > 1:
		return "more calls than the named one"
	case forced && m.Content != "" && r.Key != "kimi_k3":
		return "text beside a forced call"
	}
	if strings.Contains(m.Content, "<tool_call>") {
		return "something between call tags that is no call"
	}
	for _, call := range m.Calls {
		s := schemas[call.Name]
		switch {
		case s == nil:
			return "a tool that is not declared"
		case r.Strict && s.invalid(call.Arguments) != nil:
			return "arguments that break the schema"
		case r.Strict && !s.ordered(call.Arguments):
			return "parameters in another order, or twice"
		}
	}
	return ""
}
