package generate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/server/sse"
)

// WarningHeader is the header of an answer in which the notes of its Generation stand, one a value.
const WarningHeader = "X-Parlance-Warning"

// Clients and proxies refuse a header that is long, some at 100 lines, some at 8 kB. mostWarnings bounds the warnings in
// one, mostWarningBytes their length together.
const (
	mostWarnings     = 16
	mostWarningBytes = 4 << 10
)

// unsaid stands for the warnings that a header has no room for.
const unsaid = "there are more warnings, which a header has no room for"

// AddWarnings adds warnings to a header. Those that it has no room for are left out, and one says so.
func AddWarnings(header http.Header, notes ...string) {
	for _, note := range notes {
		add(header, WarningHeader, strings.Map(printable, note))
	}
}

func add(header http.Header, name, note string) {
	there := header[http.CanonicalHeaderKey(name)]
	length := len(note)
	for _, other := range there {
		length += len(other)
	}
	if len(there) >= mostWarnings || length > mostWarningBytes {
		if note = unsaid; slices.Contains(there, note) {
			return
		}
	}
	header.Add(name, note)
}

// Warn writes the notes of an answer into its header. A stream's header goes out before the model has written anything, so
// it has only what was known by then; the log and the counters have the rest.
func Warn(header http.Header, g *Generation) { AddWarnings(header, g.Notes()...) }

// WarnLate writes the notes that came after the header of a stream had gone out: into the trailer of the answer, and as
// comments into the stream, which clients do not read and people do.
func WarnLate(header http.Header, events *sse.Writer, g *Generation) {
	sent := header.Values(WarningHeader)
	for _, note := range g.Notes() {
		if note = strings.Map(printable, note); !slices.Contains(sent, note) {
			add(header, http.TrailerPrefix+WarningHeader, note)
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
