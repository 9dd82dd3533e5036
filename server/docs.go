package server

import (
	"net/http"

	"github.com/parlance-llm/parlance/docs"
	"github.com/parlance-llm/parlance/internal/docsite"
)

// routeDocs serves the documentation beside the playground. Like it, it needs no key: it tells nothing of this server.
func (s *Server) routeDocs() {
	if !s.config.Playground {
		return
	}
	site, err := docsite.New(docs.Files)
	if err != nil {
		panic("server: the documentation is not embedded: " + err.Error())
	}
	s.mux.Handle("GET /docs/", http.StripPrefix("/docs", site))
	s.mux.Handle("GET /docs", http.RedirectHandler(s.config.RootPath+"/docs/", http.StatusMovedPermanently))
}
