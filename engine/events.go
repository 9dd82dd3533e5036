package engine

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineLimit bounds one line of a stream, in bytes. Some engines repeat the prompt in an event.
const lineLimit = 64 << 20

var errLineTooLong = errors.New("a line of the stream is longer than 64 MiB")

// lineReader reads lines that may be long. A line is valid until the next one is read.
type lineReader struct {
	reader *bufio.Reader
	long   []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{reader: bufio.NewReaderSize(r, 8<<10)}
}

// next is the next line without its end; the last one may lack an end.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long) > lineLimit {
				return nil, errLineTooLong
			}
			l.long = append(l.long, line...)
			line, err = l.reader.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// serverSentEvents reads the data of the events of a text/event-stream. Comments, which engines send to keep a connection
// alive, and fields other than data are passed over; so are blanks around the data. It answers io.EOF at [DONE] as at the
// end of the stream.
func serverSentEvents(r io.Reader) func() ([]byte, error) {
	lines := newLineReader(r)
	var joined []byte
	return func() ([]byte, error) {
		joined = joined[:0]
		for {
			line, err := lines.next()
			if err != nil && len(joined) == 0 {
				return nil, err
			}
			if err != nil || len(line) == 0 {
				// An event ends at an empty line, the last one perhaps at the end of the stream.
				if data := bytes.TrimSpace(joined); len(data) > 0 {
					if string(data) == "[DONE]" {
						return nil, io.EOF
					}
					return data, nil
				}
				joined = joined[:0]
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "data":
				if len(joined) > 0 {
					joined = append(joined, '\n')
				}
				joined = append(joined, value...)
			case "error":
				// llama.cpp has written errors in a field of that name.
				joined = append(append(append(joined, `{"error":`...), value...), '}')
			}
		}
	}
}

// jsonLines reads the lines of a stream that has one JSON value a line.
func jsonLines(r io.Reader) func() ([]byte, error) {
	lines := newLineReader(r)
	return func() ([]byte, error) {
		for {
			line, err := lines.next()
			if err != nil {
				return nil, err
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				return line, nil
			}
		}
	}
}
