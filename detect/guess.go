package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Source is where a piece of evidence comes from.
type Source string

// The sources.
const (
	FromSample     Source = "sample"
	FromTemplate   Source = "template"
	FromVocabulary Source = "vocabulary"
	FromName       Source = "name"
)

// Evidence is one thing that speaks for a format, or against it.
type Evidence struct {
	Source Source `json:"source"`
	// Text is what was found, and Offset where, in bytes from the beginning of the sample or the template; -1 where it
	// has no place.
	Text   string `json:"text"`
	Offset int    `json:"offset"`
	// Says is what follows from it, for people.
	Says string `json:"says"`
	// Against: it speaks against the format.
	Against bool `json:"against,omitzero"`
}

func (e Evidence) String() string {
	where := ""
	if e.Offset >= 0 {
		where = fmt.Sprintf(" at byte %d", e.Offset)
	}
	return fmt.Sprintf("%s%s: %q: %s", e.Source, where, e.Text, e.Says)
}

// Guess is a format that explains the evidence, under one of its parser names.
type Guess struct {
	// Format is the name of the definition, Name the parser name to give to the flag.
	Format string `json:"format"`
	Name   string `json:"name"`
	// Score is how much of the evidence the format explains, from 0 to 1.
	Score float64 `json:"score"`
	// Sure: nothing else explains the evidence as well.
	Sure bool `json:"sure"`
	// Like are the other parser names that explain the evidence just as well.
	Like     []string   `json:"like,omitzero"`
	Evidence []Evidence `json:"evidence"`

	family *family   // the format
	rank   []float64 // compared one after the other, larger first
	seen   float64   // share of the format's markers that were seen: decides between formats that are alike
	unsure bool      // too little speaks for it to be sure of it, even if it is the best
	names  []string  // of the first calls
	left   int       // bytes of samples that are not explained
	denied bool      // the template renders a call that the format does not read
	whole  bool      // at least one call has arguments, or nothing is left unexplained
}

// Result is what was found out, the best guess first.
type Result struct {
	Tools     []Guess `json:"tools"`
	Reasoning []Guess `json:"reasoning"`
	// Shows tells whether the chat template shows the tools of a request, as far as there is one that could be rendered.
	Shows Shown `json:"shows_tools,omitzero"`

	renders bool // there is a template that renders calls
}

// reads tells whether a format reads the calls that the template renders, as far as it renders any.
func (r Result) reads(g Guess) bool {
	return !r.renders || slices.ContainsFunc(r.Tools, func(own Guess) bool { return !own.denied && sameWire(own, g) })
}

// Shown is what is known of a chat template.
type Shown string

// Whether a chat template shows tools; "" is not known.
const (
	ToolsAreShown  Shown = "yes"
	ToolsAreHidden Shown = "no"
)

// Flags are the flags for the best guesses, as the command line takes them; empty if there is no guess.
func (r Result) Flags() string {
	var flags []string
	if len(r.Tools) > 0 {
		flags = append(flags, "--tool-call-parser "+r.Tools[0].Name)
	}
	if len(r.Reasoning) > 0 {
		flags = append(flags, "--reasoning-parser "+r.Reasoning[0].Name)
	}
	return strings.Join(flags, " ")
}

// settle sorts guesses, the best first, and says which are sure and which are alike. Among
// those that are alike the one comes first of whose markers more were seen, since it assumes least, and
// a dialect after the format that it extends.
func settle(guesses []Guess) []Guess {
	slices.SortStableFunc(guesses, func(a, b Guess) int {
		if c := slices.Compare(b.rank, a.rank); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(b.seen, a.seen), cmp.Compare(extends(a), extends(b)), cmp.Compare(aliased(a), aliased(b)), cmp.Compare(a.Name, b.Name))
	})
	for i := range guesses {
		for j := range guesses {
			if i != j && slices.Equal(guesses[i].rank, guesses[j].rank) && guesses[i].Format != guesses[j].Format && !slices.Contains(guesses[i].Like, guesses[j].Name) {
				guesses[i].Like = append(guesses[i].Like, guesses[j].Name)
			}
		}
	}
	if len(guesses) > 0 {
		best := &guesses[0]
		best.Sure = !slices.ContainsFunc(guesses[1:], func(g Guess) bool {
			return slices.Equal(g.rank, best.rank) && !sameWire(g, *best)
		})
	}
	return guesses
}

// sameWire tells whether two formats write the very same: one extends the other, or both the same, and changes nothing of
// what is written. Between such it does not matter which is chosen.
func sameWire(a, b Guess) bool { return a.writes() == b.writes() }

// writes is the format whose wire it is. A guess that was made elsewhere knows only its own.
func (g Guess) writes() string {
	if g.family == nil {
		return g.Format
	}
	return g.family.writes
}

// aliased is 1 for a name that is not the format's own, else 0.
func aliased(g Guess) int {
	if g.Name != g.Format {
		return 1
	}
	return 0
}

// extends is 1 for a dialect, else 0.
func extends(g Guess) int {
	if g.family != nil && g.family.Extends != "" {
		return 1
	}
	return 0
}
