package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

// waits tells, for each kind of text that an output may hold while thinking is on, which markers it waits for.
func waits(p *program.Program) (out []Waits) {
	start := p.Start[program.On]
	roots := []struct {
		where string
		node  *program.Node
	}{{"where the output begins", start.Outside}, {"in a thought that the prompt has opened", start.Inside}, {"behind a thought that the prompt has closed", start.After}}
	seen := map[*program.Node]bool{}
	var queue []*program.Node
	add := func(n *program.Node) {
		if n != nil && !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for _, root := range roots {
		add(root.node)
	}
	for i := 0; i < len(queue); i++ {
		for _, next := range leads(queue[i]) {
			add(next)
		}
	}
	for _, n := range queue {
		if n.Kind != program.Text || n.Tray == program.Junk {
			continue
		}
		markers := waited(n)
		if len(markers) == 0 {
			continue
		}
		where := whereIn(n)
		for _, root := range roots {
			if root.node == n {
				where += ", " + root.where
			}
		}
		same := slices.IndexFunc(out, func(w Waits) bool { return slices.Equal(w.Markers, markers) })
		switch {
		case same < 0:
			out = append(out, Waits{[]string{where}, markers})
		case !slices.Contains(out[same].Where, where):
			out[same].Where = append(out[same].Where, where)
		}
	}
	return out
}

// whereIn says what kind of text a node stands in.
func whereIn(n *program.Node) string {
	where := map[program.Tray]string{program.Content: "content", program.Reasoning: "reasoning", program.Dropped: "dropped text"}[n.Tray]
	switch {
	case n.OnText != nil:
		where += " before its first character"
	case n.Block >= 0:
		where += " between the calls of a block"
	case n.Body >= 0:
		where += " in a message"
	}
	return where
}

// leads are the nodes that a node leads to.
func leads(n *program.Node) (out []*program.Node) {
	var edge func(e *program.Edge)
	edge = func(e *program.Edge) {
		out = append(out, e.To, e.Return)
		for i := range e.Branches {
			edge(&e.Branches[i].Edge)
		}
	}
	for i := range n.Edges {
		edge(&n.Edges[i])
	}
	for _, e := range n.Keywords {
		edge(&e)
	}
	if n.Words != nil {
		edge(&n.Words.Edge)
	}
	if n.Value != nil {
		for i := range n.Value.StartEdges {
			edge(&n.Value.StartEdges[i])
		}
	}
	return append(out, n.OnText, n.Fail, n.Next, n.Opened, n.Element, n.Rejected, n.Echo, n.Plain, n.Tail)
}

// waited are the markers that a text node waits for, in the order of the alphabet.
func waited(n *program.Node) (out []Waited) {
	for i := range n.Edges {
		e := &n.Edges[i]
		if e.Watch == match.Always || strings.TrimSpace(e.Text) == "" {
			continue
		}
		w := Waited{Marker: e.Text, Bytes: len(e.Text) - 1}
		if e.Do&program.Resolve == 0 && e.To != nil && e.To.Kind != program.Text {
			w.Until = follows(e.To, e.Text, 0)
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b Waited) int { return strings.Compare(a.Marker, b.Marker) })
	return out
}

// follows says what a candidate must read next behind its opener.
func follows(n *program.Node, opener string, depth int) string {
	var parts []string
	add := func(part string) {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	switch n.Kind {
	case program.Envelope:
		add("the name in a JSON object")
	case program.JSON:
		add("a JSON object")
	case program.Python:
		add("a first argument, or )")
	case program.Delimited:
		add("the arguments")
	case program.Attribute:
		add("the value of an attribute")
	case program.Until:
		add("text up to the next marker")
	case program.Head, program.Tail:
		if n.Words != nil {
			add("a word")
		}
		for word := range n.Keywords {
			add("the attribute " + word)
		}
		for i := range n.Edges {
			e := &n.Edges[i]
			if (e.Text == "{" || e.Text == "") && e.To != nil && depth < 2 {
				add(follows(e.To, opener, depth+1))
				continue
			}
			if e.Text != opener { // one right behind itself counts once
				add(strconv.Quote(e.Text))
			}
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " or ")
}
