package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// schema is the same on both databases. Times are in microseconds since 1970, JSON is text.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS responses (
		id TEXT PRIMARY KEY, created BIGINT NOT NULL, touched BIGINT NOT NULL, status TEXT NOT NULL,
		previous TEXT NOT NULL, conversation TEXT NOT NULL, body TEXT NOT NULL)`,
	`CREATE INDEX IF NOT EXISTS responses_created ON responses (created)`,
	`CREATE INDEX IF NOT EXISTS responses_status ON responses (status, touched)`,
	`CREATE TABLE IF NOT EXISTS items (
		owner TEXT NOT NULL, part TEXT NOT NULL, position BIGINT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
		PRIMARY KEY (owner, part, position))`,
	`CREATE INDEX IF NOT EXISTS items_id ON items (id)`,
	`CREATE TABLE IF NOT EXISTS events (
		response TEXT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (response, number))`,
	`CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, created BIGINT NOT NULL, metadata TEXT NOT NULL)`,
}

// The parts that items belong to.
const (
	partInput        = "input"
	partOutput       = "output"
	partConversation = "conversation"
)

// database is a Store on database/sql.
type database struct {
	db *sql.DB
}

func open(db *sql.DB, setup ...string) (*database, error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	for _, statement := range append(setup, schema...) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("the store cannot be set up: %w", err), db.Close())
		}
	}
	return &database{db: db}, nil
}

// within does something in a transaction.
func (d *database) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

// ignoreDone forgets that a transaction was over already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

func (d *database) Put(ctx context.Context, r *Response) error {
	return d.within(ctx, func(tx *sql.Tx) error { return put(ctx, tx, r) })
}

func (d *database) Finish(ctx context.Context, r *Response, e Ending) error {
	return d.within(ctx, func(tx *sql.Tx) error {
		if err := put(ctx, tx, r); err != nil {
			return err
		}
		if err := addEvents(ctx, tx, r.ID, e.From, e.Events); err != nil || !e.Extend {
			return err
		}
		return extend(ctx, tx, r.Conversation, slices.Concat(r.Input, r.Output))
	})
}

func put(ctx context.Context, tx *sql.Tx, r *Response) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO responses (id, created, touched, status, previous, conversation, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, status = excluded.status, body = excluded.body`,
		r.ID, r.Created.UnixMicro(), time.Now().UnixMicro(), r.Status, r.Previous, r.Conversation, string(r.Body))
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM items WHERE owner = $1`, r.ID); err != nil {
		return err
	}
	if err := addItems(ctx, tx, r.ID, partInput, 0, r.Input); err != nil {
		return err
	}
	return addItems(ctx, tx, r.ID, partOutput, 0, r.Output)
}

func addItems(ctx context.Context, tx *sql.Tx, owner, part string, from int, items []Item) error {
	for i, item := range items {
		if _, err := tx.ExecContext(ctx, `INSERT INTO items (owner, part, position, id, body) VALUES ($1, $2, $3, $4, $5)`, owner, part, from+i, item.ID, string(item.JSON)); err != nil {
			return err
		}
	}
	return nil
}

func (d *database) Get(ctx context.Context, id string) (*Response, error) {
	r := &Response{ID: id}
	err := d.within(ctx, func(tx *sql.Tx) error {
		var created int64
		var body string
		row := tx.QueryRowContext(ctx, `SELECT created, status, previous, conversation, body FROM responses WHERE id = $1`, id)
		if err := found(row.Scan(&created, &r.Status, &r.Previous, &r.Conversation, &body)); err != nil {
			return err
		}
		r.Created, r.Body = time.UnixMicro(created), []byte(body)
		var err error
		if r.Input, err = items(ctx, tx, id, partInput); err != nil {
			return err
		}
		r.Output, err = items(ctx, tx, id, partOutput)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// found makes ErrNotFound of a row that is not there.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func items(ctx context.Context, tx *sql.Tx, owner, part string) (out []Item, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, body FROM items WHERE owner = $1 AND part = $2 ORDER BY position`, owner, part)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var item Item
		var body string
		if err := rows.Scan(&item.ID, &body); err != nil {
			return nil, err
		}
		item.JSON = []byte(body)
		out = append(out, item)
	}
	return out, rows.Err()
}

func (d *database) Delete(ctx context.Context, id string) error {
	return d.within(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, `DELETE FROM responses WHERE id = $1`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM items WHERE owner = $1`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE response = $1`, id)
		return err
	})
}

func (d *database) Item(ctx context.Context, id string) (Item, error) {
	item := Item{ID: id}
	var body string
	err := found(d.db.QueryRowContext(ctx, `SELECT body FROM items WHERE id = $1 LIMIT 1`, id).Scan(&body))
	item.JSON = []byte(body)
	return item, err
}

