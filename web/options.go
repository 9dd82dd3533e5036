package web

import (
	"context"
	"encoding/json"

	"github.com/parlance-llm/parlance"
)

// Options are what the playground shows beside the library itself. The zero value shows the library alone.
type Options struct {
	// Registry holds the formats; nil is the built-in ones.
	Registry *parlance.Registry
	// Surfaces are the interfaces of the server that serves the page.
	Surfaces []Surface
	// Tokens cuts a text into tokens; nil where nothing is known of them. It is called by many goroutines.
	Tokens func(ctx context.Context, text string) ([]Token, error)
	// SpecialTokensOnly: Tokens knows only the special tokens; what is between them is one piece.
	SpecialTokensOnly bool
}

// Surface is an interface of a server: it tells what a client of it would be sent.
type Surface struct {
	// Name stands in questions, Title on the page.
	Name, Title string
	// Open begins the answer to a question. It is called by many goroutines. The error is for the person at the page.
	Open func(context.Context, Reading) (Wire, error)
}

// Reading is how a text is read.
type Reading struct {
	Parser  *parlance.Parser
	Request parlance.Request
	// Tools are the declared tools as the OpenAI interface has them.
	Tools json.RawMessage
}

// Wire writes an answer as an interface sends it. It belongs to one goroutine.
type Wire interface {
	// Write takes a piece of the text and gives the server-sent events that it makes the interface send, "" for none.
	Write(piece string) (string, error)
	// Close ends the text.
	Close(reason parlance.FinishReason) (string, error)
}

// Token is a token of a text. ID is -1 for text whose tokens are not known.
type Token struct {
	Text string
	ID   int
}
