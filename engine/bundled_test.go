package engine

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

// The bundled recordings say what the definitions of their formats make of their messages. Layout and closers may differ:
// models do not always write the spelling that a definition prefers.
func TestBundledTextIsWhatIsRendered(t *testing.T) {
	files, err := fs.Sub(bundled, "recordings")
	if err != nil {
		t.Fatal(err)
	}
	models, err := LoadRecordings(files)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := parlance.ParseTools([]byte(weatherTool))
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range models {
		r, err := render.For(model.ToolCallParser, model.ReasoningParser)
		if err != nil {
			t.Fatal(err)
		}
		for _, recording := range model.Recordings {
			request := parlance.Request{Tools: tools, Prompt: model.Transcript.Generation}
			if recording.Match.Ends != "" {
				request.Prompt = recording.Match.Ends
			}
			m := r.Parser().Parse(recording.Text, request, parlance.FinishStop)
			text, err := r.Render(m, render.Options{Request: request})
			if err != nil {
				t.Errorf("%s, %s: %v", model.Model, recording.Name, err)
				continue
			}
			again := r.Parser().Parse(text, request, parlance.FinishStop)
			if again.Reasoning != m.Reasoning || again.Content != m.Content || !slices.EqualFunc(again.Calls, m.Calls, func(a, b parlance.Call) bool {
				return a.Name == b.Name && a.Arguments == b.Arguments
			}) {
				t.Errorf("%s, %s:\nrecorded %q: %+v\nrendered %q: %+v", model.Model, recording.Name, recording.Text, m, text, again)
			}
		}
	}
}
