package language

import "slices"

// productive tells which rules stand for at least one text. What can never be finished must not be begun.
type productive struct {
	rules []*Rule
	// place is that of each rule in rules, right tells of it whether it stands for a text.
	place map[*Rule]int
	right []bool
}

func newProductive(n Node) *productive {
	p := &productive{place: map[*Rule]int{}}
	p.rules = rules(n, p.place)
	p.right = make([]bool, len(p.rules))
	for changed := true; changed; {
		changed = false
		for i, rule := range slices.Backward(p.rules) { // what a rule uses mostly comes behind it
			if !p.right[i] && p.of(rule.Body) {
				p.right[i], changed = true, true
			}
		}
	}
	return p
}

func (p *productive) of(n Node) bool {
	switch n := n.(type) {
	case *Sequence:
		for _, item := range n.Items {
			if !p.of(item) {
				return false
			}
		}
		return true
	case *Choice:
		for _, option := range n.Options {
			if p.of(option) {
				return true
			}
		}
		return false
	case *Repeat:
		return n.Min == 0 || p.of(n.Inner)
	case *Rule:
		return p.right[p.place[n]]
	case *Regular:
		return !n.Automaton.Empty()
	case *Schema:
		return p.of(n.Body)
	case *Mark:
		return p.of(n.Inner)
	case *Class:
		return len(n.Ranges) > 0
	case *Free:
		return p.of(n.Text)
	}
	return true
}

// everything tells whether all that a node reaches is productive.
func (p *productive) everything(n Node) bool {
	if slices.Contains(p.right, false) || !p.whole(n) {
		return false
	}
	return !slices.ContainsFunc(p.rules, func(rule *Rule) bool { return !p.whole(rule.Body) })
}

// whole tells whether all in a node is productive, if all rules are.
func (p *productive) whole(n Node) bool {
	switch n := n.(type) {
	case *Class:
		return len(n.Ranges) > 0
	case *Regular:
		return !n.Automaton.Empty()
	case *Choice:
		if len(n.Options) == 0 {
			return false
		}
	case *Rule:
		return true
	}
	all := true
	Children(n, func(inner Node) { all = all && p.whole(inner) })
	return all
}

// Pruned is the same language without what can never be finished: options, optional parts and tags that lead nowhere.
// It answers nil if nothing is left.
func Pruned(n Node) Node {
	p := newProductive(n)
	if !p.of(n) {
		return nil
	}
	if p.everything(n) {
		return n
	}
	done := map[*Rule]*Rule{}
	var walk func(Node) Node
	walk = func(n Node) Node {
		if !p.of(n) {
			return Never()
		}
		switch n := n.(type) {
		case *Sequence:
			items := make([]Node, len(n.Items))
			for i, item := range n.Items {
				items[i] = walk(item)
			}
			return Join(items...)
		case *Choice:
			var options []Node
			for _, option := range n.Options {
				if p.of(option) {
					options = append(options, walk(option))
				}
			}
			return Any(options...)
		case *Repeat:
			if !p.of(n.Inner) {
				return nothing
			}
			return &Repeat{walk(n.Inner), n.Min, n.Max, n.Soft}
		case *Rule:
			if rule, ok := done[n]; ok {
				return rule
			}
			rule := &Rule{Name: n.Name}
			done[n] = rule
			rule.Body = walk(n.Body)
			return rule
		case *Schema:
			return &Schema{n.Schema, walk(n.Body).(*Rule), n.Excludes, n.Spelled}
		case *Mark:
			return &Mark{n.Role, n.Name, walk(n.Inner)}
		case *Free:
			free := &Free{Text: n.Text, First: n.First, Excludes: n.Excludes, Once: n.Once}
			for _, tag := range n.Tags {
				if p.of(tag.Rest) {
					free.Tags = append(free.Tags, Tag{tag.Begin, walk(tag.Rest)})
				}
			}
			return free
		}
		return n
	}
	return walk(n)
}