func (d *database) AddEvents(ctx context.Context, id string, from int, events [][]byte) error {
	return d.within(ctx, func(tx *sql.Tx) error {
		if err := addEvents(ctx, tx, id, from, events); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE responses SET touched = $1 WHERE id = $2`, time.Now().UnixMicro(), id)
		return err
	})
}

func addEvents(ctx context.Context, tx *sql.Tx, id string, from int, events [][]byte) error {
	for i, event := range events {
		if _, err := tx.ExecContext(ctx, `INSERT INTO events (response, number, body) VALUES ($1, $2, $3)`, id, from+i, string(event)); err != nil {
			return err
		}
	}
	return nil
}

func (d *database) Events(ctx context.Context, id string, after int) (out [][]byte, err error) {
	rows, err := d.db.QueryContext(ctx, `SELECT body FROM events WHERE response = $1 AND number > $2 ORDER BY number`, id, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		out = append(out, []byte(body))
	}
	return out, rows.Err()
}

func (d *database) Touch(ctx context.Context, id string) (status string, err error) {
	err = found(d.db.QueryRowContext(ctx, `UPDATE responses SET touched = $1 WHERE id = $2 RETURNING status`, time.Now().UnixMicro(), id).Scan(&status))
	return status, err
}

func (d *database) Abandoned(ctx context.Context, before time.Time) (ids []string, err error) {
	rows, err := d.db.QueryContext(ctx, `SELECT id FROM responses WHERE status IN ('queued', 'in_progress') AND touched < $1`, before.UnixMicro())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (d *database) PutConversation(ctx context.Context, c *Conversation) error {
	_, err := d.db.ExecContext(ctx, `INSERT INTO conversations (id, created, metadata) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET metadata = excluded.metadata`, c.ID, c.Created.UnixMicro(), string(c.Metadata))
	return err
}

func (d *database) Conversation(ctx context.Context, id string) (*Conversation, error) {
	c := &Conversation{ID: id}
	var created int64
	var metadata string
	if err := found(d.db.QueryRowContext(ctx, `SELECT created, metadata FROM conversations WHERE id = $1`, id).Scan(&created, &metadata)); err != nil {
		return nil, err
	}
	c.Created, c.Metadata = time.UnixMicro(created), []byte(metadata)
	return c, nil
}

func (d *database) DeleteConversation(ctx context.Context, id string) error {
	return d.within(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, `DELETE FROM conversations WHERE id = $1`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM items WHERE owner = $1`, id)
		return err
	})
}

func (d *database) AddItems(ctx context.Context, conversation string, added []Item) error {
	return d.within(ctx, func(tx *sql.Tx) error { return extend(ctx, tx, conversation, added) })
}

// extend adds items at the end of a conversation. Its own row is written first, so that two answers to one conversation
// add one after the other.
func extend(ctx context.Context, tx *sql.Tx, conversation string, added []Item) error {
	done, err := tx.ExecContext(ctx, `UPDATE conversations SET metadata = metadata WHERE id = $1`, conversation)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrNotFound)
	}
	var next int
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(position) + 1, 0) FROM items WHERE owner = $1 AND part = $2`, conversation, partConversation).Scan(&next); err != nil {
		return err
	}
	return addItems(ctx, tx, conversation, partConversation, next, added)
}

func (d *database) Items(ctx context.Context, conversation string) (out []Item, err error) {
	err = d.within(ctx, func(tx *sql.Tx) error {
		out, err = items(ctx, tx, conversation, partConversation)
		return err
	})
	return out, err
}

func (d *database) DeleteItem(ctx context.Context, conversation, id string) error {
	return remove(ctx, d.db, `DELETE FROM items WHERE owner = $1 AND part = $2 AND id = $3`, conversation, partConversation, id)
}

// remove runs a statement that deletes; the error is ErrNotFound if there was nothing to delete.
func remove(ctx context.Context, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statement string, arguments ...any) error {
	done, err := db.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrNotFound)
	}
	return nil
}

func (d *database) Purge(ctx context.Context, before time.Time) (removed int, err error) {
	err = d.within(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			`DELETE FROM events WHERE response IN (SELECT id FROM responses WHERE created < $1)`,
			`DELETE FROM items WHERE owner IN (SELECT id FROM responses WHERE created < $1) OR owner IN (SELECT id FROM conversations WHERE created < $1)`,
			`DELETE FROM responses WHERE created < $1`,
			`DELETE FROM conversations WHERE created < $1`,
		} {
			done, err := tx.ExecContext(ctx, statement, before.UnixMicro())
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			removed = int(n) + removed
		}
		return nil
	})
	return removed, err
}

func (d *database) Close() error { return d.db.Close() }
