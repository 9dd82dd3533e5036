package responses

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/sse"
	"github.com/parlance-llm/parlance/server/store"
)

// Get answers GET /v1/responses/{id}; with stream=true the events behind the number starting_after.
func (h *Handler) Get() http.Handler { return h.handleStored(h.get) }

// handleStored is handle for what reads or changes the store; without one there is nothing to be found.
func (h *Handler) handleStored(do func(http.ResponseWriter, *http.Request) error) http.Handler {
	return handle(func(w http.ResponseWriter, r *http.Request) error {
		if h.Store == nil {
			return apierror.New(apierror.NotFound, "", "the server was started without a store (--responses-store), so no response can be read back")
		}
		return do(w, r)
	})
}

func (h *Handler) get(w http.ResponseWriter, r *http.Request) error {
	id, query := r.PathValue("id"), r.URL.Query()
	streamed, ok := body.Truth(query.Get("stream"))
	if !ok && query.Has("stream") {
		return apierror.Invalidf("stream", "expected true or false, found %q", query.Get("stream"))
	}
	after := -1
	if given := query.Get("starting_after"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return apierror.Invalidf("starting_after", "expected a sequence number, found %q", given)
		}
		if after = n; !streamed {
			return apierror.Invalidf("starting_after", "starting_after needs stream=true")
		}
	}
	one := h.runs.get(id)
	switch {
	case one != nil && streamed:
		return h.follow(w, r, one, after)
	case one != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(one.object())
		return nil
	}
	response, err := h.Store.Get(r.Context(), id)
	if err != nil {
		return stored(err, "response", id)
	}
	if streamed {
		return h.replay(w, r, response, after)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(response.Body)
	return nil
}

// follow streams the events of a run behind a number, until the run is over.
func (h *Handler) follow(w http.ResponseWriter, r *http.Request, one *run, after int) error {
	events := sse.Start(w, h.Settings.WriteTimeout)
	defer events.Close()
	for {
		more, over, changed := one.after(after)
		for _, e := range more {
			if events.Event(e.name, e.data) != nil {
				return nil // the client has gone; the run goes on
			}
		}
		if after += len(more); over {
			return nil
		}
		if len(more) > 0 {
			continue
		}
		if !h.wait(r.Context(), events, changed) {
			return nil
		}
	}
}

// wait waits for something, and keeps the connection alive meanwhile. It answers false if the client has gone.
func (h *Handler) wait(ctx context.Context, events *sse.Writer, changed <-chan struct{}) bool {
	var idle <-chan time.Time
	if h.Settings.KeepAlive > 0 {
		timer := time.NewTimer(h.Settings.KeepAlive)
		defer timer.Stop()
		idle = timer.C
	}
	select {
	case <-changed:
		return true
	case <-idle:
		return events.KeepAlive() == nil
	case <-ctx.Done():
		return false
	}
}

// replay streams the stored events of a response that this server does not make. One that another server makes is followed
// by looking again.
func (h *Handler) replay(w http.ResponseWriter, r *http.Request, response *store.Response, after int) error {
	found, err := h.Store.Events(r.Context(), response.ID, after)
	if err != nil {
		return stored(err, "response", response.ID)
	}
	if len(found) == 0 && after < 0 && store.Over(response.Status) {
		return apierror.Invalidf("stream", "only responses that were made in the background can be streamed again")
	}
	events := sse.Start(w, h.Settings.WriteTimeout)
	defer events.Close()
	for {
		for _, data := range found {
			name, over := kindOf(data)
			if events.Event(name, data) != nil || over {
				return nil
			}
		}
		after += len(found)
		if status, err := h.Store.Get(r.Context(), response.ID); err != nil || len(found) == 0 && store.Over(status.Status) {
			return nil
		}
		tick := make(chan struct{})
		timer := time.AfterFunc(flushEvery, func() { close(tick) })
		if !h.wait(r.Context(), events, tick) {
			timer.Stop()
			return nil
		}
		if found, err = h.Store.Events(r.Context(), response.ID, after); err != nil {
			return nil
		}
	}
}

// kindOf is the name of an event, and whether it is the last of its stream.
func kindOf(data jsontext.Value) (name string, over bool) {
	members, _ := body.Members(data)
	name = body.Text(body.Lookup(members, "type"))
	return name, slices.Contains([]string{"response." + completed, "response." + incomplete, "response." + failed}, name)
}

// Cancel answers POST /v1/responses/{id}/cancel: only a response that is made in the background can be cancelled.
func (h *Handler) Cancel() http.Handler { return h.handleStored(h.cancel) }

