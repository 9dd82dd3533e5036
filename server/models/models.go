// Package models knows the names under which the server serves models, and what the engine calls them.
package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
)

// Registry resolves the model of a request. Any number of goroutines may use it.
type Registry struct {
	engine engine.Engine
	// served are the names given on the command line; the first stands in answers. upstream is the engine's name for the
	// model behind them.
	served   []string
	upstream string

	mutex  sync.Mutex
	listed []engine.Model
	asked  time.Time
}

// New makes a registry. With names, all of them lead to the engine's model upstream, "" being the engine's first. Without
// names the engine's models are served under their own names.
func New(e engine.Engine, served []string, upstream string) *Registry {
	return &Registry{engine: e, served: served, upstream: upstream}
}

// fresh is how long an engine's list of models is believed.
const fresh = 30 * time.Second

// list asks the engine for its models; if it does not answer, the last answer counts.
func (r *Registry) list(ctx context.Context) ([]engine.Model, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if time.Since(r.asked) < fresh && r.listed != nil {
		return r.listed, nil
	}
	models, err := r.engine.Models(ctx)
	if err != nil {
		if r.listed != nil {
			return r.listed, nil
		}
		return nil, err
	}
	r.listed, r.asked = models, time.Now()
	return models, nil
}

// Resolve gives the name that stands in the answer and the engine's name. "" asks for the first model. The error is of the
// kind NotFound for a model that is not served.
func (r *Registry) Resolve(ctx context.Context, name string) (shown, upstream string, err error) {
	if len(r.served) > 0 {
		if name != "" && !slices.Contains(r.served, name) {
			return "", "", unknown(name, r.served)
		}
		return r.served[0], r.upstream, nil
	}
	listed, err := r.list(ctx)
	if err != nil || len(listed) == 0 {
		// Nothing is known of the engine's models; it will refuse a wrong name itself.
		return name, name, nil
	}
	if name == "" {
		return listed[0].ID, listed[0].ID, nil
	}
	var names []string
	for _, model := range listed {
		if model.ID == name {
			return name, name, nil
		}
		names = append(names, model.ID)
	}
	return "", "", unknown(name, names)
}

func unknown(name string, valid []string) error {
	return &apierror.Error{Kind: apierror.NotFound, Param: "model", Message: fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", name, strings.Join(valid, ", "))}
}

// Model is a model as it is listed.
type Model struct {
	engine.Model
	// Name is the name it is served under, Root what it was loaded from.
	Name string
}

// List gives the models that are served.
func (r *Registry) List(ctx context.Context) ([]Model, error) {
	listed, err := r.list(ctx)
	if len(r.served) == 0 {
		if err != nil {
			return nil, err
		}
		out := make([]Model, len(listed))
		for i, model := range listed {
			out[i] = Model{Model: model, Name: model.ID}
		}
		return out, nil
	}
	var known engine.Model
	for i, model := range listed {
		if model.ID == r.upstream || r.upstream == "" && i == 0 {
			known = model
		}
	}
	out := make([]Model, len(r.served))
	for i, name := range r.served {
		out[i] = Model{Model: known, Name: name}
	}
	return out, nil
}
