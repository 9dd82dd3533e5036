// Package python turns the arguments of a Python call into JSON while they arrive, and JSON back into such arguments.
//
// Several model families write a call as Python does:
//
//	get_weather(city="Paris", days=3, tags=['a', None])
//
// The arguments are what stands between the call's opening parenthesis and its own closing one: keyword arguments, each
// a key, an equals sign and a value. A value is a literal: a string, a number, a word (True, None, …) or a container. A
// container is a list, a tuple, a set or a dict; what stands in it, between two commas, is an element, and an element of
// a dict has a key of its own, before a colon. Each container that is open is a level.
//
// # What is certain
//
// Nothing that was appended to the output is ever taken back, so everything that more text could still change is held:
//   - a number or a word, to its end, because it is spelled differently in JSON;
//   - the quote that closes a string, until something follows it, because a further literal would be joined to it and
//     because models forget to escape quotes (see below);
//   - a group: what stands in an opening parenthesis or brace whose kind is not known yet. A parenthesis is a tuple if a
//     comma comes in it, otherwise it means nothing; a brace is a dict if a colon comes behind its first element,
//     otherwise a set. The group is undecided until that byte has come;
//   - a dict's key, until its colon.
//
// The text of a string, however long, is not held, nor are keys of arguments, lists, and dicts whose first key is over.
//
// # Models are not compilers
//
// Arguments never fail once their first key has come; what is wrong in them is repaired (formats/pythonic.md and lfm2.md,
// rulings 26, 29, 32):
//   - A quote inside a string of the same quotes closes it only if a comma, a closing bracket, a colon, a further string
//     or the end follows, blanks in between allowed: the value of q='sed -n '1,9p' f' is all of sed -n '1,9p' f.
//   - A value that is no literal is unreadable: its text, as it stands, becomes a JSON string. The text goes to the next
//     comma or closing bracket, those in its own brackets and strings aside.
//   - Whatever else stands where it should not is junk and is skipped: positional arguments, *arguments, a key without a
//     value behind it, an operator behind a list.
package python

import "github.com/parlance-llm/parlance/internal/codec"

const (
	// DefaultLimit is how many bytes of the model's text are held at most where a Codec sets no limit (ruling 41).
	DefaultLimit = 16 << 20
	// shortLimit bounds, in bytes, everything that is short by nature: what comes before the first key is known to be
	// one, names, numbers, words, and the blanks behind a string or a number (ruling 41).
	shortLimit = 4 << 10
	// maximumDepth is how many levels are told apart; brackets beyond it are unreadable text.
	maximumDepth = 1 << 16
)

// state is where in the arguments the next byte stands.
type state uint8

const (
	beforeArgument state = iota // behind the opening parenthesis or a comma between arguments
	inName                      // in the key of an argument
	afterName                   // in the blanks behind it
	afterEquals                 // behind its equals sign, which a second one would turn into a comparison
	beforeValue                 // where a value or an element begins
	inScalar                    // in a number or a word
	afterValue                  // behind a value or an element, before its comma or closing bracket
	inComment                   // in a comment, which ends with its line
	inRaw                       // in unreadable text or in junk

	// The states of a string: see text.go.
	openedOnce
	openedTwice
	inString
	inStringQuotes
	inEscape
	inVerbatimEscape
	inJoinedLine
	inOctal
	inHexadecimal
	afterQuote
	afterTwoQuotes
	inPrefix

	finished // the closing parenthesis has been taken
	refused  // these are no arguments
)

// Codec is the state of one call's arguments. The zero value is ready to be fed; Start makes it ready again and keeps its
// buffers. A Codec must not be used by several goroutines at once.
type Codec struct {
	// Limit is how many bytes of the model's text may be held for one group or one key of a dict; zero means
	// DefaultLimit. At the limit a group becomes unreadable text and a key becomes junk.
	Limit int

	out []byte // the output, while Step, Close or Cut runs

	state   state
	resume  state  // the state behind a comment
	certain bool   // the guard of ruling 21 is met
	members bool   // a key has gone out, and "{" with it
	literal bool   // reading one literal for AppendLiteral: there are no keys
	fault   bool   // something was repaired
	guard   int    // bytes taken before certain
	name    []byte // the key of the argument

	// Levels, innermost last: see level.go.
	levels                  []byte
	depth                   int
	parens, squares, braces int  // how many levels each kind of closing bracket could close
	first                   bool // the innermost level has no element yet
	keyLevel                int  // the level whose key is awaited or being read; 0 is none
	elementRaw, elementHeld int  // where the newest element begins in raw and in held
	fallback                bool // the element is over, but junk behind it would make it unreadable
	blanks                  int  // blanks behind such an element
	signs                   bool // nothing but signs has come of the number
	holding                 bool
	raw                     []byte // the text as the model wrote it, since holding began
	held                    []byte // its JSON text
	crossed                 int    // the end of the first byte of held that means nothing; 0 is none
	pending                 []pending
	solid                   int    // how many of the pending contain a container
	scratch                 []byte // a key of a dict while it is being turned into a string

	// The string being read: see text.go.
	quote    byte
	triple   bool
	verbatim bool
	quotes   int    // quotes seen of the three that close a triple-quoted string
	digits   int    // digits seen of an octal escape; digits awaited of a hexadecimal one
	code     rune   // their value
	high     rune   // the first half of a surrogate pair that waits for the second; 0 is none
	wait     []byte // blanks behind a quote, the letters of a prefix, the text of an escape, blanks in unreadable text
	letters  int    // how many bytes at the end of wait are the letters of a prefix

	// The unreadable text or junk being read: see raw.go.
	rawUse    rawUse
	rawText   rawText
	rawDepth  int
	rawQuote  byte
	rawQuotes int
	rawEscape bool
	word      int  // bytes of the word directly before; 3 if it cannot be the prefix of a string
	colonEnds bool // the text is a key, which a colon ends

	work int // turns of the loop and bytes moved: what the test of linear time counts
}

