package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite
)

// checkTold: every response that a client was told of is there, as it was told, with its input; one that was in the
// background may be anywhere on its way. A conversation can be gone on with.
func (s *server) checkTold(ctx context.Context, all []told) error {
	for _, t := range all {
		data, err := s.call(ctx, "GET", "/v1/responses/"+t.id, nil)
		if err != nil {
			return fmt.Errorf("a response that was told of is lost: %w", err)
		}
		if t.object != nil {
			if want, got := canonical(t.object), canonical(data); !bytes.Equal(want, got) {
				return fmt.Errorf("the response %s was told as\n%s\nand is now\n%s", t.id, want, got)
			}
		}
		items, err := s.call(ctx, "GET", "/v1/responses/"+t.id+"/input_items", nil)
		if err != nil || !bytes.Contains(items, []byte(t.question)) {
			return fmt.Errorf("the input of %s is %s: %v", t.id, items, err)
		}
	}
	last := slices.IndexFunc(all, func(t told) bool { return t.object != nil && t.conversation != "" })
	if last < 0 {
		return errors.New("no response in a conversation was told of")
	}
	for _, r := range []request{
		{Model: "scripted", Input: "think it over", Conversation: all[last].conversation},
		{Model: "scripted", Input: "think it over", Previous: all[last].id},
	} {
		if _, err := s.call(ctx, "POST", "/v1/responses", r); err != nil {
			return fmt.Errorf("it cannot be gone on with: %w", err)
		}
	}
	return nil
}

func canonical(v jsontext.Value) jsontext.Value {
	v = slices.Clone(v)
	if err := v.Canonicalize(); err != nil {
		return jsontext.Value(err.Error())
	}
	return v
}

// rows are what stands in the database.
type rows struct {
	responses     map[string]*response
	conversations map[string][]string // the ids of items
	orphans       []string
}

type response struct {
	status, conversation, body string
	input, output              []string // the ids of items
	events                     []string
}

func (r *response) over() bool { return r.status != "queued" && r.status != "in_progress" }

func readRows(ctx context.Context, address string) (*rows, error) {
	driver, name := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	out := &rows{responses: map[string]*response{}, conversations: map[string][]string{}}
	query := func(text string, columns int, take func([]string)) error {
		found, err := db.QueryContext(ctx, text)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			values := make([]string, columns)
			into := make([]any, columns)
			for i := range values {
				into[i] = &values[i]
			}
			if err := found.Scan(into...); err != nil {
				return err
			}
			take(values)
		}
		return found.Err()
	}
	return out, errors.Join(
		query(`SELECT id, status, conversation, body FROM responses`, 4, func(v []string) {
			out.responses[v[0]] = &response{status: v[1], conversation: v[2], body: v[3]}
		}),
		query(`SELECT id FROM conversations`, 1, func(v []string) { out.conversations[v[0]] = nil }),
		query(`SELECT owner, part, id FROM items ORDER BY owner, part, position`, 3, func(v []string) {
			owner, id := v[0], v[2]
			if r := out.responses[owner]; r != nil && v[1] == "input" {
				r.input = append(r.input, id)
			} else if r != nil {
				r.output = append(r.output, id)
			} else if _, ok := out.conversations[owner]; ok {
				out.conversations[owner] = append(out.conversations[owner], id)
			} else {
				out.orphans = append(out.orphans, "the item "+id)
			}
		}),
		query(`SELECT response, number, body FROM events ORDER BY response, number`, 3, func(v []string) {
			r := out.responses[v[0]]
			if r == nil || fmt.Sprint(len(r.events)) != v[1] {
				out.orphans = append(out.orphans, fmt.Sprintf("the event %s of %s", v[1], v[0]))
				return
			}
			r.events = append(r.events, v[2])
		}))
}

// check: no response is there by half. Its object says what its row does, its items are those of the object, its events
// have no gap and end exactly where it is over, and a conversation holds all of a response or nothing.
func (r *rows) check() error {
	if len(r.orphans) > 0 {
		return fmt.Errorf("belonging to nothing: %s", strings.Join(r.orphans, ", "))
	}
	inConversations := 0
	for id, one := range r.responses {
		var object struct {
			ID, Status string
			Background bool
			Output     []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(one.body), &object, json.MatchCaseInsensitiveNames(true)); err != nil {
			return fmt.Errorf("the response %s: %w", id, err)
		}
		var output []string
		for _, item := range object.Output {
			output = append(output, item.ID)
		}
		ended := len(one.events) > 0 && strings.Contains(one.events[len(one.events)-1], `"type":"response.completed"`)
		switch {
		case object.ID != id || object.Status != one.status:
			return fmt.Errorf("the response %s (%s) is %s", id, one.status, one.body)
		case len(one.input) != 1 || !slices.Equal(one.output, output):
			return fmt.Errorf("the response %s has the input %v and the output %v, and is %s", id, one.input, one.output, one.body)
		case one.over() && len(output) == 0:
			return fmt.Errorf("the response %s is over and empty: %s", id, one.body)
		case object.Background && ended != one.over():
			return fmt.Errorf("the response %s is %s, and its events are %q", id, one.status, one.events)
		case !object.Background && !one.over():
			return fmt.Errorf("the response %s is %s, and nobody works on it", id, one.status)
		case one.conversation == "":
			continue
		}
		own := slices.Concat(one.input, one.output)
		inConversations += len(own)
		at := slices.Index(r.conversations[one.conversation], own[0])
		if rest := r.conversations[one.conversation]; at < 0 || len(rest) < at+len(own) || !slices.Equal(rest[at:at+len(own)], own) {
			return fmt.Errorf("the response %s stands in its conversation by half: %v in %v", id, own, rest)
		}
	}
	for _, items := range r.conversations {
		inConversations -= len(items)
	}
	if inConversations != 0 {
		return fmt.Errorf("conversations hold %d items that are no response's", -inConversations)
	}
	return nil
}
