// Package vocabulary knows which texts are single tokens of a model.
//
// A tokenizer cuts ordinary text into pieces as it sees fit, but it holds some texts apart: its added tokens, which are
// never cut and stand for themselves. The markers of most formats are such tokens. Whoever gets token ids from an
// engine can tell a marker that the model wrote from the same characters quoted in ordinary text.
//
// Vocabularies are read from the files beside a model: tokenizer.json, tokenizer_config.json, added_tokens.json
// (Hugging Face) and tekken.json (Mistral).
package vocabulary

import (
	"maps"
	"slices"
	"strings"
)

// Vocabulary is what is known of a tokenizer. It is immutable and may be shared by goroutines.
type Vocabulary struct {
	// Name is the name of the model, for messages.
	Name string

	ids    map[string]int  // added tokens
	texts  map[int]string  // the same by id
	pieces map[string]bool // ordinary tokens, as the tokenizer spells them

	first   [256]bool // the bytes that added tokens begin with
	longest int       // the length of the longest added token
}

// New makes a vocabulary of added tokens by their ids.
func New(name string, added map[string]int) *Vocabulary {
	v := &Vocabulary{Name: name}
	for text, id := range added {
		v.add(text, id)
	}
	return v
}

func (v *Vocabulary) add(text string, id int) {
	if v.ids == nil {
		v.ids, v.texts = map[string]int{}, map[int]string{}
	}
	if text == "" {
		return
	}
	v.ids[text] = id
	v.texts[id] = text
	v.first[text[0]] = true
	v.longest = max(v.longest, len(text))
}

// ID gives the id of an added token. It answers false for a text that is none.
func (v *Vocabulary) ID(text string) (id int, ok bool) {
	id, ok = v.ids[text]
	return id, ok
}

// Text gives the text of an added token by its id. It answers false for an ordinary token.
func (v *Vocabulary) Text(id int) (text string, ok bool) {
	text, ok = v.texts[id]
	return text, ok
}

// Has tells whether a text is one token, added or ordinary. Ordinary tokens are known only if tokenizer.json was there.
func (v *Vocabulary) Has(text string) bool {
	_, added := v.ids[text]
	return added || v.pieces[text] || v.pieces[byteLevel(text)]
}

// Added are all added tokens, sorted.
func (v *Vocabulary) Added() []string { return slices.Sorted(maps.Keys(v.ids)) }

// Prefix gives the longest added token that a text begins with, or "".
func (v *Vocabulary) Prefix(text string) string {
	for k := min(len(text), v.longest); k > 0; k-- {
		if _, ok := v.ids[text[:k]]; ok {
			return text[:k]
		}
	}
	return ""
}

// Piece is a part of a text: an added token with its id, or ordinary text with the id -1.
type Piece struct {
	Text string
	ID   int
}

// Split cuts a text at the added tokens in it, as a tokenizer does that is given the text.
func (v *Vocabulary) Split(text string) (pieces []Piece) {
	from := 0
	for i := 0; i < len(text); {
		if !v.first[text[i]] {
			i++
			continue
		}
		token := v.Prefix(text[i:])
		if token == "" {
			i++
			continue
		}
		if i > from {
			pieces = append(pieces, Piece{text[from:i], -1})
		}
		pieces = append(pieces, Piece{token, v.ids[token]})
		i += len(token)
		from = i
	}
	if from < len(text) {
		pieces = append(pieces, Piece{text[from:], -1})
	}
	return pieces
}

// byteLevel spells a text as byte-level tokenizers do in their files: every byte that is no visible character of Latin-1
// is moved up to U+0100 and beyond.
func byteLevel(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		out.WriteRune(byteLevelRunes[b])
	}
	return out.String()
}

var byteLevelRunes = func() (runes [256]rune) {
	moved := rune(256)
	for b := range runes {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			runes[b] = rune(b)
			continue
		}
		runes[b] = moved
		moved++
	}
	return runes
}()