// Start makes the codec ready for the arguments of a call, just behind its opening parenthesis.
func (c *Codec) Start() {
	const kept = 64 << 10 // one unusual call shall not keep its memory for the life of the codec
	reset := func(buffer []byte) []byte {
		if cap(buffer) > kept {
			return nil
		}
		return buffer[:0]
	}
	pending := c.pending[:0]
	if cap(pending) > kept/16 {
		pending = nil
	}
	*c = Codec{
		Limit: c.Limit, name: c.name[:0], levels: c.levels[:0], wait: c.wait[:0], pending: pending,
		raw: reset(c.raw), held: reset(c.held), scratch: reset(c.scratch),
	}
}

// Step takes the next piece of the text and appends to out the JSON text that has become certain. It returns how many
// bytes of p it took, out, and:
//   - More: all of p was taken and the arguments go on.
//   - Done: the closing parenthesis of the call was taken. What Step appends lacks the object's last brace, which Close
//     appends (ruling 38).
//   - Refused: these are no arguments (ruling 21: a closing parenthesis at once, or an identifier, blanks, and an equals
//     sign that no second one follows). Nothing has been appended; n tells how many bytes of p came before the one that
//     settled it. The caller keeps the text taken before.
//
// After Done and Refused it takes nothing and answers the same again. Step never fails. Where a text is cut into pieces
// changes neither the outcome nor what has been appended after any byte.
func (c *Codec) Step(p, out []byte) (n int, result []byte, st codec.Status) {
	c.out = out
	for n < len(p) && c.state < finished {
		c.work++
		if c.holding && len(c.raw) >= c.limit() {
			c.overflow()
		}
		if c.state == inString {
			n += c.text(p[n:])
			continue
		}
		if !c.take(p[n]) {
			continue
		}
		if c.holding {
			c.raw = append(c.raw, p[n])
		}
		n++
	}
	result, c.out = c.out, nil
	switch c.state {
	case finished:
		st = codec.Done
	case refused:
		st = codec.Refused
	}
	return n, result, st
}

// Certain reports whether the guard of ruling 21 is met: what has come are the arguments of a call.
func (c *Codec) Certain() bool { return c.certain }

// Close appends what is missing to make all that was appended since Start one JSON object, and returns out. It is called
// when the call is over: its closing parenthesis was taken, or a new call began, or the output ended of itself. Then
// what was held counts as if its closing quotes and brackets had come (rulings 32 and 40); a key without a value gets
// null. Before Certain the object is empty. After Close only Start may be called.
func (c *Codec) Close(out []byte) []byte {
	c.out = out
	if c.certain {
		c.end()
	}
	if c.members {
		c.put("}")
	} else {
		c.put("{}")
	}
	out, c.out = c.out, nil
	c.state = finished
	return out
}

// Cut is called instead of Close when the output was cut by its length, and returns out. It appends what is certain
// because nothing follows: quotes of a string that were held and the key of an argument whose equals sign came last.
// What would have had to be converted is dropped, and no bracket is closed (rulings 38 and 39). After Cut only Start may
// be called.
func (c *Codec) Cut(out []byte) []byte {
	c.out = out
	switch {
	case !c.certain || c.holding:
	case c.state == afterEquals:
		c.putName()
	case c.state >= openedOnce && c.state <= inPrefix:
		if c.endOfText(false) {
			c.put(`"`)
		}
	}
	out, c.out = c.out, nil
	c.state = finished
	return out
}

// end brings what is open to its end, as if its closers had come, but for the object's last brace.
func (c *Codec) end() {
	here := c.state
	if here == inComment {
		here = c.resume
	}
	switch {
	case here == afterEquals:
		c.putName()
		c.missing()
	case here == beforeValue:
		c.missing()
	case here == inScalar:
		c.endScalar()
	case here >= openedOnce && here <= inPrefix:
		c.endOfText(true)
		c.endString()
	}
	if c.state == inRaw {
		c.endRaw(0)
	}
	for c.depth > 0 {
		c.closeLevel()
	}
	c.settle()
}

// take lets the automaton read one byte that is not the inside of a string. It reports false where the byte is not taken
// but is to be read again, in the state that has been reached; that happens a fixed number of times for each byte.
func (c *Codec) take(b byte) bool {
	if c.state <= afterEquals {
		return c.takeArgument(b)
	}
	switch c.state {
	case beforeValue:
		return c.beforeValue(b)
	case inScalar:
		return c.inScalar(b)
	case afterValue:
		return c.afterValue(b)
	case inComment:
		if b == '\n' {
			c.state = c.resume
		}
		return true
	case inRaw:
		return c.inRaw(b)
	}
	return c.inText(b)
}

// put appends JSON text to what is held, or to the output if nothing is held.
func (c *Codec) put(text string) {
	sink := c.sink()
	*sink = append(*sink, text...)
}

// sink is where JSON text goes: to what is held, or to the output if nothing is held.
func (c *Codec) sink() *[]byte {
	if c.holding {
		return &c.held
	}
	return &c.out
}

func (c *Codec) limit() int {
	if c.Limit > 0 {
		return c.Limit
	}
	return DefaultLimit
}
