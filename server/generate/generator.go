package generate

import (
	"context"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
)

// Generator answers requests. Its fields are set once; any number of goroutines may then use it.
type Generator struct {
	Engine engine.Engine
	// Renderer makes prompts of conversations.
	Renderer Renderer
	// Constrainer holds the model to forced calls, strict tools and response formats.
	Constrainer Constrainer
	// Detector raises the alarms; nil is that of the built-in formats.
	Detector *detect.Detector
	// Options are the parser's: what the library leaves to its user.
	Exact, Validated, KnownToolsOnly bool
	// Observer hears what happens; nil is nobody.
	Observer Observer
	// Tracer makes a span of every generation; nil is none.
	Tracer Tracer
	Logger *slog.Logger
	// LogRequests logs what requests say, LogOutputs what models write.
	LogRequests, LogOutputs bool
}

// Renderer makes the prompt of a request. For an engine that takes only conversations it gives the conversation.
type Renderer interface {
	Render(ctx context.Context, r *Request) (engine.Prompt, *engine.Conversation, error)
}

// Constrainer makes the constraint of a request, whose answer is read as reading says.
type Constrainer interface {
	Constrain(r *Request, reading parlance.Request, can engine.Capabilities) (Constraint, error)
}

// Constraint is what the engine holds the model to.
type Constraint struct {
	// Engine is sent to the engine; nil leaves the model free.
	Engine *engine.Constraint
	// Notes tell where it is wider than what was asked for.
	Notes []string
	// ThinkFirst: the constraint holds from the first token, and a thought is open. The thought is generated in a request
	// of its own.
	ThinkFirst bool
	// Guard reads an answer and tells whether the engine heeded the constraint; nil where nothing can be told.
	Guard func() Guard
}

// Guard reads one answer.
type Guard interface {
	// Write tells whether the answer can still satisfy the constraint.
	Write(text string) bool
	// Whole tells whether it does.
	Whole() bool
}

// Tracer makes spans.
type Tracer interface {
	// Generation begins the span of a generation and gives what ends it: with the choices that ended, the tokens, and the
	// error, if there was one.
	Generation(ctx context.Context, r *Request) (context.Context, func([]Finish, Usage, error))
}

// Observer hears what happens, for metrics and logs. Its methods are called by many goroutines.
type Observer interface {
	// Invoked: the parser of tool calls has been asked, of a whole choice or of one step of a stream.
	Invoked(r *Request, foundCall bool)
	// Flagged: the model called a function that is not declared (undeclared), or not the one that was named (not_named),
	// or it wrote what the constraint forbids (constraint).
	Flagged(r *Request, why string)
	// Widened: the constraint is wider than what was asked for.
	Widened(r *Request, notes []string)
	// Began: the first piece of the answer has come, after so long.
	Began(r *Request, after time.Duration)
	// Alarmed: the answer, or the prompt, shows that the parsers or the template are not the model's.
	Alarmed(r *Request, a detect.Alarm)
	// Finished: a choice is over.
	Finished(r *Request, f Finish, u Usage)
	// Failed: so many choices did not come to their end: something went wrong, or the client left (apierror.Gone).
	Failed(r *Request, choices int, why *apierror.Error)
}

func (g *Generator) detector() *detect.Detector {
	if g.Detector == nil {
		return detect.For(parlance.Default())
	}
	return g.Detector
}

// check tells what is wrong with a request that the interfaces share: whether the server was started with what its tool
// choice needs.
func (g *Generator) check(r *Request) error {
	hasParser := r.Model.ReadsCalls()
	switch choice := r.ToolChoice; {
	case choice.Mode == ToolChoiceAuto && (!hasParser || !r.Model.AutoToolChoice):
		var missing []string
		if !r.Model.AutoToolChoice {
			missing = append(missing, "--enable-auto-tool-choice")
		}
		if !hasParser {
			missing = append(missing, "--tool-call-parser")
		}
		return apierror.Invalidf("tool_choice", `"auto" tool choice requires %s to be set`, strings.Join(missing, " and "))
	case choice.Mode == ToolChoiceRequired && !hasParser:
		return apierror.Invalidf("tool_choice", `tool_choice="required" requires --tool-call-parser to be set`)
	case choice.Mode == ToolChoiceFunction && !hasParser:
		return apierror.Invalidf("tool_choice", `tool_choice=function %q requires --tool-call-parser to be set`, choice.Name)
	}
	return nil
}

// Start checks a request, renders it and sends it to the engine. The Generation must be closed.
func (g *Generator) Start(ctx context.Context, r *Request) (generation *Generation, err error) {
	end := func([]Finish, Usage, error) {}
	if g.Tracer != nil {
		ctx, end = g.Tracer.Generation(ctx, r)
	}
	if generation, err = g.start(ctx, r); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		end(nil, Usage{}, err)
		return nil, err
	}
	generation.end = end
	return generation, nil
}

// logger is the log with the request's id.
func (g *Generator) logger(r *Request) *slog.Logger {
	if g.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return g.Logger.With("request_id", r.ID, "model", r.Model.Name)
}

