package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/parlance-llm/parlance/detect"
)

// Auto in place of a parser's name has it found out from the model's files.
const Auto = "auto"

// Detects tells whether a parser is to be found out.
func (c *Config) Detects() bool { return c.ToolParser == Auto || c.ReasoningParser == Auto }

// Detect finds the parsers that are to be found out, from what the configuration says of the model and from the source of
// the engine's chat template, "" where the engine tells none. It gives the evidence, for the log. The error says why
// nothing is sure; a half of which nothing at all is found stays without a parser.
func (c *Config) Detect(template string) (evidence []string, err error) {
	var results []detect.Result
	detector := detect.For(c.Registry())
	if folder := c.Folder(); folder != "" {
		r, err := detector.Folder(folder)
		if err != nil {
			return nil, errorf(valueError, "the parsers cannot be found out: %v", err)
		}
		results = append(results, r)
	} else if c.Model != "" {
		results = append(results, detector.Name(c.Model))
	}
	if data, err := os.ReadFile(c.ChatTemplate); c.ChatTemplate != "" && err == nil {
		template = string(data)
	}
	if template != "" {
		results = append(results, detector.Template(template))
	}
	if len(results) == 0 {
		return nil, errorf(valueError, "the parsers cannot be found out: expected a model (its name, or the folder of its files), a --chat-template, or an engine that tells its chat template")
	}
	found := results[0]
	if len(results) > 1 {
		found = detect.Combine(results...)
	}
	for _, half := range []struct {
		flag    string
		name    *string
		guesses []detect.Guess
	}{{"--tool-call-parser", &c.ToolParser, found.Tools}, {"--reasoning-parser", &c.ReasoningParser, found.Reasoning}} {
		if *half.name != Auto {
			continue
		}
		if *half.name = ""; len(half.guesses) == 0 {
			evidence = append(evidence, half.flag+": nothing in the model's files or name speaks for any")
			continue
		}
		best := half.guesses[0]
		if !best.Sure {
			var names []string
			for _, g := range half.guesses[:min(len(half.guesses), 5)] {
				names = append(names, g.Name)
			}
			return nil, errorf(valueError, "%s auto: it is not sure which one the model needs; likely are %s: name one, or none", half.flag, strings.Join(names, ", "))
		}
		*half.name = best.Name
		for _, e := range best.Evidence[:min(len(best.Evidence), 3)] {
			evidence = append(evidence, fmt.Sprintf("%s %s: %s", half.flag, best.Name, e))
		}
	}
	return evidence, nil
}
