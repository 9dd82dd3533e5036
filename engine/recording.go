package engine

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/explain"
)

// RecordedModel is a file of recordings: a model, and what it answered. docs/in-front-of-an-engine.md describes the format.
type RecordedModel struct {
	// Model is the name that requests call it by.
	Model string `json:"model"`
	Title string `json:"title,omitzero"`
	// ToolCallParser and ReasoningParser are the parsers that read its answers.
	ToolCallParser  string `json:"tool_call_parser,omitzero"`
	ReasoningParser string `json:"reasoning_parser,omitzero"`
	// MaxModelLen is the length of its context, in tokens.
	MaxModelLen int         `json:"max_model_len,omitzero"`
	Transcript  *Transcript `json:"transcript,omitzero"`
	Recordings  []Recording `json:"recordings"`
}

// Recording is one answer.
type Recording struct {
	Name string `json:"name,omitzero"`
	// Model is the model that answered, in a file of lines.
	Model string         `json:"model,omitzero"`
	Match RecordingMatch `json:"match,omitzero"`
	// Text is the answer, cut into pieces like words; or Pieces are what it came in.
	Text   string          `json:"text,omitzero"`
	Pieces []RecordedPiece `json:"pieces,omitzero"`
	// FinishReason is stop if nothing is said.
	FinishReason FinishReason `json:"finish_reason,omitzero"`
	StopString   string       `json:"stop_string,omitzero"`
	StopToken    *int         `json:"stop_token,omitzero"`
	PromptTokens []int        `json:"prompt_tokens,omitzero"`
	Usage        *Usage       `json:"usage,omitzero"`
	// Error is what comes behind the pieces, in place of an end.
	Error *RecordedError `json:"error,omitzero"`
}

// RecordingMatch says which requests a recording answers. All that is set must hold; one with nothing set answers in turn.
type RecordingMatch struct {
	// Prompt is the whole prompt.
	Prompt string `json:"prompt,omitzero"`
	// Contains are texts that the prompt contains, Ends what it ends with.
	Contains []string `json:"contains,omitzero"`
	Ends     string   `json:"ends,omitzero"`
	// Constrained: there must, or must not, be a constraint.
	Constrained *bool `json:"constrained,omitzero"`
}

// RecordedPiece is what arrived at once.
type RecordedPiece struct {
	Text     string         `json:"text,omitzero"`
	Tokens   []int          `json:"tokens,omitzero"`
	Logprobs []TokenLogprob `json:"logprobs,omitzero"`
	// Special: the text is that of special tokens; a request that skips those does not get it.
	Special bool `json:"special,omitzero"`
	// WaitMS is how long it took to come, in milliseconds.
	WaitMS float64 `json:"wait_ms,omitzero"`
}

// UnmarshalJSONFrom reads a piece, or only its text.
func (p *RecordedPiece) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '"' {
		return json.UnmarshalDecode(d, &p.Text)
	}
	type plain RecordedPiece
	return json.UnmarshalDecode(d, (*plain)(p), json.RejectUnknownMembers(true))
}

func (p RecordedPiece) wait(speed float64) time.Duration {
	if p.WaitMS <= 0 || speed < 0 {
		return 0
	}
	return time.Duration(p.WaitMS / speed * float64(time.Millisecond))
}

// RecordedError is an error of an engine.
type RecordedError struct {
	// Status is the status that the engine answered, or wrote into the stream; without one the connection broke.
	Status  int     `json:"status,omitzero"`
	Message string  `json:"message,omitzero"`
	Type    string  `json:"type,omitzero"`
	WaitMS  float64 `json:"wait_ms,omitzero"`
}

