package detect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/vocabulary"
)

// Vocabulary tells which formats have their markers as tokens of a vocabulary.
func Vocabulary(v *vocabulary.Vocabulary) Result { return standard().Vocabulary(v) }

// Vocabulary is as the function of the package.
func (d *Detector) Vocabulary(v *vocabulary.Vocabulary) Result {
	added := v.Added()
	has := func(marker string) bool {
		begin, _, holed := strings.Cut(marker, "{")
		if !holed {
			return v.Has(marker)
		}
		return slices.ContainsFunc(added, func(token string) bool { return strings.HasPrefix(token, begin) })
	}
	var r Result
	for _, f := range d.families {
		if g, ok := f.tokensOf(f.Tokens, has); ok && len(f.ToolNames) > 0 {
			g.Name = f.ToolNames[0]
			r.Tools = append(r.Tools, g)
		}
		thoughts := slices.DeleteFunc(slices.Clone(f.Tokens), func(token string) bool { return !slices.Contains(f.ThoughtMarkers, token) })
		for _, name := range f.ReasoningNames {
			if g, ok := f.tokensOf(thoughts, has); ok {
				g.Name = name
				r.Reasoning = append(r.Reasoning, g)
			}
		}
	}
	r.Tools, r.Reasoning = settle(r.Tools), settle(r.Reasoning)
	return r
}

// tokensOf weighs the tokens of a format that a vocabulary has: the share of them all, and how rare they are.
func (f *family) tokensOf(tokens []string, has func(string) bool) (Guess, bool) {
	g := Guess{family: f, Format: f.Name}
	found, weight := 0, 0.0
	for _, token := range tokens {
		if has(token) {
			found++
			weight += max(f.detector.rarity[strings.TrimSpace(token)], 0.1)
			g.Evidence = append(g.Evidence, Evidence{Source: FromVocabulary, Text: token, Offset: -1, Says: "a token of the vocabulary"})
		}
	}
	if len(tokens) == 0 || found*2 < len(tokens) {
		return g, false
	}
	g.Score = float64(found) / float64(len(tokens))
	must := 0.0
	for _, text := range f.Detect.Vocabulary {
		if has(text) {
			must++
		}
	}
	g.rank = []float64{must, g.Score, weight}
	return g, true
}

// Folder tells which formats the model in a folder has: from its chat template, its vocabulary, and the names in
// config.json and of the folder. The error is of a folder that has none of these.
func Folder(folder string) (Result, error) { return standard().Folder(folder) }

// Folder is as the function of the package.
func (d *Detector) Folder(folder string) (Result, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return Result{}, err
	}
	if !info.IsDir() {
		return Result{}, fmt.Errorf("%s: expected a folder with the files of a model", folder)
	}
	var parts []Result
	var problems []error
	if set, err := chattemplate.Load(folder); err == nil {
		if t, err := set.For(true); err == nil {
			parts = append(parts, d.Template(t.Source()))
		}
	} else if !errors.Is(err, chattemplate.ErrNoTemplate) {
		problems = append(problems, err)
	}
	if v, err := vocabulary.Load(folder); err == nil {
		parts = append(parts, d.Vocabulary(v))
	} else if !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, err)
	}
	names := []string{filepath.Base(folder)}
	if data, err := os.ReadFile(filepath.Join(folder, "config.json")); err == nil {
		var config struct {
			Name string `json:"_name_or_path"`
		}
		if json.Unmarshal(data, &config) == nil && config.Name != "" {
			names = append(names, config.Name)
		}
	}
	if len(parts) == 0 {
		return Result{}, errors.Join(append(problems, fmt.Errorf("%s: expected a chat template (chat_template.jinja, or tokenizer_config.json with one) or a tokenizer.json", folder))...)
	}
	for _, name := range names {
		parts = append(parts, d.Name(name))
	}
	return Combine(parts...), nil
}

// weights are how much a source counts where several speak.
var weights = map[Source]float64{FromSample: 4, FromTemplate: 3, FromName: 1.5, FromVocabulary: 1}

// Combine puts together what several sources say. A guess is sure if it is clearly ahead, and some source was sure of it.
func Combine(results ...Result) Result {
	tools := func(r Result) []Guess { return r.Tools }
	reasoning := func(r Result) []Guess { return r.Reasoning }
	r := Result{Tools: combine(results, tools), Reasoning: combine(results, reasoning)}
	for _, one := range results {
		r.Shows, r.renders = cmp.Or(r.Shows, one.Shows), r.renders || one.renders
		if len(r.Tools) > 0 && !one.reads(r.Tools[0]) {
			r.Tools[0].Sure = false
		}
	}
	return r
}

func combine(results []Result, half func(Result) []Guess) (out []Guess) {
	for _, r := range results {
		guesses := half(r)
		for place, g := range guesses {
			weight := 1.0
			if len(g.Evidence) > 0 {
				weight = weights[g.Evidence[0].Source]
			}
			// The best guess of a source counts in full, and those that explain as much; the others by how little they
			// are behind, at most by half.
			points := weight * g.Score / 2
			if place == 0 || slices.Equal(g.rank, guesses[0].rank) {
				points = weight
			}
			i := slices.IndexFunc(out, func(o Guess) bool { return o.Format == g.Format && o.Name == g.Name })
			if i < 0 {
				out = append(out, Guess{family: g.family, Format: g.Format, Name: g.Name, rank: []float64{0}})
				i = len(out) - 1
			}
			out[i].rank[0] += points
			out[i].Evidence = append(out[i].Evidence, g.Evidence...)
			out[i].unsure = out[i].unsure || g.unsure && place == 0
			out[i].whole = out[i].whole || g.Sure
		}
	}
	out = settle(out)
	best := 0.0
	for _, g := range out {
		best = max(best, g.rank[0])
	}
	for i := range out {
		out[i].Score = out[i].rank[0] / max(best, 1)
	}
	if len(out) > 0 {
		ahead := out[0].rank[0]
		for _, g := range out[1:] {
			if !sameWire(g, out[0]) {
				ahead -= g.rank[0]
				break
			}
		}
		out[0].Sure = out[0].whole && ahead > 0.5
	}
	return out
}
