package vocabulary

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parlance-llm/parlance/internal/explain"
)

// Load reads the vocabulary of the model in a folder. The folder's name is the model's. Errors name the file and, in
// it, the key.
func Load(folder string) (*Vocabulary, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: expected a folder with a tokenizer: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("tokenizer: expected a folder, found the file %s", folder)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	v, err := Read(os.DirFS(folder), filepath.Base(absolute))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", folder, err)
	}
	return v, nil
}

// Read reads the vocabulary of a model from the files at the top of a file system. Files that are not there are passed
// over; if there is none of them that is an error.
func Read(files fs.FS, name string) (*Vocabulary, error) {
	v := &Vocabulary{Name: name}
	found := false
	for _, file := range []struct {
		name string
		read func(*Vocabulary, []byte) error
	}{
		{"tokenizer.json", (*Vocabulary).readTokenizer},
		{"tokenizer_config.json", (*Vocabulary).readConfig},
		{"added_tokens.json", (*Vocabulary).readAdded},
		{"tekken.json", (*Vocabulary).readTekken},
	} {
		data, err := fs.ReadFile(files, file.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = file.read(v, data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
		found = true
	}
	if !found {
		return nil, errors.New("expected tokenizer.json, tokenizer_config.json, added_tokens.json or tekken.json, found none of them")
	}
	return v, nil
}

// token is an added token as the files of Hugging Face have it.
type token struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
}

func (v *Vocabulary) readTokenizer(data []byte) error {
	var tokenizer struct {
		Added []token `json:"added_tokens"`
		Model struct {
			// Of byte pair encoding and word pieces an object, of unigrams an array of pairs.
			Vocab jsontext.Value `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(data, &tokenizer, lenient); err != nil {
		return explain.Error(err)
	}
	for _, t := range tokenizer.Added {
		v.add(t.Content, t.ID)
	}
	v.pieces = map[string]bool{}
	switch vocab := tokenizer.Model.Vocab; vocab.Kind() {
	case '{':
		var ids map[string]jsontext.Value
		if err := json.Unmarshal(vocab, &ids, lenient); err != nil {
			return fmt.Errorf("model.vocab: %w", explain.Error(err))
		}
		for piece := range ids {
			v.pieces[piece] = true
		}
	case '[':
		var pairs [][]jsontext.Value
		if err := json.Unmarshal(vocab, &pairs, lenient); err != nil {
			return fmt.Errorf("model.vocab: expected pairs of a piece and a number: %w", explain.Error(err))
		}
		for i, pair := range pairs {
			var piece string
			if len(pair) == 0 || json.Unmarshal(pair[0], &piece) != nil {
				return fmt.Errorf("model.vocab[%d]: expected a pair of a piece and a number", i)
			}
			v.pieces[piece] = true
		}
	}
	return nil
}

func (v *Vocabulary) readConfig(data []byte) error {
	var config struct {
		Added map[string]token `json:"added_tokens_decoder"`
	}
	if err := json.Unmarshal(data, &config, lenient); err != nil {
		return explain.Error(err)
	}
	for number, t := range config.Added {
		id, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("added_tokens_decoder: expected the number of a token, found %q", number)
		}
		v.add(t.Content, id)
	}
	return nil
}

func (v *Vocabulary) readAdded(data []byte) error {
	var added map[string]int
	if err := json.Unmarshal(data, &added, lenient); err != nil {
		return explain.Error(err)
	}
	for text, id := range added {
		v.add(text, id)
	}
	return nil
}

func (v *Vocabulary) readTekken(data []byte) error {
	var tekken struct {
		Special []struct {
			Rank int    `json:"rank"`
			Text string `json:"token_str"`
		} `json:"special_tokens"`
	}
	if err := json.Unmarshal(data, &tekken, lenient); err != nil {
		return explain.Error(err)
	}
	for _, t := range tekken.Special {
		v.add(t.Text, t.Rank)
	}
	return nil
}

// lenient: the files come from many tools, and what matters here is whether they can be understood.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
