package generate

import "strings"

// stops looks for stop strings in a text that comes in pieces, where the engine does not.
type stops struct {
	texts   []string
	include bool
	held    string
	over    bool
}

func newStops(texts []string, include bool) *stops { return &stops{texts: texts, include: include} }

// write takes a piece and gives what is not the beginning of a stop string, and the stop string that was met, if one was.
// last tells that the text ends with the piece.
func (s *stops) write(piece string, last bool) (text, met string) {
	if s.over {
		return "", ""
	}
	text = s.held + piece
	s.held = ""
	at := -1
	for _, stop := range s.texts {
		if i := strings.Index(text, stop); i >= 0 && (at < 0 || i < at) {
			at, met = i, stop
		}
	}
	if at >= 0 {
		s.over = true
		if s.include {
			at += len(met)
		}
		return text[:at], met
	}
	if last {
		return text, ""
	}
	keep := 0
	for _, stop := range s.texts {
		for n := min(len(stop)-1, len(text)); n > keep; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				keep = n
				break
			}
		}
	}
	s.held = text[len(text)-keep:]
	return text[:len(text)-keep], ""
}