// LoadRecordings reads all *.json (one RecordedModel) and *.jsonl (lines of Recording) of a file system, in the order of
// their names. Lines are added to the model that they name.
func LoadRecordings(files fs.FS) ([]RecordedModel, error) {
	var names []string
	for _, pattern := range []string{"*.json", "*.jsonl"} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, errors.New("recordings: expected *.json or *.jsonl files, found none")
	}
	sort.Strings(names)
	var models []RecordedModel
	index := map[string]int{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("recordings: %w", err)
		}
		read := readModel
		if path.Ext(name) == ".jsonl" {
			read = readLines
		}
		found, err := read(data)
		if err != nil {
			return nil, fmt.Errorf("recordings: %s: %w", name, err)
		}
		for _, model := range found {
			for i := range model.Recordings {
				if err := model.Recordings[i].check(); err != nil {
					return nil, fmt.Errorf("recordings: %s: %s: recording %d: %w", name, model.Model, i, err)
				}
			}
			at, known := index[model.Model]
			if !known {
				index[model.Model] = len(models)
				models = append(models, model)
				continue
			}
			if models[at].Transcript != nil && model.Transcript != nil {
				return nil, fmt.Errorf("recordings: %s: the model %q is described in another file too", name, model.Model)
			}
			models[at] = models[at].with(model)
		}
	}
	return models, nil
}

// with is a model with what another file says of it.
func (m RecordedModel) with(other RecordedModel) RecordedModel {
	if other.Transcript != nil || m.ToolCallParser == "" && m.ReasoningParser == "" {
		m, other = other, m
		m.Recordings, other.Recordings = other.Recordings, m.Recordings
	}
	m.Recordings = append(m.Recordings[:len(m.Recordings):len(m.Recordings)], other.Recordings...)
	return m
}

func readModel(data []byte) ([]RecordedModel, error) {
	var model RecordedModel
	if err := json.Unmarshal(data, &model, json.RejectUnknownMembers(true)); err != nil {
		return nil, unreadable(err)
	}
	if model.Model == "" {
		return nil, errors.New(`expected the name of a model in "model", found none`)
	}
	return []RecordedModel{model}, nil
}

func readLines(data []byte) (models []RecordedModel, err error) {
	index := map[string]int{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var recording Recording
		if err := json.Unmarshal(line, &recording, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, unreadable(err))
		}
		if recording.Model == "" {
			return nil, fmt.Errorf(`line %d: expected the name of a model in "model", found none`, i+1)
		}
		at, known := index[recording.Model]
		if !known {
			at = len(models)
			index[recording.Model] = at
			models = append(models, RecordedModel{Model: recording.Model})
		}
		models[at].Recordings = append(models[at].Recordings, recording)
	}
	return models, nil
}

// unreadable says of a member that no recording has which one it is, in the words of JSON.
func unreadable(err error) error {
	if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) && errors.Is(semantic.Err, json.ErrUnknownName) {
		return fmt.Errorf("expected the members of a recording, found %q", semantic.JSONPointer.LastToken())
	}
	return explain.Error(err)
}

func (r *Recording) check() error {
	if r.Text != "" && r.Pieces != nil {
		return errors.New("expected text or pieces, found both")
	}
	switch r.FinishReason {
	case "", FinishStop, FinishLength, FinishAbort, FinishRepetition, FinishFilter:
	default:
		return fmt.Errorf("finish_reason: expected stop, length, abort, repetition or content_filter, found %q", r.FinishReason)
	}
	if r.Error != nil && r.FinishReason != "" {
		return errors.New("expected a finish_reason or an error, found both")
	}
	return nil
}

// pieces are what the answer is played in.
func (r *Recording) pieces() []RecordedPiece {
	if r.Pieces != nil || r.Text == "" {
		return r.Pieces
	}
	var out []RecordedPiece
	for rest := r.Text; rest != ""; {
		n := wordLength(rest)
		out = append(out, RecordedPiece{Text: rest[:n]})
		rest = rest[n:]
	}
	return out
}

// wordLength is how many bytes of a text make a piece, much as a tokenizer would cut it: a blank may lead, then as many
// letters and digits as follow, up to eight; else one other character, or a run of the same one up to four.
func wordLength(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	n := 0
	if first == ' ' && len(text) > size {
		if next, nextSize := utf8.DecodeRuneInString(text[size:]); letter(next) {
			n, first, size = size, next, nextSize
		}
	}
	limit := 4
	same := func(r rune) bool { return r == first }
	if letter(first) {
		limit, same = 8, letter
	}
	for range limit {
		next, nextSize := utf8.DecodeRuneInString(text[n:])
		if nextSize == 0 || !same(next) {
			break
		}
		n += nextSize
	}
	return max(n, size)
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
