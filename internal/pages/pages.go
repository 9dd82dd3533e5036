// Package pages keeps folders of pages that are made by a program.
package pages

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write makes a folder of Markdown files what the pages say, by their names: others are removed.
func Write(folder string, pages map[string]string) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, ok := pages[filepath.Base(file)]; !ok {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Differences tells how a folder differs from the pages, a sentence each.
func Differences(folder string, pages map[string]string) (differences []error) {
	for name, want := range pages {
		file := filepath.Join(folder, name)
		if have, err := os.ReadFile(file); err != nil {
			differences = append(differences, fmt.Errorf("%s is missing: run go generate ./... in the root of the repository", file))
		} else if string(have) != want {
			differences = append(differences, fmt.Errorf("%s is out of date: run go generate ./... in the root of the repository", file))
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return append(differences, err)
	}
	for _, entry := range entries {
		if _, ok := pages[entry.Name()]; !ok {
			differences = append(differences, fmt.Errorf("%s is the page of nothing: run go generate ./... in the root of the repository", filepath.Join(folder, entry.Name())))
		}
	}
	return differences
}