func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if one := h.runs.get(id); one != nil {
		one.cancel(errCancelled)
		for {
			_, over, changed := one.after(math.MaxInt - 1)
			if over {
				break
			}
			select {
			case <-changed:
			case <-r.Context().Done():
				return nil
			}
		}
	}
	response, err := h.Store.Get(r.Context(), id)
	if err != nil {
		return stored(err, "response", id)
	}
	if response.Status != cancelled {
		if store.Over(response.Status) {
			return apierror.Invalidf("response_id", "only a response that is made in the background can be cancelled, and the status of %s is %s", id, response.Status)
		}
		response.Status, response.Body = cancelled, changeStatus(response.Body, cancelled, nil)
		if err := h.Store.Put(r.Context(), response); err != nil {
			return stored(err, "response", id)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(response.Body)
	return nil
}

// changeStatus gives a stored response object another status, and an error.
func changeStatus(object jsontext.Value, status string, why *failure) jsontext.Value {
	members, _ := body.Members(object)
	for i := range members {
		switch members[i].Name {
		case "status":
			members[i].Value = body.Quote(nil, status)
		case "error":
			if why != nil {
				members[i].Value = encode(why)
			}
		}
	}
	return body.Join(members)
}

// Delete answers DELETE /v1/responses/{id}.
func (h *Handler) Delete() http.Handler { return h.handleStored(h.remove) }

func (h *Handler) remove(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	response, err := h.Store.Get(r.Context(), id)
	if err != nil {
		return stored(err, "response", id)
	}
	if h.runs.get(id) != nil || !store.Over(response.Status) { // by this server, or by another
		return apierror.Invalidf("response_id", "the response %s is still being made; cancel it first", id)
	}
	if err := h.Store.Delete(r.Context(), id); err != nil {
		return stored(err, "response", id)
	}
	return answer(w, deleted{id, "response", true})
}

// deleted is the answer where something was removed.
type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// list is a page of a list.
type list struct {
	Object string           `json:"object"`
	Data   []jsontext.Value `json:"data"`
	First  *string          `json:"first_id"`
	Last   *string          `json:"last_id"`
	More   bool             `json:"has_more"`
}

// InputItems answers GET /v1/responses/{id}/input_items.
func (h *Handler) InputItems() http.Handler { return h.handleStored(h.inputItems) }

func (h *Handler) inputItems(w http.ResponseWriter, r *http.Request) error {
	response, err := h.Store.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return stored(err, "response", r.PathValue("id"))
	}
	page, err := pageOf(r, response.Input)
	if err != nil {
		return err
	}
	return answer(w, page)
}

// pageOf is the page of items that a request's limit, order and after ask for: the newest first, 20 at most.
func pageOf(r *http.Request, items []store.Item) (*list, error) {
	query := r.URL.Query()
	limit := 20
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > 100 {
			return nil, apierror.Invalidf("limit", "expected a number from 1 to 100, found %q", given)
		}
		limit = n
	}
	items = slices.Clone(items)
	switch order := query.Get("order"); order {
	case "", "desc":
		slices.Reverse(items)
	case "asc":
	default:
		return nil, apierror.Invalidf("order", "expected asc or desc, found %q", order)
	}
	if after := query.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(item store.Item) bool { return item.ID == after })
		if i < 0 {
			return nil, apierror.Invalidf("after", "no item of this list has the id %q", after)
		}
		items = items[i+1:]
	}
	page := &list{Object: "list", Data: []jsontext.Value{}, More: len(items) > limit}
	items = items[:min(limit, len(items))]
	for _, item := range items {
		page.Data = append(page.Data, item.JSON)
	}
	if n := len(items); n > 0 {
		page.First, page.Last = &items[0].ID, &items[n-1].ID
	}
	return page, nil
}

// Keep looks after the store until ctx ends: responses that nobody works on any more are failed, those older than
// retention are removed; 0 keeps them for ever.
func (h *Handler) Keep(ctx context.Context, retention time.Duration) {
	if h.Store == nil {
		return
	}
	for round := 0; ; round++ {
		if err := h.failAbandoned(ctx); err != nil && ctx.Err() == nil {
			h.Logger.Error("the store cannot be looked after", "error", err)
		}
		if retention > 0 && round%120 == 0 {
			if n, err := h.Store.Purge(ctx, time.Now().Add(-retention)); err != nil && ctx.Err() == nil {
				h.Logger.Error("old responses cannot be removed", "error", err)
			} else if n > 0 {
				h.Logger.Info("old responses removed", "rows", n)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(abandonedAfter / 2):
		}
	}
}

func (h *Handler) failAbandoned(ctx context.Context) error {
	ids, err := h.Store.Abandoned(ctx, time.Now().Add(-abandonedAfter))
	for _, id := range ids {
		response, getErr := h.Store.Get(ctx, id)
		if getErr != nil || h.runs.get(id) != nil {
			continue
		}
		why := &failure{"server_error", "The server that made this response has stopped"}
		response.Status, response.Body = failed, changeStatus(response.Body, failed, why)
		events, eventErr := h.Store.Events(ctx, id, -1)
		number := len(events)
		last := encode(struct {
			Type     string         `json:"type"`
			Sequence int            `json:"sequence_number"`
			Response jsontext.Value `json:"response"`
		}{"response.failed", number + 1, response.Body})
		err = errors.Join(err, eventErr, h.Store.Finish(ctx, response, store.Ending{From: number, Events: [][]byte{failureEvent(number, why).data, last}}))
	}
	return err
}
