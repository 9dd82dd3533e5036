package regular

import "unicode"

// foldings are the characters that are the same as one where case does not matter.
func foldings(r rune) []rune {
	out := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, f)
	}
	return out
}
