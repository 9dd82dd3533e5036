package constraint

import (
	"bufio"
	"encoding/json/v2"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/sample"
)

// The tool schemas of the Berkeley Function Calling Leaderboard: texts of the constraint are read as valid calls, in the
// formats in turn. The file named by PARLANCE_BFCL_TOOLS has one array of tools a line.
func TestBFCL(t *testing.T) {
	name := os.Getenv("PARLANCE_BFCL_TOOLS")
	if name == "" {
		t.Skip("PARLANCE_BFCL_TOOLS names no file; .ci/stages/70-constraints.sh makes it")
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	names := toolNames(t)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	sets, unwritable, noted := 0, 0, 0
	for ; lines.Scan(); sets++ {
		data := standard(t, lines.Bytes())
		tools, err := ParseTools(data)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parlance.Lookup(names[sets%len(names)], "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(p, Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"}})
		var wrong *Error
		switch {
		case errors.As(err, &wrong) && wrong.Tool != "":
			unwritable++
			t.Logf("%s: %v", p.ToolName(), err)
			continue
		case err != nil:
			t.Errorf("%s: %v\n%s", p.ToolName(), err, data)
			continue
		}
		if len(c.Notes()) > 0 {
			noted++
		}
		checkBFCL(t, p, c, data, rand.New(rand.NewPCG(uint64(sets), 1)))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sets of tools, %d of which the format in turn cannot write, %d with something that no constraint holds", sets, unwritable, noted)
	if sets < 1000 {
		t.Errorf("expected the sets of tools of the leaderboard, found %d", sets)
	}
}

func checkBFCL(t *testing.T, p *parlance.Parser, c *Constraint, data []byte, random *rand.Rand) {
	declared, err := parlance.ParseTools(data)
	if err != nil {
		t.Fatal(err)
	}
	schemas := validators(t, data)
	s := sample.New(c.Language(), random)
	for range 2 {
		text, spans := s.Text(c.Language(), 20+random.IntN(300))
		if !c.Accepts(text) {
			t.Errorf("%s: the acceptor refuses %q\n%s", p.ToolName(), text, data)
			return
		}
		m := p.Parse(text, parlance.Request{Tools: declared, ToolChoice: parlance.ToolChoice{Mode: "required"}}, parlance.FinishStop)
		if difference := differs(t, m, callsOf(text, spans)); difference != "" {
			t.Errorf("%s: %s\ntext %q\ntools %s", p.ToolName(), difference, text, data)
			return
		}
		for _, call := range m.Calls {
			if err := schemas[call.Name].invalid(call.Arguments); err != nil && len(c.Notes()) == 0 {
				t.Errorf("%s: %v\ntext %q\narguments %s\ntools %s", p.ToolName(), strings.ReplaceAll(err.Error(), "\n", " "), text, call.Arguments, data)
				return
			}
		}
	}
}

// standard replaces the names of types that are no JSON schema, which the data has, by those that are.
func standard(t *testing.T, data []byte) []byte {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"dict": "object", "float": "number", "tuple": "array", "list": "array", "int": "integer", "bool": "boolean"}
	var visit func(any) any
	visit = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = visit(v[i])
			}
		case map[string]any:
			if name, ok := v["type"].(string); ok {
				if to, ok := names[strings.ToLower(name)]; ok {
					v["type"] = to
				}
				if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, v["type"].(string)) {
					delete(v, "type")
				}
			}
			if required, ok := v["required"]; ok {
				if _, list := required.([]any); !list {
					delete(v, "required")
				}
			}
			for k := range v {
				v[k] = visit(v[k])
			}
		}
		return v
	}
	out, err := json.Marshal(visit(value), json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
