package engine

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// afterFinish is how long a stream that has said why it ended may take to say the rest.
const afterFinish = time.Second

// eventDecoder reads one event of an engine's stream. The texts of the piece may hold stray bytes, as unmarshalEvent leaves
// them, and then it answers stray.
type eventDecoder func(event []byte) (piece Piece, stray bool, err error)

// generation is how a stream is opened.
type generation struct {
	address string
	body    any
	events  func(io.Reader) func() ([]byte, error)
	// decoder makes the decoder of one stream.
	decoder func() eventDecoder
	// atEOF, if there is one, says what a stream means that ends without a reason; nil means that it is broken.
	atEOF func() *Piece
	// abort, if there is one, tells the engine to give up, besides the closing of the connection.
	abort func()
}

// generate opens a stream and waits for its first piece, again if that fails for a reason that may pass.
func (c *client) generate(ctx context.Context, prepare func() generation) (Stream, error) {
	// One bound for all tries together.
	waiting, done := context.WithCancelCause(ctx)
	timer := time.AfterFunc(bound(c.options.FirstPieceTimeout), func() { done(errTooSlow) })
	defer timer.Stop()
	var stream Stream
	err := c.retry(waiting, "generate", func() (err error) {
		stream, err = c.open(waiting, done, timer, prepare())
		return err
	})
	if err != nil {
		done(err)
		return nil, err
	}
	return stream, nil
}

func (c *client) open(ctx context.Context, done context.CancelCauseFunc, timer *time.Timer, g generation) (Stream, error) {
	body, err := json.Marshal(g.body, json.Deterministic(true), lenient)
	if err != nil {
		return nil, &Error{Kind: Refused, Engine: c.engine, Op: "generate", Message: err.Error(), Err: err}
	}
	// Each try has a context of its own, so that giving one up does not touch the next.
	ctx, cancel := context.WithCancelCause(ctx)
	response, err := c.send(ctx, "generate", g.address, body)
	if err != nil {
		cancel(err)
		return nil, err
	}
	s := &httpStream{client: c, ctx: ctx, body: response.Body, events: g.events(response.Body), decode: g.decoder(), atEOF: g.atEOF,
		cancel: func() { cancel(context.Canceled) }}
	s.clock = time.AfterFunc(time.Hour, func() { cancel(errTooSlow) })
	s.clock.Stop()
	if g.abort != nil {
		s.unwatch = context.AfterFunc(ctx, g.abort)
	}
	stream, err := begin(s)
	if err != nil {
		return nil, err
	}
	timer.Stop()
	s.end = func() { done(context.Canceled) }
	return stream, nil
}

// httpStream is an answer that an engine's server is sending.
type httpStream struct {
	client *client
	ctx    context.Context
	body   io.ReadCloser
	events func() ([]byte, error)
	decode eventDecoder
	atEOF  func() *Piece
	// clock ends the context when a piece takes too long. It runs only while somebody waits for one; the first piece has a
	// clock of its own.
	clock *time.Timer
	// unwatch stops the watch that aborts the engine's work when the context ends.
	unwatch func() bool

	text, reasoning   characters
	started, complete bool
	finished          atomic.Bool

	close  sync.Once
	cancel func()
	end    func()
}

func (s *httpStream) Next() (Piece, error) {
	if s.complete {
		return Piece{}, io.EOF
	}
	if s.started {
		wait := s.client.options.PieceTimeout
		if s.finished.Load() {
			wait = afterFinish
		}
		if wait > 0 {
			s.clock.Reset(wait)
			defer s.clock.Stop()
		}
	}
	for {
		piece, err := s.read()
		if err != nil {
			s.complete = true
			s.Close()
			return Piece{}, err
		}
		if piece.empty() {
			continue
		}
		s.started = true
		return piece, nil
	}
}

// read reads the next event.
func (s *httpStream) read() (Piece, error) {
	event, err := s.events()
	if err != nil {
		if s.finished.Load() {
			// What counts has been said; engines end their streams in more than one way.
			return Piece{}, io.EOF
		}
		if errors.Is(err, io.EOF) {
			if s.atEOF != nil {
				if piece := s.atEOF(); piece != nil {
					return s.joined(*piece, false), nil
				}
			}
			failed := &Error{Kind: Broken, Engine: s.client.engine, Op: "generate", Started: s.started, Err: io.ErrUnexpectedEOF,
				Message: "the stream ended without a finish reason"}
			if !s.started {
				failed.Kind = Unreachable
			}
			return Piece{}, failed
		}
		if errors.Is(err, errLineTooLong) {
			return Piece{}, &Error{Kind: Broken, Engine: s.client.engine, Op: "generate", Started: s.started, Err: err}
		}
		return Piece{}, s.client.transportError(s.ctx, "generate", err, s.started)
	}
	if failed := s.client.streamError(event, s.started); failed != nil {
		return Piece{}, failed
	}
	piece, stray, err := s.decode(event)
	if err != nil {
		var failed *Error
		if errors.As(err, &failed) {
			failed.Engine, failed.Op, failed.Started = s.client.engine, "generate", s.started
			return Piece{}, failed
		}
		return Piece{}, &Error{Kind: Broken, Engine: s.client.engine, Op: "generate", Started: s.started, Err: err,
			Message: fmt.Sprintf("an event of the stream is not what it should be: %v", err)}
	}
	return s.joined(piece, stray), nil
}

// joined is a piece whose texts are whole characters.
func (s *httpStream) joined(piece Piece, stray bool) Piece {
	piece.Text = s.text.write(piece.Text, stray)
	piece.Reasoning = s.reasoning.write(piece.Reasoning, stray)
	if piece.Finish != "" {
		s.finished.Store(true)
		piece.Text += s.text.flush()
		piece.Reasoning += s.reasoning.flush()
	}
	return piece
}

func (p *Piece) empty() bool {
	return p.Text == "" && p.Reasoning == "" && p.Finish == "" && p.Usage == nil && len(p.Tokens) == 0 && len(p.PromptTokens) == 0 && len(p.Logprobs) == 0
}

// afterEnd is how long the end of the connection's answer may take to come, for a connection that is to be used again.
const afterEnd = 50 * time.Millisecond

// Close lets go of the connection. That of a stream that is not over is closed, which tells the engine to stop; that of one
// that is over is read to its end first, so that it can be used again.
func (s *httpStream) Close() error {
	s.close.Do(func() {
		if s.finished.Load() {
			if s.unwatch != nil {
				s.unwatch()
			}
			timer := time.AfterFunc(afterEnd, s.cancel)
			io.CopyN(io.Discard, s.body, 64<<10)
			timer.Stop()
		}
		s.cancel()
		s.body.Close()
		if s.end != nil {
			s.end()
		}
	})
	return nil
}
