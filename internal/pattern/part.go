package pattern

import (
	"slices"
	"strings"
)

// Part is one thing after the other that an expression says, in a shape that can be read while the text arrives.
// Exactly one of Texts, Blank, Run, Until, Choice and Ahead is set.
type Part struct {
	// Texts are fixed texts of which one stands here, the longest that does. One of several may be empty.
	Texts []string
	// Blank is any white space.
	Blank bool
	// Run is a run of at least one character; it may be missing if it is Optional.
	Run      *Automaton
	Optional bool
	// Until is any text of the characters of a set, up to where the next part begins.
	Until Set
	// Name is the group that captures a run or a text.
	Name string
	// Choice are the ways to go on, of which one stands here.
	Choice [][]Part
	// Ahead are fixed texts of which one follows and is not taken.
	Ahead []string

	at   int
	lazy bool
}

// Limits of what is written out.
const (
	mostTexts = 64
	mostChars = 8 // of a set that is written out as fixed texts
)

// divider takes an expression apart.
type divider struct{ e *Expression }

// Parts gives what an expression says, one part after the other. The error is an *Error.
func (e *Expression) Parts() (parts []Part, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			parts, err = nil, r
		default:
			panic(r)
		}
	}()
	d := divider{e}
	parts = d.divide(e.root)
	d.check(parts, nil, true)
	return parts, nil
}

// plain tells whether a node holds neither a named group nor an assertion.
func plain(n *node) bool {
	if n.name != "" || n.op == opAhead || n.op == opStart || n.op == opEnd {
		return false
	}
	return !slices.ContainsFunc(n.subs, func(sub *node) bool { return !plain(sub) })
}

// flat gives the items of a sequence, groups without a name opened.
func flat(n *node) (out []*node) {
	switch {
	case n.op == opCat:
		for _, sub := range n.subs {
			out = append(out, flat(sub)...)
		}
	case n.op == opGroup && n.name == "":
		return flat(n.subs[0])
	case n.op == opEmpty:
	default:
		out = append(out, n)
	}
	return out
}

// divide cuts a pattern into parts, one behind the other: fixed texts as long as they can be, blanks, captures, choices, and
// runs of characters.
func (d *divider) divide(n *node) (parts []Part) {
	var run []*node // the nodes of the run that the last part is, if it is one without a name
	for _, item := range flat(n) {
		if texts, ok := d.texts(item); ok {
			if n := len(parts); n == 0 || parts[n-1].Texts == nil {
				parts, run = append(parts, Part{Texts: texts, at: item.at}), nil
				continue
			} else if joined, ok := product(parts[n-1].Texts, texts); ok {
				parts[n-1].Texts = joined
				continue
			}
		}
		var p Part
		before := run
		run = nil
		switch {
		case item.op == opAhead:
			texts, ok := d.texts(item.subs[0])
			if !ok || slices.Contains(texts, "") {
				panic(d.e.fail(item.at, "a look-ahead at anything but fixed text cannot be matched while the text arrives"))
			}
			p = Part{Ahead: texts, at: item.at}
		case item.op == opStart:
			panic(d.e.fail(item.at, "the beginning of the text ('^', '\\A') can only be asked for at the beginning of the pattern of an opener"))
		case item.op == opEnd:
			panic(d.e.fail(item.at, "the end of the text ('$', '\\Z') cannot be asked for here"))
		case item.name != "":
			p = d.captured(item)
		case isBlank(item):
			p = Part{Blank: true, at: item.at}
		case !plain(item):
			p = d.choice(item)
		default:
			run = append(slices.Clone(before), item)
			p = d.run(run, "", run[0].at)
			if before != nil {
				parts = parts[:len(parts)-1]
			}
		}
		parts = append(parts, p)
	}
	return parts
}

func isBlank(n *node) bool {
	return n.op == opRepeat && n.min == 0 && n.max == unbounded && n.subs[0].op == opSet && n.subs[0].set.blank()
}

func product(a, b []string) (out []string, ok bool) {
	if len(a)*len(b) > mostTexts {
		return nil, false
	}
	for _, x := range a {
		for _, y := range b {
			if !slices.Contains(out, x+y) {
				out = append(out, x+y)
			}
		}
	}
	return out, true
}

