// Package store keeps what the Responses interface has acknowledged: responses, the items they were made of, the events of
// those that were made in the background, and conversations.
//
// It is one SQL schema on two databases: SQLite in a file beside the server, for one server, and PostgreSQL, which many
// servers share. Everything that a call writes is written at once or not at all, and is on the disk when the call returns:
// a response that was acknowledged is kept, and none is there by half.
//
//   - An item is one entry of a response's input or output, as JSON with an id.
//   - A response that is not over (queued, in_progress) belongs to a server that works on it and says so from time to
//     time; one of which nothing was heard for a while is failed by whoever notices.
package store

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound: there is nothing of that id.
var ErrNotFound = errors.New("nothing is stored under this id")

// Item is one entry of an input or output.
type Item struct {
	ID   string
	JSON []byte
}

// Response is a stored response.
type Response struct {
	ID      string
	Created time.Time
	// Status is as in the interface: queued, in_progress, completed, incomplete, failed or cancelled.
	Status string
	// Previous is the response that it goes on from, Conversation the conversation that it belongs to; "" is none.
	Previous, Conversation string
	// Body is the response object.
	Body []byte
	// Input and Output are its own items, without those of Previous.
	Input, Output []Item
}

// Ending is what is written together with a response that is over.
type Ending struct {
	// Events are its last events, the first of which has the number From.
	From   int
	Events [][]byte
	// Extend adds its input and output at the end of its conversation.
	Extend bool
}

// Over tells whether a status is final.
func Over(status string) bool { return status != "queued" && status != "in_progress" }

// Conversation is a stored conversation.
type Conversation struct {
	ID       string
	Created  time.Time
	Metadata []byte
}

// Store keeps responses. Any number of goroutines may use it.
type Store interface {
	// Put writes a response, in place of what was there under its id.
	Put(ctx context.Context, r *Response) error
	// Finish writes a response that is over, with all that belongs to its end. The error is ErrNotFound if a conversation
	// that it should extend is not there; then nothing is written.
	Finish(ctx context.Context, r *Response, e Ending) error
	// Get reads a response. The error is ErrNotFound for one that is not there.
	Get(ctx context.Context, id string) (*Response, error)
	// Delete removes a response with its items and events. The error is ErrNotFound for one that is not there.
	Delete(ctx context.Context, id string) error
	// Item reads one item of any response or conversation.
	Item(ctx context.Context, id string) (Item, error)

	// AddEvents writes events of a response, the first of which has the number from.
	AddEvents(ctx context.Context, id string, from int, events [][]byte) error
	// Events reads the events of a response whose numbers are larger than after.
	Events(ctx context.Context, id string, after int) ([][]byte, error)
	// Touch says that somebody works on a response, and gives its status, which another server may have set to cancelled.
	Touch(ctx context.Context, id string) (status string, err error)
	// Abandoned are the ids of responses that are not over and were last touched before a time.
	Abandoned(ctx context.Context, before time.Time) ([]string, error)

	// PutConversation writes a conversation's own data.
	PutConversation(ctx context.Context, c *Conversation) error
	Conversation(ctx context.Context, id string) (*Conversation, error)
	DeleteConversation(ctx context.Context, id string) error
	// AddItems adds items at the end of a conversation, Items reads them all in their order.
	AddItems(ctx context.Context, conversation string, items []Item) error
	Items(ctx context.Context, conversation string) ([]Item, error)
	// DeleteItem removes an item from a conversation. The error is ErrNotFound if it has none of that id.
	DeleteItem(ctx context.Context, conversation, id string) error

	// Purge removes responses and conversations that were made before a time, and gives how many.
	Purge(ctx context.Context, before time.Time) (int, error)
	Close() error
}
