package docsite

import (
	"bytes"
	"net/http"
	"path"
	"strings"
)

// policy lets a page have nothing but what comes from the same place, and no scripts.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP serves the site below any prefix that is taken off before (with http.StripPrefix). Only GET and HEAD mean
// something to it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case name == "style.css":
		http.ServeFileFS(w, r, own, name)
	case s.fileAt(name) != "":
		s.servePage(w, r, s.fileAt(name))
	case s.fileAt(name+"/") != "":
		w.Header().Set("Location", path.Base(name)+"/") // not by http.Redirect, which does not know the prefix
		w.WriteHeader(http.StatusMovedPermanently)
	case path.Ext(name) == ".md" && s.pages[name] != nil:
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		http.ServeFileFS(w, r, s.files, name)
	case path.Ext(name) == ".svg" || path.Ext(name) == ".png":
		http.ServeFileFS(w, r, s.files, name)
	default:
		w.WriteHeader(http.StatusNotFound)
		s.write(w, &page{
			Title: "No such page", Up: up(name), Menu: s.menuFor(name),
			Body: "<h1>No such page</h1><p>There is none of that name. The menu lists those that there are.</p>",
		})
	}
}

func (s *Site) servePage(w http.ResponseWriter, _ *http.Request, file string) {
	p, err := s.pages[file]()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.write(w, p)
}

func (s *Site) write(w http.ResponseWriter, p *page) {
	var out bytes.Buffer
	if err := layout.Execute(&out, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the reader has left
}
