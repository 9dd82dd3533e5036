package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// observers tell several observers the same.
type observers []generate.Observer

func (o observers) Invoked(r *generate.Request, foundCall bool) {
	for _, observer := range o {
		observer.Invoked(r, foundCall)
	}
}

func (o observers) Flagged(r *generate.Request, why string) {
	for _, observer := range o {
		observer.Flagged(r, why)
	}
}

func (o observers) Widened(r *generate.Request, notes []string) {
	for _, observer := range o {
		observer.Widened(r, notes)
	}
}

func (o observers) Alarmed(r *generate.Request, a detect.Alarm) {
	for _, observer := range o {
		observer.Alarmed(r, a)
	}
}

func (o observers) Began(r *generate.Request, after time.Duration) {
	for _, observer := range o {
		observer.Began(r, after)
	}
}

func (o observers) Failed(r *generate.Request, choices int, why *apierror.Error) {
	for _, observer := range o {
		observer.Failed(r, choices, why)
	}
}

func (o observers) Finished(r *generate.Request, f generate.Finish, u generate.Usage) {
	for _, observer := range o {
		observer.Finished(r, f, u)
	}
}

// logObserver writes what happens into the log, never what is said.
type logObserver struct{ logger *slog.Logger }

func (l *logObserver) line(r *generate.Request) *slog.Logger {
	tool, reasoning := "", ""
	if r.Model.Parser != nil {
		tool, reasoning = r.Model.Parser.ToolName(), r.Model.Parser.ReasoningName()
	}
	return l.logger.With("request_id", r.ID, "interface", r.Interface, "model", r.Model.Name, "tool_call_parser", tool, "reasoning_parser", reasoning)
}

func (l *logObserver) Invoked(*generate.Request, bool) {}

func (l *logObserver) Began(*generate.Request, time.Duration) {}

func (l *logObserver) Flagged(r *generate.Request, why string) {
	l.line(r).Warn("the model wrote what it should not have", "why", why)
}

func (l *logObserver) Alarmed(r *generate.Request, a detect.Alarm) {
	l.line(r).Warn("the parsers or the template are not the model's", "alarm", a.Kind, "format", a.Format, "says", a.Says)
}

func (l *logObserver) Widened(r *generate.Request, notes []string) {
	l.line(r).Warn("the constraint is wider than what was asked for", "notes", notes)
}

func (l *logObserver) Finished(r *generate.Request, f generate.Finish, u generate.Usage) {
	l.line(r).Info("answer", "finish_reason", f.Reason, "tool_calls", f.Calls, "cut", f.Cut, "prompt_tokens", u.Prompt,
		"completion_tokens", u.Completion, "reasoning_tokens", u.Reasoning, "estimated", u.Estimated)
}

func (l *logObserver) Failed(r *generate.Request, choices int, why *apierror.Error) {
	switch line := l.line(r).With("choices", choices); {
	case why.Kind == apierror.Gone:
		line.Info("the client has left")
	case why.Status() < http.StatusInternalServerError:
		line.Info("the engine refused the request", "error", why.Type())
	default:
		line.Warn("the answer broke off", "error", why.Log())
	}
}
