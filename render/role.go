package render

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/schema"
)

// reference writes another rule. A role must carry something, else it is not written.
func (w *writer) reference(h *half, e *grammar.Reference) bool {
	rule := h.rules[e.Name]
	role := rule.Role()
	if role == "" {
		return w.choice(h, rule.Body)
	}
	if !w.possible(h, role) {
		return false
	}
	m := w.mark()
	outer := w.state
	w.scope, w.assigned, w.solving, w.target = len(w.bound), nil, nil, -1
	switch role {
	case grammar.Call:
		w.call, w.argued = w.next, false
		item := &w.items[w.next]
		w.members, w.member, w.listed = item.members, 0, false
		w.schema = w.options.Request.Tools.Schema(item.call.Name)
	case grammar.Parameter:
		w.inside, w.keyed, w.valued = true, false, false
	case grammar.Frame:
		w.framed = w.framed || h.content != nil
	}
	if !w.solve(h, rule.Body, role) {
		return w.undo(m)
	}
	reached := w.state
	w.framed = outer.framed
	w.scope, w.assigned, w.solving, w.target = outer.scope, outer.assigned, outer.solving, outer.target
	w.bound = w.bound[:m.bound]
	switch role {
	case grammar.Call:
		w.next = reached.call + 1
		w.call, w.argued, w.members, w.member, w.schema, w.listed = outer.call, outer.argued, outer.members, outer.member, outer.schema, outer.listed
	case grammar.Parameter:
		w.inside, w.keyed, w.valued = outer.inside, outer.keyed, outer.valued
		w.member = outer.member + 1
		w.value, w.closing = -1, -1
	}
	return true
}

// possible tells whether a role can be written next.
func (w *writer) possible(h *half, role grammar.Role) bool {
	next := func(kinds ...itemKind) bool {
		return w.next < len(w.items) && slices.Contains(kinds, w.items[w.next].kind)
	}
	switch role {
	case grammar.Thought:
		return h.thoughts && next(itemReasoning) && w.mayThink(h)
	case grammar.Block, grammar.Call:
		return h.calls && !w.noCalls && next(itemCall)
	case grammar.Frame:
		return next(itemContent, itemCall)
	case grammar.Message:
		return next(itemContent, itemCall) || h.thoughts && next(itemReasoning)
	case grammar.Parameter:
		return !w.inside && w.member < len(w.members)
	}
	return false
}

// mayThink tells whether a thought may be opened here, or is open.
func (w *writer) mayThink(h *half) bool {
	if w.next == 0 && w.cut < 0 {
		return true // the prompt has opened it
	}
	return !w.off && (!w.over || h.again)
}

// complete tells whether all has been written that a role must hold, in a way that is read so. from is the item that
// was to be written when the role was entered.
func (w *writer) complete(role grammar.Role, from int) bool {
	switch role {
	case grammar.Call:
		return w.named == w.call && w.argued
	case grammar.Parameter:
		return w.keyed && w.valued && w.closed()
	}
	return w.next > from
}

// closed tells whether the closer of a value comes first where it was written.
func (w *writer) closed() bool {
	if w.value < 0 || w.closing < 0 {
		return true
	}
	value, closer := string(w.out[w.value:w.closing]), string(w.out[w.closing:w.closers])
	parts := strings.FieldsFunc(closer, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
	if len(parts) == 0 {
		parts = []string{closer} // the end of a line
	}
	all := value + closer
	for from := 0; ; {
		k := strings.Index(all[from:], parts[0])
		if k < 0 {
			return true
		}
		at, rest := from+k, all[from+k+len(parts[0]):]
		if at >= len(value) {
			return true
		}
		whole := true
		for _, part := range parts[1:] {
			if rest, whole = strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), part); !whole {
				break
			}
		}
		if whole {
			return w.fail(ReasonCloser, value, "expected text without "+closer)
		}
		from = at + 1
	}
}

