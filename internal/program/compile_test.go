package program

import (
	"testing"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
)

func definition(t testing.TB, name string) *grammar.Definition {
	t.Helper()
	data, err := formats.Files.ReadFile(name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	source, err := grammar.Read("formats/"+name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	var base *grammar.Definition
	if source.Extends != "" {
		base = definition(t, source.Extends)
	}
	d, err := source.Resolve(base)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryDefinitionCompiles(t *testing.T) {
	entries, err := formats.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()[:len(entry.Name())-len(".yaml")]
		if name == "plain" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := definition(t, name)
			o := Options{}
			if len(d.Tool) > 0 {
				o.Tool = d
			}
			if len(d.Reasoning) > 0 {
				o.Reasoning, o.Name = d, &d.Reasoning[0]
			}
			p, err := Compile(o)
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			tables := map[any]bool{}
			for _, n := range p.Nodes {
				if n.Table != nil && !tables[n.Table] {
					tables[n.Table] = true
					size += n.Table.Size()
				}
			}
			t.Logf("%d nodes, %d tables, %d kB", len(p.Nodes), len(tables), size/1024)
		})
	}
}
