package engine

import (
	"errors"
	"io"
)

// begin waits for the first piece of a stream, so that an error in its place is one of Generate.
func begin(s Stream) (Stream, error) {
	piece, err := s.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		s.Close()
		return nil, err
	}
	return &begun{Stream: s, first: &piece, err: err}, nil
}

// begun is a stream whose first piece is there.
type begun struct {
	Stream
	first *Piece
	err   error
}

func (b *begun) Next() (Piece, error) {
	if b.first != nil {
		piece := *b.first
		b.first = nil
		return piece, b.err
	}
	return b.Stream.Next()
}
