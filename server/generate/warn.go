package generate

import (
	"net/http"
	"strings"
)

// WarningHeader is the header of an answer in which the notes of its Generation stand, one a value.
const WarningHeader = "X-Parlance-Warning"

// Warn writes the notes of an answer into its header. A stream's header goes out before the model has written anything, so
// it has only what was known by then; the log and the counters have the rest.
func Warn(header http.Header, g *Generation) {
	for _, note := range g.Notes() {
		header.Add(WarningHeader, strings.Map(printable, note))
	}
}

// printable keeps what a header can hold.
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
