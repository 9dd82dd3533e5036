package engine

import (
	"context"
	"encoding/json/v2"
	"errors"
	"io"
	"sync"
	"time"
)

// Record gives an engine that does what e does, and writes every answer down as a line that replay can play: the prompt it
// answers, the pieces with the waits between them, and how it ended, be it by an error. Lines are written whole, one at a
// time; an error of the writer goes to failed, and the answers go on.
func Record(e Engine, to io.Writer, failed func(error)) Engine {
	return &recorder{Engine: e, to: to, failed: failed}
}

type recorder struct {
	Engine
	mutex  sync.Mutex
	to     io.Writer
	failed func(error)
}

func (r *recorder) Generate(ctx context.Context, request *Request) (Stream, error) {
	recording := Recording{Model: request.Model, Match: RecordingMatch{Prompt: request.Prompt.Text}}
	if recording.Model == "" {
		// The line must name a model: the one that answers by default, which is the first; else the engine.
		recording.Model = r.Engine.Name()
		if models, err := r.Engine.Models(ctx); err == nil && len(models) > 0 {
			recording.Model = models[0].ID
		}
	}
	begun := time.Now()
	stream, err := r.Engine.Generate(ctx, request)
	if err != nil {
		recording.fails(err, begun)
		r.write(&recording)
		return nil, err
	}
	return &recordedStream{Stream: stream, recorder: r, recording: recording, before: begun}, nil
}

func (r *recorder) write(recording *Recording) {
	line, err := json.Marshal(recording)
	if err == nil {
		r.mutex.Lock()
		_, err = r.to.Write(append(line, '\n'))
		r.mutex.Unlock()
	}
	if err != nil {
		r.failed(err)
	}
}

// fails is an error in place of an end.
func (r *Recording) fails(err error, before time.Time) {
	r.Error = &RecordedError{Message: err.Error(), WaitMS: milliseconds(time.Since(before))}
	var failed *Error
	if errors.As(err, &failed) {
		r.Error.Status, r.Error.Type = failed.Status, failed.Type
		if failed.Message != "" {
			r.Error.Message = failed.Message
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type recordedStream struct {
	Stream
	recorder  *recorder
	recording Recording
	before    time.Time
	once      sync.Once
}

func (s *recordedStream) Next() (Piece, error) {
	piece, err := s.Stream.Next()
	switch {
	case errors.Is(err, io.EOF):
		s.once.Do(func() { s.recorder.write(&s.recording) })
		return piece, err
	case err != nil:
		s.once.Do(func() {
			s.recording.FinishReason = ""
			s.recording.fails(err, s.before)
			s.recorder.write(&s.recording)
		})
		return piece, err
	}
	r := &s.recording
	if piece.Text != "" || len(piece.Tokens) > 0 || len(piece.Logprobs) > 0 {
		r.Pieces = append(r.Pieces, RecordedPiece{Text: piece.Text, Tokens: piece.Tokens, Logprobs: piece.Logprobs, WaitMS: milliseconds(time.Since(s.before))})
		s.before = time.Now()
	}
	r.PromptTokens = append(r.PromptTokens, piece.PromptTokens...)
	if piece.Finish != "" {
		r.FinishReason, r.StopString, r.StopToken = piece.Finish, piece.StopString, piece.StopToken
	}
	if piece.Usage != nil {
		r.Usage = piece.Usage
	}
	return piece, nil
}

// Close writes down what has come of an answer that nobody reads to its end, as one that broke off there.
func (s *recordedStream) Close() error {
	err := s.Stream.Close()
	s.once.Do(func() {
		if s.recording.FinishReason == "" {
			s.recording.Error = &RecordedError{Message: "the client left"}
		}
		s.recorder.write(&s.recording)
	})
	return err
}
