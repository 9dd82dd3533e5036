package generate

import (
	"context"

	"github.com/parlance-llm/parlance/server/apierror"
)

// CountPrompt counts the tokens of a request's prompt, by the engine's tokenizer. Without one the error is NotImplemented.
func (g *Generator) CountPrompt(ctx context.Context, r *Request) (int, error) {
	can := g.Engine.Capabilities()
	if !can.Tokenizer {
		return 0, apierror.New(apierror.NotImplemented, "", "the engine %s has no tokenizer, so the tokens of a prompt cannot be counted", g.Engine.Name())
	}
	prompt, conversation, err := g.Renderer.Render(ctx, r)
	if err != nil {
		return 0, FromEngine(err)
	}
	if conversation != nil {
		return 0, apierror.New(apierror.NotImplemented, "", "the engine %s renders the prompt itself, so its tokens cannot be counted", g.Engine.Name())
	}
	if len(prompt.Tokens) > 0 {
		return len(prompt.Tokens), nil
	}
	tokens, err := g.Engine.Tokenize(ctx, r.Model.Upstream, prompt.Text, false)
	if err != nil {
		return 0, FromEngine(err)
	}
	return len(tokens), nil
}
