package roundtrip

import (
	"bufio"
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/render"
)

// Record is a message of calls that is known, with the tools that are called.
type Record struct {
	ID    string
	Tools *parlance.Tools
	Calls []parlance.Call
	// Python is how the one call stands in Python source, "" if it is not known; Positional tells that an argument of it
	// has no name.
	Python     string
	Positional bool
}

// ReadRecords reads records, one a line: {"id", "tools", "calls": [{"name", "arguments"}], "python": [...],
// "positional": n}. Tools are as in an OpenAI request, arguments are text. The error names the line.
func ReadRecords(in io.Reader) (records []Record, err error) {
	known := map[string]*parlance.Tools{}
	reader := bufio.NewReaderSize(in, 1<<20)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			record, err := readRecord(line, known)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			records = append(records, record)
		}
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func readRecord(line []byte, known map[string]*parlance.Tools) (r Record, err error) {
	var raw struct {
		ID         string          `json:"id"`
		Tools      jsontext.Value  `json:"tools"`
		Calls      []parlance.Call `json:"calls"`
		Python     []string        `json:"python"`
		Positional int             `json:"positional"`
	}
	if err := json.Unmarshal(line, &raw, json.MatchCaseInsensitiveNames(true)); err != nil {
		return r, err
	}
	tools, ok := known[string(raw.Tools)]
	if !ok {
		if tools, err = parlance.ParseTools(raw.Tools); err != nil {
			return r, err
		}
		known[string(raw.Tools)] = tools
	}
	r = Record{ID: raw.ID, Tools: tools, Calls: raw.Calls, Positional: raw.Positional > 0}
	if len(raw.Python) > 0 {
		r.Python = raw.Python[0]
	}
	return r, nil
}

// Counts are how many calls went through a format, and for what reasons others could not.
type Counts struct {
	Carried    int
	Exceptions map[string]int
	// Differences are calls that came back other than they went.
	Differences []error
}

func (c *Counts) except(reason string, calls int) {
	if c.Exceptions == nil {
		c.Exceptions = map[string]int{}
	}
	c.Exceptions[reason] += calls
}

// Count writes every record and reads it back. Where a format cannot carry all calls of a record in one message, each is
// tried by itself.
func (t *Trip) Count(records []Record, splits int, random *rand.Rand) (c Counts) {
	for _, record := range records {
		m := &parlance.Message{Calls: record.Calls}
		exception, err := t.Check(m, record.Tools, splits, random)
		switch {
		case err != nil:
			c.Differences = append(c.Differences, fmt.Errorf("%s: %w", record.ID, err))
		case exception == nil:
			c.Carried += len(record.Calls)
		case len(record.Calls) == 1:
			c.except(string(exception.Reason), 1)
		default:
			for k := range record.Calls {
				single := record
				single.Calls = record.Calls[k : k+1]
				one := t.Count([]Record{single}, splits, random)
				c.Carried += one.Carried
				c.Differences = append(c.Differences, one.Differences...)
				for reason, n := range one.Exceptions {
					c.except(reason, n)
				}
			}
		}
	}
	return c
}

// ReasonPositional: an argument has no name, which makes a Python call text (ruling 21).
const ReasonPositional = "positional argument"

// CountPython reads the calls of records as their Python source has them, inside what else the format writes around a
// call. It is for formats whose calls are Python.
func (t *Trip) CountPython(records []Record, splits int, random *rand.Rand) (c Counts) {
	for _, record := range records {
		if record.Positional {
			c.except(ReasonPositional, 1)
			continue
		}
		m := &parlance.Message{Calls: record.Calls}
		request := t.Request(record.Tools)
		text, parts, err := t.Renderer.Outline(m, render.Options{Request: request})
		var exception *render.Error
		if errors.As(err, &exception) {
			c.except(string(exception.Reason), 1)
			continue
		}
		if err == nil {
			text, err = inSource(text, parts, record)
		}
		if err == nil {
			err = t.read(m, text, request, splits, random)
		}
		if err != nil {
			c.Differences = append(c.Differences, fmt.Errorf("%s: %w", record.ID, err))
			continue
		}
		c.Carried++
	}
	return c
}

// inSource puts the Python source of a call in the place of the call that was written.
func inSource(text string, parts []render.Part, record Record) (string, error) {
	from, to := -1, -1
	for _, part := range parts {
		switch part.Kind {
		case render.PartName:
			from, to = part.Start, part.End+len("(")
		case render.PartArgument:
			to = part.End
		}
	}
	if from < 0 || to >= len(text) || text[to] != ')' {
		return "", fmt.Errorf("expected a call in parentheses in %q", text)
	}
	return text[:from] + record.Python + text[to+len(")"):], nil
}

// Python tells whether the calls of the trip's format are Python.
func (t *Trip) Python() bool {
	tool, _, _ := t.Renderer.Parser().Definitions()
	if tool == nil {
		return false
	}
	found := false
	for _, rule := range tool.Rules {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			codec, ok := e.(*grammar.Codec)
			found = found || ok && codec.Kind == "python"
			return !found
		})
	}
	return found
}