func (g *Generator) start(ctx context.Context, r *Request) (*Generation, error) {
	if err := g.check(r); err != nil {
		return nil, err
	}
	var conversation *engine.Conversation
	prompt, err := r.Prompt, error(nil)
	if prompt == nil {
		var rendered engine.Prompt
		rendered, conversation, err = g.Renderer.Render(ctx, r)
		prompt = &rendered
	}
	if err != nil {
		return nil, FromEngine(err)
	}
	reading, err := g.reading(r, *prompt)
	if err != nil {
		return nil, err
	}
	request := g.engineRequest(r, *prompt, conversation)
	constraint, err := g.Constrainer.Constrain(r, reading, g.Engine.Capabilities())
	if err != nil {
		return nil, FromEngine(err)
	}
	request.Constraint = constraint.Engine
	if g.LogRequests {
		g.logger(r).Info("asked", "messages", len(r.Messages), "prompt", prompt.Text, "tools", len(r.Tools), "tool_choice", r.ToolChoice.Mode,
			"max_tokens", r.MaxTokens, "n", r.N, "stream", r.Stream, "constrained", constraint.Engine != nil)
	}
	generation := newGeneration(ctx, g, r, reading, request)
	generation.constraint = constraint
	if generation.notes = constraint.Notes; len(constraint.Notes) > 0 {
		generation.observe(func(o Observer) { o.Widened(r, constraint.Notes) })
	}
	if alarm, shown := detect.ToolsShown(prompt.Text, r.shownTools()); !shown {
		generation.alarm(alarm)
	}
	generation.run()
	return generation, nil
}

// shownTools are the names of the tools that the prompt should show.
func (r *Request) shownTools() (names []string) {
	for _, tool := range r.Tools {
		if tool.DeferLoading == nil || !*tool.DeferLoading {
			names = append(names, tool.Name)
		}
	}
	return names
}

// callable are the names of the tools that the model may call.
func (r *Request) callable() (names []string) {
	if r.ToolChoice.Mode == ToolChoiceNone {
		return nil
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// reading is what the parser is told of a request.
func (g *Generator) reading(r *Request, prompt engine.Prompt) (parlance.Request, error) {
	reading := parlance.Request{
		ToolChoice: parlance.ToolChoice{Mode: r.ToolChoice.Mode, Name: r.ToolChoice.Name},
		Prompt:     prompt.Text, ChatTemplateKwargs: r.Template.Kwargs,
		// A whole answer keeps a malformed call as text (ruling 34).
		Exact: g.Exact, Validated: g.Validated || !r.Stream, KnownToolsOnly: g.KnownToolsOnly,
	}
	if len(r.Tools) == 0 {
		return reading, nil
	}
	data, err := json.Marshal(r.Tools, lenient)
	if err == nil {
		reading.Tools, err = parlance.ParseTools(data)
	}
	var tool *parlance.ToolError
	if errors.As(err, &tool) {
		return reading, apierror.Invalidf("tools", "%v", tool)
	}
	if err != nil {
		return reading, apierror.Invalidf("tools", "%v", err)
	}
	return reading, nil
}

// engineRequest is a request as the engine takes it.
func (g *Generator) engineRequest(r *Request, prompt engine.Prompt, conversation *engine.Conversation) *engine.Request {
	can := g.Engine.Capabilities()
	e := &engine.Request{
		ID: r.ID, Model: r.Model.Upstream, Prompt: prompt, Conversation: conversation, Sampling: r.Sampling, MaxTokens: r.MaxTokens,
		StopTokens: r.StopTokens, IncludeStop: r.IncludeStop, Logprobs: r.Logprobs, TopLogprobs: r.TopLogprobs,
		TokenIDs: r.TokenIDs, PromptTokenIDs: r.TokenIDs, ThinkingBudget: r.ThinkingBudget,
		SpacesBetweenSpecialTokens: r.SpacesBetween, ContinuousUsage: r.CountSteps,
	}
	if g.Engine.Name() == "vllm" {
		e.Extra = r.EngineParameter
	}
	if e.TopLogprobs < 0 { // all there are
		e.TopLogprobs = can.MaxTopLogprobs
	}
	if (can.StopStrings == 0 || len(r.Stop) <= can.StopStrings) && (can.IncludeStop || !r.IncludeStop) {
		e.Stop = r.Stop
	} else { // they are looked for here
		e.IncludeStop, e.ContinuousUsage = false, true // the engine's last count may not come
	}
	if r.Model.Parser == nil {
		e.SkipSpecialTokens = r.SkipSpecial == nil || *r.SkipSpecial
		return e
	}
	e.TokenIDs = e.TokenIDs || r.Model.bound() && can.TokenIDs
	// The parser needs the markers, whatever the request says of special tokens (W44).
	for _, format := range r.Model.Formats() {
		e.PreservedTokens = append(e.PreservedTokens, format.Tokens...)
		if format.SpacesBetweenSpecialTokens != nil {
			e.SpacesBetweenSpecialTokens = format.SpacesBetweenSpecialTokens
		}
	}
	return e
}

// Conversation is the conversation of a request as an engine takes it.
func (r *Request) Conversation() (*engine.Conversation, error) {
	c := &engine.Conversation{
		Model: r.Model.Upstream, ChatTemplateKwargs: r.Template.Kwargs, ReasoningEffort: r.Template.ReasoningEffort, Template: r.Template.Source,
		NoGenerationPrompt: r.Template.NoGenerationPrompt, ContinueFinalMessage: r.Template.ContinueFinalMessage,
	}
	var err error
	if c.Messages, err = json.Marshal(r.Messages, lenient); err != nil {
		return nil, apierror.Invalidf("messages", "%v", err)
	}
	if len(r.Tools) > 0 {
		if c.Tools, err = json.Marshal(r.Tools, lenient); err != nil {
			return nil, apierror.Invalidf("tools", "%v", err)
		}
	}
	return c, nil
}
