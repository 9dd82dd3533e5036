package docsite

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed page.html style.css
var own embed.FS

var layout = template.Must(template.ParseFS(own, "page.html"))

// first is the file that is the first page of a folder.
const first = "README.md"

// Site is the pages of a folder. It is safe for many goroutines.
type Site struct {
	files fs.FS
	pages map[string]func() (*page, error) // by file; each is rendered once, when it is asked for
	menu  []section
}

// New reads the folder. The error is one of reading it; the pages themselves are rendered when they are asked for.
func New(files fs.FS) (*Site, error) {
	s := &Site{files: files, pages: map[string]func() (*page, error){}}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(file) == ".md" {
			s.pages[file] = sync.OnceValues(func() (*page, error) { return s.render(file) })
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, ok := s.pages[first]; ok {
		s.menu, err = s.sections()
	}
	return s, err
}

// address is where a file is served, seen from the root of the site.
func address(file string) string {
	if folder, name := path.Split(file); name == first {
		return folder
	}
	return strings.TrimSuffix(file, ".md")
}

// fileAt is the file whose page is served at an address, or "" if there is none.
func (s *Site) fileAt(address string) string {
	file := address + ".md"
	if address == "" || strings.HasSuffix(address, "/") {
		file = address + first
	}
	if _, ok := s.pages[file]; !ok {
		return ""
	}
	return file
}

// up leads from a file's page to the root of the site.
func up(file string) string {
	return strings.Repeat("../", strings.Count(file, "/"))
}

// relative leads from a file's page to an address.
func relative(file, address string) string {
	if to := up(file) + address; to != "" {
		return to
	}
	return "./"
}
