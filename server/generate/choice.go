package generate

import (
	"errors"
	"io"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/internal/stops"
)

// choice is one choice while it is made.
type choice struct {
	generation *Generation
	number     int
	sorter     *sorter
	stops      *stops.Matcher // nil: the engine looks for the stop strings
	counter    counter
	guard      Guard           // nil: nothing is guarded
	written    strings.Builder // what the log is told
}

// generate passes on what the engine writes.
func (c *choice) generate(request *engine.Request) error {
	g := c.generation
	stream, err := g.generator.Engine.Generate(g.ctx, request)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		piece, err := next(stream)
		if err != nil {
			return err
		}
		step := c.take(piece)
		if !g.send(result{step: step}) || step.Finish != nil {
			return nil
		}
	}
}

// next reads the next piece of a stream that is not over. Most engines count the tokens in an event of its own, behind the
// one that says why the answer ended; the last piece has both.
func next(stream engine.Stream) (engine.Piece, error) {
	piece, err := stream.Next()
	if errors.Is(err, io.EOF) {
		return piece, errBroken()
	}
	if err != nil || piece.Finish == "" || piece.Usage != nil {
		return piece, err
	}
	if behind, err := stream.Next(); err == nil { // else the answer has ended all the same
		piece.Usage = behind.Usage
	}
	return piece, nil
}

// take makes a step of a piece.
func (c *choice) take(p engine.Piece) Step {
	g := c.generation
	step := Step{Choice: c.number}
	if g.request.Logprobs {
		step.Logprobs = p.Logprobs
	}
	if g.request.TokenIDs {
		step.TokenIDs, step.PromptTokenIDs = p.Tokens, p.PromptTokens
	}
	finish := Finish{Reason: p.Finish, StopString: p.StopString, StopToken: p.StopToken}
	text := p.Text
	if c.stops != nil {
		var met string
		switch text, met = c.stops.Write(text); {
		case met != "":
			finish = Finish{Reason: engine.FinishStop, StopString: met}
			if g.request.IncludeStop {
				text += met
			}
		case p.Finish != "":
			text += c.stops.Flush()
		}
	}
	c.watch(text, finish)
	if g.generator.LogOutputs {
		if c.written.WriteString(text); finish.Reason != "" {
			g.generator.logger(g.request).Info("written", "choice", c.number, "text", c.written.String(), "finish_reason", finish.Reason)
		}
	}
	if c.sorter.aligner != nil {
		step.Deltas = c.sorter.writeTokens(text, p.Tokens)
	} else {
		step.Deltas = c.sorter.write(text)
	}
	if finish.Reason != "" {
		step.Deltas = append(step.Deltas, c.sorter.finish(&finish)...)
		step.Finish = &finish
	}
	c.counter.add(p)
	step.Usage = c.counter.usage(c.sorter)
	if step.Finish != nil {
		g.observe(func(o Observer) { o.Finished(g.request, finish, step.Usage) })
	}
	if g.request.Stream && len(step.Deltas) > 0 && g.reads() {
		g.observe(func(o Observer) { o.Invoked(g.request, hasCall(step.Deltas)) })
	}
	return step
}

// watch tells the guard of more text. It is silent after its first word.
func (c *choice) watch(text string, finish Finish) {
	if c.guard == nil {
		return
	}
	heeded := c.guard.Write(text)
	if finish.Reason == engine.FinishStop && finish.StopString == "" {
		heeded = heeded && c.guard.Whole()
	}
	if !heeded {
		c.generation.flag("constraint")
		c.guard = nil
	}
}

func hasCall(deltas []Delta) bool {
	for _, d := range deltas {
		if d.Kind == parlance.ToolCall || d.Kind == parlance.Arguments {
			return true
		}
	}
	return false
}
