package conformance

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
)

// Library is the implementation of this module. It runs trials on all cores.
type Library struct {
	// Environment is what the cases share; nil is an empty one.
	Environment *Environment
}

// Cuts is true.
func (Library) Cuts() bool { return true }

// Run implements Implementation.
func (l Library) Run(trials iter.Seq[*Trial], done func(*Trial)) {
	environment := l.Environment
	if environment == nil {
		environment = &Environment{}
	}
	queue := make(chan *Trial)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for t := range queue {
				runTrial(t, environment)
				done(t)
			}
		})
	}
	for t := range trials {
		queue <- t
	}
	close(queue)
	workers.Wait()
}

func runTrial(t *Trial, environment *Environment) {
	prepared, err := t.Case.Prepare(environment)
	for _, k := range t.Chunkings {
		if err != nil {
			t.Answer(k, nil, err)
			continue
		}
		r, err := sortSafely(&prepared, k)
		t.Answer(k, r, err)
	}
}

// sortSafely makes a panic an error, since no text may cause one and the other cases go on.
func sortSafely(prepared *Prepared, k Chunking) (r *Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return prepared.Result(nil, k.Stream, k.Chunk), nil
}
