package machine

import (
	"fmt"
	"os"
	"testing"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
)

var kinds = []string{"Text", "Gap", "Head", "Tail", "Until", "Attribute", "Value", "JSON", "Envelope", "Python", "Delimited", "Echo"}

func dumpEdge(ind string, e program.Edge) {
	to := "nil"
	if e.To != nil {
		to = fmt.Sprint(e.To.Number, kinds[e.To.Kind])
	}
	fmt.Printf("%s%q do %b -> %s\n", ind, e.Text, e.Do, to)
	for _, b := range e.Branches {
		fmt.Printf("%s  if %+v\n", ind, b.Tests)
		dumpEdge(ind+"   ", b.Edge)
	}
}

func TestZ(t *testing.T) {
	l, err := grammar.NewLibrary(formats.Files)
	if err != nil {
		t.Fatal(err)
	}
	o := program.Options{}
	if n := os.Getenv("TOOL"); n != "" {
		o.Tool, err = l.Definition(n)
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := os.Getenv("REAS"); n != "" {
		o.Reasoning, err = l.Definition(n)
		if err != nil {
			t.Fatal(err)
		}
		o.Name = &o.Reasoning.Reasoning[0]
	}
	p, err := program.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("DUMP") != "" {
		for _, n := range p.Nodes {
			fmt.Printf("%d %s phase %d tray %d blank %v marked %v block %d call %d stop %d cut %d", n.Number, kinds[n.Kind], n.Phase, n.Tray, n.Blank, n.Marked, n.Block, n.Call, n.AtStop, n.AtCut)
			if n.OnText != nil {
				fmt.Printf(" ontext %d", n.OnText.Number)
			}
			if n.Fail != nil {
				fmt.Printf(" fail %d", n.Fail.Number)
			}
			if n.Tail != nil {
				fmt.Printf(" tail %d", n.Tail.Number)
			}
			if n.Words != nil && n.Words.Edge.To != nil {
				fmt.Printf(" word->%d", n.Words.Edge.To.Number)
			}
			fmt.Println()
			for _, e := range n.Edges {
				dumpEdge("     ", e)
			}
			for w, e := range n.Keywords {
				fmt.Printf("     keyword %s ", w)
				dumpEdge("", e)
			}
		}
	}
	m := New(p, Options{Trace: true})
	fmt.Println(m.Begin(Start{}))
	for _, c := range os.Getenv("TEXT") {
		ev := m.Write([]byte(string(c)))
		fmt.Printf("%q node %d %s open %v held %q ev", c, m.node.Number, kinds[m.node.Kind], m.open, m.held)
		for _, e := range ev {
			fmt.Printf(" {%d %d %q %s}", e.Kind, e.Tray, e.Data, e.Name)
		}
		fmt.Println()
	}
	fmt.Printf("%+v\n", m.Close(Stop))
	fmt.Println(m.Trace())
}
