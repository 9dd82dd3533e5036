package turn

import (
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// body is what may come behind the thought.
func (w *walker) body() language.Node {
	if w.Tool == nil {
		if w.Instead != nil {
			return w.Instead
		}
		return w.text()
	}
	if len(w.Tools) == 0 && w.Instead == nil {
		return w.text()
	}
	forced := w.forced()
	switch {
	case w.Forced:
		return forced
	case w.Instead != nil:
		return language.Any(forced, w.Instead)
	}
	if messages := w.messages(); messages != nil {
		return messages
	}
	return w.free(forced)
}

func (w *walker) text() language.Node {
	all, err := regular.Without()
	if err != nil {
		panic("turn: " + err.Error())
	}
	return &language.Mark{Role: language.Content, Inner: &language.Regular{Automaton: all, Without: []string{}}}
}

// forced are the calls and nothing else but the frame of an answer before them, where the format has such frames.
func (w *walker) forced() language.Node {
	out := w.choice(output(w.d), scene{place: place{target: toCall, once: w.Once}})
	if frame := w.frame(); frame != nil {
		out = language.Join(language.Maybe(frame), out)
	}
	return language.Join(out, lines, w.skips())
}

// skips are markers without meaning that may stand at the end.
func (w *walker) skips() language.Node {
	var options []language.Node
	for _, rule := range w.d.Rules {
		if rule.Role() != grammar.Skip {
			continue
		}
		for _, a := range rule.Body.Alternatives {
			options = append(options, w.sequence(a.Items, scene{}))
		}
	}
	if len(options) == 0 {
		return language.Text("")
	}
	return language.Maybe(language.Any(options...))
}

// frame is a frame with text in it, nil where the format has none or calls stand in it.
func (w *walker) frame() language.Node {
	for _, rule := range w.d.Rules {
		if rule.Role() != grammar.Frame || w.leads(rule.Body, toCall) {
			continue
		}
		var before, after []grammar.Expression
		for i, item := range rule.Body.Alternatives[0].Items {
			if c, ok := item.(*grammar.Capture); ok && c.Name == "content" {
				before, after = rule.Body.Alternatives[0].Items[:i], rule.Body.Alternatives[0].Items[i+1:]
			}
		}
		if before == nil {
			return nil
		}
		end := w.marker(skipLayout(after), nil)
		inside := w.unlike(append([]marker{end}, w.callOpeners()...))
		text := func(r *language.Regular) language.Node {
			return language.Join(&language.Mark{Role: language.Content, Inner: r}, w.sequence(after, scene{}))
		}
		framed := language.Join(w.sequence(before, scene{}), text(inside))
		// The prompt may have opened it. What begins like plain JSON would be read as a forced call, though (ruling 16).
		if other, err := regular.Match(regular.Blanks + `(?:[^\s\v\x{85}\p{Z}{\[].*)?`); err == nil {
			if other, err = other.And(inside.Automaton); err == nil {
				return language.Any(framed, text(&language.Regular{Automaton: other, Without: inside.Without, Looser: true}))
			}
		}
		return framed
	}
	return nil
}

func skipLayout(items []grammar.Expression) []grammar.Expression {
	for len(items) > 0 {
		switch items[0].(type) {
		case *grammar.Layout, *grammar.Blank:
			items = items[1:]
			continue
		}
		break
	}
	return items
}

// free is text in which calls may stand.
func (w *walker) free(forced language.Node) language.Node {
	anywhere, only := w.openers(output(w.d), false), w.openers(output(w.d), true)
	var triggers []string
	for _, opener := range anywhere {
		if !slices.ContainsFunc(triggers, func(other string) bool { return strings.HasPrefix(opener, other) }) {
			triggers = append(triggers, opener)
		}
	}
	excludes := slices.DeleteFunc(slices.Clone(w.d.Constrain.Excludes), func(text string) bool { return slices.Contains(triggers, w.fill(text)) })
	for i := range excludes {
		excludes[i] = w.fill(excludes[i])
	}
	tags := map[string][]language.Node{}
	region := w.oneRegion()
	for _, trigger := range triggers {
		if rest := strip(region, trigger); rest != nil {
			tags[trigger] = append(tags[trigger], rest)
		}
	}
	f := &language.Free{Once: w.Once}
	var all []string
	for _, trigger := range triggers {
		if rest := tags[trigger]; len(rest) > 0 {
			f.Tags = append(f.Tags, language.Tag{Begin: trigger, Rest: language.Any(rest...)})
			all = append(all, trigger)
		} else {
			excludes = append(excludes, trigger) // another way to begin a call, which a writer would not choose
		}
	}
	for _, text := range excludes {
		if !slices.ContainsFunc(all, func(other string) bool { return strings.Contains(text, other) }) {
			all = append(all, text)
			f.Excludes = append(f.Excludes, text)
		}
	}
	f.Text = w.without(all)
	for _, trigger := range append(triggers, w.markersOf(output(w.d))...) {
		f.Text = w.apart(f.Text, trigger)
	}
	if len(only) == 0 {
		return f
	}
	// Calls that stand only at the beginning: text that begins otherwise, or calls and then text.
	first := *f
	first.First = w.otherwise(f.Text, only)
	if w.Once {
		return language.Any(forced, &first)
	}
	return language.Any(language.Join(forced, f), &first)
}

// messages are any messages one after the other, where the format is made of messages that may carry calls; else nil.
func (w *walker) messages() language.Node {
	for _, rule := range w.d.Rules {
		if rule.Role() != grammar.Message || !w.leads(rule.Body, toCall) {
			continue
		}
		call := w.message(rule, scene{place: place{target: toCall, once: true, several: !w.Once}})
		others := language.Any(w.textMessages(rule, toReasoning), w.textMessages(rule, toContent))
		if w.Once {
			return language.Join(language.Many(others), language.Maybe(call))
		}
		return language.Many(language.Any(others, call))
	}
	return nil
}

func (w *walker) without(texts []string) *language.Regular {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = regular.Quote(text)
	}
	a, err := regular.Without(quoted...)
	if err != nil {
		panic(stop{err})
	}
	return &language.Regular{Automaton: a, Without: texts}
}

