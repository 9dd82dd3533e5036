// Package metrics counts what the server does, for Prometheus. The counters that vLLM has keep their names and labels;
// what is ours begins with parlance_.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// Recorder counts. It implements generate.Observer.
type Recorder struct {
	registry                                            *prometheus.Registry
	invocations, success, flagged, constraints, answers *prometheus.CounterVec
	tokens, alarms                                      *prometheus.CounterVec
	seconds, first                                      *prometheus.HistogramVec
	running                                             prometheus.Gauge
}

// New makes a recorder. With stats off it keeps nothing but what the process itself tells.
func New(stats bool) *Recorder {
	r := &Recorder{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	r.invocations = counter("vllm:tool_call_parser_invocations_total", "How often the parser of tool calls was asked, and whether there was a call.", "model_name", "mode", "outcome", "request_type")
	r.success = counter("vllm:request_success_total", "Choices that ended, by their reason.", "model_name", "finished_reason")
	r.tokens = counter("vllm:generation_tokens_total", "Tokens that were generated.", "model_name")
	r.flagged = counter("parlance_unexpected_output_total", "What models wrote that they should not have: calls of functions that are not declared, or not the one that was named, or what the constraint forbids.", "model_name", "reason")
	r.alarms = counter("parlance_mismatch_total", "Answers that show that the parsers or the chat template are not the model's: what is wrong, and the likely format.", "model_name", "alarm", "format")
	r.constraints = counter("parlance_constraint_notes_total", "Constraints that are wider than what was asked for.", "model_name")
	r.answers = counter("parlance_http_requests_total", "HTTP requests that were answered.", "route", "status")
	r.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "parlance_http_request_seconds", Help: "How long requests took.", Buckets: prometheus.ExponentialBuckets(.005, 2.5, 12)}, []string{"route"})
	r.first = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "vllm:time_to_first_token_seconds", Help: "How long the first piece of an answer took.", Buckets: prometheus.ExponentialBuckets(.001, 2.5, 14)}, []string{"model_name"})
	r.running = prometheus.NewGauge(prometheus.GaugeOpts{Name: "vllm:num_requests_running", Help: "Requests that are being answered."})
	r.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if stats {
		r.registry.MustRegister(r.invocations, r.success, r.tokens, r.flagged, r.alarms, r.constraints, r.answers, r.seconds, r.first, r.running)
	}
	return r
}

// Prepare creates the counters of a model at 0, in all combinations of their labels, as vLLM does.
func (r *Recorder) Prepare(model string) {
	for _, mode := range []string{"streaming", "non_streaming"} {
		for _, outcome := range []string{"tool_call", "no_tool_call"} {
			for _, kind := range []string{"chat_completions", "responses", "other"} {
				r.invocations.WithLabelValues(model, mode, outcome, kind)
			}
		}
	}
}

// Handler serves the counters.
func (r *Recorder) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{})
}

// Register adds a counter of another package.
func (r *Recorder) Register(c prometheus.Collector) { r.registry.MustRegister(c) }

// Invoked implements generate.Observer.
func (r *Recorder) Invoked(q *generate.Request, foundCall bool) {
	mode, outcome, kind := "non_streaming", "no_tool_call", q.Interface
	if q.Stream {
		mode = "streaming"
	}
	if foundCall {
		outcome = "tool_call"
	}
	if kind != "chat_completions" && kind != "responses" {
		kind = "other"
	}
	r.invocations.WithLabelValues(q.Model.Name, mode, outcome, kind).Inc()
}

// Flagged implements generate.Observer.
func (r *Recorder) Flagged(q *generate.Request, why string) {
	r.flagged.WithLabelValues(q.Model.Name, why).Inc()
}

// Alarmed implements generate.Observer.
func (r *Recorder) Alarmed(q *generate.Request, a detect.Alarm) {
	r.alarms.WithLabelValues(q.Model.Name, string(a.Kind), a.Format).Inc()
}

// Began implements generate.Observer.
func (r *Recorder) Began(q *generate.Request, after time.Duration) {
	r.first.WithLabelValues(q.Model.Name).Observe(after.Seconds())
}

// Widened implements generate.Observer.
func (r *Recorder) Widened(q *generate.Request, notes []string) {
	r.constraints.WithLabelValues(q.Model.Name).Add(float64(len(notes)))
}

// Finished implements generate.Observer.
func (r *Recorder) Finished(q *generate.Request, f generate.Finish, u generate.Usage) {
	r.success.WithLabelValues(q.Model.Name, string(f.Reason)).Inc()
	r.tokens.WithLabelValues(q.Model.Name).Add(float64(u.Completion))
}

// Failed implements generate.Observer.
func (r *Recorder) Failed(q *generate.Request, choices int, why *apierror.Error) {
	reason := "error"
	switch {
	case why.Kind == apierror.Gone:
		reason = "abort"
	case why.Status() < http.StatusInternalServerError:
		return // it was refused
	}
	r.success.WithLabelValues(q.Model.Name, reason).Add(float64(choices))
}

// Running counts requests that are being answered; the caller calls the function that it answers when one is over.
func (r *Recorder) Running() (over func()) {
	r.running.Inc()
	return r.running.Dec
}

// Answered counts an HTTP request.
func (r *Recorder) Answered(route string, status int, took time.Duration) {
	r.answers.WithLabelValues(route, strconv.Itoa(status)).Inc()
	r.seconds.WithLabelValues(route).Observe(took.Seconds())
}
