package conformance

import (
	"encoding/json/jsontext"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/explain"
)

// toolsFile is the name of the file beside case files that holds the sets of tools they name.
const toolsFile = "tools.json"

// Load reads the cases of files, and of folders with all folders in them, in the order given; in a folder in the order
// of the names. A case file holds an array of cases; tools.json beside it is none, it holds the sets of tools that cases
// name. Errors name the file and the case.
func Load(paths ...string) ([]*Case, error) {
	var cases []*Case
	for _, path := range paths {
		files, err := caseFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			more, err := loadFile(file)
			if err != nil {
				return nil, err
			}
			cases = append(cases, more...)
		}
	}
	return cases, nil
}

func caseFiles(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if filepath.Base(path) == toolsFile {
			return nil, fmt.Errorf("%s: expected a case file, found the tool sets of case files", path)
		}
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(file) == ".json" && entry.Name() != toolsFile {
			files = append(files, file)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: expected case files (*.json) in the folder, found none", path)
	}
	return files, err
}

func loadFile(file string) ([]*Case, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var raw []jsontext.Value
	if err := Decode(data, &raw); err != nil {
		return nil, fmt.Errorf("%s: cases: %w", file, err)
	}
	sets := toolSets{file: filepath.Join(filepath.Dir(file), toolsFile)}
	seen := map[string]int{}
	cases := make([]*Case, 0, len(raw))
	for i, value := range raw {
		c, err := readCase(value, &sets)
		if err == nil {
			if before, twice := seen[c.ID]; twice {
				err = fmt.Errorf("id: expected an id of its own, found the one of case %d", before)
			}
			seen[c.ID] = i + 1
		}
		if err != nil {
			return nil, fmt.Errorf("%s: case %d%s: %w", file, i+1, named(value), err)
		}
		c.File = file
		cases = append(cases, c)
	}
	return cases, nil
}

// named gives the id of a broken case in brackets, if it has one.
func named(value jsontext.Value) string {
	var c struct {
		ID jsontext.Value `json:"id"`
	}
	var id string
	if Decode(value, &c) != nil || Decode(c.ID, &id) != nil || id == "" {
		return ""
	}
	return " (" + id + ")"
}

func readCase(value jsontext.Value, sets *toolSets) (*Case, error) {
	var needed struct {
		ID   *string        `json:"id"`
		Want jsontext.Value `json:"want"`
	}
	if err := Decode(value, &needed); err != nil {
		return nil, err
	}
	if needed.ID == nil || *needed.ID == "" {
		return nil, fmt.Errorf("id: expected a string, found nothing")
	}
	c := new(Case)
	if err := Decode(value, c); err != nil {
		return nil, err
	}
	if _, err := c.output(); err != nil {
		return nil, err
	}
	if !given(needed.Want) {
		return nil, fmt.Errorf("want: expected an object, found nothing")
	}
	for key, want := range map[string]*Want{"want": c.Want, "want_stream": c.WantStream} {
		if want == nil {
			continue
		}
		for i, call := range want.ToolCalls {
			switch {
			case call.Name == "":
				return nil, fmt.Errorf("%s.tool_calls[%d].name: expected a name, found nothing", key, i)
			case !call.Arguments.given:
				return nil, fmt.Errorf("%s.tool_calls[%d].arguments: expected an object or a string, found nothing", key, i)
			}
		}
	}
	var err error
	c.Tools, err = sets.find(c.Tools)
	return c, err
}

// toolSets are the sets of tools beside a case file, read when the first one is named.
type toolSets struct {
	file string
	sets map[string]jsontext.Value
}

// find gives the array that a name stands for; an array stands for itself.
func (s *toolSets) find(tools jsontext.Value) (jsontext.Value, error) {
	switch kind := tools.Kind(); {
	case !given(tools) || kind == '[':
		return tools, nil
	case kind != '"':
		return nil, fmt.Errorf("tools: expected an array of tools or the name of a set, found %s", explain.Kind(kind))
	}
	var name string
	if err := Decode(tools, &name); err != nil {
		return nil, err
	}
	if s.sets == nil {
		data, err := os.ReadFile(s.file)
		if err != nil {
			return nil, fmt.Errorf("tools: the set %q: %w", name, err)
		}
		if err := Decode(data, &s.sets); err != nil {
			return nil, fmt.Errorf("tools: %s: expected an object of arrays of tools: %w", s.file, err)
		}
	}
	set, ok := s.sets[name]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(s.sets)), ", ")
		return nil, fmt.Errorf("tools: expected one of the sets in %s (%s), found %q", s.file, names, name)
	}
	return set, nil
}
