package python

import (
	"bytes"

	"github.com/parlance-llm/parlance/internal/codec"
)

// rawUse says what becomes of text that is no literal.
type rawUse uint8

const (
	streamed rawUse = iota // unreadable text: goes out as a string while it arrives
	kept                   // unreadable text in a group or a key: is held in raw to its end
	junk                   // is skipped
)

// rawText says where in such text the next byte stands. Its strings are Python's, without the repair of nested quotes:
// the text is some expression, and in an expression anything may follow a string.
type rawText uint8

const (
	rawPlain        rawText = iota // outside its strings
	rawOpenedOnce                  // behind an opening quote
	rawOpenedTwice                 // behind two: an empty string, or the beginning of three quotes
	rawString                      // in a string
	rawTripleString                // in a string between three quotes
)

// unreadable makes text of the newest element: what has come of it, and what follows up to a comma or a closing bracket
// (ruling 32). It reports false: the next byte is still to be read.
func (c *Codec) unreadable() bool {
	c.fault = true
	c.fallback = false
	c.held = c.held[:c.elementHeld]
	c.enterRaw()
	c.word = wordAtEnd(c.raw[c.elementRaw:])
	c.rawUse = kept
	if len(c.pending) == 0 {
		c.stream()
	}
	return false
}

// skip makes junk of what follows, up to a comma or a closing bracket.
func (c *Codec) skip() {
	c.fault = true
	c.enterRaw()
	c.rawUse = junk
}

func (c *Codec) enterRaw() {
	c.state = inRaw
	c.rawText = rawPlain
	c.rawDepth = 0
	c.rawQuotes = 0
	c.rawEscape = false
	c.word = 0
	c.colonEnds = c.atKey()
}

// stream begins to give out unreadable text, which nothing around it holds back: first the newest element's text so far.
// Blanks at its end are kept waiting, because blanks before the comma or bracket do not belong to it.
func (c *Codec) stream() {
	text := c.raw[c.elementRaw:]
	c.release()
	c.rawUse = streamed
	end := len(bytes.TrimRight(text, " \n\t\r"))
	if len(text)-end > shortLimit {
		end = len(text)
	}
	c.work += len(text)
	c.out = append(c.out, '"')
	c.out = codec.AppendString(c.out, text[:end])
	c.wait = append(c.wait[:0], text[end:]...)
}

// inRaw reads a byte of unreadable text or junk.
func (c *Codec) inRaw(b byte) bool {
	if c.rawText == rawOpenedTwice && b != c.rawQuote {
		c.rawText = rawPlain
		c.word = 0
	}
	if c.rawText == rawPlain && c.rawDepth == 0 {
		switch {
		case b == ')' && c.wraps():
			c.unwrap()
			c.give(b)
			c.word = 0
			return true
		case b == ',' || b == ')' || b == ']' || b == '}' || b == ':' && c.colonEnds:
			c.endRaw(b)
			return false
		}
	}
	c.follow(b)
	c.give(b)
	return true
}

// follow follows the brackets and strings of unreadable text.
func (c *Codec) follow(b byte) {
	switch c.rawText {
	case rawPlain:
		switch b {
		case '(', '[', '{':
			c.rawDepth++
		case ')', ']', '}':
			c.rawDepth--
		case '"', '\'':
			// The quote in "don't" and in 5'10" opens nothing; that in f'…' does.
			if c.word < 3 {
				c.rawQuote = b
				c.rawText = rawOpenedOnce
			}
		}
		c.word = nextWord(c.word, b)
		return
	case rawOpenedOnce:
		if b == c.rawQuote {
			c.rawText = rawOpenedTwice
			return
		}
		c.rawText = rawString
	case rawOpenedTwice:
		c.rawText = rawTripleString
		return
	}
	switch {
	case c.rawEscape:
		c.rawEscape = false
		c.rawQuotes = 0
	case b == c.rawQuote:
		c.rawQuotes++
		if c.rawText == rawString || c.rawQuotes == 3 {
			c.rawText = rawPlain
			c.rawQuotes = 0
			c.word = 0
		}
	default:
		c.rawEscape = b == '\\'
		c.rawQuotes = 0
	}
}

// give gives out a byte of unreadable text, if nothing holds it back; blanks with what follows them.
func (c *Codec) give(b byte) {
	if c.rawUse != streamed {
		return
	}
	if codec.IsBlank(b) && len(c.wait) < shortLimit {
		c.wait = append(c.wait, b)
		return
	}
	if len(c.wait) > 0 {
		c.out = codec.AppendString(c.out, c.wait)
		c.wait = c.wait[:0]
	}
	c.out = appendCharacter(c.out, b)
}

// endRaw ends unreadable text or junk before the byte b, 0 at the end of the output.
func (c *Codec) endRaw(b byte) {
	switch c.rawUse {
	case streamed:
		c.out = append(c.out, '"')
		c.wait = c.wait[:0]
	case kept:
		text := bytes.TrimRight(c.raw[c.elementRaw:], " \n\t\r")
		c.work += len(text)
		if b != ':' && c.atKey() && c.kind() == set && bytes.HasPrefix(text, []byte("**")) {
			c.first = true // {**other, …}: a dict in a dict is no element, so nothing is decided
			break
		}
		c.held = codec.AppendQuoted(c.held, text)
	}
	c.state = afterValue
	c.fallback = false
}

// wraps reports whether a closing parenthesis belongs to the unreadable text because it closes a group that holds nothing
// else: of (a + b) * c the text begins with its parenthesis.
func (c *Codec) wraps() bool {
	return c.rawUse == kept && c.undecided() && c.kind() == paren && len(c.pending) > c.solid
}

// unwrap makes the group around unreadable text part of that text.
func (c *Codec) unwrap() {
	entry := c.popPending()
	c.pop()
	c.elementRaw, c.elementHeld = entry.raw, entry.held
	c.held = c.held[:entry.held]
	c.colonEnds = c.atKey()
	if len(c.pending) == 0 {
		c.stream()
	}
}

// rawFromText says, in the terms of unreadable text, where in a string the automaton was.
func (c *Codec) rawFromText(was state) {
	switch was {
	case openedOnce, inString, inStringQuotes, inEscape, inVerbatimEscape, inJoinedLine, inOctal, inHexadecimal:
	default:
		return
	}
	c.rawQuote = c.quote
	c.rawText = rawString
	if c.triple {
		c.rawText = rawTripleString
	}
	c.rawEscape = was == inEscape || was == inVerbatimEscape
	c.rawQuotes = c.quotes
	c.high = 0
}

// nextWord counts the bytes of a word that could be the prefix of a string; 3 is one that cannot.
func nextWord(word int, b byte) int {
	switch {
	case !isWord(b):
		return 0
	case word < 2 && isPrefixLetter(b):
		return word + 1
	}
	return 3
}

// wordAtEnd is nextWord for the end of a text.
func wordAtEnd(text []byte) int {
	word := 0
	for _, b := range text[max(0, len(text)-3):] {
		word = nextWord(word, b)
	}
	return word
}
