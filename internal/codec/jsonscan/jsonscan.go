// Package jsonscan checks JSON that arrives in pieces and passes it on as it stands.
//
// A Scanner follows one JSON object or array from its first bracket to the bracket that closes it. It copies nothing
// and keeps one bit for each level of nesting, so that its state stays small however large the text is. Numbers keep
// their spelling, members their order, repeated keys stay (ruling 26). A Decoder does the same for a JSON object that
// is written as a JSON string.
package jsonscan

import "github.com/parlance-llm/parlance/internal/codec"

// MaxDepth is the deepest nesting that is followed; what is deeper is no JSON here.
const MaxDepth = 1 << 16

// Event is why a Scanner stopped.
type Event uint8

const (
	// More: the piece is used up and the value goes on.
	More Event = iota
	// Done: the closing bracket was the last byte taken.
	Done
	// Control: the next byte is a raw control character in a string. It is to be written as an escape (ruling 26);
	// Skip passes over it.
	Control
	// Broken: the next byte cannot stand here.
	Broken
)

type state uint8

const (
	wantValue    state = iota // a value
	wantFirst                 // a value or the end of the array
	wantKey                   // a key
	wantKeyOrEnd              // a key or the end of the object
	wantColon
	wantComma // a comma or the end of what is open
	inString
	inEscape
	inHex1
	inHex2
	inHex3
	inHex4
	inWord // true, false, null
	numberSign
	numberZero
	numberDigits
	numberPoint
	numberFraction
	numberE
	numberESign
	numberExponent
	finished
)

// Scanner follows one JSON object or array. The zero value is ready for its opening bracket.
type Scanner struct {
	state  state
	key    bool // the string being read is a key
	depth  int
	levels []uint64 // one bit a level: 1 object, 0 array
	word   string   // what is left of true, false or null
}

// Reset makes the scanner ready for another value.
func (s *Scanner) Reset() { *s = Scanner{levels: s.levels[:0]} }

// Depth is the number of brackets that are open; InString tells whether a string is.
func (s *Scanner) Depth() int { return s.depth }

// InString: see Depth.
func (s *Scanner) InString() bool { return s.state >= inString && s.state <= inHex4 }

// AfterEscape tells whether the next byte is escaped by a backslash.
func (s *Scanner) AfterEscape() bool { return s.state == inEscape }

func (s *Scanner) push(object bool) bool {
	if s.depth == MaxDepth {
		return false
	}
	if s.depth>>6 == len(s.levels) {
		s.levels = append(s.levels, 0)
	}
	if object {
		s.levels[s.depth>>6] |= 1 << (s.depth & 63)
	} else {
		s.levels[s.depth>>6] &^= 1 << (s.depth & 63)
	}
	s.depth++
	return true
}

func (s *Scanner) object() bool {
	d := s.depth - 1
	return s.levels[d>>6]&(1<<(d&63)) != 0
}

// plain tells the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for b := range 256 {
		t[b] = b >= ' ' && b != '"' && b != '\\'
	}
	return t
}()

// Scan goes on from index i of text and answers the index behind the last byte taken, and why it stopped there.
func (s *Scanner) Scan(text []byte, i int) (int, Event) {
	for i < len(text) {
		c := text[i]
		switch s.state {
		case inString:
			for plain[c] {
				i++
				if i == len(text) {
					return i, More
				}
				c = text[i]
			}
			switch c {
			case '"':
				s.state = wantComma
				if s.key {
					s.state = wantColon
				}
			case '\\':
				s.state = inEscape
			default:
				return i, Control
			}
		case inEscape:
			switch c {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				s.state = inString
			case 'u':
				s.state = inHex1
			default:
				return i, Broken
			}
		case inHex1, inHex2, inHex3, inHex4:
			if !isHex(c) {
				return i, Broken
			}
			if s.state++; s.state > inHex4 {
				s.state = inString
			}
		default:
			if !s.outside(c) {
				return i, Broken
			}
			if s.state == finished {
				return i + 1, Done
			}
		}
		i++
	}
	return i, More
}

// Skip passes over a control character for which Scan stopped.
func (s *Scanner) Skip(i int) int { return i + 1 }

// outside takes one byte outside strings.
func (s *Scanner) outside(c byte) bool {
	switch s.state {
	case numberSign:
		return s.number(c == '0', numberZero, isDigit(c), numberDigits)
	case numberPoint:
		return s.number(isDigit(c), numberFraction, false, 0)
	case numberE:
		return s.number(c == '+' || c == '-', numberESign, isDigit(c), numberExponent)
	case numberESign:
		return s.number(isDigit(c), numberExponent, false, 0)
	case inWord:
		if s.word[0] != c {
			return false
		}
		if s.word = s.word[1:]; s.word == "" {
			s.state = wantComma
		}
		return true
	case numberZero, numberDigits:
		switch {
		case isDigit(c) && s.state == numberDigits:
			return true
		case c == '.':
			s.state = numberPoint
			return true
		case c == 'e' || c == 'E':
			s.state = numberE
			return true
		}
		s.state = wantComma
	case numberFraction:
		switch {
		case isDigit(c):
			return true
		case c == 'e' || c == 'E':
			s.state = numberE
			return true
		}
		s.state = wantComma
	case numberExponent:
		if isDigit(c) {
			return true
		}
		s.state = wantComma
	}
	if codec.IsBlank(c) {
		return s.depth > 0
	}
	switch s.state {
	case wantValue, wantFirst:
		return s.value(c)
	case wantKey, wantKeyOrEnd:
		switch {
		case c == '"':
			s.state, s.key = inString, true
			return true
		case c == '}' && s.state == wantKeyOrEnd:
			return s.pop()
		}
	case wantColon:
		if c == ':' {
			s.state = wantValue
			return true
		}
	case wantComma:
		switch {
		case c == ',' && s.object():
			s.state = wantKey
			return true
		case c == ',':
			s.state = wantValue
			return true
		case c == '}' && s.object(), c == ']' && !s.object():
			return s.pop()
		}
	}
	return false
}

func (s *Scanner) number(a bool, to state, b bool, other state) bool {
	switch {
	case a:
		s.state = to
	case b:
		s.state = other
	default:
		return false
	}
	return true
}

func (s *Scanner) value(c byte) bool {
	switch {
	case c == '{':
		s.state = wantKeyOrEnd
		return s.push(true)
	case c == '[':
		s.state = wantFirst
		return s.push(false)
	case s.depth == 0: // arguments are an object, never a bare value
		return false
	case c == '"':
		s.state, s.key = inString, false
	case c == ']' && s.state == wantFirst:
		return s.pop()
	case c == '-':
		s.state = numberSign
	case c == '0':
		s.state = numberZero
	case isDigit(c):
		s.state = numberDigits
	case c == 't':
		s.state, s.word = inWord, "rue"
	case c == 'f':
		s.state, s.word = inWord, "alse"
	case c == 'n':
		s.state, s.word = inWord, "ull"
	default:
		return false
	}
	return true
}

func (s *Scanner) pop() bool {
	s.depth--
	s.state = wantComma
	if s.depth == 0 {
		s.state = finished
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
