package server

import (
	"context"
	"encoding/json/v2"
	"net/http"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// operational puts the routes of operation on their paths. They need no key, as probes have none.
func (s *Server) operational() {
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := s.engine.Health(r.Context()); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s.mux.HandleFunc("/ping", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Ready(r.Context()); err != nil {
			e := apierror.From(err)
			e.Kind = apierror.Overloaded
			apierror.ShapeOpenAI.Write(w, e)
			return
		}
		answer(w, map[string]string{"status": "ready"})
	})
	s.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"version": Version})
	})
	s.mux.HandleFunc("GET /metrics", s.counters)
	s.serves("GET /v1/models", http.HandlerFunc(s.listModels), apierror.ShapeOpenAI)
	s.serves("GET /v1/models/{model...}", http.HandlerFunc(s.oneModel), apierror.ShapeOpenAI)
}

// counters serves the counters. Those of the models that are known stand there at 0 before anything is counted.
func (s *Server) counters(w http.ResponseWriter, r *http.Request) {
	names := s.config.ServedNames
	if len(names) == 0 {
		ctx, done := context.WithTimeout(r.Context(), time.Second)
		defer done()
		entries, _ := s.models.List(ctx) // an engine that does not answer has no models yet
		for _, entry := range entries {
			names = append(names, entry.Name)
		}
	}
	for _, name := range names {
		s.metrics.Prepare(name)
	}
	s.metrics.Handler().ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		apierror.ShapeOpenAI.Write(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}

// model is a model as the OpenAI interface lists it.
type model struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	Created    int64        `json:"created"`
	OwnedBy    string       `json:"owned_by"`
	Root       string       `json:"root"`
	Parent     *string      `json:"parent"`
	MaxLength  *int         `json:"max_model_len"`
	Permission []permission `json:"permission"`
}

type permission struct {
	ID                 string  `json:"id"`
	Object             string  `json:"object"`
	Created            int64   `json:"created"`
	AllowCreateEngine  bool    `json:"allow_create_engine"`
	AllowSampling      bool    `json:"allow_sampling"`
	AllowLogprobs      bool    `json:"allow_logprobs"`
	AllowSearchIndices bool    `json:"allow_search_indices"`
	AllowView          bool    `json:"allow_view"`
	AllowFineTuning    bool    `json:"allow_fine_tuning"`
	Organization       string  `json:"organization"`
	Group              *string `json:"group"`
	IsBlocking         bool    `json:"is_blocking"`
}

func (s *Server) modelList(r *http.Request) ([]model, error) {
	entries, err := s.models.List(r.Context())
	if err != nil {
		return nil, generate.FromEngine(err)
	}
	list := make([]model, 0, len(entries))
	for _, entry := range entries {
		m := model{ID: entry.Name, Object: "model", Created: entry.Created, OwnedBy: "vllm", Root: entry.Root}
		if m.Created == 0 {
			m.Created = time.Now().Unix()
		}
		if m.Root == "" {
			m.Root = entry.Name
		}
		if entry.Parent != "" {
			m.Parent = &entry.Parent
		}
		length := entry.MaxTokens
		if length == 0 {
			length = s.config.MaxModelLen
		}
		if length > 0 {
			m.MaxLength = &length
		}
		m.Permission = []permission{{
			ID: generate.NewID("modelperm-"), Object: "model_permission", Created: m.Created, AllowSampling: true,
			AllowLogprobs: s.engine.Capabilities().Logprobs, AllowView: true, Organization: "*",
		}}
		list = append(list, m)
	}
	return list, nil
}

// anthropicModel is a model as Anthropic's interface lists it.
type anthropicModel struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func (m model) anthropic() anthropicModel {
	return anthropicModel{"model", m.ID, m.ID, time.Unix(m.Created, 0).UTC().Format(time.RFC3339)}
}

// anthropicModels is the page of all models.
func anthropicModels(list []model) any {
	page := struct {
		Data  []anthropicModel `json:"data"`
		First *string          `json:"first_id"`
		More  bool             `json:"has_more"`
		Last  *string          `json:"last_id"`
	}{Data: []anthropicModel{}}
	for _, m := range list {
		page.Data = append(page.Data, m.anthropic())
	}
	if n := len(list); n > 0 {
		page.First, page.Last = &list[0].ID, &list[n-1].ID
	}
	return page
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	shape, anthropic := shapeOf(r)
	list, err := s.modelList(r)
	if err != nil {
		shape.Write(w, err)
		return
	}
	if anthropic {
		answer(w, anthropicModels(list))
		return
	}
	answer(w, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", list})
}

func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("model") == "" { // a slash at the end
		s.listModels(w, r)
		return
	}
	shape, anthropic := shapeOf(r)
	list, err := s.modelList(r)
	if err != nil {
		shape.Write(w, err)
		return
	}
	for _, m := range list {
		switch {
		case m.ID != r.PathValue("model"):
			continue
		case anthropic:
			answer(w, m.anthropic())
		default:
			answer(w, m)
		}
		return
	}
	shape.Write(w, &apierror.Error{Kind: apierror.NotFound, Param: "model", Message: "The model `" + r.PathValue("model") + "` does not exist."})
}
