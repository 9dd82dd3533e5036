package responses

import (
	"context"
	"testing"
)

// TestClosing: when a server has given up to wait, no run begins any more, so that none is waited for in vain.
func TestClosing(t *testing.T) {
	h := &Handler{}
	ctx, cancel := context.WithCancelCause(t.Context())
	if !h.runs.begin(&run{id: "a", cancel: cancel}, func() { <-ctx.Done() }) {
		t.Fatal("a run does not begin")
	}
	late, stop := context.WithCancel(t.Context())
	stop()
	h.Close(late)
	if ctx.Err() == nil {
		t.Error("the run goes on")
	}
	if h.runs.begin(&run{id: "b"}, func() { t.Error("it works") }) {
		t.Error("a run begins when the server is closing")
	}
}
