package server_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestManyStreams(t *testing.T) {
	streams := 1000
	if testing.Short() {
		streams = 100
	}
	call := strings.Split(strings.ReplaceAll(goodCall, "|", ""), " ")
	pieces := []any{"<think>", "The", " user", " asks", "</think>"}
	for i, piece := range call {
		if i > 0 {
			piece = " " + piece
		}
		pieces = append(pieces, map[string]any{"text": piece, "wait_ms": 300})
	}
	url := serve(t, "--replay", recorded(t, map[string]any{"pieces": pieces}), "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3", "--enable-auto-tool-choice")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	spent := processorTime(t)
	wrong := make(chan string, streams)
	var wait, opened sync.WaitGroup
	opened.Add(streams)
	var chunks atomic.Int64
	for range streams {
		wait.Go(func() {
			response, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(hi+`,"stream":true,`+tools+`}`))
			opened.Done()
			if err != nil {
				wrong <- err.Error()
				return
			}
			defer response.Body.Close()
			data, err := io.ReadAll(response.Body)
			if err != nil {
				wrong <- err.Error()
				return
			}
			found := events(t, data)
			chunks.Add(int64(len(found)))
			if one := accumulate(t, found); len(one.Calls) != 1 || one.Calls[0] != parisCall || one.Reasoning != "The user asks" {
				wrong <- string(data)
			}
		})
	}
	opened.Wait()
	runtime.ReadMemStats(&during)
	wait.Wait()
	spent = processorTime(t) - spent
	held := during.HeapInuse + during.StackInuse - before.HeapInuse - before.StackInuse
	t.Logf("%d streams at once: %d KiB a stream; %d chunks, %.1f µs of the processor a chunk", streams, held>>10/uint64(streams), chunks.Load(), float64(spent.Microseconds())/float64(max(chunks.Load(), 1)))
	select {
	case text := <-wrong:
		t.Errorf("%d answers are wrong, one of them: %.500s", len(wrong)+1, text)
	default:
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
