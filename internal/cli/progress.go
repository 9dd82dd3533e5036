package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress begins a bar of bytes; total is -1 if it is not known.
func newProgress(complaints io.Writer, what string, total int64) *progress {
	return startProgress(complaints, what, total, progressbar.OptionShowBytes(true))
}

// newCounter begins a bar of things.
func newCounter(complaints io.Writer, what string, total int) *progress {
	return startProgress(complaints, what, int64(total), progressbar.OptionShowCount(), progressbar.OptionShowIts())
}

func startProgress(complaints io.Writer, what string, total int64, more ...progressbar.Option) *progress {
	if !isTerminal(complaints) {
		return &progress{}
	}
	options := append([]progressbar.Option{
		progressbar.OptionSetWriter(complaints), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(total >= 0),
	}, more...)
	return &progress{progressbar.NewOptions64(total, options...)}
}

func (p *progress) add(n int) {
	if p.bar != nil {
		p.bar.Add(n) //nolint:errcheck // a bar that cannot be drawn is no reason to stop
	}
}

// clear takes the bar away so that a message can stand in its place; it comes back by itself.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear() //nolint:errcheck
	}
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish() //nolint:errcheck
	}
}
