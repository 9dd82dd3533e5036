package parlance

import (
	"unsafe"

	"github.com/parlance-llm/parlance/internal/machine"
)

// Token is a token of an output, or of a prompt.
type Token struct {
	// Text is what the token adds to the text; it may end inside a character. Of a marker it does not matter: that stands
	// for itself, even where the engine leaves it out of the text.
	Text string
	// ID is its number in the vocabulary.
	ID int
}

// TokenStream opens a stream for an answer that comes with token ids. Its WriteTokens knows a marker by its id; Write
// gives it ordinary text, in which the markers that are tokens mean nothing. Without a vocabulary (see Bind) nothing is
// known of ids, and the text decides as in Stream.
func (p *Parser) TokenStream(r Request) *Stream { return p.open(&r, r.Validated, true) }

// ParseTokens reads a whole output that comes with token ids; see TokenStream.
func (p *Parser) ParseTokens(tokens []Token, r Request, reason FinishReason) *Message {
	return whole(p.open(&r, true, true), reason, func(s *Stream) []Delta { return s.WriteTokens(tokens...) })
}

// WriteTokens reads tokens and answers what has become certain, in order. The deltas are valid until the next call of a
// method.
func (s *Stream) WriteTokens(tokens ...Token) []Delta {
	s.deltas, s.arena = s.deltas[:0], s.arena[:0]
	if s.first {
		if s.closed {
			return nil
		}
		s.begin()
	}
	if len(tokens) == 1 && s.plain && len(s.part) == 0 {
		if piece := s.piece(tokens[0]); piece.Token == machine.Ordinary && endsWhole(piece.Text) {
			if tray, text, ok := s.m.Plain(piece.Text, s.input+len(piece.Text)); ok {
				s.input += len(piece.Text)
				return s.plainDelta(tray, text)
			}
		}
	}
	s.pieces = s.pieces[:0]
	for _, token := range tokens {
		piece := s.piece(token)
		s.input += len(piece.Text)
		if piece.Token == machine.Ordinary {
			piece.Text = s.whole(piece.Text)
		} else if len(s.part) > 0 { // half a character before a marker stays one
			s.pieces = append(s.pieces, machine.Piece{Text: s.part, Token: machine.Ordinary})
			s.part = nil
		}
		piece.Ends = s.input
		s.pieces = append(s.pieces, piece)
	}
	s.take(s.m.WritePieces(s.pieces))
	return s.deltas
}

// piece gives a token to the machine.
func (s *Stream) piece(token Token) machine.Piece {
	if s.tokens {
		if number, ok := s.parser.bound.numbers[token.ID]; ok {
			return s.parser.bound.marker(number)
		}
	}
	return ordinary(token.Text)
}

// ReasoningTokens is the number of tokens written so far that have become reasoning, without the markers. A token
// counts if any of its characters is reasoning. Only WriteTokens counts.
func (s *Stream) ReasoningTokens() int { return s.m.ReasoningTokens() }

// marker is a marker of the bound vocabulary as the machine reads it.
func (b *bound) marker(number int) machine.Piece {
	return machine.Piece{Text: []byte(b.tokens[number]), Token: number}
}

// ordinary is text as the machine reads it. The machine never writes to it.
func ordinary(text string) machine.Piece {
	return machine.Piece{Text: unsafe.Slice(unsafe.StringData(text), len(text)), Token: machine.Ordinary}
}
