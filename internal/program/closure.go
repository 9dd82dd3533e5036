package program

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// Mode is how thoughts are entered.
type Mode uint8

const (
	// On: thinking is switched on, or the family has no switch.
	On Mode = iota
	// Off: an opener is text, and so is the closer that pairs with it (ruling 9).
	Off
	// Prompt: a prompt is read; the last marker of a thought decides, however many came before (ruling 5).
	Prompt
	modes
)

// place is a step that has been reached, with its rank: 0 for what the grammar expects, more for what the law adds.
// Where a text can be read in two ways the lower rank wins.
type place struct{ step, rank int }

const rankStray = 1000

// item is a step that can be read next.
type item struct {
	place
	blank bool // white space may stand before it
	own   bool // and not only behind what was looked for
	look  bool // reached by looking ahead
	left  bool // the output of the other half has been left on the way
	push  int  // the step a nested parameter returns to, or -1
	echo  Do
}

type closure struct {
	items []item
	// end: the end of the output satisfies a look ahead.
	end bool
}

// reach is where the closing-over of a set of places is controlled.
type reach struct {
	mode Mode
	// begun: text may stand between the calls of a block.
	begun bool
	// texts: text is of interest, and with it the strays.
	texts bool
	// twins: copies are kept; see twins.go.
	twins bool
	// within stays inside a region: what can be reached only by leaving it does not count; see inside.
	within *region
}

// close gives what can be read next at some places. What it gives is shared and not changed.
func (c *compiler) close(places []place, r reach) closure {
	key := make([]byte, 0, 64)
	for _, p := range places {
		key = binary.AppendVarint(binary.AppendVarint(key, int64(p.step)), int64(p.rank))
	}
	key = append(key, byte(r.mode), flag(r.begun), flag(r.texts), flag(r.twins))
	if r.within != nil {
		key = binary.AppendVarint(key, int64(r.within.exit))
	}
	known, ok := c.closures[string(key)]
	if !ok {
		known = c.closeOver(places, r)
		c.closures[string(key)] = known
	}
	return known
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// closeOver gives what close gives, computed anew, in the order of the ranks.
func (c *compiler) closeOver(places []place, r reach) closure {
	w := walker{c: c, reach: r, seen: map[visit]bool{}}
	for _, p := range places {
		w.walk(p, item{push: -1}, nil)
	}
	if r.texts {
		w.besideTexts()
	}
	slices.SortStableFunc(w.items, func(a, b item) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return a.step - b.step
	})
	if !r.twins {
		w.items = c.withoutTwins(w.items, r)
	}
	return w.closure
}

type walker struct {
	closure
	c     *compiler
	reach reach
	seen  map[visit]bool
}

// visit is a place with the state it is walked through in.
type visit struct {
	place
	blank bool
	left  bool
	push  int
	ahead *lookahead
	echo  Do
}

// add notes an item, once; how it was come by makes no difference.
func (w *walker) add(it item) {
	if it.left = false; !slices.Contains(w.items, it) {
		w.items = append(w.items, it)
	}
}

// walk goes from a place to all that can be read next. state is what has been passed on the way, ahead what a look ahead
// asks for.
func (w *walker) walk(p place, state item, ahead *lookahead) {
	g := w.c.graph
	s := &g.steps[p.step]
	key := visit{p, state.blank, state.left, state.push, ahead, state.echo}
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	if w.reach.within != nil && w.reach.within.exit == p.step {
		return
	}
	switch s.op {
	case stepNothing:
	case stepThought:
		if w.reach.mode == Off {
			return
		}
	case stepEnter:
		// What may stand at the beginning of the output may stand behind a marker of the half around it, not behind mere
		// text (notation §1.5).
		if state.left {
			return
		}
	case stepLeave:
		state.left = true
	case stepLook:
		w.end = w.end || s.look.end
		if s.look.blank {
			state.blank = true
			w.add(item{place: p, look: true, push: -1})
		}
		state.look = true
		ahead = s.look
	case stepNested:
		// Into the parameter once more; what follows here is where it returns to.
		parameter := g.regions[s.region]
		state.push = s.next[0]
		w.walk(place{g.entrance(parameter), p.rank}, state, ahead)
		return
	case stepEchoBegin:
		state.echo |= RecordEcho
	case stepEchoEnd:
		state.echo |= StopEcho
	case stepBlank:
		if ahead == nil {
			state.place = p
			w.add(state)
			state.own = true
		}
		state.blank = true
	case stepText:
		if ahead != nil {
			return
		}
		if w.reach.texts && (w.reach.begun || !s.between) {
			state.place = p
			w.add(state)
		}
	default: // it reads something, and what follows it is reached only then
		if ahead == nil || w.allows(ahead, p.step) {
			state.place = p
			w.add(state)
		}
		return
	}
	for _, step := range s.next {
		w.walk(place{step, p.rank}, state, ahead)
	}
}

// entrance is the first step of a region.
func (g *graph) entrance(r region) int {
	for i := range g.regions {
		if g.regions[i].exit == r.exit {
			for at := range g.steps {
				if g.steps[at].region == i {
					return at
				}
			}
		}
	}
	panic("program: a region without steps")
}

// allows tells whether a look ahead asks for what a step reads.
func (w *walker) allows(ahead *lookahead, step int) bool {
	s := &w.c.graph.steps[step]
	if s.op == stepLiteral && slices.Contains(ahead.literals, s.literal) {
		return true
	}
	for r := s.region; r != outside; r = w.c.graph.regions[r].parent {
		if slices.Contains(ahead.rules, w.c.graph.regions[r].rule) {
			return true
		}
	}
	return false
}

// besideTexts adds the strays of the texts that were reached, and what may follow the frame or block a text stands in,
// since a new opener ends what it does not belong to (notation §2, L4).
func (w *walker) besideTexts() {
	g := w.c.graph
	for i := 0; i < len(w.items); i++ {
		it := w.items[i]
		s := &g.steps[it.step]
		if s.op != stepText {
			continue
		}
		w.items[i].blank = false
		for _, stray := range s.strays {
			w.walk(place{stray, rankStray}, item{push: -1}, nil)
		}
		rank := 1
		for r := s.region; r != outside; r = g.regions[r].parent {
			role := g.regions[r].role
			if role != grammar.Frame && !(role == grammar.Block && s.between) {
				break
			}
			inner := walker{c: w.c, reach: reach{mode: w.reach.mode, begun: true}, seen: map[visit]bool{}}
			inner.walk(place{g.regions[r].exit, rank}, item{push: -1, left: true}, nil)
			for _, it := range inner.items {
				if op := g.steps[it.step].op; op != stepBlank && op != stepText {
					w.items = append(w.items, it)
				}
			}
			rank++
		}
	}
}

// signature identifies a closure.
func (cl closure) signature() string {
	var out strings.Builder
	for _, it := range cl.items {
		fmt.Fprintf(&out, "%d.%d", it.step, it.rank)
		if it.blank {
			out.WriteByte('b')
		}
		if it.look {
			out.WriteByte('l')
		}
		if it.push >= 0 {
			fmt.Fprintf(&out, "p%d", it.push)
		}
		if it.echo != 0 {
			fmt.Fprintf(&out, "e%d", it.echo)
		}
		out.WriteByte(' ')
	}
	if cl.end {
		out.WriteByte('$')
	}
	return out.String()
}

// texts are the text steps of the best rank.
func (c *compiler) texts(cl closure) (texts []item) {
	for _, it := range cl.items {
		if c.graph.steps[it.step].op == stepText && (len(texts) == 0 || it.rank == texts[0].rank) {
			texts = append(texts, it)
		}
	}
	return texts
}
