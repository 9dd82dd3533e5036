package responses

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/store"
)

// produce reads an answer to its end. The object is finished, stored if the request wants it, and only then is its end
// told: what a client has been told of is kept. An engine that fails makes it a failed response, which is told and stored
// likewise (W24). idle is called where nothing has come for a while. The error is of telling.
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
	if ctx.Err() != nil && !errors.As(context.Cause(ctx), &ours) {
		o.Status = cancelled
		return
	}
	o.fail(err)
}

// errCancelled ends a run that a client has cancelled.
var errCancelled = errors.New("the response was cancelled")

// end stores a response that is over and tells its end.
func (h *Handler) end(ctx context.Context, a *assembler) error {
	if err := h.keep(ctx, a.request, a.object); err != nil {
		h.Logger.Error("a response could not be stored", "response", a.object.ID, "error", err)
		a.object.fail(&apierror.Error{Kind: apierror.Internal, Message: "The response could not be stored", Cause: err})
	}
	if a.object.Status == cancelled {
		return a.lifecycle(incomplete) // there is no event of its own
	}
	return a.lifecycle(a.object.Status)
}

// keep stores a response, and adds it to its conversation when it is over.
func (h *Handler) keep(ctx context.Context, r *Request, o *object) error {
	if !r.store {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a client that leaves now has been, or will be, told
	stored := &store.Response{ID: o.ID, Created: time.Unix(o.CreatedAt, 0), Status: o.Status, Previous: r.previous, Conversation: r.conversation, Body: encode(o), Input: r.input}
	for _, i := range o.Output {
		stored.Output = append(stored.Output, store.Item{ID: i.ID, JSON: encode(i)})
	}
	if err := h.Store.Put(ctx, stored); err != nil {
		return err
	}
	if r.conversation != "" && (o.Status == completed || o.Status == incomplete) {
		return h.Store.AddItems(ctx, r.conversation, append(append([]store.Item{}, stored.Input...), stored.Output...))
	}
	return nil
}

// run is a response that is made in the background.
type run struct {
	id     string
	cancel context.CancelCauseFunc

	mutex   sync.Mutex
	events  []named
	snap    []byte        // the object as it is now
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
	mutex sync.Mutex
	live  map[string]*run
	group sync.WaitGroup
}

func (r *runs) get(id string) *run {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.live[id]
}

func (r *runs) add(one *run) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.live == nil {
		r.live = map[string]*run{}
	}
	r.live[one.id] = one
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
	h.runs.add(one)
	h.runs.group.Go(func() {
		defer cancel(nil)
		h.work(ctx, one, a)
	})
	return one, nil
}

// work makes a response in the background, to its end whatever happens (W25).
func (h *Handler) work(ctx context.Context, one *run, a *assembler) {
	pending, stored := 0, 0
	flush := func() {
		if pending == 0 {
			return
		}
		events, _, _ := one.after(stored - 1)
		data := make([][]byte, len(events))
		for i, e := range events {
			data[i] = e.data
		}
		if err := h.Store.AddEvents(context.WithoutCancel(ctx), one.id, stored, data); err != nil {
			h.Logger.Error("events of a response could not be stored", "response", one.id, "error", err)
		}
		stored, pending = stored+len(data), 0
	}
	flushed, touched := time.Now(), time.Now()
	a.send = func(name string, data []byte) error {
		final := a.object.Status != queued && a.object.Status != inProgress
		one.update(func() {
			one.events = append(one.events, named{name, data})
			one.snap = encode(a.object)
		})
		if pending++; pending >= flushAt || time.Since(flushed) > flushEvery || final {
			flush()
			flushed = time.Now()
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
				if status, err := h.Store.Touch(ctx, one.id); err == nil && status == cancelled {
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
	for _, one := range h.runs.live {
		one.cancel(apierror.New(apierror.Overloaded, "", "The server is shutting down"))
	}
	h.runs.mutex.Unlock()
	<-done
}
