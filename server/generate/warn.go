package generate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/server/sse"
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

// WarnLate writes the notes that came after the header of a stream had gone out: into the trailer of the answer, and as
// comments into the stream, which clients do not read and people do.
func WarnLate(header http.Header, events *sse.Writer, g *Generation) {
	sent := header.Values(WarningHeader)
	for _, note := range g.Notes() {
		if note = strings.Map(printable, note); !slices.Contains(sent, note) {
			header.Add(http.TrailerPrefix+WarningHeader, note)
			_ = events.Comment("warning: " + note) // the client has gone if this fails
		}
	}
}

// printable keeps what a header can hold.
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
