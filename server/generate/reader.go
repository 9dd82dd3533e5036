package generate

import (
	"github.com/parlance-llm/parlance/engine"
)

// Reader sorts text that comes from elsewhere as a Generation sorts an engine's. It belongs to one goroutine.
type Reader struct {
	sorter *sorter
	choice int
}

// NewReader reads one choice of the answer to a request, whose prompt is known as far as given. Of the request only the
// model, the tools, the tool choice, the template's arguments and what is shown matter.
func (g *Generator) NewReader(r *Request, prompt engine.Prompt, choice int) (*Reader, error) {
	if err := g.check(r); err != nil {
		return nil, err
	}
	reading, err := g.reading(r, prompt)
	if err != nil {
		return nil, err
	}
	return &Reader{sorter: newSorter(r, reading), choice: choice}, nil
}

// ReuseCallIDs gives the first calls the ids that they have been given before; the others get new ones.
func (r *Reader) ReuseCallIDs(ids []string) {
	fresh := r.sorter.newID
	r.sorter.newID = func(name string, number int) string {
		if number < len(ids) {
			return ids[number]
		}
		return fresh(name, number)
	}
}

// Write reads more of the text.
func (r *Reader) Write(text string) Step {
	return Step{Choice: r.choice, Deltas: r.sorter.write(text)}
}

// Close ends the text.
func (r *Reader) Close(f Finish) Step {
	step := Step{Choice: r.choice, Finish: &f}
	step.Deltas = r.sorter.finish(&f)
	return step
}

// Usage guesses the tokens of the text so far from its length, as where an engine does not count.
func (r *Reader) Usage() Usage {
	var nobody counter
	return nobody.usage(r.sorter)
}

// ReasoningShare is the share of the text so far that became reasoning, from 0 to 1.
func (r *Reader) ReasoningShare() float64 {
	if r.sorter.bytes == 0 {
		return 0
	}
	return float64(r.sorter.reasoning) / float64(r.sorter.bytes)
}
