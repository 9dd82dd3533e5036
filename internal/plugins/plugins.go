// Package plugins reads definitions of formats that a user brings: files in the notation of the built-in ones, named on
// a command line. Whatever has flags for them reads them here.
package plugins

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
)

// Flags are what a command line says of plug-ins: files, and folders of them. Both lists are read alike, since a
// definition may hold both halves; they stand for --tool-parser-plugin and --reasoning-parser-plugin.
type Flags struct {
	Tool, Reasoning []string
	// Override lets their definitions take names of formats and parsers that are there.
	Override bool
}

// Page is the page that tells how to write a definition.
const Page = "docs/writing-a-format.md"

// Registry holds the built-in formats and those of the plug-ins, which are read in their order, each once; one may extend
// those before it. Without plug-ins it is the default registry. The error names the flag; of a broken definition it wraps
// a *parlance.DefinitionError with its place.
func (f *Flags) Registry() (*parlance.Registry, error) {
	if len(f.Tool)+len(f.Reasoning) == 0 {
		return parlance.Default(), nil
	}
	r := parlance.NewRegistry()
	var seen []string
	for _, flag := range []struct {
		name  string
		paths []string
	}{{"--tool-parser-plugin", f.Tool}, {"--reasoning-parser-plugin", f.Reasoning}} {
		for _, path := range flag.paths {
			absolute, err := filepath.Abs(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", flag.name, err)
			}
			if slices.Contains(seen, absolute) {
				continue
			}
			seen = append(seen, absolute)
			if err := register(r, path, f.Override); err != nil {
				return nil, fmt.Errorf("%s: %w", flag.name, err)
			}
		}
	}
	return r, nil
}

// Files are the definition files that a path names: a file, or a folder of them. where stands before their names in errors.
func Files(path string) (files fs.FS, where string, err error) {
	info, err := os.Stat(path)
	python := strings.HasSuffix(path, ".py") || err != nil && !strings.ContainsAny(path, `/\`) && filepath.Ext(path) != ".yaml"
	switch {
	case python:
		return nil, "", fmt.Errorf("expected the definition of a format, a file *.yaml or a folder of them, found %s, a Python plug-in: formats are data here, and %s tells how to write one", path, Page)
	case err != nil:
		return nil, "", err
	case !info.IsDir() && filepath.Ext(path) != ".yaml":
		return nil, "", fmt.Errorf("expected the definition of a format, a file *.yaml or a folder of them, found %s (%s tells how to write one)", path, Page)
	case !info.IsDir():
		return oneFile{os.DirFS(filepath.Dir(path)), filepath.Base(path)}, dirOf(path), nil
	}
	files = os.DirFS(path)
	if found, err := fs.Glob(files, "*.yaml"); err != nil || len(found) == 0 {
		return nil, "", fmt.Errorf("%s: expected definitions of formats (*.yaml) in the folder, found none", path)
	}
	return files, strings.TrimSuffix(path, "/") + "/", nil
}

// register adds the definition of a file, or those of a folder, to a registry.
func register(r *parlance.Registry, path string, override bool) error {
	files, where, err := Files(path)
	if err != nil {
		return err
	}
	return r.Register(files, parlance.Registration{Override: override, Where: where})
}

// dirOf is what stands before the name of a file, with the slash.
func dirOf(path string) string { return path[:len(path)-len(filepath.Base(path))] }

// oneFile is a file system as if a file were alone in it.
type oneFile struct {
	fs.FS
	name string
}

// Glob implements fs.GlobFS.
func (f oneFile) Glob(string) ([]string, error) { return []string{f.name}, nil }
