package generate

import (
	"io"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/internal/stops"
	"github.com/parlance-llm/parlance/server/apierror"
)

// think has the model finish the thought that is open at the end of the prompt, without the constraint, in a request of
// its own; for engines whose constraints hold from the first token and have no room for a thought. It gives the request for
// the rest, with the thought at the end of its prompt, or nil if the answer ended in the thought.
func (c *choice) think(request *engine.Request) (*engine.Request, error) {
	closers := c.generation.request.Model.thoughtClosers()
	if len(closers) == 0 || request.Conversation != nil {
		return nil, apierror.Invalidf("tool_choice", "the engine cannot hold the model to this behind a thought: switch the thinking off for it")
	}
	set, err := stops.Compile(closers)
	if err != nil {
		return nil, apierror.Invalidf("", "%v", err)
	}
	free := *request
	free.Constraint = nil
	stream, err := c.generation.generator.Engine.Generate(c.generation.ctx, &free)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	matcher := set.Matcher()
	var thought strings.Builder
	for {
		piece, err := next(stream)
		if err != nil {
			return nil, err
		}
		text, closer := matcher.Write(piece.Text)
		piece.Text = text + closer
		switch {
		case closer != "":
			piece.Finish, piece.StopString, piece.StopToken = "", "", nil
		case piece.Finish != "":
			piece.Text += matcher.Flush()
		}
		thought.WriteString(piece.Text)
		step := c.take(piece)
		if !c.generation.send(result{step: step}) || step.Finish != nil {
			return nil, nil
		}
		if closer != "" {
			return c.afterThought(request, thought.String()), nil
		}
	}
}

// afterThought is the request for what follows a thought.
func (c *choice) afterThought(request *engine.Request, thought string) *engine.Request {
	used := c.counter.thought(thought)
	rest := *request
	rest.Prompt = engine.Prompt{Text: request.Prompt.Text + thought}
	if rest.MaxTokens > 0 {
		rest.MaxTokens = max(1, rest.MaxTokens-used)
	}
	return &rest
}

// thoughtClosers are the markers that end a thought.
func (m *Model) thoughtClosers() (closers []string) {
	format, ok := m.Parser.ReasoningFormat()
	if !ok {
		return nil
	}
	for _, marker := range format.ThoughtMarkers {
		if !slices.Contains(format.ThoughtOpeners, marker) && strings.TrimSpace(marker) != "" {
			closers = append(closers, marker)
		}
	}
	return closers
}

func errBroken() error {
	return &apierror.Error{Kind: apierror.BadGateway, Message: "The engine's answer broke off", Cause: io.ErrUnexpectedEOF}
}
