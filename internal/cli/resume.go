package cli

import (
	"bufio"
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parlance-llm/parlance/conformance"
)

// resume makes a file of results ready to be written on: a line that was broken off is cut, the lines of input whose
// results are there are skipped, and the file stands at its end. bad is the number of results that are errors.
//
// It is an error if the file holds something other than results, or results of other lines.
func resume(file *os.File, lines *lineReader) (bad int, err error) {
	in := bufio.NewReaderSize(file, 1<<20)
	var kept int64
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err != nil {
			break // what stands after the last line break was broken off
		}
		var result struct {
			ID       jsontext.Value `json:"id"`
			Error    *string        `json:"error"`
			Segments jsontext.Value `json:"segments"`
		}
		err = conformance.Decode(line, &result)
		if err == nil && result.Error == nil && result.Segments == nil {
			err = errors.New("it has neither segments nor an error")
		}
		if err != nil {
			if _, err := in.Peek(1); errors.Is(err, io.EOF) {
				break // a machine that loses its power may leave such a last line
			}
			return 0, fmt.Errorf("expected a result on line %d, found something else: %w", lines.read+1, err)
		}
		input, number, err := lines.next()
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("it holds more results than %s has lines, so they belong to another input", lines.name)
		}
		if err != nil {
			return 0, err
		}
		if want := lineID(input); !bytes.Equal(want, result.ID) {
			return 0, fmt.Errorf("result %d has the id %s, but line %d of %s has the id %s, so it belongs to another input", lines.read, result.ID, number, lines.name, want)
		}
		if result.Error != nil {
			bad++
		}
		kept += int64(len(line))
	}
	if err := file.Truncate(kept); err != nil {
		return 0, err
	}
	_, err = file.Seek(kept, io.SeekStart)
	return bad, err
}

// lineID is the id of a line of input as its result carries it. A line that breaks off has one too if its id can be read.
func lineID(line []byte) jsontext.Value {
	var request struct {
		ID jsontext.Value `json:"id"`
	}
	_ = conformance.Decode(line, &request) // what has been read before the error counts
	return compactID(request.ID)
}

// compactID writes an id as a result carries it, null if there is none.
func compactID(id jsontext.Value) jsontext.Value {
	if data, err := conformance.Encode(id); err == nil && len(id) > 0 {
		return data
	}
	return jsontext.Value("null")
}
