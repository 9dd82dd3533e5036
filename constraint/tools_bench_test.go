//go:build unix

package constraint

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parlance-llm/parlance"
)

// toolsOf are n tools with middling schemas, none like another; salt makes them new. As tools of one server do, they have
// some parameters in common; if apart, they have none.
func toolsOf(n, salt int, apart bool) string {
	var tools []string
	for i := range n {
		name := func(name string) string {
			if apart {
				return fmt.Sprintf("%s_%d_%d", name, i, salt)
			}
			return name
		}
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": "tool_%d_%d", "strict": true, "description": "Does %[1]d.", "parameters": {"type": "object", "properties": {%[3]q: {"type": "string", "description": "where"}, %[4]q: {"type": "integer"}, %[5]q: {"type": "string", "enum": ["read", "write", "m%[1]d"]}, %[6]q: {"type": "object", "properties": {"deep": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}}}}, "required": [%[3]q, %[5]q]}}}`,
			i, salt, name("path"), name("count"), name("mode"), name("options")))
	}
	return "[" + strings.Join(tools, ", ") + "]"
}

// processorTime is what the process has used, on all processors together.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A constraint for 64 tools, made and written in each dialect, for every format; nothing of it has been made before. The
// worst of all is printed at the end. cpu-ms/op is the time of the processors, garbage collection included, which tells
// more than ns/op where others use the machine.
func Benchmark64Tools(b *testing.B) { benchmark64Tools(b, false) }

// Benchmark64ToolsApart is the same for tools that have no parameter in common.
func Benchmark64ToolsApart(b *testing.B) { benchmark64Tools(b, true) }

func benchmark64Tools(b *testing.B, apart bool) {
	dialects := []struct {
		name  string
		write func(*Constraint) Text
	}{
		{"structural tag", (*Constraint).StructuralTag},
		{"GBNF", (*Constraint).GBNF},
		{"Lark", (*Constraint).Lark},
		{"JSON schema", func(c *Constraint) Text {
			text, _ := c.JSONSchema()
			return text
		}},
	}
	var worst time.Duration
	where := ""
	for _, name := range toolNames(b) {
		p, err := parlance.Lookup(name, "")
		if err != nil {
			b.Fatal(err)
		}
		for _, dialect := range dialects {
			b.Run(name+"/"+dialect.name, func(b *testing.B) {
				sets := make([][]Tool, b.N)
				for i := range sets {
					sets[i] = parsed(b, toolsOf(64, i, apart))
				}
				b.ReportAllocs()
				b.ResetTimer()
				before := processorTime(b)
				written := 0
				for _, tools := range sets {
					c, err := build(p, &Request{Tools: tools, ToolChoice: required})
					if err != nil {
						b.Fatal(err)
					}
					written += len(dialect.write(c).Text)
				}
				each := (processorTime(b) - before) / time.Duration(b.N)
				b.SetBytes(int64(written / b.N))
				b.ReportMetric(float64(each.Microseconds())/1000, "cpu-ms/op")
				if b.N > 1 && each > worst { // the first run alone is a trial
					worst, where = each, name+" "+dialect.name
				}
			})
		}
	}
	b.Run("the worst: "+where, func(b *testing.B) {
		b.ReportMetric(float64(worst.Microseconds())/1000, "cpu-ms/op")
		b.ReportMetric(0, "ns/op") // is not printed
	})
}
