package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/engine"
)

// sample is a text to try.
type sample struct {
	Title           string `json:"title"`
	Text            string `json:"text"`
	ToolParser      string `json:"tool_parser"`
	ReasoningParser string `json:"reasoning_parser"`
	Prompt          string `json:"prompt"`
	// Tools are the tools that the question behind the recording gave.
	Tools json.RawMessage `json:"tools,omitzero"`
}

// weather is the tool that the recordings ask for.
const weather = `[{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.",
 "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]`

// serveSamples answers the recordings that come with the replay engine.
func serveSamples(w http.ResponseWriter, _ *http.Request) {
	samples := []sample{}
	for _, model := range engine.Bundled() {
		for _, recording := range model.Recordings {
			prompt := recording.Match.Ends
			if prompt == "" && model.Transcript != nil {
				prompt = model.Transcript.Generation
			}
			text := recording.Text
			var pieces strings.Builder
			for _, piece := range recording.Pieces {
				pieces.WriteString(piece.Text)
			}
			var tools json.RawMessage
			if slices.Contains(recording.Match.Contains, "get_weather") {
				tools = json.RawMessage(weather)
			}
			samples = append(samples, sample{
				Title: fmt.Sprintf("%s: %s", model.Model, recording.Name), Text: text + pieces.String(),
				ToolParser: model.ToolCallParser, ReasoningParser: model.ReasoningParser, Prompt: prompt, Tools: tools,
			})
		}
	}
	answer(w, samples)
}
