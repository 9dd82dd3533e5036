package conformance

import (
	"fmt"
	"iter"
	"strings"
	"sync"
)

// Implementation is something that sorts model text.
type Implementation interface {
	// Cuts tells whether it can be told at which bytes to cut a text (Chunk.Cuts).
	Cuts() bool
	// Run runs each trial: Answer once for every chunking, then done. Trials may be run at the same time, but one
	// trial is answered by one goroutine; done may be called by several. What goes wrong in a trial is an answer of
	// that trial, so that the others go on.
	Run(trials iter.Seq[*Trial], done func(*Trial))
}

// Trial is a case that is being run in all its chunkings.
type Trial struct {
	Case      *Case
	Chunkings []Chunking

	index    int
	outcome  Outcome
	verdicts map[string]*Problem // of results seen before: most chunkings give the same
}

// Problem is why a chunking failed: a result that differs, or none because of Err.
type Problem struct {
	Difference Difference
	Err        error
}

// Failed is a chunking that failed.
type Failed struct {
	Chunking Chunking
	Problem  *Problem
}

// Outcome is what came of a case. It passed if nothing failed.
type Outcome struct {
	Case *Case
	// Tried is the number of chunkings.
	Tried int
	// Failed are the chunkings that failed, the simplest first.
	Failed []Failed
}

// Passed tells whether every chunking passed.
func (o *Outcome) Passed() bool { return len(o.Failed) == 0 }

// Answer takes the result of one chunking, or why there is none.
func (t *Trial) Answer(k Chunking, r *Result, err error) {
	t.outcome.Tried++
	if err != nil {
		t.outcome.Failed = append(t.outcome.Failed, Failed{k, &Problem{Err: err}})
		return
	}
	key := r.key(k.Stream)
	problem, seen := t.verdicts[key]
	if !seen {
		if d := t.Case.wants(k).Compare(r); d != nil {
			problem = &Problem{Difference: d}
		}
		if t.verdicts == nil {
			t.verdicts = map[string]*Problem{}
		}
		t.verdicts[key] = problem
	}
	if problem != nil {
		t.outcome.Failed = append(t.outcome.Failed, Failed{k, problem})
	}
}

// key is the same for results that compare alike.
func (r *Result) key(stream bool) string {
	return fmt.Sprintf("%v %q %q %q", stream, r.Reasoning, r.Content, r.ToolCalls)
}

// Run runs cases, each whole, streamed and with a number of random splits, and reports each outcome in the order of the
// cases. report is called by one goroutine at a time.
func Run(implementation Implementation, cases []*Case, splits int, report func(*Outcome)) {
	trials := func(yield func(*Trial) bool) {
		for i, c := range cases {
			t := &Trial{Case: c, Chunkings: Chunkings(c, splits, implementation.Cuts()), index: i}
			t.outcome.Case = c
			if !yield(t) {
				return
			}
		}
	}
	var mutex sync.Mutex
	early := map[int]*Outcome{}
	next := 0
	implementation.Run(trials, func(t *Trial) {
		mutex.Lock()
		defer mutex.Unlock()
		early[t.index] = &t.outcome
		for outcome, ok := early[next]; ok; outcome, ok = early[next] {
			delete(early, next)
			next++
			report(outcome)
		}
	})
}

// String tells a failure in a few lines: the case, what differs in the first chunking that failed, which others failed.
func (o *Outcome) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  (%s)\n", o.Case.ID, o.Case.File)
	if o.Case.Why != "" {
		fmt.Fprintf(&out, "  %-9s %s\n", "why", o.Case.Why)
	}
	fmt.Fprintf(&out, "  %-9s %s\n", "text", short(fmt.Sprintf("%q", o.Case.Written()), 2*longest))
	if o.Passed() {
		fmt.Fprintf(&out, "  %-9s in all %d ways\n", "passed", o.Tried)
		return out.String()
	}
	fmt.Fprintf(&out, "  %-9s %s\n", "failed", o.which())
	if err := o.Failed[0].Problem.Err; err != nil {
		fmt.Fprintf(&out, "  %-9s %v\n", "because", err)
	}
	for _, item := range o.Failed[0].Problem.Difference {
		fmt.Fprintf(&out, "  %s\n    expected  %s\n    found     %s\n", item.Field, item.Expected, item.Found)
	}
	return out.String()
}

// which names the first chunking that failed and says how many others did.
func (o *Outcome) which() string {
	first := o.Failed[0].Chunking.String()
	switch others := len(o.Failed) - 1; {
	case o.Tried == len(o.Failed) && o.Tried > 1:
		return fmt.Sprintf("%s, and in all %d other ways", first, others)
	case others > 0:
		return fmt.Sprintf("%s, and in %d of %d other ways", first, others, o.Tried-1)
	default:
		return fmt.Sprintf("%s, and in none of %d other ways", first, o.Tried-1)
	}
}
