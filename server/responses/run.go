package responses

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/place"
	"github.com/parlance-llm/parlance/server/store"
)

// produce reads an answer to its end. The object is finished, stored if the request wants it, and only then is its end
// told: what a client has been told of is kept. An engine that fails makes it a failed response, which is told and stored
// likewise (W24). The error is of a whole answer, which has not been told of.
func (h *Handler) produce(ctx context.Context, a *assembler, generation *generate.Generation, next func() (generate.Step, error)) error {
	for {
		step, err := next()
		switch {
		case err == nil:
			if err := a.step(step); err != nil {
				return err
			}
			if step.Finish != nil {
				a.object.finish(step.Finish, generation.Usage())
			}
			continue
		case errors.Is(err, io.EOF):
		case a.send == nil:
			return err // a whole answer has the error's own status
		default:
			a.object.broken(ctx, err)
			if a.open != nil {
				a.open.Status = incomplete
			}
		}
		return h.end(ctx, a)
	}
}

// broken says that a response was not made to its end: it was cancelled, the client of its stream has left, or it failed.
func (o *object) broken(ctx context.Context, err error) {
	var ours *apierror.Error
	if errors.Is(err, errGone) || ctx.Err() != nil && !errors.As(context.Cause(ctx), &ours) {
		o.Status = cancelled
		return
	}
	o.fail(err)
}

// errCancelled ends a run that a client has cancelled, errGone a stream whose client has left or does not read.
var (
	errCancelled = errors.New("the response was cancelled")
	errGone      = errors.New("the client has gone")
)

// end stores a response that is over and tells its end.
func (h *Handler) end(ctx context.Context, a *assembler) error {
	if a.journal != nil && h.cancelledElsewhere(ctx, a.object.ID) {
		a.object.Status, a.object.CompletedAt, a.object.IncompleteDetails = cancelled, nil, nil // as its client has been told
	}
	last := a.last()
	if err := h.finish(ctx, a, last); err != nil {
		h.Logger.Error("a response could not be stored", "response", a.object.ID, "error", err)
		a.object.fail(&apierror.Error{Kind: apierror.Internal, Message: "The response could not be stored", Cause: err})
		last = a.last()
	}
	if a.send == nil {
		return nil
	}
	for _, e := range last {
		if err := a.send(e.name, e.data); err != nil {
			return err
		}
	}
	return nil
}

// cancelledElsewhere says that a response is being worked on, and tells whether another server has cancelled it.
func (h *Handler) cancelledElsewhere(ctx context.Context, id string) bool {
	status, err := h.Store.Touch(context.WithoutCancel(ctx), id)
	return err == nil && status == cancelled
}

// last are the events that tell of the end: one, and before that of a failure what went wrong.
func (a *assembler) last() (events []named) {
	number := a.sequence
	if a.object.Status == failed {
		events = append(events, failureEvent(number, a.object.Error))
		number++
	}
	name := "response." + a.object.Status
	if a.object.Status == cancelled {
		name = "response." + incomplete // there is no event of its own
	}
	return append(events, named{name, encode(event{Type: name, Sequence: number, Response: a.object})})
}

// failureEvent is the event error.
func failureEvent(number int, why *failure) named {
	return named{"error", encode(struct {
		Type     string  `json:"type"`
		Sequence int     `json:"sequence_number"`
		Code     string  `json:"code"`
		Message  string  `json:"message"`
		Param    *string `json:"param"`
	}{"error", number, why.Code, why.Message, nil})}
}

// finish stores a response that is over, if the request wants it: with its last events if it was made in the background,
// and in its conversation.
func (h *Handler) finish(ctx context.Context, a *assembler, last []named) error {
	ending := store.Ending{Extend: a.request.conversation != "" && (a.object.Status == completed || a.object.Status == incomplete)}
	if !a.request.store && !ending.Extend {
		return nil
	}
	if a.journal != nil {
		ending.From, ending.Events = a.journal.unstored()
		for _, e := range last {
			ending.Events = append(ending.Events, e.data)
		}
	}
	ctx = context.WithoutCancel(ctx) // a client that leaves now has been, or will be, told
	if !a.request.store {            // its items belong to the conversation all the same
		r := a.request.stored(a.object)
		err := h.Store.AddItems(ctx, r.Conversation, slices.Concat(r.Input, r.Output))
		if errors.Is(err, store.ErrNotFound) { // it has been deleted meanwhile
			return nil
		}
		return err
	}
	err := h.Store.Finish(ctx, a.request.stored(a.object), ending)
	if ending.Extend && errors.Is(err, store.ErrNotFound) { // the conversation has been deleted meanwhile
		ending.Extend = false
		err = h.Store.Finish(ctx, a.request.stored(a.object), ending)
	}
	return err
}

// keep stores a response that is not over.
func (h *Handler) keep(ctx context.Context, r *Request, o *object) error {
	return h.Store.Put(context.WithoutCancel(ctx), r.stored(o))
}

// stored is a response as the store keeps it.
func (r *Request) stored(o *object) *store.Response {
	s := &store.Response{ID: o.ID, Created: time.Unix(o.CreatedAt, 0), Status: o.Status, Previous: r.previous, Conversation: r.conversation, Body: encode(o), Input: r.input}
	for _, i := range o.Output {
		s.Output = append(s.Output, store.Item{ID: i.ID, JSON: encode(i)})
	}
	return s
}

// run is a response that is made in the background.
type run struct {
	id     string
	cancel context.CancelCauseFunc

	mutex   sync.Mutex
	events  []named
	snap    []byte // the object as it was a moment ago
	snapped time.Time
	known   int           // the number of events that snap knows of
	changed chan struct{} // closed when there is more, or the end
	over    bool
}

