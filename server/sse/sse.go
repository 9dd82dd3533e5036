// Package sse writes server-sent events (WHATWG HTML, section 9.2), the form in which all interfaces stream.
//
// Every event is flushed as it is written. A client that does not read makes Write wait; after the time that Start was
// given the write fails, so that nobody keeps an engine busy by not reading.
package sse

import (
	"net/http"
	"time"
)

// Writer writes the events of one response. It belongs to one goroutine.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buffer  []byte
	err     error
}

// Start sends the status 200 and the headers of a stream. A write that takes longer than timeout fails; zero waits. It must
// be closed.
func Start(w http.ResponseWriter, timeout time.Duration) *Writer {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no") // reverse proxies must not collect the events
	w.WriteHeader(http.StatusOK)
	return &Writer{w: w, control: http.NewResponseController(w), timeout: timeout}
}

// Data writes an event without a name. data must hold no line break; JSON never does. After an error every further call
// answers the same error.
func (s *Writer) Data(data []byte) error { return s.Event("", data) }

// Event writes an event with a name.
func (s *Writer) Event(name string, data []byte) error {
	s.buffer = s.buffer[:0]
	if name != "" {
		s.buffer = append(s.buffer, "event: "...)
		s.buffer = append(s.buffer, name...)
		s.buffer = append(s.buffer, '\n')
	}
	s.buffer = append(s.buffer, "data: "...)
	s.buffer = append(s.buffer, data...)
	s.buffer = append(s.buffer, "\n\n"...)
	return s.flush()
}

// Comment writes a comment, which clients ignore; it keeps the connection alive.
func (s *Writer) Comment(text string) error {
	s.buffer = append(append(append(s.buffer[:0], ": "...), text...), "\n\n"...)
	return s.flush()
}

// KeepAlive writes the comment of an idle stream.
func (s *Writer) KeepAlive() error { return s.Comment("keep-alive") }

// Done writes the end mark of the OpenAI interfaces.
func (s *Writer) Done() error { return s.Data([]byte("[DONE]")) }

// Close takes the time limit off the connection, which may carry more responses.
func (s *Writer) Close() {
	if s.timeout > 0 {
		_ = s.control.SetWriteDeadline(time.Time{})
	}
}

func (s *Writer) flush() error {
	if s.err != nil {
		return s.err
	}
	if s.timeout > 0 {
		_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // not every ResponseWriter has deadlines
	}
	if _, s.err = s.w.Write(s.buffer); s.err == nil {
		s.err = s.control.Flush()
	}
	return s.err
}
