package generate

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
)

// broken is an engine that panics, or whose streams do.
type broken struct {
	engine.Engine
	inStream bool
}

func (b broken) Capabilities() engine.Capabilities { return engine.Capabilities{} }
func (b broken) Name() string                      { return "broken" }

func (b broken) Generate(context.Context, *engine.Request) (engine.Stream, error) {
	if !b.inStream {
		panic("an index out of range")
	}
	return &brokenStream{}, nil
}

type brokenStream struct{ began bool }

func (s *brokenStream) Next() (engine.Piece, error) {
	if s.began {
		panic("an index out of range")
	}
	s.began = true
	return engine.Piece{Text: "first"}, nil
}

func (s *brokenStream) Close() error { return nil }

// anything renders any conversation, and constrains none.
type anything struct{}

func (anything) Render(context.Context, *Request) (engine.Prompt, *engine.Conversation, error) {
	return engine.Prompt{Text: "Hi"}, nil, nil
}

func (anything) Constrain(*Request, parlance.Request, engine.Capabilities) (Constraint, error) {
	return Constraint{}, nil
}

// TestPanicEndsOneAnswer: what breaks over one answer is an error of that answer, and takes nothing else with it.
func TestPanicEndsOneAnswer(t *testing.T) {
	for _, inStream := range []bool{false, true} {
		g := &Generator{Engine: broken{inStream: inStream}, Renderer: anything{}, Constrainer: anything{}}
		r := &Request{N: 3, Messages: []jsontext.Value{}, ToolChoice: ToolChoice{Mode: ToolChoiceNone}, IncludeReasoning: true}
		generation, err := g.Start(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = generation.Answers()
		generation.Close()
		var e *apierror.Error
		if !errors.As(err, &e) || e.Kind != apierror.Internal || strings.Contains(e.Message, "index") || !strings.Contains(e.Log(), "an index out of range") {
			t.Errorf("in the stream %v: expected an internal error that the log can tell, found %v", inStream, err)
		}
	}
}
