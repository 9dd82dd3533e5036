package cli

import (
	"bufio"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/parlance-llm/parlance/conformance"
)

// inFlight bounds the lines that have been read and not yet written: how many for each core, and their bytes together.
// One line may be longer.
const (
	linesInFlight = 16
	bytesInFlight = 64 << 20
)

// job is a line on its way.
type job struct {
	line   []byte
	number int
	result []byte
	bad    error
	done   chan struct{}
}

// pipeline sorts the lines on all cores and writes the results in their order. report is told of each bad line, in order.
// bad is their number; the error is one of reading or writing.
func pipeline(lines *lineReader, out io.Writer, o *options, e *conformance.Environment, report func(problem string)) (bad int, err error) {
	cores := runtime.GOMAXPROCS(0)
	todo := make(chan *job, cores*linesInFlight)
	order := make(chan *job, cores*linesInFlight)
	bytes := newBudget(bytesInFlight)
	stop := make(chan struct{}) // writing failed

	var readError error
	var reader, workers sync.WaitGroup
	reader.Go(func() {
		defer close(todo)
		defer close(order)
		for {
			line, number, err := lines.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					readError = err
				}
				return
			}
			bytes.take(len(line))
			j := &job{line: line, number: number, done: make(chan struct{})}
			select {
			case order <- j:
				todo <- j
			case <-stop:
				return
			}
		}
	})
	sorter := &sorter{options: o, environment: e}
	for range cores {
		workers.Go(func() {
			for j := range todo {
				sorter.sort(j)
				close(j.done)
			}
		})
	}

	w := bufio.NewWriterSize(out, 1<<16)
	var writeError error
	for j := range order {
		<-j.done
		bytes.give(len(j.line))
		if writeError != nil {
			continue
		}
		if j.bad != nil {
			bad++
			report(fmt.Sprintf("line %d: %v", j.number, j.bad))
		}
		if _, writeError = w.Write(j.result); writeError == nil && len(order) == 0 {
			writeError = w.Flush()
		}
		if writeError != nil {
			close(stop)
		}
	}
	reader.Wait()
	workers.Wait()
	if writeError == nil {
		writeError = w.Flush()
	}
	return bad, errors.Join(readError, writeError)
}

// sorter turns lines into results. Any number of goroutines may use it at once.
type sorter struct {
	options     *options
	environment *conformance.Environment
}

func (s *sorter) sort(j *job) {
	id, result, err := s.result(j.line)
	if err == nil {
		j.result, err = conformance.Encode(result)
	}
	if err != nil {
		j.bad = err
		j.result, err = conformance.Encode(conformance.Failure{ID: id, Error: fmt.Sprintf("line %d: %v", j.number, err)})
		if err != nil {
			panic("cli: " + err.Error()) // an id that has been read, and a text
		}
	}
	j.result = append(j.result, '\n')
}

func (s *sorter) result(data []byte) (id jsontext.Value, r *conformance.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("this is a mistake in parlance, please report it with the line: %v", cause)
		}
	}()
	var line conformance.Line
	if err := conformance.Decode(data, &line); err != nil {
		return lineID(data), nil, err
	}
	id = compactID(line.ID)
	prepared, err := line.Prepare(s.environment)
	if err != nil {
		return id, nil, err
	}
	s.options.apply(&prepared.Request)
	return id, prepared.Result(id, line.Stream, line.Chunk), nil
}

// budget bounds what is in use.
type budget struct {
	mutex sync.Mutex
	freed sync.Cond
	left  int
}

func newBudget(size int) *budget {
	b := &budget{left: size}
	b.freed.L = &b.mutex
	return b
}

// take waits until something is left, and may take more than that.
func (b *budget) take(n int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for b.left <= 0 {
		b.freed.Wait()
	}
	b.left -= n
}

func (b *budget) give(n int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.left += n
	b.freed.Signal()
}