// unlike is text in which none of the markers occurs.
func (w *walker) unlike(markers []marker) *language.Regular {
	out := &language.Regular{Without: make([]string, len(markers))}
	expressions := make([]string, len(markers))
	for i, m := range markers {
		out.Without[i], expressions[i] = m.text(), m.expression()
		out.Looser = out.Looser || len(m) > 1
	}
	var err error
	if out.Automaton, err = regular.Without(expressions...); err != nil {
		panic(stop{err})
	}
	return out
}

// apart takes out the texts behind which a trigger would be found too soon, because it overlaps with itself.
func (w *walker) apart(text *language.Regular, trigger string) *language.Regular {
	for i := 1; i < len(trigger); i++ {
		if !strings.HasPrefix(trigger, trigger[i:]) {
			continue
		}
		ends, err := regular.Match(".*" + regular.Quote(trigger[:i]))
		if err == nil {
			if ends, err = ends.Not(); err == nil {
				if both, err := text.Automaton.And(ends); err == nil {
					text = &language.Regular{Automaton: both, Without: text.Without}
				}
			}
		}
	}
	return text
}

// otherwise is the texts of text that do not begin with white space and one of the openers.
func (w *walker) otherwise(text *language.Regular, openers []string) *language.Regular {
	var quoted []string
	for _, opener := range openers {
		quoted = append(quoted, strings.ReplaceAll(regular.Quote(opener), " ", regular.Blanks))
	}
	begins, err := regular.Match(regular.Blanks + `(?:` + strings.Join(quoted, "|") + ").*")
	if err == nil {
		if begins, err = begins.Not(); err == nil {
			if both, err := text.Automaton.And(begins); err == nil {
				return &language.Regular{Automaton: both}
			}
		}
	}
	panic(stop{err})
}

// oneRegion is one region with calls, as it may stand in text.
func (w *walker) oneRegion() language.Node {
	return w.choice(output(w.d), scene{place: place{target: toCall, once: true, several: !w.Once}})
}
