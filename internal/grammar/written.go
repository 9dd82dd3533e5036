package grammar

import (
	"slices"
	"strings"
)

// checkWritten finds faults in what only the renderer reads: groups behind '^' that hold what cannot be written there,
// and repetitions that are written once although nothing comes round to write the rest.
func (s *Source) checkWritten(d *Definition) (err error) {
	for _, rule := range s.own {
		Walk(rule.Body, func(e Expression) bool {
			switch e := e.(type) {
			case *Layout:
				if e.Inner != nil && err == nil {
					err = s.checkLayout(d, e.Inner)
				}
			case *Repeat:
				if e.Once && err == nil {
					err = s.checkOnce(d, rule, e)
				}
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// before are the words that tests in a group behind '^' may ask for: what was written last.
var before = []string{"reasoning", "content", "call"}

func (s *Source) checkLayout(d *Definition, group *Choice) (err error) {
	for i, alternative := range group.Alternatives {
		if i > 0 && len(group.Alternatives[i-1].Tests) == 0 && !looks(group.Alternatives[i-1]) {
			return s.fail(alternative.Position, "this alternative is never reached, since the one before it always fits")
		}
		for _, test := range alternative.Tests {
			if !slices.Contains(before, test.Capture) || len(test.Patterns) > 0 {
				return s.fail(test.Position, "expected reasoning, content or call to be tested behind '^', which is what was written last; found %s", printTest(test))
			}
		}
		for _, item := range alternative.Items {
			switch item := item.(type) {
			case *Literal:
				if strings.TrimSpace(item.Text) != "" && !s.occurs(d, item.Text) {
					err = s.fail(item.Position, "the marker %q is written here and read nowhere", item.Text)
				}
			case *Look:
				Walk(item, func(e Expression) bool {
					if reference, ok := e.(*Reference); ok && err == nil && d.Rule(reference.Name) == nil {
						err = s.fail(reference.Position, "there is no rule %s", reference.Name)
					}
					return err == nil
				})
			case *Capture:
				if item.Name != "name" || item.Shape != nil {
					err = s.fail(item.Position, "expected @name, the name of the call that comes next, found %s", printItem(item))
				}
			default:
				err = s.fail(item.At(), "expected literals, &x or @name in a group behind '^', found %s", printItem(item))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func looks(sequence *Sequence) bool {
	return slices.ContainsFunc(sequence.Items, func(e Expression) bool {
		switch e.(type) {
		case *Look, *Capture:
			return true
		}
		return false
	})
}

// checkOnce sees that what a repetition leaves over is written elsewhere: it must hold a rule with a role, and the rule
// that it stands in must itself be repeated.
func (s *Source) checkOnce(d *Definition, rule *Rule, once *Repeat) error {
	if !refers(d, once.Inner, "") {
		return s.fail(once.Position, "expected calls, or another rule with a role, in a repetition that is written once")
	}
	reaches := func(e Expression) bool {
		found, seen := false, map[string]bool{}
		var walk func(e Expression)
		walk = func(e Expression) {
			Walk(e, func(e Expression) bool {
				if reference, ok := e.(*Reference); ok && !seen[reference.Name] {
					seen[reference.Name] = true
					found = found || reference.Name == rule.Name
					if other := d.Rule(reference.Name); other != nil {
						walk(other.Body)
					}
				}
				return !found
			})
		}
		walk(e)
		return found
	}
	found := false
	search := func(e Expression) {
		Walk(e, func(e Expression) bool {
			switch e := e.(type) {
			case *Repeat:
				found = found || !e.Once && reaches(e.Inner)
			case *List:
				found = found || reaches(e.Inner)
			}
			return !found
		})
	}
	search(d.Output())
	for _, other := range d.Rules {
		search(other.Body)
	}
	if !found {
		return s.fail(once.Position, "expected the rule %s to be repeated, since what stands in it is written once and more may be left to write", rule.Name)
	}
	return nil
}
