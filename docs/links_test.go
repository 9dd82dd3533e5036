package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// repository reads a file at the root of the repository.
func repository(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	fenced = regexp.MustCompile("(?ms)^ *(`{3,}).*?^ *`{3,}$")
	quoted = regexp.MustCompile("`[^`\n]*`")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	title  = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// anchors are the places of a page that a link may lead to, as forges make them of its titles.
func anchors(page string) (found []string) {
	for _, m := range title.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		found = append(found, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return found
}

// TestLinks holds that each relative link of the pages leads somewhere: to a file, or to a title of a page.
func TestLinks(t *testing.T) {
	root := os.DirFS("..")
	pages := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(root, "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, name := range pages {
		page := repository(t, name)
		plain := quoted.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
		for _, m := range link.FindAllStringSubmatch(plain, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			info, err := fs.Stat(root, target)
			switch {
			case err != nil:
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
			case anchor != "" && (info.IsDir() || !slices.Contains(anchors(repository(t, target)), anchor)):
				t.Errorf("%s: the link %s leads to no title of %s", name, m[1], target)
			}
		}
	}
	if links == 0 {
		t.Error("no links were found")
	}
}

// mention is how the code speaks of a page.
var mention = regexp.MustCompile(`docs/[a-z/_-]+\.md`)

// TestMentions holds that the pages that comments of the code speak of are there.
func TestMentions(t *testing.T) {
	root := os.DirFS("..")
	mentions := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		for _, mention := range mention.FindAllString(repository(t, name), -1) {
			mentions++
			if _, err := fs.Stat(root, mention); err != nil {
				t.Errorf("%s speaks of %s, which does not exist", name, mention)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if mentions == 0 {
		t.Error("no page is spoken of")
	}
}