// choice writes the first alternative that can hold the data. Where alternatives have tests, the one that is read is
// the first whose tests hold.
func (w *writer) choice(h *half, e *grammar.Choice) bool {
	if i := w.tested(e); i >= 0 {
		if e == w.solving && i != w.target {
			return false
		}
		return w.sequence(h, e.Alternatives[i].Items)
	}
	m := w.mark()
	empty := -1 // an alternative that could carry something and has nothing to carry
	for i, alternative := range e.Alternatives {
		if len(alternative.Tests) > 0 || w.lacks(h, e, alternative) {
			continue
		}
		if w.alternative(h, alternative) {
			if w.consumed > m.consumed || w.idle == m.idle {
				return true
			}
			if empty < 0 {
				empty = i
			}
		}
		w.undo(m)
	}
	return empty >= 0 && w.alternative(h, e.Alternatives[empty])
}

func (w *writer) alternative(h *half, sequence *grammar.Sequence) bool {
	f := h.facts[sequence]
	if w.keyed && !w.valued && f.parameters && !slices.Contains(f.names, "key") {
		return w.nested(h, sequence)
	}
	return w.sequence(h, sequence.Items)
}

// nested writes the members of the open parameter's value as parameters: of an object, or of a list where the family
// does so and the schema tells the parser that it is one.
func (w *writer) nested(h *half, sequence *grammar.Sequence) bool {
	outer := w.state
	open, s := &w.members[w.member], w.valueSchema()
	var members []member
	list := false
	switch open.raw[0] {
	case '{':
		members, _ = objectMembers(open.raw, nil)
	case '[':
		if list = w.r.written.Items != "" && s.Kinds()&(schema.Array|schema.Object) == schema.Array; list {
			for _, element := range elements(open.raw) {
				members = append(members, member{key: w.r.written.Items, raw: element})
			}
		}
	}
	if len(members) == 0 {
		return false
	}
	w.members, w.member, w.schema, w.listed = members, 0, s, list
	w.inside, w.keyed = false, false
	if !w.sequence(h, sequence.Items) || w.member < len(members) {
		return false
	}
	w.members, w.member, w.schema, w.listed, w.argued = outer.members, outer.member, outer.schema, outer.listed, outer.argued
	w.inside, w.keyed, w.valued = true, true, true
	return true
}

// lacks tells whether an alternative leaves out a capture that must be written, and that another one has.
func (w *writer) lacks(h *half, e *grammar.Choice, alternative *grammar.Sequence) bool {
	for _, a := range w.assigned {
		if a.mode != fixed && a.mode != natural || w.lookup(a.name) != nil {
			continue
		}
		if slices.Contains(h.facts[e].names, a.name) && !slices.Contains(h.facts[alternative].names, a.name) {
			return true
		}
	}
	return false
}

// lookup finds what was written for a capture in the open role.
func (w *writer) lookup(name string) *binding {
	for k := len(w.bound) - 1; k >= w.scope; k-- {
		if w.bound[k].name == name {
			return &w.bound[k]
		}
	}
	return nil
}

// tested gives the alternative that is read where alternatives have tests, else -1.
func (w *writer) tested(e *grammar.Choice) int {
	if !hasTests(e) {
		return -1
	}
	for i, alternative := range e.Alternatives {
		holds := true
		for _, test := range alternative.Tests {
			b := w.lookup(test.Capture)
			text := ""
			if b != nil {
				text = b.text
			}
			holds = holds && passes(test, text, b != nil)
		}
		if holds {
			return i
		}
	}
	return -1
}

func hasTests(e *grammar.Choice) bool {
	for _, alternative := range e.Alternatives {
		if len(alternative.Tests) > 0 {
			return true
		}
	}
	return false
}

// passes tells whether a test holds for a capture.
func passes(test grammar.Test, text string, captured bool) bool {
	if len(test.Patterns) == 0 {
		return captured
	}
	for _, pattern := range test.Patterns {
		switch {
		case pattern.None:
			if !captured {
				return true
			}
		case !captured:
		case pattern.Prefix && strings.HasPrefix(text, pattern.Text), !pattern.Prefix && text == pattern.Text:
			return true
		}
	}
	return false
}
