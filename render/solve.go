package render

import (
	"slices"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// way is an alternative with values of the tested captures that may make it the first true one.
type way struct {
	target   int
	assigned []assignment
	missing  int      // how many captures are left out that the definition would write
	needs    itemKind // the item that the alternative writes, if
	certain  bool     // it writes one and nothing else
}

// solve writes the body of a role. If alternatives in it have tests, these are solved backwards: the captures that they
// ask for are given the values that make one of them the first true one, way by way, until one can hold the data.
func (w *writer) solve(h *half, body *grammar.Choice, role grammar.Role) bool {
	choice := h.facts[body].tested
	from := w.next
	if choice == nil {
		return w.choice(h, body) && w.complete(role, from)
	}
	m := w.mark()
	ways := h.ways[body]
	for k := range ways {
		way := &ways[k]
		if way.certain && !w.has(way.needs) || w.firstTrue(choice, way.assigned) != way.target {
			continue
		}
		w.assigned, w.solving, w.target = way.assigned, choice, way.target
		if w.choice(h, body) && w.complete(role, from) {
			return true
		}
		w.undo(m)
	}
	return false
}

// learnWays works out the ways of a rule's body: those that leave out least first, then in the order of the definition.
func (h *half) learnWays(body *grammar.Choice) {
	choice := h.facts[body].tested
	if choice == nil {
		return
	}
	var names []string // of the captures that are tested
	for _, alternative := range choice.Alternatives {
		for _, test := range alternative.Tests {
			if !slices.Contains(names, test.Capture) {
				names = append(names, test.Capture)
			}
		}
	}
	var ways []way
	for i, alternative := range choice.Alternatives {
		first := way{target: i}
		items := slices.DeleteFunc(slices.Clone(alternative.Items), func(e grammar.Expression) bool {
			_, layout := e.(*grammar.Layout)
			return layout
		})
		if len(items) == 1 {
			if capture, ok := items[0].(*grammar.Capture); ok {
				switch capture.Name {
				case "drop":
					continue
				case "reasoning":
					first.needs, first.certain = itemReasoning, true
				case "content":
					first.needs, first.certain = itemContent, true
				}
			}
		}
		all := []way{first}
		for _, name := range names {
			var more []way
			for _, before := range all {
				for k, value := range h.values(body, alternative, name) {
					next := before
					next.assigned = append(slices.Clip(before.assigned), value)
					if value.mode == missing && k > 0 {
						next.missing++
					}
					more = append(more, next)
				}
			}
			all = more
		}
		ways = append(ways, all...)
	}
	slices.SortStableFunc(ways, func(a, b way) int { return a.missing - b.missing })
	if h.ways == nil {
		h.ways = map[*grammar.Choice][]way{}
	}
	h.ways[body] = ways
}

// values are the values that a capture may be given for an alternative. What need not be written comes first where the
// definition leaves it out, else last.
func (h *half) values(body *grammar.Choice, alternative *grammar.Sequence, name string) (out []assignment) {
	none := assignment{name: name, mode: missing}
	leave := func() {
		if h.leftOut(body, name) {
			out = slices.Insert(out, 0, none)
		} else {
			out = append(out, none)
		}
	}
	for _, test := range alternative.Tests {
		if test.Capture != name {
			continue
		}
		for k, pattern := range test.Patterns {
			switch {
			case pattern.None && k == 0:
				out = append(out, none)
			case pattern.None:
				leave()
			case !pattern.Prefix:
				out = append(out, assignment{name: name, text: pattern.Text, mode: fixed})
			}
		}
		return out
	}
	if h.holdsName(body, name) {
		out = append(out, assignment{name: name, mode: free})
	}
	out = append(out, assignment{name: name, mode: natural})
	leave()
	return out
}

// natural is the value of a capture that no test names: of a type the kind of the value, else the name of the call that
// comes next, whose message it is.
func (w *writer) natural(name string) string {
	switch {
	case name == "type" && w.inside:
		return kind(w.members[w.member].raw)
	case w.next < len(w.items) && w.items[w.next].kind == itemCall:
		return w.items[w.next].call.Name
	}
	return ""
}

// kind is the kind of a JSON value.
func kind(raw []byte) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// leftOut tells whether a capture stands in a choice whose first alternative is nothing.
func (h *half) leftOut(e grammar.Expression, name string) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if choice, ok := e.(*grammar.Choice); ok && len(choice.Alternatives[0].Items) == 0 {
			found = found || slices.Contains(h.facts[choice].names, name)
		}
		return !found
	})
	return found
}

// holdsName tells whether a capture has a pattern that holds the name of the call.
func (h *half) holdsName(e grammar.Expression, name string) bool {
	found := false
	grammar.Walk(e, func(e grammar.Expression) bool {
		if capture, ok := e.(*grammar.Capture); ok && capture.Name == name && capture.Shape != nil {
			found = found || slices.Contains(h.facts[capture.Shape].names, "name")
		}
		return !found
	})
	return found
}

// firstTrue gives the first alternative whose tests hold under an assignment, or -1, also where a value is wanted that
// there is none of. What is free holds in no test.
func (w *writer) firstTrue(choice *grammar.Choice, assigned []assignment) int {
	for _, a := range assigned {
		if a.mode == natural && w.natural(a.name) == "" {
			return -1
		}
	}
next:
	for i, alternative := range choice.Alternatives {
		for _, test := range alternative.Tests {
			k := slices.IndexFunc(assigned, func(a assignment) bool { return a.name == test.Capture })
			a := assigned[k]
			text := a.text
			if a.mode == natural {
				text = w.natural(a.name)
			}
			if a.mode == free || !passes(test, text, a.mode != missing) {
				continue next
			}
		}
		return i
	}
	return -1
}
