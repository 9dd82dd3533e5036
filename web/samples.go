package web

import (
	"encoding/json"
	"fmt"
	"net/http"
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
}

// serveSamples answers the recordings that come with the replay engine.
func serveSamples(w http.ResponseWriter, _ *http.Request) {
	samples := []sample{}
	for _, model := range engine.Bundled() {
		prompt := ""
		if model.Transcript != nil {
			prompt = model.Transcript.Generation
		}
		for _, recording := range model.Recordings {
			text := recording.Text
			var pieces strings.Builder
			for _, piece := range recording.Pieces {
				pieces.WriteString(piece.Text)
			}
			samples = append(samples, sample{
				Title: fmt.Sprintf("%s: %s", model.Model, recording.Name), Text: text + pieces.String(),
				ToolParser: model.ToolCallParser, ReasoningParser: model.ReasoningParser, Prompt: prompt,
			})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(samples) // the client has left
}
