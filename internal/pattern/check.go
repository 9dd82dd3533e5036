package pattern

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// check refuses what cannot be told apart by the next character. follow are the characters that may follow the parts,
// ends tells whether the pattern may end behind them.
func (d *divider) check(parts []Part, follow Set, ends bool) {
	for i := range parts {
		p := &parts[i]
		rest, open := first(parts[i+1:], follow, ends)
		switch {
		case p.Texts != nil:
			d.checkTexts(p, rest, open)
		case p.Blank:
			// Before a text that is captured up to what follows, all white space is taken.
			if until := i+1 < len(parts) && parts[i+1].Until != nil; !until && rest.meets(spaces) {
				panic(d.e.fail(p.at, "nothing tells where the white space ends: what follows may begin with white space too"))
			}
		case p.Run != nil:
			if going := p.Run.going(); going.meets(rest) {
				panic(d.e.fail(p.at, "nothing tells where %s ends: a character of it may begin what follows", p))
			}
			if p.Optional && p.Run.first().meets(rest) {
				panic(d.e.fail(p.at, "nothing tells whether %s is there: what follows may begin in the same way", p))
			}
			if p.lazy && open {
				panic(d.e.fail(p.at, "a lazy quantifier with nothing behind it that ends it"))
			}
		case p.Until != nil:
			if open || i+1 == len(parts) || !fixed(parts[i+1]) && !(parts[i+1].Blank && i+2 < len(parts) && fixed(parts[i+2])) {
				panic(d.e.fail(p.at, "a lazy quantifier is over where fixed text follows, and none follows"))
			}
		case p.Ahead != nil:
			if i+1 < len(parts) || !ends {
				panic(d.e.fail(p.at, "a look-ahead with something behind it cannot be matched while the text arrives"))
			}
		case p.Choice != nil:
			for _, alternative := range p.Choice {
				d.check(alternative, rest, open)
			}
		}
	}
}

// fixed tells whether a part is fixed text, or alternatives that begin with it.
func fixed(p Part) bool {
	if p.Choice != nil {
		return !slices.ContainsFunc(p.Choice, func(alternative []Part) bool { return len(alternative) == 0 || !fixed(alternative[0]) })
	}
	return p.Ahead != nil || p.Texts != nil && !slices.Contains(p.Texts, "")
}

// checkTexts drops texts that are never reached, because a shorter one that is preferred always fits, and refuses those
// of which the next character does not tell which it is.
func (d *divider) checkTexts(p *Part, rest Set, open bool) {
	var kept []string
	for j, long := range p.Texts {
		reached := true
		for i, short := range p.Texts {
			tail, ok := strings.CutPrefix(long, short)
			if !ok || tail == "" {
				continue
			}
			r, _ := utf8.DecodeRuneInString(tail)
			switch ambiguous := rest.Has(r); {
			case i < j && open && rest == nil:
				reached = false
			case i < j && (ambiguous || open), ambiguous && !open:
				panic(d.e.fail(p.at, "nothing tells %q from %q while the text arrives", short, long))
			}
		}
		if reached {
			kept = append(kept, long)
		}
	}
	p.Texts = kept
}

// first are the characters that parts may begin with; open tells whether the pattern may be over before them.
func first(parts []Part, follow Set, ends bool) (Set, bool) {
	var out []Set
	for _, p := range parts {
		nullable := false
		switch {
		case p.Texts != nil:
			out = append(out, starts(p.Texts))
			nullable = slices.Contains(p.Texts, "")
		case p.Blank:
			out = append(out, spaces)
			nullable = true
		case p.Run != nil:
			out = append(out, p.Run.first())
			nullable = p.Optional
		case p.Until != nil:
			out = append(out, p.Until)
			nullable = p.Optional
		case p.Ahead != nil:
			out = append(out, starts(p.Ahead))
		case p.Choice != nil:
			for _, alternative := range p.Choice {
				set, open := first(alternative, nil, true)
				out = append(out, set)
				nullable = nullable || open
			}
		}
		if !nullable {
			return union(out...), false
		}
	}
	return union(append(out, follow)...), ends
}

func starts(texts []string) Set {
	var out []Range
	for _, text := range texts {
		if text != "" {
			r, _ := utf8.DecodeRuneInString(text)
			out = append(out, Range{r, r})
		}
	}
	return setOf(out)
}
