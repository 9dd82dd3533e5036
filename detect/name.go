package detect

import (
	"path"
	"regexp"
	"strings"
)

// Name tells which formats a model of this name has, as far as the definitions know checkpoints: a name as on a model hub,
// with or without its owner, of a copy in another quantisation, or as Ollama writes it (qwen3:8b). Of a model that
// somebody else has made from a known one a guess is not sure, since it may have been taught another format.
func Name(model string) Result { return standard().Name(model) }

// Name is as the function of the package.
func (d *Detector) Name(model string) Result {
	var r Result
	m := nameOf(model)
	if m.silent() {
		return r
	}
	for _, f := range d.families {
		if g, ok := f.named(f.Models, m); ok && len(f.ToolNames) > 0 {
			g.Name = f.ToolNames[0]
			r.Tools = append(r.Tools, g)
		}
		for _, name := range f.ReasoningNames {
			models, own := f.ReasoningModels[name]
			if !own {
				models = f.Models
			}
			if g, ok := f.named(models, m); ok {
				g.Name = name
				r.Reasoning = append(r.Reasoning, g)
			}
		}
	}
	r.Tools, r.Reasoning = settle(r.Tools), settle(r.Reasoning)
	for _, guesses := range [][]Guess{r.Tools, r.Reasoning} {
		if len(guesses) > 0 && guesses[0].unsure {
			guesses[0].Sure = false
		}
	}
	return r
}

// named is the guess where a model's name fits one of the patterns and none behind it takes that back; the longest
// pattern counts.
func (f *family) named(patterns []string, m modelName) (Guess, bool) {
	best, made := "", false
	for _, pattern := range patterns {
		if but, ok := strings.CutPrefix(pattern, "!"); ok {
			if fits, _ := m.matches(but); fits {
				best = ""
			}
		} else if fits, other := m.matches(pattern); fits && len(pattern) > len(best) {
			best, made = pattern, other
		}
	}
	if best == "" {
		return Guess{}, false
	}
	says := "models called " + best + " write it"
	if made {
		says += ", and this one seems to be made from one of them"
	}
	return Guess{family: f, Format: f.Name, Score: 1, rank: []float64{float64(len(best))}, unsure: made,
		Evidence: []Evidence{{Source: FromName, Text: m.given, Offset: -1, Says: says}}}, true
}

// modelName is the name of a model, taken apart; all but given is in lower case.
type modelName struct {
	given string
	owner string // "" if there is none
	base  string // without what only tells how the weights are kept
}

// kept is what is put behind a name to tell how the weights are kept: the file format, the quantisation, the number format.
var kept = regexp.MustCompile(`[-._:](?:gguf|ggml|awq|gptq|mlx|exl[23]|hqq|aqlm|bnb|unsloth|qat|dwq|imat|imatrix|i1|ud|dynamic|quantized|quant|autoround|torchao|` +
	`(?:nv|mx)?fp(?:4|8|16|32)(?:[-_](?:dynamic|block))?|bf16|f(?:16|32)|(?:u?int)?[2-8]-?bit|u?int[2-8]|w\d+a\d+(?:g\d+|fp8)?|g\d+|` +
	`i?q\d(?:_[0-9a-z]+)*|tq\d_\d|latest|hf|safetensors)$`)

func nameOf(model string) modelName {
	m := modelName{given: model}
	name := strings.ToLower(strings.TrimRight(model, "/"))
	for _, hub := range []string{"https://", "huggingface.co/", "hf.co/", "ollama.com/library/"} {
		name = strings.TrimPrefix(name, hub)
	}
	if owner, base := path.Split(name); owner != "" {
		m.owner = path.Base(owner)
		name = base
	}
	name = strings.ReplaceAll(name, ":", "-") // a tag of Ollama's
	for {
		at := kept.FindStringIndex(name)
		if at == nil || at[0] == 0 {
			break
		}
		name = name[:at[0]]
	}
	m.base = name
	return m
}

// silent tells whether the model writes no text.
func (m modelName) silent() bool {
	for part := range strings.SplitSeq(m.base, "-") {
		switch part {
		case "embedding", "embed", "embeddings", "reranker", "rerank":
			return true
		}
	}
	return false
}

// matches tells whether a model's name fits a pattern, with or without its owner, in any case; and whether the model seems to
// be another one that was made from it: it has another owner, and its name more than sizes, versions and such.
func (m modelName) matches(pattern string) (fits, made bool) {
	owner, base := path.Split(strings.ToLower(pattern))
	owner = strings.TrimSuffix(owner, "/")
	ok, err := path.Match(base, m.base)
	if err != nil || !ok && !strings.EqualFold(base, strings.ToLower(path.Base(m.given))) {
		return false, false
	}
	if same, err := path.Match(owner, m.owner); err == nil && same {
		return true, false
	}
	rest := m.base
	for literal := range strings.SplitSeq(base, "*") {
		rest = strings.Replace(rest, strings.Trim(literal, "-"), "-", 1)
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '-' || r == '_' }) {
		if !ordinary.MatchString(part) && part != owner {
			return true, true
		}
	}
	return true, false
}

// ordinary are the parts of a name with which makers tell the models of a family apart.
var ordinary = regexp.MustCompile(`^(?:` +
	`v?\d+(?:\.\d+)*[bmkt]?|[ae]\d+(?:\.\d+)?b|\d+x\d+(?:\.\d+)?b|` + // versions, dates, sizes
	`it|instruct|chat|base|think|thinking|reasoning|preview|next|vl|omni|coder|nano|micro|mini|tiny|small|medium|large|super|ultra|flash|air|pro|max|plus|lite|h` +
	`)$`)
