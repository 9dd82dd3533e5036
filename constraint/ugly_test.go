package constraint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint/sample"
)

// ugly are tools with schemas of growing ugliness, by their number.
func ugly(i int) string {
	random := rand.New(rand.NewPCG(uint64(i), 99))
	return fmt.Sprintf(`[{"type": "function", "function": {"name": "tool_%d", "strict": true, "parameters": %s}}]`, i, sample.Schema(random, i/35))
}

// mostUgly is how many there are: 35 of each level.
const mostUgly = 245

// For schemas of growing ugliness, texts of the constraint are read as what they mean, and what is read satisfies the
// schema as another validator has it. Every schema is tried in several formats, every format with many schemas.
func TestUglySchemas(t *testing.T) {
	names := toolNames(t)
	for part := range 7 {
		t.Run(fmt.Sprint("level ", part), func(t *testing.T) {
			t.Parallel()
			for i := part * 35; i < (part+1)*35; i++ {
				for k := range 2 {
					uglySchema(t, i, names[(2*i+k*13)%len(names)])
				}
			}
		})
	}
}

func uglySchema(t *testing.T, i int, name string) {
	data := ugly(i)
	p, err := parlance.Lookup(name, "")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(i), 7))
	request := Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: "required"}}
	c, err := New(p, request)
	var wrong *Error
	if errors.As(err, &wrong) && wrong.Tool != "" {
		return // the format has no way to write some name, and says so
	}
	if err != nil {
		t.Errorf("%s %s: %v", name, data, err)
		return
	}
	declared, err := parlance.ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	schema := validators(t, []byte(data))[tools[0].Name]
	held := len(c.Notes()) == 0
	s := sample.New(c.Language(), random)
	for range 6 {
		text, spans := s.Text(c.Language(), 20+random.IntN(300))
		if !c.Accepts(text) {
			t.Errorf("%s: the acceptor refuses %q\n%s", name, text, data)
			return
		}
		m := p.Parse(text, parlance.Request{Tools: declared, ToolChoice: request.ToolChoice}, parlance.FinishStop)
		if difference := differs(t, m, callsOf(text, spans)); difference != "" {
			t.Errorf("%s: %s\ntext %q\nread %v\ntools %s", name, difference, text, m.Calls, data)
			return
		}
		for _, call := range m.Calls {
			if err := schema.invalid(call.Arguments); err != nil && held {
				t.Errorf("%s: %v\ntext %q\narguments %s\ntools %s", name, strings.ReplaceAll(err.Error(), "\n", " "), text, call.Arguments, data)
				return
			}
		}
	}
}
