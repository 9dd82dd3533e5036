package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// told is a response that a client was told of.
type told struct {
	id, conversation string
	question         string
	// object is the response as it was told, where it was over.
	object jsontext.Value
}

type request struct {
	Model        string `json:"model"`
	Input        string `json:"input"`
	Stream       bool   `json:"stream,omitzero"`
	Background   bool   `json:"background,omitzero"`
	Previous     string `json:"previous_response_id,omitzero"`
	Conversation string `json:"conversation,omitzero"`
}

// askUntil has eight clients ask until so many answers have come, kills the server, and gives all that they were told.
func askUntil(ctx context.Context, s *server, killAt int64) (all []told, err error) {
	var (
		group    sync.WaitGroup
		mutex    sync.Mutex
		asked    atomic.Int64
		answered atomic.Int64
		dead     atomic.Bool
		failure  error
	)
	reached := make(chan struct{})
	for client := range 8 {
		group.Go(func() {
			c := asker{server: s, number: client}
			for asked.Add(1) <= wanted {
				t, err := c.ask(ctx)
				mutex.Lock()
				switch {
				case err == nil:
					all = append(all, t)
				case !dead.Load():
					failure = errors.Join(failure, err)
				}
				mutex.Unlock()
				if err != nil {
					break
				}
				if answered.Add(1) == killAt {
					close(reached)
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { group.Wait(); close(finished) }()
	select {
	case <-reached:
	case <-finished:
		return nil, errors.Join(errors.New("the clients ended before the server was killed"), failure)
	}
	dead.Store(true)
	err = s.kill()
	<-finished
	return all, errors.Join(err, failure)
}

// asker is one client: its own conversation, and its own chain of responses.
type asker struct {
	server                 *server
	number, turn           int
	conversation, previous string
}

func (a *asker) ask(ctx context.Context) (told, error) {
	a.turn++
	r := request{Model: "scripted", Input: fmt.Sprintf("client %d, turn %d: think it over", a.number, a.turn)}
	switch a.turn % 5 {
	case 1:
		r.Stream = true
	case 2:
		r.Background, r.Input = true, fmt.Sprintf("client %d, turn %d: take your time", a.number, a.turn)
	case 3:
		r.Previous = a.previous
	case 4:
		if a.conversation == "" {
			var c struct{ ID string }
			if err := a.read(ctx, "/v1/conversations", struct{}{}, &c); err != nil {
				return told{}, err
			}
			a.conversation = c.ID
		}
		r.Conversation, r.Stream = a.conversation, a.turn%2 == 0
	}
	t := told{question: r.Input, conversation: r.Conversation}
	data, err := a.server.call(ctx, "POST", "/v1/responses", r)
	if err != nil {
		return t, err
	}
	object := jsontext.Value(data)
	if r.Stream {
		if object, err = lastOf(data); err != nil {
			return t, err
		}
	}
	var shown struct{ ID, Status string }
	if err := json.Unmarshal(object, &shown, json.MatchCaseInsensitiveNames(true)); err != nil {
		return t, err
	}
	switch t.id = shown.ID; {
	case r.Background && shown.Status != "queued" && shown.Status != "in_progress",
		!r.Background && shown.Status != "completed":
		return t, fmt.Errorf("a response is %s: %s", shown.Status, object)
	case !r.Background:
		t.object, a.previous = object, shown.ID
	}
	return t, nil
}

func (a *asker) read(ctx context.Context, path string, request, out any) error {
	data, err := a.server.call(ctx, "POST", path, request)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out, json.MatchCaseInsensitiveNames(true))
}

// lastOf is the response object of the event that ends a stream. A stream without one was cut off.
func lastOf(stream []byte) (jsontext.Value, error) {
	_, event, found := bytes.Cut(stream, []byte("event: response.completed\ndata: "))
	if !found {
		return nil, errors.New("the stream was cut off")
	}
	var last struct {
		Response jsontext.Value `json:"response"`
	}
	err := json.Unmarshal(bytes.TrimSpace(event), &last)
	return last.Response, err
}
