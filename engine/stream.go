package engine

import (
	"errors"
	"io"
	"iter"
	"strconv"
)

// Stream is an answer while it arrives. It belongs to one goroutine; only Close may be called by another.
type Stream interface {
	// Next waits for the next piece. One of them has a FinishReason; after it comes at most Usage. Then Next answers io.EOF.
	// Any other error is an *Error and ends the stream; what came before stands.
	Next() (Piece, error)
	// Close ends the stream and, if it is not over, the engine's work on it. It may be called more than once and never fails
	// for a reason that matters to the caller.
	Close() error
}

// Piece is what arrived at once. Any field may be empty, all of them too. Text and tokens of one piece need not match.
type Piece struct {
	// Text is more of the answer. It is valid UTF-8: characters that an engine sends in halves are put together first, and
	// bytes that are no characters become U+FFFD.
	Text string
	// Reasoning is text that the engine has taken out of the answer as reasoning although it was asked not to; only
	// openai-chat knows it.
	Reasoning string
	// Tokens are the ids of more tokens of the answer, the one that ended it too.
	Tokens []int
	// PromptTokens are the ids of the prompt, in the first piece, if they were asked for.
	PromptTokens []int
	// Logprobs are the log probabilities of more tokens.
	Logprobs []TokenLogprob
	// Finish says why the answer ended; "" until it has.
	Finish FinishReason
	// StopString is the stop string that ended the answer, StopToken the id of the stop token that did; "" and nil where the
	// model ended it by itself, or where the engine does not tell.
	StopString string
	StopToken  *int
	// Usage counts the tokens so far; nil where the engine does not tell with this piece. The last one that came counts.
	Usage *Usage
}

// FinishReason is why an answer ended.
type FinishReason string

const (
	// FinishStop: the model ended its turn, or a stop string or stop token did.
	FinishStop FinishReason = "stop"
	// FinishLength: the answer reached MaxTokens or the end of the context.
	FinishLength FinishReason = "length"
	// FinishAbort: the engine gave the answer up, without an error.
	FinishAbort FinishReason = "abort"
	// FinishRepetition: the engine ended an answer that went round in circles.
	FinishRepetition FinishReason = "repetition"
	// FinishFilter: a filter of the engine's, or of a service behind it, ended the answer.
	FinishFilter FinishReason = "content_filter"
)

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	// CachedTokens is how many of the prompt's the engine had read before.
	CachedTokens int `json:"cached_tokens,omitzero"`
	// Estimated: the engine did not count, or not all of it; the numbers are guessed from the length of the text.
	Estimated bool `json:"estimated,omitzero"`
}

// TokenLogprob is a token with its log probability, natural, and those of the alternatives.
type TokenLogprob struct {
	Token string `json:"token"`
	// ID is its number, -1 where the engine does not tell.
	ID int `json:"id"`
	// Bytes are what it stands for, where the engine tells; it need not be valid UTF-8.
	Bytes   []byte         `json:"bytes,omitzero"`
	Logprob float64        `json:"logprob"`
	Top     []TokenLogprob `json:"top,omitzero"`
}

// Pieces ranges over a stream. An error comes last, with an empty piece.
func Pieces(s Stream) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		for {
			piece, err := s.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(piece, err) || err != nil {
				return
			}
		}
	}
}

// Answer is a whole answer.
type Answer struct {
	Text, Reasoning      string
	Tokens, PromptTokens []int
	Logprobs             []TokenLogprob
	Finish               FinishReason
	StopString           string
	StopToken            *int
	Usage                *Usage
}

// Collect reads a stream to its end and closes it. With an error comes what had arrived before it.
func Collect(s Stream) (*Answer, error) {
	defer s.Close()
	answer := &Answer{}
	var text, reasoning []byte
	for piece, err := range Pieces(s) {
		text = append(text, piece.Text...)
		reasoning = append(reasoning, piece.Reasoning...)
		answer.add(piece)
		if err != nil {
			answer.Text, answer.Reasoning = string(text), string(reasoning)
			return answer, err
		}
	}
	answer.Text, answer.Reasoning = string(text), string(reasoning)
	return answer, nil
}

// add takes all of a piece but its texts.
func (a *Answer) add(p Piece) {
	a.Tokens = append(a.Tokens, p.Tokens...)
	a.PromptTokens = append(a.PromptTokens, p.PromptTokens...)
	a.Logprobs = append(a.Logprobs, p.Logprobs...)
	if p.Finish != "" {
		a.Finish, a.StopString, a.StopToken = p.Finish, p.StopString, p.StopToken
	}
	if p.Usage != nil {
		a.Usage = p.Usage
	}
}

func decimal(i int) string { return strconv.Itoa(i) }
