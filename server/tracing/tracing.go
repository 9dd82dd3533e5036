// Package tracing tells OpenTelemetry what becomes of requests: a span for the HTTP request, and in it one for the
// generation, under the names of the conventions for generative AI. Text of prompts and answers never goes there.
package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// Tracer makes spans. It implements generate.Tracer.
type Tracer struct {
	provider   *sdk.TracerProvider // nil: nobody listens
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	system     string
}

// New makes a tracer that sends spans to a collector, by OTLP over HTTP; with "" as the URL it sends none. system is the
// name of the engine. Nothing is sent yet: a collector that is not there costs spans, never requests.
func New(url, system string) (*Tracer, error) {
	t := &Tracer{tracer: noop.NewTracerProvider().Tracer(""), propagator: propagation.TraceContext{}, system: system}
	if url == "" {
		return t, nil
	}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(url))
	if err != nil {
		return nil, err
	}
	t.provider = sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "parlance"))))
	t.tracer = t.provider.Tracer("github.com/parlance-llm/parlance/server")
	return t, nil
}

// Close sends what is left.
func (t *Tracer) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Request begins the span of an HTTP request, in the trace that its headers name. The caller ends it with the status.
func (t *Tracer) Request(r *http.Request, route string) (ctx context.Context, end func(status int)) {
	ctx = t.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.route", route), attribute.String("url.path", r.URL.Path)))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Generation implements generate.Tracer.
func (t *Tracer) Generation(ctx context.Context, r *generate.Request) (context.Context, func([]generate.Finish, generate.Usage, error)) {
	operation := "chat"
	if r.Interface == "completions" {
		operation = "text_completion"
	}
	attributes := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", operation), attribute.String("gen_ai.provider.name", t.system),
		attribute.String("gen_ai.request.model", r.Model.Name), attribute.Int("gen_ai.request.choice.count", r.N),
		attribute.String("parlance.request.id", r.ID), attribute.Bool("parlance.request.stream", r.Stream),
		attribute.String("parlance.request.tool_choice", r.ToolChoice.Mode), attribute.Int("parlance.request.tools", len(r.Tools)),
	}
	if r.MaxTokens > 0 {
		attributes = append(attributes, attribute.Int("gen_ai.request.max_tokens", r.MaxTokens))
	}
	for name, value := range map[string]*float64{
		"gen_ai.request.temperature": r.Sampling.Temperature, "gen_ai.request.top_p": r.Sampling.TopP,
		"gen_ai.request.presence_penalty": r.Sampling.PresencePenalty, "gen_ai.request.frequency_penalty": r.Sampling.FrequencyPenalty,
	} {
		if value != nil {
			attributes = append(attributes, attribute.Float64(name, *value))
		}
	}
	if r.Sampling.Seed != nil {
		attributes = append(attributes, attribute.Int64("gen_ai.request.seed", *r.Sampling.Seed))
	}
	if r.Model.Parser != nil {
		attributes = append(attributes, attribute.String("parlance.tool_call_parser", r.Model.Parser.ToolName()), attribute.String("parlance.reasoning_parser", r.Model.Parser.ReasoningName()))
	}
	ctx, span := t.tracer.Start(ctx, operation+" "+r.Model.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, func(finishes []generate.Finish, u generate.Usage, err error) {
		reasons, calls := []string{}, 0
		for _, f := range finishes {
			reasons, calls = append(reasons, string(f.Reason)), calls+f.Calls
		}
		span.SetAttributes(
			attribute.StringSlice("gen_ai.response.finish_reasons", reasons), attribute.Int("gen_ai.usage.input_tokens", u.Prompt),
			attribute.Int("gen_ai.usage.output_tokens", u.Completion), attribute.Int("parlance.usage.reasoning_tokens", u.Reasoning),
			attribute.Int("parlance.response.tool_calls", calls))
		if err != nil {
			span.SetAttributes(attribute.String("error.type", apierror.From(err).Type()))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
