package docsite

import (
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// repository is where links lead that leave the folder of the pages: that folder is "docs" there.
const repository = "https://github.com/parlance-llm/parlance/blob/main/"

// anchors names the titles of a page as forges do, so that one link leads to the same place in both.
type anchors map[string]int

func (a anchors) Generate(title []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, string(title))
	before := a[name]
	a[name]++
	if before > 0 {
		name += "-" + strconv.Itoa(before)
	}
	return []byte(name)
}

func (a anchors) Put(name []byte) { a[string(name)]++ }

// rewriter makes links that lead from file to file lead from page to page.
type rewriter struct {
	site *Site
	file string
}

// Transform implements parser.ASTTransformer.
func (w *rewriter) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(w.target(string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(w.target(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// target is where a link of the file leads on the site.
func (w *rewriter) target(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Path == "" {
		return link
	}
	file := path.Join(path.Dir(w.file), u.Path)
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	if outside, ok := strings.CutPrefix(file, "../"); ok {
		return repository + outside + fragment
	}
	if info, err := fs.Stat(w.site.files, file); err == nil && info.IsDir() {
		file = path.Join(file, first)
	}
	if _, ok := w.site.pages[file]; ok {
		return relative(w.file, address(file)) + fragment
	}
	return relative(w.file, file) + fragment
}
