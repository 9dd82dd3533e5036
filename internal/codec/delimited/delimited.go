// Package delimited reads and writes the arguments of the Gemma families: JSON's brackets with bare keys, and strings
// that stand raw between two equal delimiters.
//
//	city:<|"|>Paris<|"|>,days:3,filters:{lang:<|"|>en<|"|>,tags:[<|"|>a<|"|>,<|"|>b<|"|>]}
//
// The syntax, Q being the delimiter, a literal that the definition of the format gives:
//
//	fields = [ field { "," field } ]        field = key ":" value        white space is free between the parts
//	key    = bare text up to ":" | Q raw text Q
//	value  = Q raw text Q | "{" fields "}" | "[" [ value { "," value } ] "]" | bare text up to "," "}" "]"
//
// Raw text has no escapes: every character but the delimiter is itself. A bare word is a number, true, false, null or
// a string whose delimiters were forgotten. What type a value has, the tool's schema says at every depth (ruling 27);
// where it is silent, delimited text is a string and a bare word what it spells in JSON (ruling 28).
//
// Codec turns fields into a JSON object while they arrive, Append turns an object into fields.
//
// The words used here: a level is one open bracket, the outermost object included. A value is streamed when its text
// is passed on as it arrives, which needs a delimited string and a schema that allows no other kind; it is held when
// it must be complete before anything can be said about it. Junk is text that fits nowhere in the syntax; it is skipped
// and never makes arguments fail: the keys that are complete stand (ruling 32).
package delimited

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/schema"
)

const (
	// mostLevels bounds the open brackets, so that a text of brackets costs a megabyte at most. A further bracket is
	// the beginning of a bare word.
	mostLevels = 65_536
	// mostKey bounds a key (ruling 41). A longer one is junk.
	mostKey = 4 << 10
	// DefaultLimit bounds a value that must be read whole where a Codec sets no limit (ruling 41).
	DefaultLimit = 16 << 20
)

// state says what the next byte belongs to.
type state uint8

const (
	inKey       state = iota // a bare key, or what comes before one
	inQuotedKey              // a key between delimiters
	afterKey                 // between a delimited key and its colon
	atValue                  // before a value
	inText                   // a streamed string
	inHeld                   // a held string
	inBare                   // a bare word, held
	inLongBare               // a bare word that has become too long to be held, streamed as a string
	afterValue               // between a value and the comma or the closing bracket
	inJSONText               // a string between the quotes of JSON
	inJSONKey                // a key between the quotes of JSON
	over                     // behind the closing bracket of the arguments
)

// level is one open bracket.
type level struct {
	schema *schema.Schema
	count  int32 // members or elements whose beginning is out
	array  bool
}

// Codec is the state of one argument object that is being read. Start makes it ready, also for the next object; the
// buffers are kept. A Codec belongs to one goroutine at a time.
//
// Step, Delimiter, Close and Cut append JSON text to the slice that they are given and return it, like append. All that
// they append between Start and Close is together one valid JSON object if the text is valid UTF-8, with ", " and ": "
// between its parts (ruling 3). Nothing is ever taken back, and what is appended does not depend on how the text was
// cut into pieces.
type Codec struct {
	// Quotes tells that strings and keys may stand between the quotes of JSON too. Such strings pass as they are written.
	// It is set before Start.
	Quotes bool
	// Limit is how many bytes of a value that must be read whole are held; zero means DefaultLimit. A longer value is a
	// string: its key is out already, so that its raw text as a string is all that can still be said (ruling 32). It is
	// set before Start.
	Limit int

	escape    []byte // the beginning of an escape in a string between quotes
	delimiter []byte
	borders   []int // borders[n]: how much of the delimiter's beginning the n bytes that match it end with
	half      int   // bytes of the delimiter that have arrived while it is open whether all of it will
	closer    byte

	state   state
	levels  []level
	objects int // levels that a '}' closes
	arrays  int // levels that a ']' closes

	key    []byte         // the key that is being read
	tooBig bool           // the key is longer than mostKey
	schema *schema.Schema // of the value that is being read or comes next
	held   []byte         // the value that is being held
}

// Start begins a new argument object whose opening bracket has been taken by the caller. The closer is the bracket that
// ends it, '}' or ')'. The delimiter must not change until the next Start and holds none of the brackets, commas and
// colons of the syntax. The schema is that of the tool's parameters, nil if there is none.
func (c *Codec) Start(delimiter []byte, closer byte, s *schema.Schema) {
	if !bytes.Equal(delimiter, c.delimiter) {
		c.borders = appendBorders(c.borders[:0], delimiter)
	}
	c.delimiter, c.half, c.closer = delimiter, 0, closer
	c.levels = append(c.levels[:0], level{schema: s})
	c.objects, c.arrays = 0, 0
	c.escape = c.escape[:0]
	if closer == '}' {
		c.objects = 1
	}
	c.expectKey()
}

