package generate

import (
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/vocabulary"
)

// aligner finds the special tokens of an answer in its text, where the engine tells ids beside the text.
//
// Text and ids of one piece need not match: the text lags while a character is incomplete, or could be the beginning of a
// stop string, and the token that ends a turn has no text at all. So the two are read with a cursor each: the ids of
// special tokens wait in a queue until their text comes. A special token's text for which no id waits was written in
// ordinary tokens: a quotation, and no marker (contract 8 of the parser).
type aligner struct {
	words   *vocabulary.Vocabulary
	waiting []parlance.Token
	held    string // the beginning of the text of a token that waits
}

// write takes a piece. It gives ordinary text to text and special tokens to token, in their order.
func (a *aligner) write(piece string, ids []int, text func(string), token func(parlance.Token)) {
	for _, id := range ids {
		if written, ok := a.words.Text(id); ok && written != "" {
			a.waiting = append(a.waiting, parlance.Token{ID: id, Text: written})
		}
	}
	rest := a.held + piece
	a.held = ""
	for len(a.waiting) > 0 {
		at, number := a.next(rest, ids)
		if at < 0 {
			keep := partial(rest, a.waiting[0].Text)
			a.held, rest = rest[len(rest)-keep:], rest[:len(rest)-keep]
			break
		}
		if at > 0 {
			text(rest[:at])
		}
		for _, lost := range a.waiting[:number] { // the engine shows a later one, so it will not show these
			token(lost)
		}
		token(a.waiting[number])
		rest = rest[at+len(a.waiting[number].Text):]
		a.waiting = a.waiting[number+1:]
	}
	if rest != "" {
		text(rest)
	}
}

// next is where the text of the first token that waits and is there stands, and which one it is; -1 if none is there.
func (a *aligner) next(rest string, ids []int) (at, number int) {
	for number, token := range a.waiting {
		if at = strings.Index(rest, token.Text); at < 0 {
			continue
		}
		// If the same characters stand there more often than the token, some are quoted. Where the token came last of its
		// piece, they stand before it.
		if len(ids) > 0 && ids[len(ids)-1] == token.ID {
			wait := 0
			for _, other := range a.waiting[number:] {
				if other.ID == token.ID {
					wait++
				}
			}
			for quoted := strings.Count(rest, token.Text) - wait; quoted > 0; quoted-- {
				at += len(token.Text) + strings.Index(rest[at+len(token.Text):], token.Text)
			}
		}
		return at, number
	}
	return -1, 0
}

// finish gives out what is held. Tokens that still wait have no text, such as the one that ended the turn.
func (a *aligner) finish(text func(string)) {
	if a.held != "" {
		text(a.held)
	}
	a.held, a.waiting = "", nil
}

// partial is how much of the end of a text is the beginning of a marker.
func partial(text, marker string) int {
	for n := min(len(marker)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, marker[:n]) {
			return n
		}
	}
	return 0
}