// texts writes a node out as fixed texts, those that are preferred first; false if they are many or without end.
func (d *divider) texts(n *node) ([]string, bool) {
	switch n.op {
	case opEmpty:
		return []string{""}, true
	case opSet:
		if n.set.size() > mostChars {
			return nil, false
		}
		var out []string
		for _, r := range n.set.runes() {
			out = append(out, string(r))
		}
		return out, len(out) > 0
	case opCat:
		out := []string{""}
		for _, sub := range n.subs {
			texts, ok := d.texts(sub)
			if !ok {
				return nil, false
			}
			if out, ok = product(out, texts); !ok {
				return nil, false
			}
		}
		return out, true
	case opAlt:
		var out []string
		for _, sub := range n.subs {
			texts, ok := d.texts(sub)
			if !ok || len(out)+len(texts) > mostTexts {
				return nil, false
			}
			for _, text := range texts {
				if !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
		return out, true
	case opGroup:
		if n.name != "" {
			return nil, false
		}
		return d.texts(n.subs[0])
	case opRepeat:
		return d.repeatedTexts(n)
	}
	return nil, false
}

// repeatedTexts gives the texts that a repetition stands for, the preferred ones first, if they are few.
func (d *divider) repeatedTexts(n *node) ([]string, bool) {
	if n.max == unbounded || n.max > mostTexts {
		return nil, false
	}
	once, ok := d.texts(n.subs[0])
	if !ok {
		return nil, false
	}
	var out []string
	add := func(count int) bool {
		texts := []string{""}
		for range count {
			if texts, ok = product(texts, once); !ok {
				return false
			}
		}
		for _, text := range texts {
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return len(out) <= mostTexts
	}
	for k := n.min; k <= n.max; k++ {
		count := n.max - (k - n.min)
		if n.lazy {
			count = k
		}
		if !add(count) {
			return nil, false
		}
	}
	return out, true
}

// captured makes the part of a named group.
func (d *divider) captured(n *node) Part {
	inner := flat(n.subs[0])
	if !plain(n.subs[0]) {
		panic(d.e.fail(n.at, "a group inside the group %q, or an assertion, cannot be matched while the text arrives", n.name))
	}
	if len(inner) == 0 {
		panic(d.e.fail(n.at, "the group %q holds nothing", n.name))
	}
	return d.run(inner, n.name, n.at)
}

// run makes the part of a run: a lazy one is any text up to what follows.
func (d *divider) run(nodes []*node, name string, at int) Part {
	if len(nodes) == 1 && nodes[0].op == opRepeat && nodes[0].lazy && nodes[0].max == unbounded && nodes[0].subs[0].op == opSet && nodes[0].min <= 1 {
		return Part{Until: nodes[0].subs[0].set, Name: name, at: at, lazy: true, Optional: nodes[0].min == 0}
	}
	p := Part{Run: d.e.automaton(nodes), Name: name, at: at, lazy: slices.ContainsFunc(nodes, holdsLazy)}
	p.Optional = p.Run.Accepts(0)
	return p
}

func holdsLazy(n *node) bool {
	return n.op == opRepeat && n.lazy || slices.ContainsFunc(n.subs, holdsLazy)
}

// choice makes the part of alternatives that hold groups of their own.
func (d *divider) choice(n *node) Part {
	p := Part{at: n.at}
	switch {
	case n.op == opAlt:
		for _, sub := range n.subs {
			p.Choice = append(p.Choice, d.divide(sub))
		}
	case n.op == opRepeat && n.min == 0 && n.max == 1:
		p.Choice = [][]Part{d.divide(n.subs[0]), {}}
		if n.lazy {
			slices.Reverse(p.Choice)
		}
	default:
		panic(d.e.fail(n.at, "a group that is captured again and again cannot be matched while the text arrives"))
	}
	return p
}

// String tells a part in words.
func (p Part) String() string {
	switch {
	case p.Texts != nil:
		return strings.Join(p.Texts, " or ")
	case p.Blank:
		return "white space"
	case p.Choice != nil:
		return "alternatives"
	case p.Ahead != nil:
		return "a look-ahead"
	case p.Name != "":
		return "the group " + p.Name
	}
	return "a run of characters"
}
