package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// stores are the stores to test: SQLite in memory and in a file, and PostgreSQL where PARLANCE_TEST_POSTGRES has its address.
func stores(t *testing.T) map[string]Store {
	addresses := map[string]string{"memory": "memory", "file": "sqlite:" + filepath.Join(t.TempDir(), "new folder", "r.db")}
	if address := os.Getenv("PARLANCE_TEST_POSTGRES"); address != "" {
		addresses["postgres"] = address
	}
	out := map[string]Store{}
	for name, address := range addresses {
		s, err := Open(address)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(func() { s.Close() })
		out[name] = s
	}
	return out
}

func id(name string) string { return fmt.Sprintf("%s_%d", name, time.Now().UnixNano()) }

func TestResponses(t *testing.T) {
	ctx := context.Background()
	for name, s := range stores(t) {
		r := &Response{ID: id("resp"), Created: time.Now().Truncate(time.Microsecond), Status: "in_progress", Previous: "p", Conversation: "c", Body: []byte(`{"a": "ü"}`),
			Input: []Item{{id("in"), []byte(`{"b":1}`)}}}
		if err := s.Put(ctx, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r.Status, r.Body, r.Output = "completed", []byte(`{"a":2}`), []Item{{id("out1"), []byte(`1`)}, {id("out2"), []byte(`2`)}}
		if err := s.Put(ctx, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := s.Get(ctx, r.ID)
		if err != nil || !got.Created.Equal(r.Created) || got.Status != "completed" || got.Previous != "p" || got.Conversation != "c" || !bytes.Equal(got.Body, r.Body) || len(got.Input) != 1 || len(got.Output) != 2 || string(got.Output[1].JSON) != "2" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if item, err := s.Item(ctx, r.Output[1].ID); err != nil || string(item.JSON) != "2" {
			t.Errorf("%s: %+v, %v", name, item, err)
		}
		if err := s.Delete(ctx, r.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, err := range map[string]error{"delete": s.Delete(ctx, r.ID), "get": second(s.Get(ctx, r.ID)), "item": second(s.Item(ctx, r.Output[0].ID))} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestEventsAndAbandonedResponses(t *testing.T) {
	ctx := context.Background()
	for name, s := range stores(t) {
		r := &Response{ID: id("resp"), Created: time.Now(), Status: "queued", Body: []byte(`{}`)}
		if err := errors.Join(s.Put(ctx, r), s.AddEvents(ctx, r.ID, 0, [][]byte{[]byte("a"), []byte("b")}), s.AddEvents(ctx, r.ID, 2, [][]byte{[]byte("c")})); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if events, err := s.Events(ctx, r.ID, 0); err != nil || len(events) != 2 || string(events[0]) != "b" || string(events[1]) != "c" {
			t.Errorf("%s: %q, %v", name, events, err)
		}
		now := time.Now()
		contains := func(before time.Time) bool {
			ids, err := s.Abandoned(ctx, before)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range ids {
				if other == r.ID {
					return true
				}
			}
			return false
		}
		if contains(now.Add(-time.Minute)) || !contains(now.Add(time.Minute)) {
			t.Errorf("%s: a response that was just touched is abandoned, or one that was not is not", name)
		}
		r.Status = "completed"
		if err := s.Put(ctx, r); err != nil || contains(now.Add(time.Hour)) {
			t.Errorf("%s: one that is over is abandoned (%v)", name, err)
		}
	}
}

func TestConversations(t *testing.T) {
	ctx := context.Background()
	for name, s := range stores(t) {
		c := &Conversation{ID: id("conv"), Created: time.Now(), Metadata: []byte(`{"k":"v"}`)}
		if err := s.PutConversation(ctx, c); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				if err := s.AddItems(ctx, c.ID, []Item{{id(fmt.Sprint("a", i)), []byte("1")}, {id(fmt.Sprint("b", i)), []byte("2")}}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		group.Wait()
		items, err := s.Items(ctx, c.ID)
		if err != nil || len(items) != 20 {
			t.Fatalf("%s: %d items, %v", name, len(items), err)
		}
		for i, item := range items {
			if string(item.JSON) != fmt.Sprint(1+i%2) {
				t.Errorf("%s: item %d is %s: two additions were mixed", name, i, item.JSON)
			}
		}
		if err := s.DeleteItem(ctx, c.ID, items[3].ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, owner := range []string{c.ID, id("none")} {
			if err := s.DeleteItem(ctx, owner, items[3].ID); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: an item was removed twice: %v", name, err)
			}
		}
		if err := s.AddItems(ctx, c.ID, []Item{{id("last"), []byte("3")}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := s.Items(ctx, c.ID); err != nil || len(left) != 20 || left[3].ID != items[4].ID || string(left[19].JSON) != "3" {
			t.Errorf("%s: %d items are left, %v", name, len(left), err)
		}
		if got, err := s.Conversation(ctx, c.ID); err != nil || string(got.Metadata) != `{"k":"v"}` {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if err := s.DeleteConversation(ctx, c.ID); err != nil {
			t.Error(err)
		}
		if err := s.AddItems(ctx, c.ID, []Item{{"x", []byte("1")}}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A response that is over is written with its last events and its conversation, or nothing of it is.
func TestFinish(t *testing.T) {
	ctx := context.Background()
	for name, s := range stores(t) {
		c := &Conversation{ID: id("conv"), Created: time.Now(), Metadata: []byte(`{}`)}
		r := &Response{ID: id("resp"), Created: time.Now(), Status: "in_progress", Conversation: c.ID, Body: []byte(`1`), Input: []Item{{id("in"), []byte(`1`)}}}
		if err := errors.Join(s.PutConversation(ctx, c), s.Put(ctx, r), s.AddEvents(ctx, r.ID, 0, [][]byte{[]byte("a")})); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		over := *r
		over.Status, over.Body, over.Output = "completed", []byte(`2`), []Item{{id("out"), []byte(`2`)}}
		nowhere := over
		nowhere.Conversation = id("nowhere")
		for what, try := range map[string]func() error{
			"an event's number that is taken": func() error {
				return s.Finish(ctx, &over, Ending{From: 0, Events: [][]byte{[]byte("b")}, Extend: true})
			},
			"a conversation that is none": func() error {
				return s.Finish(ctx, &nowhere, Ending{From: 1, Events: [][]byte{[]byte("b")}, Extend: true})
			},
		} {
			if err := try(); err == nil {
				t.Errorf("%s: %s: no error", name, what)
			}
			got, err := s.Get(ctx, r.ID)
			if err != nil || got.Status != "in_progress" || len(got.Output) > 0 {
				t.Errorf("%s: %s: half of it was written: %+v, %v", name, what, got, err)
			}
		}
		if err := s.Finish(ctx, &over, Ending{From: 1, Events: [][]byte{[]byte("b")}, Extend: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := s.Get(ctx, r.ID)
		events, eventsErr := s.Events(ctx, r.ID, -1)
		items, itemsErr := s.Items(ctx, c.ID)
		if err := errors.Join(err, eventsErr, itemsErr); err != nil || got.Status != "completed" || len(events) != 2 || len(items) != 2 {
			t.Errorf("%s: %+v, %q, %v, %v", name, got, events, items, err)
		}
	}
}

func TestPurge(t *testing.T) {
	ctx := context.Background()
	for name, s := range stores(t) {
		old := &Response{ID: id("old"), Created: time.Now().Add(-48 * time.Hour), Status: "completed", Body: []byte(`{}`), Input: []Item{{id("i"), []byte("1")}}}
		young := &Response{ID: id("young"), Created: time.Now(), Status: "completed", Body: []byte(`{}`)}
		if err := errors.Join(s.Put(ctx, old), s.Put(ctx, young)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Purge(ctx, time.Now().Add(-24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := second(s.Get(ctx, old.ID)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: the old one: %v", name, err)
		}
		if err := second(s.Item(ctx, old.Input[0].ID)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: its item: %v", name, err)
		}
		if err := second(s.Get(ctx, young.ID)); err != nil {
			t.Errorf("%s: the young one: %v", name, err)
		}
	}
}

func TestAddressThatIsNone(t *testing.T) {
	if _, err := Open("sqlite:"); err == nil {
		t.Error("an address without a file opens")
	}
}
