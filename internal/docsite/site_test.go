package docsite

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parlance-llm/parlance/docs"
)

// serve serves files under /docs/, as the server does.
func serve(t *testing.T, site *Site) string {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/docs", site))
	t.Cleanup(server.Close)
	return server.URL + "/docs/"
}

func documentation(t *testing.T) *Site {
	t.Helper()
	site, err := New(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func get(t *testing.T, address string) (status int, header http.Header, body string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(data)
}

var (
	leads = regexp.MustCompile(`(href|src)="([^"]*)"`)
	named = regexp.MustCompile(` id="([^"]*)"`)
)

// TestEveryLink follows all links from the first page on: every page is reached, each link leads to a page that is there
// and to a title that it has, what a page loads comes from the site, and what leaves it is in the repository.
func TestEveryLink(t *testing.T) {
	site := documentation(t)
	root := serve(t, site)
	bodies := map[string]string{}
	type place struct{ from, page, title string }
	var places []place
	var visit func(address string)
	visit = func(address string) {
		if _, ok := bodies[address]; ok {
			return
		}
		status, header, body := get(t, address)
		bodies[address] = body
		if status != http.StatusOK {
			t.Errorf("%s: %d", address, status)
			return
		}
		if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			return
		}
		here, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range leads.FindAllStringSubmatch(body, -1) {
			there, err := here.Parse(m[2])
			if err != nil {
				t.Errorf("%s: %s: %v", address, m[2], err)
				continue
			}
			title := there.Fragment
			there.Fragment = ""
			switch to := there.String(); {
			case strings.HasSuffix(to, "/playground/"):
			case strings.HasPrefix(to, root):
				visit(to)
				if title != "" {
					places = append(places, place{address, to, title})
				}
			case m[1] == "src" || strings.HasSuffix(to, ".css"):
				t.Errorf("%s loads %s from elsewhere", address, to)
			case strings.HasPrefix(to, repository):
				if _, err := os.Stat("../../" + strings.TrimPrefix(to, repository)); err != nil {
					t.Errorf("%s: %v", address, err)
				}
			}
		}
	}
	visit(root)
	for _, p := range places {
		if !strings.Contains(bodies[p.page], ` id="`+p.title+`"`) {
			t.Errorf("%s: %s has no title %s, but %v", p.from, p.page, p.title, named.FindAllString(bodies[p.page], -1))
		}
	}
	for file := range site.pages {
		if _, ok := bodies[root+address(file)]; !ok {
			t.Errorf("no link leads to %s", file)
		}
	}
	if len(places) == 0 {
		t.Error("no link leads to a title")
	}
}

// TestEveryPageHasATitleAndItsPlace: a page has its own title, and all but those that hang below another are in the menu.
func TestEveryPageHasATitleAndItsPlace(t *testing.T) {
	site := documentation(t)
	for file := range site.pages {
		p, err := site.pages[file]()
		if err != nil {
			t.Fatal(err)
		}
		if p.Title == file || p.Title == "" {
			t.Errorf("%s has no title", file)
		}
		if folder := path.Dir(file); folder != "." && path.Base(file) != first && len(p.Trail) != 1 {
			t.Errorf("%s does not tell what it is part of", file)
		}
		current := 0
		for _, section := range p.Menu {
			for _, item := range section.Items {
				if item.Current {
					current++
				}
				for _, below := range item.Items {
					if below.Current {
						current++
					}
				}
			}
		}
		if file != first && current != 1 {
			t.Errorf("%s is in the menu %d times", file, current)
		}
	}
}

// TestPagesBringNothingForeign: no script runs and nothing is asked of another host; what is no Markdown is text.
func TestPagesBringNothingForeign(t *testing.T) {
	site, err := New(fstest.MapFS{
		"README.md":   {Data: []byte("# One\n\n**Part**\n\n- [a & b](a.md), [it](a.md#it)\n")},
		"a.md":        {Data: []byte("# A\n\n## It\n\n## It\n\n<script>alert(1)</script>\n\n[evil](javascript:alert(1)) `<b>`\n\n| x | y |\n|---|--:|\n| [up](README.md) | 1 |\n")},
		"b/README.md": {Data: []byte("# B\n\n[a](../a.md), [folder](../b), [out](../../LICENSE#x)\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	root := serve(t, site)
	status, header, body := get(t, root+"a")
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", status, header)
	}
	for _, absent := range []string{"<script", "javascript:", "style=\""} {
		if strings.Contains(body, absent) {
			t.Errorf("%s stands in %s", absent, body)
		}
	}
	for _, present := range []string{`id="it"`, `id="it-1"`, `<code>&lt;b&gt;</code>`, `<a href="./">up</a>`, `align="right"`, `<a href="#it-1">It</a>`, `>A &amp; b</a>`, `<a href="a#it">`} {
		if present == `<a href="a#it">` {
			_, _, body = get(t, root)
		}
		if !strings.Contains(body, present) {
			t.Errorf("%s is missing in %s", present, body)
		}
	}
	_, _, body = get(t, root+"b/")
	for _, present := range []string{`<a href="../a">a</a>`, `<a href="../b/">folder</a>`, `<a href="` + repository + `LICENSE#x">out</a>`} {
		if !strings.Contains(body, present) {
			t.Errorf("%s is missing in %s", present, body)
		}
	}
}

func TestAddresses(t *testing.T) {
	root := serve(t, documentation(t))
	for address, kind := range map[string]string{
		"": "text/html", "start": "text/html", "formats/": "text/html", "formats": "text/html", "formats/hermes": "text/html",
		"start.md": "text/markdown", "README.md": "text/markdown", "formats/README.md": "text/markdown",
		"three-trays.svg": "image/svg+xml", "style.css": "text/css",
	} {
		status, header, _ := get(t, root+address)
		if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", address, status, header.Get("Content-Type"))
		}
	}
	for _, address := range []string{"no-such-page", "formats/none", "docs.go", "x.md", "page.html", "none.svg", "no/such/folder/"} {
		status, _, body := get(t, root+address)
		if status != http.StatusNotFound {
			t.Errorf("%s: %d", address, status)
		}
		if path.Ext(address) == "" && !strings.Contains(body, `<nav id="menu"`) {
			t.Errorf("%s: no menu to go on from", address)
		}
	}
}