// named is an event with its name.
type named struct {
	name string
	data []byte
}

// after are the events from a number on, and what to wait for when there are none.
func (r *run) after(number int) (events []named, over bool, changed <-chan struct{}) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if number+1 < len(r.events) {
		events = r.events[number+1:]
	}
	return events, r.over, r.changed
}

func (r *run) object() []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.snap
}

func (r *run) update(do func()) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

// runs are the runs of this server.
type runs struct {
	mutex   sync.Mutex
	live    map[string]*run
	group   sync.WaitGroup
	closing bool // no run begins any more
}

func (r *runs) get(id string) *run {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.live[id]
}

// begin starts a run, unless the server is closing.
func (r *runs) begin(one *run, work func()) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closing {
		return false
	}
	if r.live == nil {
		r.live = map[string]*run{}
	}
	r.live[one.id] = one
	r.group.Go(work)
	return true
}

func (r *runs) remove(id string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.live, id)
}

const (
	// flushEvery is how long events of a run wait to be stored together, flushAt how many at most.
	flushEvery = 200 * time.Millisecond
	flushAt    = 64
	// fewEvents is up to how many events a poll sees every item as soon as it is done.
	fewEvents = 1000
	// touchEvery is how often a run says that it is alive; abandonedAfter is when one that did not is given up.
	touchEvery     = 10 * time.Second
	abandonedAfter = time.Minute
)

// start begins a response in the background. It is stored as queued before anybody hears of it.
func (h *Handler) start(ctx context.Context, r *Request) (*run, error) {
	a := &assembler{request: r, object: r.object(queued)}
	if err := h.keep(ctx, r, a.object); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	one := &run{id: a.object.ID, cancel: cancel, snap: encode(a.object), changed: make(chan struct{})}
	release := place.Keep(ctx) // until the run is over, not the request
	if !h.runs.begin(one, func() {
		defer release()
		defer cancel(nil)
		h.work(ctx, one, a)
	}) {
		release()
		cancel(nil)
		err := apierror.New(apierror.Overloaded, "", "The server is shutting down")
		a.object.fail(err)
		return nil, errors.Join(err, h.keep(ctx, r, a.object))
	}
	return one, nil
}

// journal stores the events of a run, some at a time.
type journal struct {
	run     *run
	store   store.Store
	stored  int // how many are
	flushed time.Time
}

// unstored are the events that are not stored yet, the first of which has the number from.
func (j *journal) unstored() (from int, data [][]byte) {
	events, _, _ := j.run.after(j.stored - 1)
	for _, e := range events {
		data = append(data, e.data)
	}
	return j.stored, data
}

func (j *journal) flush(ctx context.Context) error {
	j.flushed = time.Now()
	from, data := j.unstored()
	if len(data) == 0 {
		return nil
	}
	if err := j.store.AddEvents(context.WithoutCancel(ctx), j.run.id, from, data); err != nil {
		return err
	}
	j.stored += len(data)
	return nil
}

// work makes a response in the background, to its end whatever happens (W25).
func (h *Handler) work(ctx context.Context, one *run, a *assembler) {
	a.journal = &journal{run: one, store: h.Store, flushed: time.Now()}
	flush := func() {
		if err := a.journal.flush(ctx); err != nil {
			h.Logger.Error("events of a response could not be stored", "response", one.id, "error", err)
		}
	}
	touched := time.Now()
	a.send = func(name string, data []byte) error {
		count := 0
		over := a.object.Status != queued && a.object.Status != inProgress // then all are stored already
		one.update(func() {
			one.events = append(one.events, named{name, data})
			count = len(one.events)
			// The object grows with the answer: writing it down for every event, or for every item of a great many, would take
			// quadratic time.
			item := strings.HasSuffix(name, ".done") && (count < fewEvents || count > one.known+one.known/10)
			if over || name == "response.in_progress" || one.snapped.IsZero() || time.Since(one.snapped) > flushEvery || item {
				one.snap, one.snapped, one.known = encode(a.object), time.Now(), count
			}
		})
		if !over && (count-a.journal.stored >= flushAt || time.Since(a.journal.flushed) > flushEvery) {
			flush()
		}
		return nil
	}
	defer func() {
		one.update(func() { one.over = true })
		h.runs.remove(one.id)
	}()
	_ = a.lifecycle("created")
	_ = a.lifecycle(queued)
	a.object.Status = inProgress
	if err := h.keep(ctx, a.request, a.object); err != nil {
		h.Logger.Error("a response could not be stored", "response", one.id, "error", err)
	}
	_ = a.lifecycle("in_progress")
	generation, err := h.Generator.Start(ctx, &a.request.Request)
	if err != nil {
		a.object.broken(ctx, err)
		_ = h.end(ctx, a)
		return
	}
	defer generation.Close()
	_ = h.produce(ctx, a, generation, func() (generate.Step, error) {
		for {
			if time.Since(touched) > touchEvery {
				touched = time.Now()
				if h.cancelledElsewhere(ctx, one.id) {
					one.cancel(errCancelled)
				}
			}
			step, err := generation.Next(touchEvery)
			if !errors.Is(err, generate.ErrWaiting) {
				return step, err
			}
			flush()
		}
	})
}

// Close waits until the responses in the background are over; those that are not when ctx ends are failed.
func (h *Handler) Close(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		h.runs.group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	h.runs.mutex.Lock()
	h.runs.closing = true
	for _, one := range h.runs.live {
		one.cancel(apierror.New(apierror.Overloaded, "", "The server is shutting down"))
	}
	h.runs.mutex.Unlock()
	<-done
}
