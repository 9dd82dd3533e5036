package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader gives the lines of a file, of any length, without those that are blank.
type lineReader struct {
	in     *bufio.Reader
	name   string
	bar    *progress
	number int // the line given last, from 1
	read   int // lines that were not blank
}

func newLineReader(in io.Reader, name string, bar *progress) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 1<<20), name: name, bar: bar}
}

// next gives the next line, which is the caller's. At the end the error is io.EOF.
func (l *lineReader) next() (line []byte, number int, err error) {
	for {
		line, err := l.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("%s: %w", l.name, err)
		}
		l.bar.add(len(line))
		if len(line) == 0 {
			return nil, 0, io.EOF
		}
		l.number++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.read++
			return line, l.number, nil
		}
	}
}
