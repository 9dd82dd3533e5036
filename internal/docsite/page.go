package docsite

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is what the layout shows.
type page struct {
	Title string
	Up    string // leads to the root of the site
	Trail []item // the folders above
	Menu  []section
	Here  []item // the titles of the page
	Body  template.HTML
}

// section is a part of the menu.
type section struct {
	Title string
	Items []item
}

// item is a link of the menu, with those below it.
type item struct {
	Title, Link string
	Current     bool
	Items       []item
}

// markdown reads the pages: CommonMark with the tables of forges.
func (s *Site) markdown(file string) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(&rewriter{s, file}, 100))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(wideTables{}, 100))),
	)
}

// parse reads a page.
func (s *Site) parse(file string) (goldmark.Markdown, ast.Node, []byte, error) {
	source, err := fs.ReadFile(s.files, file)
	if err != nil {
		return nil, nil, nil, err
	}
	m := s.markdown(file)
	return m, m.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{})))), source, nil
}

// render makes a page of a file.
func (s *Site) render(file string) (*page, error) {
	m, document, source, err := s.parse(file)
	if err != nil {
		return nil, err
	}
	p := &page{Title: file, Up: relative(file, ""), Menu: s.menuFor(file)}
	if folder := path.Dir(file); folder != "." && path.Base(file) != first {
		p.Trail = append(p.Trail, item{Title: s.title(folder), Link: relative(file, folder+"/")})
	}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		switch heading.Level {
		case 1:
			p.Title = plain(heading, source)
		case 2:
			p.Here = append(p.Here, item{Title: plain(heading, source), Link: "#" + anchor(heading)})
		}
	}
	var body bytes.Buffer
	if err := m.Renderer().Render(&body, source, document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p.Body = template.HTML(body.String()) // goldmark escapes what is no Markdown, and raw HTML is left out
	return p, nil
}

// anchor is the name of a title.
func anchor(heading *ast.Heading) string {
	if id, ok := heading.AttributeString("id"); ok {
		return string(id.([]byte))
	}
	return ""
}

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(util.UnescapePunctuations(t.Segment.Value(source)))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// sections are the menu: what the first page lists, under its bold lines.
func (s *Site) sections() (menu []section, err error) {
	_, document, source, err := s.parse(first)
	if err != nil {
		return nil, err
	}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		if emphasis, ok := n.FirstChild().(*ast.Emphasis); ok && emphasis.Level == 2 && n.ChildCount() == 1 {
			menu = append(menu, section{Title: plain(emphasis, source)})
		}
		list, ok := n.(*ast.List)
		if !ok || len(menu) == 0 {
			continue
		}
		at := &menu[len(menu)-1]
		_ = ast.Walk(list, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
			if link, ok := n.(*ast.Link); ok && entering && s.fileAt(string(link.Destination)) != "" {
				title := plain(link, source)
				at.Items = append(at.Items, item{Title: strings.ToUpper(title[:1]) + title[1:], Link: string(link.Destination)})
			}
			return ast.WalkContinue, nil
		})
	}
	return menu, nil
}

// title is what the menu calls a folder.
func (s *Site) title(folder string) string {
	for _, section := range s.menu {
		for _, item := range section.Items {
			if item.Link == folder+"/" {
				return item.Title
			}
		}
	}
	return path.Base(folder)
}

// menuFor is the menu as a file's page shows it: from there, with the pages beside it.
func (s *Site) menuFor(file string) []section {
	var menu []section
	for _, of := range s.menu {
		shown := section{Title: of.Title}
		for _, i := range of.Items {
			entry := item{Title: i.Title, Link: relative(file, i.Link), Current: address(file) == i.Link}
			if folder := path.Dir(file); folder+"/" == i.Link {
				entry.Items = s.beside(file, folder)
			}
			shown.Items = append(shown.Items, entry)
		}
		menu = append(menu, shown)
	}
	return menu
}

// beside are the pages of a folder but its first.
func (s *Site) beside(file, folder string) (items []item) {
	for name := range s.pages {
		if path.Dir(name) == folder && path.Base(name) != first {
			items = append(items, item{Title: strings.TrimSuffix(path.Base(name), ".md"), Link: relative(file, address(name)), Current: name == file})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.Title, b.Title) })
	return items
}

// wideTables puts tables in a box that scrolls by itself on a narrow screen.
type wideTables struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (wideTables) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(tables.KindTable, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		box := "</table></div>\n"
		if entering {
			box = `<div class="wide" tabindex="0"><table>` + "\n"
		}
		_, err := w.WriteString(box)
		return ast.WalkContinue, err
	})
}
