package conformance

import (
	"bufio"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Command is another program as an implementation: it reads requests as lines of JSON on its standard input and writes
// one result a line on its standard output, in the same order, as `parlance batch` does. It is started once, through the
// shell, gets all requests without waiting for answers, and may read as far ahead as it likes.
//
// If it ends too early, it is started again with fewer cases, until the one is found that ends it. That one fails; the
// others are judged by their answers.
//
// It is not told where to cut (Chunk.Cuts), since that has no form in the lines.
type Command struct {
	// Line is the command line.
	Line string
}

// Cuts is false.
func (*Command) Cuts() bool { return false }

// fruitless is how many cases in a row may end the program without one answer before it is given up.
const fruitless = 5

// lingering is how long a program may go on after it has closed its output.
const lingering = 5 * time.Second

// Run implements Implementation.
func (c *Command) Run(trials iter.Seq[*Trial], done func(*Trial)) {
	next, stop := iter.Pull(trials)
	defer stop()
	var again []*Trial // were sent to a program that ended
	more := true       // next may have more
	source := func() (t *Trial, ok bool) {
		if len(again) > 0 {
			t, again = again[0], again[1:]
			return t, true
		}
		if more {
			t, more = next()
		}
		return t, more
	}
	failures := 0
	for limit := math.MaxInt; more || len(again) > 0; {
		s := &session{source: source, limit: limit, done: done}
		ended := s.run(c.Line)
		switch {
		case len(s.open) == 0:
			failures = 0
			limit = max(limit, 2*limit) // math.MaxInt stays
		case s.trials == 1:
			s.open[0].giveUp(ended, done)
			if failures++; s.answers > 0 {
				failures = 0
			}
			if failures == fruitless {
				why := fmt.Errorf("not run, since the program answered none of the %d cases before it: %w", fruitless, ended)
				for t, ok := source(); ok; t, ok = source() {
					(&asked{trial: t}).giveUp(why, done)
				}
			}
		default:
			var open []*Trial
			for _, a := range s.open {
				a.trial.outcome = Outcome{Case: a.trial.Case}
				open = append(open, a.trial)
			}
			again = append(open, again...)
			limit = max(1, len(open)/2)
		}
	}
}

// session is one run of the program.
type session struct {
	source func() (*Trial, bool)
	limit  int // trials to send
	done   func(*Trial)

	mutex   sync.Mutex
	open    []*asked // sent and not answered, in order
	trials  int      // sent
	sent    int      // requests
	answers int
}

// asked is a trial that has been sent, as far as its answers have come.
type asked struct {
	trial *Trial
	first int // the number of its first request
	next  int // the chunking whose answer is due
}

// giveUp answers all that is due of a trial with an error.
func (a *asked) giveUp(why error, done func(*Trial)) {
	for ; a.next < len(a.trial.Chunkings); a.next++ {
		a.trial.Answer(a.trial.Chunkings[a.next], nil, why)
	}
	done(a.trial)
}

// run starts the program, sends it its trials and takes its answers until it ends. The error tells how it ended, for
// trials that are left open.
func (s *session) run(line string) error {
	command := exec.Command("sh", "-c", line)
	command.WaitDelay = lingering
	complaints := &tail{}
	command.Stderr = complaints
	input, err := command.StdinPipe()
	if err != nil {
		return s.failStart(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return s.failStart(err)
	}
	if err := command.Start(); err != nil {
		return s.failStart(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() { s.write(input) })
	s.read(bufio.NewReaderSize(output, 1<<16))
	input.Close() // a writer that is still at it goes on in vain
	timer := time.AfterFunc(lingering, func() { command.Process.Kill() })
	err = command.Wait()
	timer.Stop()
	writer.Wait()
	return ending(err, complaints.String())
}

// failStart makes a program that cannot be started fail one trial.
func (s *session) failStart(err error) error {
	if t, ok := s.source(); ok {
		s.trials, s.open = 1, []*asked{{trial: t}}
	}
	return fmt.Errorf("the program cannot be started: %w", err)
}

func ending(err error, complaints string) error {
	what := "the program ended before it answered"
	if err != nil {
		what = fmt.Sprintf("the program ended before it answered (%v)", err)
	}
	if complaints = strings.TrimSpace(complaints); complaints != "" {
		what += "; its last words: " + complaints
	}
	return errors.New(what)
}

// write sends the requests of all trials and closes the input.
func (s *session) write(input io.WriteCloser) {
	defer input.Close()
	out := bufio.NewWriterSize(input, 1<<16)
	defer out.Flush()
	for s.trials < s.limit {
		t, ok := s.source()
		if !ok {
			return
		}
		s.trials++
		s.mutex.Lock()
		first := s.sent
		s.sent += len(t.Chunkings)
		s.open = append(s.open, &asked{trial: t, first: first})
		s.mutex.Unlock()
		for i, k := range t.Chunkings {
			line, err := Encode(Line{ID: requestID(first + i), Input: t.Case.Input, Stream: k.Stream, Chunk: k.Chunk})
			if err != nil {
				panic("conformance: " + err.Error()) // a case that was read can be written
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return // it has ended; the reader finds out why
			}
		}
	}
}

func requestID(n int) jsontext.Value { return fmt.Appendf(nil, `"request %d"`, n) }

// read takes results until the output ends.
func (s *session) read(output *bufio.Reader) {
	for number := 1; ; number++ {
		line, err := output.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			s.take(number, line)
		}
		if err != nil {
			return
		}
	}
}

// take gives an answer to the trial that it belongs to. A line that cannot be read counts as the answer that is due.
// If an answer was left out, those before the one that came fail.
func (s *session) take(number int, line []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	id, result, err := readResult(line)
	if reported := (*reportedError)(nil); err != nil && !errors.As(err, &reported) {
		err = fmt.Errorf("line %d of its output: %w: %s", number, err, short(strings.TrimSpace(string(line)), longest))
	}
	n := -1
	if _, scanErr := fmt.Sscanf(string(id), `"request %d"`, &n); scanErr != nil || n >= s.sent {
		if n = -1; err == nil {
			err = fmt.Errorf("line %d of its output: id: expected the id of a request, found %s", number, short(string(id), longest))
		}
	}
	for len(s.open) > 0 {
		a := s.open[0]
		due := a.first + a.next
		if n >= 0 && n < due {
			return // comes late; it has failed already
		}
		k := a.trial.Chunkings[a.next]
		a.next++
		if n < 0 || n == due {
			a.trial.Answer(k, result, err)
			if err == nil {
				s.answers++
			}
		} else {
			a.trial.Answer(k, nil, fmt.Errorf("line %d of its output: expected the answer to request %d, found the one to request %d", number, due, n))
		}
		if a.next == len(a.trial.Chunkings) {
			s.open = s.open[1:]
			s.done(a.trial)
		}
		if n <= due {
			return
		}
	}
}

// readResult reads a line of results: a result, or an error that the program reports.
func readResult(line []byte) (id jsontext.Value, r *Result, err error) {
	var answer struct {
		ID        jsontext.Value `json:"id"`
		Error     *string        `json:"error"`
		Reasoning *string        `json:"reasoning"`
		Content   *string        `json:"content"`
		ToolCalls []struct {
			Name      *string `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"tool_calls"`
	}
	if err := Decode(line, &answer); err != nil {
		return answer.ID, nil, err
	}
	if answer.Error != nil {
		return answer.ID, nil, &reportedError{*answer.Error}
	}
	if answer.Reasoning == nil && answer.Content == nil && answer.ToolCalls == nil {
		return answer.ID, nil, errors.New("expected reasoning, content or tool_calls, found none of them")
	}
	r = &Result{}
	if answer.Reasoning != nil {
		r.Reasoning = *answer.Reasoning
	}
	if answer.Content != nil {
		r.Content = *answer.Content
	}
	for i, call := range answer.ToolCalls {
		if call.Name == nil || call.Arguments == nil {
			return answer.ID, nil, fmt.Errorf("tool_calls[%d]: expected a name and arguments, both strings", i)
		}
		r.ToolCalls = append(r.ToolCalls, ResultCall{Name: *call.Name, Arguments: *call.Arguments})
	}
	return answer.ID, r, nil
}

// reportedError is an error that the program reports for a request.
type reportedError struct{ text string }

func (e *reportedError) Error() string { return "the program reports an error: " + e.text }

// tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	kept  []byte
}

const tailSize = 500

func (t *tail) Write(data []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.kept = append(t.kept, data...)
	if len(t.kept) > tailSize {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailSize:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return strings.ToValidUTF8(string(t.kept), "\ufffd")
}
