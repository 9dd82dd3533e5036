package parlance

import "strings"

// suffixLimit is the longest suffix that a checkpoint may put on its markers; variantLimit how many different ones are
// kept compiled, since a prompt may show any.
const (
	suffixLimit  = 64
	variantLimit = 64
)

// suffix reads what fills the hole in a format's markers: off the vocabulary where something is known of it, else off
// the part of the prompt that belongs to the turn; "" where neither shows any.
func (p *Parser) suffix(r *Request) string {
	holes := p.holes()
	switch {
	case len(holes) == 0:
		return ""
	case p.bound != nil:
		return p.bound.suffix
	}
	if suffix := p.suffixOf(r.SpecialTokens); suffix != "" {
		return suffix
	}
	if len(r.SpecialTokens) > 0 || r.Prompt == "" {
		return ""
	}
	turn := r.Prompt[p.library.Turn(r.Prompt, nil, nil):]
	for name, literals := range holes {
		for _, literal := range literals {
			before, after, _ := strings.Cut(literal, "{"+name+"}")
			if k := strings.LastIndex(turn, before); k >= 0 {
				if suffix, _, ok := strings.Cut(turn[k+len(before):], after); ok && isSuffix(suffix) {
					return suffix
				}
			}
		}
	}
	return ""
}

// isSuffix tells whether a text can be a suffix of markers: nothing, or a colon and characters that end no tag.
func isSuffix(text string) bool {
	if text == "" {
		return true
	}
	return text[0] == ':' && len(text) > 1 && len(text) <= suffixLimit && !strings.ContainsAny(text, " \t\r\n<>{}")
}

// suffixOf reads the suffix off the tokens of a vocabulary.
func (p *Parser) suffixOf(tokens []string) string {
	for name, literals := range p.holes() {
		for _, literal := range literals {
			before, after, _ := strings.Cut(literal, "{"+name+"}")
			for _, token := range tokens {
				if strings.HasPrefix(token, before) && strings.HasSuffix(token, after) && len(token) >= len(before)+len(after) {
					// In a checkpoint that puts a suffix on its markers the bare ones are plain text.
					if suffix := token[len(before) : len(token)-len(after)]; suffix != "" && isSuffix(suffix) {
						return suffix
					}
				}
			}
		}
	}
	return ""
}
