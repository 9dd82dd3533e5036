// Package roundtrip holds the promise that what render writes, the parser reads back: parse(render(m)) == m, whole and
// however the text is cut (design contract 7).
//
// A Trip is a renderer with what a request must say so that its format can carry calls and reasoning. Generator makes
// messages by the hundred, reproducibly; Check writes one, reads it in several ways and tells the difference.
package roundtrip

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/render"
	"github.com/parlance-llm/parlance/vocabulary"
)

// Trip is a renderer, the name of its format, and the chat-template arguments under which it can write reasoning.
type Trip struct {
	Format   string
	Renderer *render.Renderer
	Kwargs   map[string]any
	// Calls and Thoughts tell which halves are chosen.
	Calls, Thoughts bool
}

// Trips are all formats, each under the first names of its halves, by their names.
func Trips() (trips []Trip, err error) {
	for _, f := range parlance.Formats() {
		if f.ResponseTemplate { // its grammar comes with a checkpoint
			continue
		}
		t, err := NewTrip(f.Name, first(f.ToolNames), first(f.ReasoningNames))
		if err != nil {
			return nil, err
		}
		trips = append(trips, t)
	}
	return trips, nil
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// NewTrip makes the trip for a format and the parser names that lead to it, either of which may be "".
func NewTrip(format, tool, reasoning string) (Trip, error) {
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		return Trip{}, err
	}
	if named, _, _ := p.Definitions(); named != nil && named.Format != format {
		// A dialect, which only a model's vocabulary chooses.
		info, _ := parlance.Format(format)
		added := map[string]int{}
		for id, token := range info.Tokens {
			added[token] = id
		}
		if p, err = p.Bind(vocabulary.New(format, added)); err != nil {
			return Trip{}, err
		}
	}
	t := Trip{Format: format, Renderer: render.New(p), Calls: tool != "", Thoughts: reasoning != ""}
	if !t.Thoughts {
		return t, nil
	}
	info, _ := parlance.Format(format)
	if thinking, ok := info.Thinking[reasoning]; ok && !thinking.OnByDefault {
		t.Kwargs = map[string]any{}
		for name, values := range thinking.EnabledBy {
			t.Kwargs[name] = values[0]
		}
	}
	return t, nil
}

// Request is the request that a message of the trip answers.
func (t *Trip) Request(tools *parlance.Tools) parlance.Request {
	return parlance.Request{Tools: tools, ChatTemplateKwargs: t.Kwargs}
}

// Check writes a message and reads it back, whole and in random splits. The exception is what the format cannot carry,
// if it cannot; the error is a difference.
func (t *Trip) Check(m *parlance.Message, tools *parlance.Tools, splits int, random *rand.Rand) (exception *render.Error, err error) {
	request := t.Request(tools)
	text, err := t.Renderer.Render(m, render.Options{Request: request})
	if errors.As(err, &exception) {
		return exception, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, t.read(m, text, request, splits, random)
}

// read reads a text whole and in random splits, and compares with the message that it stands for.
func (t *Trip) read(m *parlance.Message, text string, request parlance.Request, splits int, random *rand.Rand) error {
	parser := t.Renderer.Parser()
	if difference := t.Difference(m, parser.Parse(text, request, parlance.FinishStop)); difference != "" {
		return fmt.Errorf("%s: whole: %s\n  text %q", t.Format, difference, text)
	}
	for range splits {
		most := 1 + random.IntN(12)
		got := Stream(parser, request, text, parlance.FinishStop, func() int { return 1 + random.IntN(most) })
		if difference := t.Difference(m, got); difference != "" {
			return fmt.Errorf("%s: in random splits: %s\n  text %q", t.Format, difference, text)
		}
	}
	return nil
}

// Stream reads a text in pieces of the sizes, in bytes, that size gives.
func Stream(p *parlance.Parser, r parlance.Request, text string, reason parlance.FinishReason, size func() int) *parlance.Message {
	s := p.Stream(r)
	var c parlance.Collector
	for len(text) > 0 {
		n := min(size(), len(text))
		c.Add(s.WriteString(text[:n]))
		text = text[n:]
	}
	c.Add(s.Close(reason))
	return c.Message()
}

// Difference tells where a message that was read differs from the one that was written, or "".
func (t *Trip) Difference(want, got *parlance.Message) string {
	reasoning, content := t.Renderer.Expected(want)
	switch {
	case strings.TrimSpace(got.Reasoning) != reasoning:
		return fmt.Sprintf("expected the reasoning %q, found %q", reasoning, got.Reasoning)
	case strings.TrimSpace(got.Content) != content:
		return fmt.Sprintf("expected the content %q, found %q", content, got.Content)
	case len(got.Calls) != len(want.Calls):
		return fmt.Sprintf("expected %d calls, found %d", len(want.Calls), len(got.Calls))
	}
	for k, call := range want.Calls {
		found := got.Calls[k]
		arguments := call.Arguments
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		switch {
		case found.Name != call.Name:
			return fmt.Sprintf("call %d: expected the name %q, found %q", k, call.Name, found.Name)
		case found.Malformed || found.Cut:
			return fmt.Sprintf("call %d: expected a good call, found one that is malformed or cut: %s", k, found.Arguments)
		case !conformance.SameJSON(found.Arguments, arguments):
			return fmt.Sprintf("call %d: expected the arguments %s, found %s", k, arguments, found.Arguments)
		}
	}
	return ""
}
