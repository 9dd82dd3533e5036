// Renderchats renders chat templates for a program that compares them. It reads lines of JSON, each with the source of a
// template, or the name of one of ours, and a conversation; it answers each with a line that holds the prompt or the
// error. Asked to repeat it renders several times and tells the seconds of the fastest, the reading of the conversation
// included.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/parlance-llm/parlance/chattemplate"
)

type job struct {
	Name         string                     `json:"name"`
	Source       string                     `json:"source"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	// Variables are those of the conversation as one object.
	Variables json.RawMessage `json:"variables"`
	Now       string          `json:"now"`
	Repeat    int             `json:"repeat"`
}

type answer struct {
	Prompt  string  `json:"prompt"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			fmt.Fprintln(os.Stderr, "renderchats:", err)
			os.Exit(1)
		}
		if err := out.Encode(run(&j)); err != nil {
			fmt.Fprintln(os.Stderr, "renderchats:", err)
			os.Exit(1)
		}
	}
}

func run(j *job) (a answer) {
	template, err := chattemplate.Parse(j.Name, j.Source)
	if err != nil {
		return answer{Error: err.Error()}
	}
	request := chattemplate.Request{
		Messages: j.Conversation["messages"], Tools: j.Conversation["tools"], Documents: j.Conversation["documents"],
		AddGenerationPrompt: string(j.Conversation["add_generation_prompt"]) == "true", Variables: j.Variables,
	}
	if j.Now != "" {
		if request.Now, err = time.Parse(time.DateTime, j.Now); err != nil {
			return answer{Error: err.Error()}
		}
	}
	for i := range max(j.Repeat, 1) {
		start := time.Now()
		if a.Prompt, err = template.Render(request); err != nil {
			return answer{Error: err.Error()}
		}
		if took := time.Since(start).Seconds(); i == 0 || took < a.Seconds {
			a.Seconds = took
		}
	}
	return a
}