// Step takes the next piece of the text and appends to out all JSON that is certain now. It returns how many bytes of p
// belong to the arguments, and Done when the last of them is the closing bracket, else More. The object's own '}' is not
// appended: it goes out with the end of the call, by Close (ruling 38). After Done nothing is taken.
//
// If typed is false, the delimiter is a single special token that arrives by Delimiter, and characters in p that look
// like it are data (contract 8 of the parser).
func (c *Codec) Step(p, out []byte, typed bool) (n int, result []byte, st codec.Status) {
	if !typed || len(c.delimiter) == 0 {
		out = c.release(out)
		for n < len(p) && c.state != over {
			var taken int
			if taken, out = c.quoted(p[n:], out); taken == 0 {
				taken, out = c.take(p[n:], out)
			}
			n += taken
		}
		return n, out, c.status()
	}
	next := 0 // where the delimiter may begin next, once that has been looked for: each byte is looked at once
	for n < len(p) && c.state != over {
		if c.state == inJSONText || c.state == inJSONKey {
			var taken int
			taken, out = c.quoted(p[n:], out)
			n += taken
			continue
		}
		switch {
		case c.half == 0 && p[n] != c.delimiter[0]:
			if next <= n {
				next = len(p)
				if found := bytes.IndexByte(p[n:], c.delimiter[0]); found >= 0 {
					next = n + found
				}
			}
			var taken int
			taken, out = c.take(p[n:next], out)
			n += taken
		case p[n] == c.delimiter[c.half]:
			n++
			c.half++
			if c.half == len(c.delimiter) {
				c.half = 0
				out = c.turn(out)
			}
		default:
			// What has arrived is not the delimiter, but its end may be the beginning of one.
			kept := c.borders[c.half]
			_, out = c.take(c.delimiter[:c.half-kept], out)
			c.half = kept
		}
	}
	return n, out, c.status()
}

// Delimiter takes the delimiter that arrived as a special token of its own.
func (c *Codec) Delimiter(out []byte) []byte {
	if c.state == inJSONText || c.state == inJSONKey { // there it is text
		_, out = c.quoted(c.delimiter, out)
		return out
	}
	return c.turn(c.release(out))
}

// InString reports whether the text is between two delimiters, where every marker is data (ruling 31).
func (c *Codec) InString() bool {
	return c.state == inText || c.state == inHeld || c.state == inQuotedKey || c.state == inJSONText || c.state == inJSONKey
}

// Close ends the arguments, wherever they are: at their closing bracket, at the end of the output or at another call.
// It appends all that is missing to one JSON object: a value that was open counts as it stands, half a delimiter at its
// end included (ruling 40), a key without its colon does not. Only Start may be called after Close.
func (c *Codec) Close(out []byte) []byte {
	switch c.state {
	case inText, inHeld, inBare, inLongBare:
		out = c.release(out)
	}
	if c.state != over {
		out = c.settle(out)
	}
	for len(c.levels) > 1 {
		out = c.pop(out)
	}
	c.state = over
	if c.levels[0].count == 0 {
		out = append(out, '{')
	}
	return append(out, '}')
}

// Cut ends the arguments where the output was cut off by its length. It appends what was held of a streamed string
// although it belongs to it, half a delimiter; a value that is held is dropped, and nothing is closed (rulings 38 and
// 39). Only Start may be called after Cut.
func (c *Codec) Cut(out []byte) []byte {
	if c.state == inText || c.state == inLongBare {
		out = c.release(out)
	}
	return out
}

func (c *Codec) status() codec.Status {
	if c.state == over {
		return codec.Done
	}
	return codec.More
}

// release takes the half delimiter that was held as the text that it turned out to be.
func (c *Codec) release(out []byte) []byte {
	if c.half > 0 {
		_, out = c.take(c.delimiter[:c.half], out)
		c.half = 0
	}
	return out
}

// appendBorders appends for every n up to the length of the word how many bytes of its beginning its first n bytes end
// with, those n themselves left out (the failure function of Knuth, Morris and Pratt).
func appendBorders(borders []int, word []byte) []int {
	borders = append(borders, 0, 0)
	for n := 1; n < len(word); n++ {
		border := borders[n]
		for border > 0 && word[border] != word[n] {
			border = borders[border]
		}
		if word[border] == word[n] {
			border++
		}
		borders = append(borders, border)
	}
	return borders
}
