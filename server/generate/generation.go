package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/internal/stops"
	"github.com/parlance-llm/parlance/server/apierror"
)

// Generation is an answer that is being made. Next and Close belong to one goroutine.
type Generation struct {
	generator *Generator
	request   *Request
	reading   parlance.Request
	engine    *engine.Request

	ctx    context.Context
	cancel context.CancelFunc
	steps  chan result
	done   sync.WaitGroup

	left    int // choices that are not over
	failed  error
	usages  []Usage
	began   bool
	ended   []Finish
	end     func([]Finish, Usage, error) // ends the span
	started time.Time
	first   time.Time

	constraint Constraint
	mutex      sync.Mutex
	notes      []string
}

type result struct {
	step Step
	err  error
}

// ErrWaiting: nothing came within the time that Next was given.
var ErrWaiting = errors.New("the engine has not gone on yet")

func newGeneration(ctx context.Context, g *Generator, r *Request, reading parlance.Request, e *engine.Request) *Generation {
	generation := &Generation{generator: g, request: r, reading: reading, engine: e, steps: make(chan result), left: r.N, usages: make([]Usage, r.N), started: time.Now()}
	generation.ctx, generation.cancel = context.WithCancel(ctx)
	return generation
}

// run starts the choices. Each has a goroutine, which waits until its step is taken: a slow client slows the engine down.
func (g *Generation) run() {
	for i := range g.request.N {
		g.done.Go(func() {
			defer func() {
				if p := recover(); p != nil { // what breaks over one answer must not take the others with it
					g.send(result{err: &apierror.Error{Kind: apierror.Internal, Message: "Internal server error", Cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}})
				}
			}()
			if err := g.choice(i); err != nil {
				g.send(result{err: err})
			}
		})
	}
}

// send hands a step over; it answers false if nobody wants it any more.
func (g *Generation) send(r result) bool {
	select {
	case g.steps <- r:
		return true
	case <-g.ctx.Done():
		return false
	}
}

// Next gives the next step. It waits no longer than wait, if that is more than zero, and then answers ErrWaiting; it may
// be called again. After the last step it answers io.EOF. Any other error ends the answer.
func (g *Generation) Next(wait time.Duration) (Step, error) {
	switch {
	case g.failed != nil:
		return Step{}, g.failed
	case g.left == 0:
		return Step{}, io.EOF
	}
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case r := <-g.steps:
		if r.err != nil {
			return Step{}, g.fail(r.err)
		}
		if !g.began {
			g.began, g.first = true, time.Now()
			g.observe(func(o Observer) { o.Began(g.request, time.Since(g.started)) })
		}
		g.usages[r.step.Choice] = r.step.Usage
		if r.step.Finish != nil {
			g.ended = append(g.ended, *r.step.Finish)
			g.left--
		}
		return r.step, nil
	case <-late:
		return Step{}, ErrWaiting
	case <-g.ctx.Done():
		return Step{}, g.fail(g.ctx.Err())
	}
}

// fail ends the answer with an error. When the context has ended, it says why; the engine may have noticed first.
func (g *Generation) fail(err error) error {
	if g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	g.failed = FromEngine(err)
	g.cancel()
	return g.failed
}

// Times are when the answer was asked for, and when its first piece came; the latter is zero before that.
func (g *Generation) Times() (started, first time.Time) { return g.started, g.first }

// Usage counts the tokens of all choices so far.
func (g *Generation) Usage() (sum Usage) {
	for _, usage := range g.usages {
		sum = sum.Add(usage)
	}
	return sum
}

// Close ends the answer, and the engine's work on it, and waits until that is done.
func (g *Generation) Close() {
	g.cancel()
	g.done.Wait()
	if g.end == nil {
		return
	}
	if g.left > 0 {
		why := g.failed
		if why == nil {
			why = context.Canceled // nobody wants the rest
		}
		g.observe(func(o Observer) { o.Failed(g.request, g.left, apierror.From(why)) })
	}
	g.end(g.ended, g.Usage(), g.failed)
	g.end = nil
}

// Answers reads the whole answer: one a choice, in their order.
func (g *Generation) Answers() ([]*Answer, error) {
	collectors := make([]Collector, g.request.N)
	for {
		step, err := g.Next(0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		collectors[step.Choice].Add(step)
	}
	answers := make([]*Answer, len(collectors))
	for i := range collectors {
		answers[i] = collectors[i].Answer()
		if g.reads() {
			g.observe(func(o Observer) { o.Invoked(g.request, len(answers[i].Calls) > 0) })
		}
	}
	return answers, nil
}

// reads tells whether calls are read.
func (g *Generation) reads() bool {
	return g.request.ToolChoice.Mode != ToolChoiceNone && g.request.Model.ReadsCalls()
}

func (g *Generation) observe(tell func(Observer)) {
	if g.generator.Observer != nil {
		tell(g.generator.Observer)
	}
}

// choice makes one choice.
func (g *Generation) choice(number int) error {
	request := g.engine.Choice(number)
	c := &choice{generation: g, number: number, sorter: g.newSorter(), counter: newCounter(request)}
	if len(request.Stop) < len(g.request.Stop) {
		set, err := stops.Compile(g.request.Stop)
		if err != nil {
			return apierror.Invalidf("stop", "%v", err)
		}
		c.stops = set.Matcher()
	}
	if g.constraint.ThinkFirst {
		rest, err := c.think(request)
		if err != nil || rest == nil {
			return err
		}
		request = rest
	}
	if g.constraint.Guard != nil {
		c.guard = g.constraint.Guard()
	}
	return c.generate(request)
}

func (g *Generation) newSorter() *sorter {
	s := newSorter(g.request, g.reading)
	if g.request.Model.bound() && g.generator.Engine.Capabilities().TokenIDs {
		s.byTokens(g.reading)
	}
	s.flagged = g.flag
	var start parlance.PromptState
	if parser := g.request.Model.Parser; parser != nil {
		start = parser.PromptState(g.reading)
	}
	if g.request.Prompt != nil {
		return s // the client has written the prompt itself, and reads the raw text
	}
	s.watch, s.alarmed = g.generator.detector().NewWatch(g.request.Model.Parser, start), g.alarm
	s.watch.Declare(g.request.callable()...)
	return s
}

// alarm notes a mismatch between the model and what was chosen for it, once for each choice of words.
func (g *Generation) alarm(a detect.Alarm) {
	g.observe(func(o Observer) { o.Alarmed(g.request, a) })
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !slices.Contains(g.notes, a.Says) {
		g.notes = append(g.notes, a.Says)
	}
}

// flag notes that something is not as it should be, once for each reason.
func (g *Generation) flag(why string) {
	g.observe(func(o Observer) { o.Flagged(g.request, why) })
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if note := flags[why]; !slices.Contains(g.notes, note) {
		g.notes = append(g.notes, note)
	}
}

// flags are what clients are told of what is not as it should be.
var flags = map[string]string{
	"undeclared": "the model called a function that is not declared",
	"not_named":  "the model called another function than the one that was named",
	"constraint": "the engine did not hold the model to what was asked for",
}

// Prompt is the rendered prompt; "" where the engine renders conversations itself.
func (g *Generation) Prompt() string { return g.reading.Prompt }

// Notes tell what clients should know of the answer so far beside itself: where the constraint is wider than what was
// asked for, and what the model did that it should not have done.
func (g *Generation) Notes() []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return slices.Clone(g.notes)
}
