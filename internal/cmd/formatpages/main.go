// Command formatpages writes the pages of the formats into the folder docs/formats of the repository. Run it with
// go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parlance-llm/parlance/internal/formatpages"
)

func main() {
	if err := write("docs/formats"); err != nil {
		fmt.Fprintln(os.Stderr, "formatpages:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	pages, err := formatpages.Pages(os.DirFS("conformance/cases"))
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, file := range old { // that of a format that is gone
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
